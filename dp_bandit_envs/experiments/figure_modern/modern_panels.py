"""Plots regret over time and over epsilon, side by side for each game, with the lower bound."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FixedLocator, FormatStrFormatter, NullLocator

from dp_bandit_envs.plots.figure_legend import add_legend_and_note
from dp_bandit_envs.plots.plot_style import BLACK, GREY, RC
from dp_bandit_envs.plots.regret_plot import LABELS, Curves, draw_curves, share_limits
from dp_bandit_envs.protocols import FloatArray, IntArray

LOWER_BOUND = "lower bound"
WITHOUT_PRIVACY = "lower bound without privacy"
FROM = 10
"""The first round of long games that is drawn; an asymptotic bound means nothing before."""


class OverTime(NamedTuple):
    """One game over time.

    Attributes:
        title: The panel's title.
        rounds: Shape `(checkpoints,)`.
        curves: Each algorithm's regret `(trials, checkpoints)`.
        bound, free_bound: The lower bounds with and without privacy, `(checkpoints,)`.
    """

    title: str
    rounds: IntArray
    curves: Curves
    bound: FloatArray
    free_bound: FloatArray


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
    curves: Curves
    constant: Curves
    bound: FloatArray
    free_bound: float


def modern_figure(
    rows: Sequence[tuple[OverTime, OverEpsilon]],
    *,
    note: str,
    measure: str = "pseudo_regret",
    labels: Mapping[str, str] | None = None,
) -> Figure:
    """Draw a row for each game: regret over time on the left, regret over epsilon on the right, all axes logarithmic.

    Args:
        rows: What to draw.
        note: One line below the figure.
        measure: Which regret it is.
        labels: The legend's label for each algorithm; by default its name.
    """
    with mpl.rc_context(RC):
        figure = Figure(figsize=(9.8, 3.5 * len(rows) + 0.3), layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(len(rows), 2, squeeze=False)
        labelled: dict[str, Any] = {}
        for index, ((left, right), (time, epsilon)) in enumerate(zip(grid, rows, strict=True)):
            _over_time(left, time, labels)
            _over_epsilon(right, epsilon, list(time.curves), labels)
            for place, (axes, title) in enumerate(((left, time.title), (right, epsilon.title))):
                axes.set_title(f"({chr(97 + 2 * index + place)}) {title}", loc="left")
                axes.set_ylabel(LABELS[measure])
                labelled |= {label: line for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        share_limits(list(grid.ravel()))
        add_legend_and_note(figure, labelled, note, (len(rows), 2))
        return figure


def _over_time(axes: Axes, data: OverTime, labels: Mapping[str, str] | None) -> None:
    shown = data.rounds >= min(FROM, data.rounds[-1])
    rounds = data.rounds[shown]
    curves = {name: regret[:, shown] for name, regret in data.curves.items()}
    draw_curves(axes, rounds, curves, "mean", names=list(curves), labels=labels)
    _bounds(axes, rounds, data.bound[shown], data.free_bound[shown])
    axes.set_xscale("log")
    if len(rounds) > 1:
        axes.set_xlim(rounds[0], rounds[-1])
    axes.set_xlabel("round t")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))


def _over_epsilon(axes: Axes, data: OverEpsilon, names: list[str], labels: Mapping[str, str] | None) -> None:
    flat = {name: sample[:, None].repeat(len(data.levels), axis=1) for name, sample in data.constant.items()}
    draw_curves(axes, data.levels, data.curves | flat, "mean", names=names, labels=labels)
    for line in axes.lines:
        line.set_markevery(1)
    _bounds(axes, data.levels, data.bound, data.bound * 0 + data.free_bound)
    axes.set_xscale("log")
    axes.set_xlim(data.levels[0] / 1.1, data.levels[-1] * 1.1)
    axes.set_xlabel("epsilon")
    axes.xaxis.set_major_locator(FixedLocator(data.levels.tolist()))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))


def _bounds(axes: Axes, at: IntArray | FloatArray, bound: FloatArray, free_bound: FloatArray) -> None:
    axes.plot(at, free_bound, color=GREY, linestyle="--", linewidth=1.2, label=WITHOUT_PRIVACY)
    axes.plot(at, bound, color=BLACK, linestyle="--", linewidth=2.2, label=LOWER_BOUND)
