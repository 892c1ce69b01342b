"""Games of the lab on graph feedback: a random graph of any density, its regret, and pictures of both."""

import functools
import math
from typing import Final, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.course.panels import panel
from dp_bandit_envs.plots.plot_style import BLACK, BLUE, GREY, LIGHT_GREY, ORANGE, VERMILION
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation import simulate

ARMS: Final = 20
TRIALS: Final = 50
POINTS: Final = 24


class Curve(NamedTuple):
    """Mean pseudo-regret.

    Attributes:
        rounds: Rounds, `(points,)`.
        mean: The mean over games, `(points,)`.
        error: Its standard error, `(points,)`.
    """

    rounds: IntArray
    mean: FloatArray
    error: FloatArray

    @property
    def last(self) -> float:
        """The mean after the last round."""
        return float(self.mean[-1])


def random_graph(density: float, number: int) -> IntArray:
    """Return who reveals whom, `(20, 20)`, each pair with a probability, and each arm itself.

    For the same number, a denser graph has all edges of a sparser one.

    Args:
        density: The probability of an edge, in [0, 1].
        number: Which graph, from 0.
    """
    draws = np.triu(np.random.default_rng(number).random((ARMS, ARMS)), 1)
    reveals = (draws + draws.T < density).astype(np.int64)
    np.fill_diagonal(reveals, 1)
    return reveals


@functools.lru_cache(maxsize=500)
def regret(algorithm: str, epsilon: float, density: float, number: int, most: int, horizon: int) -> Curve:
    """Return the regret of an algorithm in games with Bernoulli arms of uniform random means.

    Args:
        algorithm: Its name.
        epsilon: For private ones; inf for those without privacy.
        density: As of `random_graph`.
        number: As of `random_graph`.
        most: The most gains that a round may reveal; where the graph has more, some are left out at random.
        horizon: Number of rounds T.
    """
    options = {"epsilon": epsilon} if math.isfinite(epsilon) else {}
    reveals = random_graph(density, number)
    games = simulate(
        "DPBandit-Graph-v0",
        [make_algorithm(algorithm, **options)],
        horizon=horizon,
        trials=TRIALS,
        seed=0,
        env_kwargs={"graph": reveals - np.eye(ARMS, dtype=np.int64), "max_revealed": most},
    )
    outcome = games[next(iter(games))]
    assert outcome.pseudo_regret is not None
    shown = np.unique(np.linspace(0, len(outcome.checkpoints) - 1, POINTS).astype(np.int64))
    regrets = outcome.pseudo_regret[:, shown]
    return Curve(outcome.checkpoints[shown], regrets.mean(axis=0), regrets.std(axis=0, ddof=1) / math.sqrt(TRIALS))


def revealed(reveals: IntArray, most: int) -> int:
    """Return the most gains that a round reveals: by so much Laplace noise has to grow."""
    return min(int(reveals.sum(axis=1).max()), most)


def graph_picture(reveals: IntArray, most: int) -> Figure:
    """Draw a graph, with what its busiest arm reveals.

    Args:
        reveals: Who reveals whom.
        most: The most gains that a round may reveal.
    """
    angles = 2 * np.pi * np.arange(len(reveals)) / len(reveals)
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    busiest = int(reveals.sum(axis=1).argmax())
    figure, axes = panel(width=3.8)
    for one, other in zip(*np.nonzero(np.triu(reveals, 1)), strict=True):
        own = busiest in (one, other)
        axes.plot(*places[[one, other]].T, color=ORANGE if own else LIGHT_GREY, linewidth=1.6 if own else 0.6)
    seen = reveals[busiest] == 1
    axes.scatter(*places.T, s=110, color=np.where(seen, ORANGE, GREY), zorder=3)
    axes.scatter(*places[busiest], s=320, color=VERMILION, zorder=4)
    cut = f" (cut to {most})" if most < seen.sum() else ""
    axes.set(title=f"Playing the large arm reveals {seen.sum()} gains{cut}", aspect="equal")
    axes.axis("off")
    return figure


def regret_picture(curves: dict[str, Curve]) -> Figure:
    """Draw regret against time.

    Args:
        curves: By their labels, up to four: with and without neighbours, first without privacy and then with it.
    """
    figure, axes = panel()
    looks = ((BLACK, "--"), (BLACK, "-"), (BLUE, "--"), (BLUE, "-"))
    for (label, curve), (colour, line) in zip(curves.items(), looks, strict=False):
        axes.plot(curve.rounds, curve.mean, color=colour, linestyle=line, label=label)
        band = curve.mean - 2 * curve.error, curve.mean + 2 * curve.error
        axes.fill_between(curve.rounds, *band, color=colour, alpha=0.12, linewidth=0)
    axes.set(title=f"Mean regret of {TRIALS} games, ± 2 standard errors", xlabel="rounds", yscale="log")
    axes.minorticks_off()
    axes.set_ylim(bottom=1)
    axes.legend(loc="lower right", fontsize=7.5, frameon=True, framealpha=0.8, edgecolor="none")
    return figure
