"""The experiment of figure 2 of Tossou and Dimitrakakis (2016): private UCB on coins, at two privacy levels."""

import math

from dp_bandit_envs import checks
from dp_bandit_envs.experiments.figure_modern.modern_setup import contestant
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment, GameSpec
from dp_bandit_envs.runs.run_report import View

HORIZON = 100_000
TRIALS = 100
EPSILONS = (1.0, 0.1)
DELTA = math.exp(-10)
V = 1.1
TWO_ARMS = (0.9, 0.6)
TEN_ARMS = (0.1, 0.1, 0.1, 0.1, 0.2, 0.55, 0.1, 0.1, 0.1, 0.1)
VIEW = View(measure="pseudo_regret", centre="mean", scale="log", columns=2)
MODERN_TRIALS = 1000
"""Number of games of fast algorithms: a few bad games in a thousand decide DP-IMED's mean."""
FEW_GAMES = ("DP-SE", "Lazy-DP-TS")
"""Algorithms without more games: their regret hardly differs between games, or a game takes up to 30 ms."""
MODERN = ("DP-SE", "AdaP-KLUCB", "Lazy-DP-TS", "DP-KLUCB", "DP-IMED")


def contestants(epsilon: float, modern: bool, more: int = 0) -> tuple[AlgorithmSpec, ...]:
    """Return the paper's five algorithms at a privacy level, and those published since after them if asked for.

    Args:
        epsilon: The privacy level.
        modern: Whether to add those published since.
        more: The number of their games, if larger than that of the others.
    """
    five = (
        AlgorithmSpec("UCB"),
        AlgorithmSpec("Private-UCB", {"epsilon": epsilon, "constants": "paper"}),
        AlgorithmSpec("DP-UCB-BOUND", {"epsilon": epsilon}),
        AlgorithmSpec("DP-UCB", {"epsilon": epsilon}),
        AlgorithmSpec("DP-UCB-INT", {"epsilon": epsilon, "delta": DELTA, "v": V}),
    )
    return five + (
        tuple(contestant(name, epsilon, 0 if name in FEW_GAMES else more) for name in MODERN) if modern else ()
    )


def experiment(*, modern: bool = False, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> Experiment:
    """Return the paper's experiment: two games at two privacy levels.

    Args:
        modern: Whether to add algorithms that were published since.
        horizon: Number of rounds T.
        trials: Number of runs; from 100 on, AdaP-KLUCB, DP-KLUCB and DP-IMED play 1,000.
        seed: The seed.
    """
    panels = tuple(
        GameSpec(
            key=f"{len(means)}-arms-epsilon-{epsilon:g}",
            title=f"{len(means)} arms, epsilon = {epsilon:g}",
            env_id="DPBandit-Stochastic-v0",
            env_kwargs={"means": list(means)},
            contestants=contestants(epsilon, modern, MODERN_TRIALS if trials >= TRIALS else 0),
        )
        for means in (TWO_ARMS, TEN_ARMS)
        for epsilon in EPSILONS
    )
    horizon = checks.integer("horizon", horizon, at_least=1)
    return Experiment("figure-2", panels, (), horizon, trials, seed, checkpoints="log")
