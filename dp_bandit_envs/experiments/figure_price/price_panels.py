"""Plots ratios of regrets over T and over the number of experts, and extra regret over epsilon."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from dp_bandit_envs.experiments.figure_price.price_numbers import Estimate
from dp_bandit_envs.plots.figure_legend import add_legend_and_note, add_note, size
from dp_bandit_envs.plots.plot_style import BLACK, GREY, RC, Style, style_of
from dp_bandit_envs.plots.regret_plot import NORMAL_95

ACROSS = 3
CELL = (3.6, 3.1)
"""Width and height of a panel with its labels, in inches."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)))
"""Line styles of the games in a panel of several."""


class Curve(NamedTuple):
    """A line: its name in the legend, its points with their errors, and which game of the panel it is about."""

    name: str
    at: Sequence[float]
    points: Sequence[Estimate]
    game: str = ""


class Panel(NamedTuple):
    """A panel with logarithmic axes.

    Attributes:
        title: Its title.
        across, up: The labels of its axes.
        curves: Its lines.
        free: Whether to draw the line at 1, where privacy is free.
        powers: Whether to label the horizontal axis in powers of 2.
    """

    title: str
    across: str
    up: str
    curves: Sequence[Curve]
    free: bool = True
    powers: bool = False


def price_figure(
    panels: Sequence[Panel], *, note: str, labels: Mapping[str, str], styles: Mapping[str, Style]
) -> Figure:
    """Draw panels three in a row, with the legend in the last cell if it fits there.

    Args:
        panels: What to draw; their number and the legend fill the cells.
        note: One line below the figure.
        labels: The legend's label for each line's name, where it is not the name.
        styles: The style of names that have none in `plot_style`.
    """
    with mpl.rc_context(RC):
        rows = -(-(len(panels) + 1) // ACROSS)
        figure = Figure(figsize=(CELL[0] * ACROSS, CELL[1] * rows + 0.3), layout="constrained")
        FigureCanvasAgg(figure)
        grid = list(figure.subplots(rows, ACROSS, squeeze=False).ravel())
        labelled: dict[str, Any] = {}
        for index, (axes, panel) in enumerate(zip(grid, panels, strict=False)):
            lines = _draw(axes, panel, styles)
            axes.set_title(f"({chr(97 + index)}) {panel.title}", loc="left")
            labelled |= {labels.get(name, name): line for name, line in lines.items()}
        for axes in grid[len(panels) :]:
            axes.axis("off")
        cell = grid[len(panels)]
        legend = cell.legend(labelled.values(), labelled, loc="center left", fontsize=8, handlelength=3)
        wide, tall = size(figure, legend)
        if wide > CELL[0] or tall > CELL[1]:
            legend.remove()
            add_legend_and_note(figure, labelled, note, (rows, ACROSS))
        else:
            add_note(figure, note, rows)
        return figure


def _draw(axes: Axes, panel: Panel, styles: Mapping[str, Style]) -> dict[str, Any]:
    """Draw a panel; return the line of each name."""
    games = list(dict.fromkeys(curve.game for curve in panel.curves))
    lines: dict[str, Any] = {}
    names = [curve.name for curve in panel.curves]
    if panel.free:
        axes.axhline(1.0, color=BLACK, linewidth=0.9)
    for curve in panel.curves:
        colour, dashes, marker = styles.get(curve.name) or style_of(curve.name, names)
        middle = np.array([one.value for one in curve.points])
        half = NORMAL_95 * np.nan_to_num([one.error for one in curve.points])
        # A logarithmic axis has no place for a mean of 0 or less; its point is left out.
        shown = middle > 0
        at, middle, half = np.array(curve.at)[shown], middle[shown], half[shown]
        line = DASHES[games.index(curve.game) % len(DASHES)] if len(games) > 1 else dashes
        low = np.maximum(middle - half, middle / 10)
        axes.fill_between(at, low, middle + half, color=colour, alpha=0.18, linewidth=0)
        drawn = axes.plot(at, middle, color=colour, linestyle=line, marker=marker, markersize=4.5)
        lines.setdefault(curve.name, drawn[0])
    _axes(axes, panel)
    if len(games) > 1:
        keys = [Line2D([], [], color=GREY, linestyle=DASHES[place % len(DASHES)]) for place in range(len(games))]
        axes.legend(keys, games, loc="lower left", fontsize=8, handlelength=2.5)
    return lines


def _axes(axes: Axes, panel: Panel) -> None:
    places = sorted({place for curve in panel.curves for place in curve.at})
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(panel.across)
    axes.set_ylabel(panel.up)
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(_power if panel.powers else _plain))
    low, high = axes.get_ylim()
    # The fewer powers of ten, the more marks between them.
    marks = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if high / low < 20 else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(LogLocator(10, subs=marks if high / low < 300 else (1.0,)))
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _power(value: float, _: int) -> str:
    power = np.log2(value)
    return rf"$2^{{{power:.0f}}}$" if abs(power - round(power)) < 1e-9 else _plain(value, 0)


def _plain(value: float, _: int) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"
