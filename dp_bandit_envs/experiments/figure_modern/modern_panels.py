"""Plots regret over time and over epsilon, side by side for each game, with the lower bound."""

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from matplotlib.figure import Figure

from dp_bandit_envs.plots.curves import Curve, Panel, Reference
from dp_bandit_envs.plots.curves_plot import ROUND, curves_figure
from dp_bandit_envs.plots.plot_style import BLACK, GREY
from dp_bandit_envs.privacy.guarantee import NO_PRIVACY
from dp_bandit_envs.protocols import FloatArray, IntArray

LOWER_BOUND = "asymptotic lower bound"
WITHOUT_PRIVACY = "asymptotic lower bound without privacy"
FROM = 10
"""The first round of long games that is drawn; an asymptotic bound means nothing before."""


class OverTime(NamedTuple):
    """One game over time.

    Attributes:
        title: The panel's title.
        rounds: Shape `(checkpoints,)`.
        curves: Each algorithm's regret `(trials, checkpoints)`.
        bound, free_bound: The lower bounds with and without privacy, `(checkpoints,)`.
        epsilon: The privacy parameter of all algorithms with one.
    """

    title: str
    rounds: IntArray
    curves: Mapping[str, FloatArray]
    bound: FloatArray
    free_bound: FloatArray
    epsilon: float


class OverEpsilon(NamedTuple):
    """One game over epsilon.

    Attributes:
        title: The panel's title.
        levels: The values of epsilon, ascending, `(levels,)`.
        curves: Each private algorithm's regret after the last round, `(trials, levels)`.
        constant: The same for algorithms without privacy, `(trials,)` by name; it applies to all levels.
        bound: The lower bound, `(levels,)`.
        free_bound: The one without privacy.
    """

    title: str
    levels: FloatArray
    curves: Mapping[str, FloatArray]
    constant: Mapping[str, FloatArray]
    bound: FloatArray
    free_bound: float


def modern_figure(
    rows: Sequence[tuple[OverTime, OverEpsilon]],
    *,
    note: str,
    measure: str = "pseudo_regret",
) -> Figure:
    """Draw a row for each game: regret over time on the left, regret over epsilon on the right, all axes logarithmic.

    Args:
        rows: What to draw.
        note: What to say below the figure after the meaning of line and band.
        measure: Which regret it is.
    """
    panels = [panel for time, epsilon in rows for panel in (_over_time(time, epsilon.constant), _over_epsilon(epsilon))]
    return curves_figure(
        panels,
        across=ROUND,
        measure=measure,
        band="ci",
        x_scale="log",
        y_scale="log",
        note=note,
        columns=2,
    )


def _over_time(data: OverTime, free: Container[str]) -> Panel:
    shown = data.rounds >= min(FROM, data.rounds[-1])
    rounds = data.rounds[shown]
    curves = [
        Curve(name, _label(name, f"eps {data.epsilon:g}", free), rounds, regret[:, shown])
        for name, regret in data.curves.items()
    ]
    return Panel(data.title, curves, _bounds(rounds, data.bound[shown], data.free_bound[shown]))


def _over_epsilon(data: OverEpsilon) -> Panel:
    flat = {name: sample[:, None].repeat(len(data.levels), axis=1) for name, sample in data.constant.items()}
    curves = [
        Curve(name, _label(name, "", flat), data.levels, regret) for name, regret in (dict(data.curves) | flat).items()
    ]
    bounds = _bounds(data.levels, data.bound, data.bound * 0 + data.free_bound)
    return Panel(data.title, curves, bounds, across="privacy parameter epsilon")


def _label(name: str, guarantee: str, free: Container[str]) -> str:
    if name in free:
        return f"{name} {NO_PRIVACY}"
    return f"{name} ({guarantee})" if guarantee else name


def _bounds(at: IntArray | FloatArray, bound: FloatArray, free_bound: FloatArray) -> tuple[Reference, Reference]:
    return (
        Reference(WITHOUT_PRIVACY, at, free_bound, colour=GREY, width=1.2),
        Reference(LOWER_BOUND, at, bound, colour=BLACK, width=2.2),
    )
