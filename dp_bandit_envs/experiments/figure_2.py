"""Figure 2 of Tossou and Dimitrakakis (2016): private UCB algorithms on coins, at two privacy levels."""

import math
from collections.abc import Sequence

from dp_bandit_envs import checks
from dp_bandit_envs.experiments import figure_2_claims
from dp_bandit_envs.experiments.experiment import Contestant, Experiment, Panel, Results
from dp_bandit_envs.experiments.figure_modern_setup import contestant
from dp_bandit_envs.experiments.reproduction import Reproduction, View
from dp_bandit_envs.experiments.verdicts import short_of
from dp_bandit_envs.metrics import mean_and_standard_error

HORIZON = 100_000
TRIALS = 100
EPSILONS = (1.0, 0.1)
DELTA = math.exp(-10)
V = 1.1
TWO_ARMS = (0.9, 0.6)
TEN_ARMS = (0.1, 0.1, 0.1, 0.1, 0.2, 0.55, 0.1, 0.1, 0.1, 0.1)
VIEW = View(measure="pseudo_regret", centre="mean", scale="log", columns=2)
MODERN_TRIALS = 1000
"""Games of those whose games take milliseconds: a few bad ones in a thousand decide DP-IMED's mean."""
FEW_GAMES = ("DP-SE", "Lazy-DP-TS")
"""Who plays no more than the others: its regret hardly differs between games, or a game takes up to 30 ms."""
MODERN = ("DP-SE", "AdaP-KLUCB", "Lazy-DP-TS", "DP-KLUCB", "DP-IMED")


def contestants(epsilon: float, modern: bool, more: int = 0) -> tuple[Contestant, ...]:
    """Return the paper's five algorithms at a privacy level, and those published since after them if asked for.

    Args:
        epsilon: The privacy level.
        modern: Whether to add those published since.
        more: Games of these, if more than of the others.
    """
    five = (
        Contestant("UCB"),
        Contestant("Private-UCB", {"epsilon": epsilon, "constants": "paper"}),
        Contestant("DP-UCB-BOUND", {"epsilon": epsilon}),
        Contestant("DP-UCB", {"epsilon": epsilon}),
        Contestant("DP-UCB-INT", {"epsilon": epsilon, "delta": DELTA, "v": V}),
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
        Panel(
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


def reproduction(*, modern: bool = False, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> Reproduction:
    """Return what `dp-bandit reproduce figure-2` runs and reports; arguments as for `experiment`."""
    return Reproduction(
        name="figure-2-modern" if modern else "figure-2",
        title="Figure 2 of Algorithms for Differentially Private Multi-Armed Bandits (AAAI 2016)",
        experiments=(experiment(modern=modern, horizon=horizon, trials=trials, seed=seed),),
        view=VIEW,
        notes=lambda results: notes(results[0]),
        claims=lambda results: figure_2_claims.claims(results[0]),
    )


def notes(results: Results) -> str:
    """Return what a reader must know before the numbers."""
    text = (
        "Regret is pseudo-regret, each round's difference in mean between the best arm and the arm played: the paper's"
        " definition without the luck of the gains. The algorithms are the paper's with its errors of privacy"
        " corrected, so that each really has the epsilon in the panel's title (DP-UCB-INT at delta = e^-10, with the"
        " intervals of lemma B.1). Private-UCB is the algorithm of Mishra and Thakurta (2015) with the constants as"
        " printed and the failure probability t^-4 of this paper. The same games are played at both levels. Of two"
        " arms the best is the first, with which algorithms begin that play an arm until its first release: their lines"
        " begin where they leave it."
    )
    text += short_of(results, HORIZON, TRIALS)
    modern = [name for name in results.names if name in MODERN]
    if modern:
        text += f"\n\nAdded to the paper's algorithms: {', '.join(modern)}. {_least(results)}"
    return text


def _least(results: Results) -> str:
    """Say which private algorithm has the least mean regret in each panel, and how much of DP-UCB-INT's that is."""
    found: Sequence[str] = [
        f"{panel.title}: {best}, {means[best]:,.1f} ± {errors[best]:,.1f} against {means['DP-UCB-INT']:,.1f}"
        for panel in results.experiment.panels
        for means, errors in [_means(results, panel)]
        for best in [min((name for name in means if name != "UCB"), key=means.__getitem__)]
    ]
    return f"Least mean regret of all private algorithms, beside DP-UCB-INT's: {'; '.join(found)}."


def _means(results: Results, panel: Panel) -> tuple[dict[str, float], dict[str, float]]:
    pairs = {
        name: mean_and_standard_error(results.regret(panel.key, name, VIEW.measure)[:, -1])
        for name in results.names_in(panel)
    }
    return {name: float(pair[0]) for name, pair in pairs.items()}, {
        name: float(pair[1]) for name, pair in pairs.items()
    }
