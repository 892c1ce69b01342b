"""Plots ratios of regrets over T and over the number of experts, and extra regret over epsilon."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dp_bandit_envs.metrics import Band
from dp_bandit_envs.plots.curves import Reference
from dp_bandit_envs.plots.curves_plot import draw_band, draw_reference, grid_of, set_titles
from dp_bandit_envs.plots.figure_legend import add_legend_and_note
from dp_bandit_envs.plots.mathematics import typeset
from dp_bandit_envs.plots.plot_axes import log_limits, outer_labels_only, places_axis, values_axis
from dp_bandit_envs.plots.plot_style import BLACK, DASHES, GREY, RC, Style, styles_for

FREE = 1.0
"""The ratio at which privacy is free."""


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
        free: Whether to draw the line at 1, where privacy is free.
        references: Lines that are no algorithms.
    """

    title: str
    across: str
    up: str
    lines: Sequence[Line]
    free: bool = True
    references: Sequence[Reference] = ()


def price_figure(panels: Sequence[RatioPanel], *, note: str, labels: Mapping[str, str]) -> Figure:
    """Draw panels three in a row, with the legend in the last cell if it fits there.

    Args:
        panels: What to draw.
        note: What to say below the figure.
        labels: The legend's label for each line's name, where it is not the name.
    """
    names = [[line.name for line in panel.lines] for panel in panels]
    looks = styles_for(itertools.chain(*names), together=names)
    with mpl.rc_context(RC):
        figure, grid = grid_of(len(panels))
        labelled: dict[str, Any] = {}
        for axes, panel in zip(grid, panels, strict=False):
            for name, line in _draw(axes, panel, looks).items():
                labelled.setdefault(typeset(labels.get(name, name)), line)
        for axes in grid[len(panels) :]:
            axes.axis("off")
        set_titles(grid, [panel.title for panel in panels])
        outer_labels_only(grid[: len(panels)])
        add_legend_and_note(figure, labelled, typeset(note), grid[len(panels)] if len(grid) > len(panels) else None)
        return figure


def _draw(axes: Axes, panel: RatioPanel, looks: Mapping[str, Style]) -> dict[str, Any]:
    """Draw a panel; return the line of each name."""
    games = list(dict.fromkeys(line.game for line in panel.lines))
    found: dict[str, Any] = {}
    bands = [line.band for line in panel.lines]
    heights = [band.line for band in bands] + [reference.line for reference in panel.references]
    if panel.free:
        heights.append(np.array([FREE]))
        axes.axhline(FREE, color=BLACK, linewidth=0.9)
    limits = log_limits(heights, [end for band in bands for end in (band.low, band.high)])
    for line in panel.lines:
        look = looks[line.name]
        if len(games) > 1:
            look = look._replace(line=DASHES[games.index(line.game) % len(DASHES)])
        # A logarithmic axis has no place for a mean of 0 or less; its point is left out, and others are joined.
        shown = line.band.line > 0
        band = Band(*(part[shown] for part in line.band))
        found.setdefault(line.name, draw_band(axes, np.array(line.at)[shown], band, look, floor=limits[0]))
    for reference in panel.references:
        found.setdefault(reference.label, draw_reference(axes, reference, log=True))
    places_axis(axes, [np.asarray(line.at, dtype=float) for line in panel.lines], "log", rounds=False)
    values_axis(axes, limits)
    axes.set_xlabel(typeset(panel.across))
    axes.set_ylabel(panel.up)
    if len(games) > 1:
        keys = [Line2D([], [], color=GREY, linestyle=DASHES[place % len(DASHES)]) for place in range(len(games))]
        axes.legend(keys, games, loc="lower left")
    return found
