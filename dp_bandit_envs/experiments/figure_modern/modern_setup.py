"""The games, algorithms and privacy levels of figure-modern, and how to find their numbers in the results."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment, GameSpec, Results
from dp_bandit_envs.runs.run_report import View
from dp_bandit_envs.theory.lower_bounds import lai_robbins, private_lower_bound

HORIZON = 10**7
SWEEP_HORIZON = 10**6
TRIALS = 20
OPTIMAL_TRIALS = 100
"""Number of games of the two best algorithms over epsilon, whose mean a few bad games decide; one takes about 30 ms."""
EPSILON = 1.0
SWEEP = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
PRIVATE = ("DP-UCB-BOUND", "DP-UCB", "DP-SE", "AdaP-UCB", "AdaP-KLUCB", "Lazy-DP-TS", "DP-KLUCB", "DP-IMED")
OPTIMAL = ("DP-KLUCB", "DP-IMED")
REFERENCE = "KL-UCB"
NOTHING = "none"
VIEW = View(measure="pseudo_regret", centre="mean", scale="log", claimed_by="The literature")


class Means(NamedTuple):
    """A game's name, its title, and the means of its arms."""

    name: str
    title: str
    means: tuple[float, ...]


GAMES = (
    Means("spaced", "means .75 to .25", (0.5, 0.25, 0.75, 0.375, 0.625)),
    Means("one-ahead", "means .8 and four .1", (0.1, 0.1, 0.8, 0.1, 0.1)),
)
"""The best arm is in the middle, because most algorithms begin with the first arm."""


def experiments(*, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> tuple[Experiment, Experiment]:
    """Return both experiments: regret over time at epsilon 1, and regret after 10^6 rounds over epsilon.

    Args:
        horizon: Number of rounds T of the first; the second has as many, but no more than 10^6.
        trials: Number of runs; from 20 on, the two best play 100 in the second.
        seed: The seed.
    """
    horizon = checks.integer("horizon", horizon, at_least=1)
    over_time = tuple(_panel(game, EPSILON, (*PRIVATE, REFERENCE)) for game in GAMES)
    more = OPTIMAL_TRIALS if trials >= TRIALS else 0
    levels = [(epsilon, PRIVATE) for epsilon in SWEEP]
    over_epsilon = tuple(
        _panel(game, epsilon, names, more) for game in GAMES for epsilon, names in [*levels, (None, (REFERENCE,))]
    )
    return (
        Experiment("over-time", over_time, (), horizon, trials, seed, checkpoints="log"),
        Experiment("over-epsilon", over_epsilon, (), min(horizon, SWEEP_HORIZON), trials, seed, checkpoints="log"),
    )


def _panel(game: Means, epsilon: float | None, names: Sequence[str], more: int = 0) -> GameSpec:
    contestants = tuple(contestant(name, epsilon, more if name in OPTIMAL else 0) for name in names)
    return GameSpec(
        key=key(game, epsilon),
        title=f"{game.title}, " + ("no privacy" if epsilon is None else f"epsilon = {epsilon:g}"),
        env_id="DPBandit-Stochastic-v0",
        env_kwargs={"means": list(game.means)},
        contestants=contestants,
    )


def contestant(name: str, epsilon: float | None, trials: int = 0) -> AlgorithmSpec:
    """Return an algorithm at a privacy level (None for no privacy), with `trials` games if that is more."""
    return AlgorithmSpec(name, {} if epsilon is None or name == REFERENCE else {"epsilon": epsilon}, trials=trials)


def key(game: Means, epsilon: float | None) -> str:
    """Return the key of a game's panel at a privacy level; None means no privacy."""
    return f"{game.name}-epsilon-{NOTHING if epsilon is None else f'{epsilon:g}'}"


def sweep_of(results: Results, game: Means, algorithm: str) -> FloatArray:
    """Return the regret after the last round at each epsilon of `SWEEP`, shape `(trials, levels)`."""
    columns = [results.regret(key(game, epsilon), algorithm, VIEW.measure)[:, -1] for epsilon in SWEEP]
    return np.stack(columns, axis=1)


def bounds_over_time(game: Means, rounds: Sequence[int], epsilon: float | None) -> FloatArray:
    """Return the lower bound at each round, shape `(rounds,)`."""
    whole = lai_robbins(game.means, 2) if epsilon is None else private_lower_bound(game.means, 2, epsilon)
    slopes: FloatArray = whole / np.log(2) * np.log(np.asarray(rounds, dtype=float))
    return slopes


def bounds_over_epsilon(game: Means, horizon: int) -> FloatArray:
    """Return the lower bound at the horizon for each epsilon of `SWEEP`, shape `(levels,)`."""
    return np.array([private_lower_bound(game.means, horizon, epsilon) for epsilon in SWEEP])
