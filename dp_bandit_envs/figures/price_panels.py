"""Draws ratios of regrets with their bands, in panels with logarithmic axes and one legend."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from dp_bandit_envs.figures.judging import Estimate
from dp_bandit_envs.metrics import Band
from dp_bandit_envs.plots.curves_figure import MOST_BANDS, Reference, draw_band, draw_reference
from dp_bandit_envs.plots.figure_layout import (
    add_legend_and_note,
    add_legends_below,
    grid_of,
    log_limits,
    outer_labels_only,
    places_axis,
    set_titles,
    values_axis,
)
from dp_bandit_envs.plots.plot_style import BLACK, DASHES, GREY, RC, Style, styles_for, typeset

NORMAL_95 = 1.96


class Line(NamedTuple):
    """A line: its name in the legend, its places and its band, and which game of the panel it is about."""

    name: str
    at: Sequence[float]
    band: Band
    game: str = ""


class RatioPanel(NamedTuple):
    """A panel with logarithmic axes.

    Attributes:
        title: Its title.
        across, up: The labels of its axes.
        lines: Its lines.
        free: The ratio at which privacy is free, drawn as a line; None for none.
        references: Lines that are no algorithms.
    """

    title: str
    across: str
    up: str
    lines: Sequence[Line]
    free: float | None = 1.0
    references: Sequence[Reference] = ()


def ratio_band(points: Sequence[Estimate]) -> Band:
    r"""Return ratios with the intervals :math:`r e^{\pm 1.96 s / r}`, those of the logarithm, which stay above 0.

    Args:
        points: Each ratio r with its standard error s; without an error, the interval is r.
    """
    line = np.array([one.value for one in points], dtype=float)
    error = np.nan_to_num(np.array([one.error for one in points], dtype=float))
    # A ratio that is hardly known has a band over the whole axis, not one that overflows.
    factor = np.exp(np.minimum(NORMAL_95 * np.divide(error, line, out=np.zeros_like(line), where=line > 0), 20))
    return Band(line, line / factor, line * factor)


def price_figure(
    panels: Sequence[RatioPanel], *, note: str, labels: Mapping[str, str], columns: int | None = None
) -> Figure:
    """Draw panels two in a row, each above its own legend: all together have more lines than there are colours.

    Args:
        panels: What to draw.
        note: What to say below the figure.
        labels: The legend's label for each line's name, where it is not the name.
        columns: Number of panels in a row.
    """
    names = [[line.name for line in panel.lines] for panel in panels]
    looks = styles_for(itertools.chain(*names), together=names, reserved=(BLACK,))
    with mpl.rc_context(RC):
        figure, grid = grid_of(len(panels), columns or min(2, len(panels)))
        drawn = [_draw_panel(axes, panel, looks) for axes, panel in zip(grid, panels, strict=False)]
        for axes in grid[len(panels) :]:
            axes.axis("off")
        set_titles(grid, [panel.title for panel in panels])
        outer_labels_only(grid[: len(panels)])
        for axes in grid[: len(panels)]:
            axes.xaxis.label.set_visible(True)  # a legend stands between panels above each other
        legends = [{typeset(labels.get(name, name)): line for name, line in found.items()} for found in drawn]
        add_legends_below(grid, legends)
        add_legend_and_note(figure, {}, typeset(note))
        return figure


def _draw_panel(axes: Axes, panel: RatioPanel, looks: Mapping[str, Style]) -> dict[str, Any]:
    """Draw a panel; return the line of each name."""
    games = list(dict.fromkeys(line.game for line in panel.lines))
    found: dict[str, Any] = {}
    bands = [line.band for line in panel.lines]
    heights = [band.line for band in bands] + [reference.line for reference in panel.references]
    if panel.free is not None:
        heights.append(np.array([panel.free]))
        axes.axhline(panel.free, color=BLACK, linewidth=0.9)
    limits = log_limits(heights, [end for band in bands for end in (band.low, band.high)])
    for line in panel.lines:
        look = looks[line.name]
        if len(games) > 1:
            look = look._replace(line=DASHES[games.index(line.game) % len(DASHES)])
        # A logarithmic axis has no place for a mean of 0 or less; its point is left out, and others are joined.
        shown = line.band.line > 0
        band, at = Band(*(part[shown] for part in line.band)), np.array(line.at)[shown]
        bars = len(panel.lines) > MOST_BANDS
        found.setdefault(line.name, draw_band(axes, at, band, look, floor=limits[0], bars=bars))
    for reference in panel.references:
        found.setdefault(reference.label, draw_reference(axes, reference, log=True))
    places_axis(axes, [np.asarray(line.at, dtype=float) for line in panel.lines], "log", rounds=False)
    values_axis(axes, limits)
    axes.set_xlabel(typeset(panel.across))
    axes.set_ylabel(panel.up)
    if len(games) > 1:
        keys = [Line2D([], [], color=GREY, linestyle=DASHES[place % len(DASHES)]) for place in range(len(games))]
        axes.add_artist(Legend(axes, keys, games, loc="lower left"))
    return found
