"""Lines with bands in panels that share one legend: regret against the round, epsilon, arms, or the horizon."""

import math
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dp_bandit_envs import checks
from dp_bandit_envs.metrics import BANDS, Band
from dp_bandit_envs.metrics.trial_summaries import band_in_words
from dp_bandit_envs.plots.curves import Panel, Reference, bands_of, trials_in_words
from dp_bandit_envs.plots.curves_legend import entries_of
from dp_bandit_envs.plots.figure_legend import NOTE, add_legend_and_note, fitting
from dp_bandit_envs.plots.mathematics import typeset
from dp_bandit_envs.plots.plot_axes import FEW, log_limits, outer_labels_only, places_axis, values_axis
from dp_bandit_envs.plots.plot_style import RC, Style
from dp_bandit_envs.plots.rounded_layout import RoundedLayout
from dp_bandit_envs.protocols import FloatArray, IntArray

CELL, ALONE = (3.3, 2.7), (6.0, 3.3)
"""Width and height of a panel with its labels in inches, among others and alone."""
BESIDE = 0.6
"""Width of the numbers and the label beside a panel, in inches."""
SMALL = NOTE | {"fontsize": 7.5}
MARKERS_ON_A_LINE = 8
LABELS = {
    "external_regret": "external regret (gain)",
    "pseudo_regret": "pseudo-regret (gain)",
    "policy_regret": "policy regret (gain)",
    "collected": "collected gain",
    "switches": "number of switches",
}
SCALES = ("linear", "log")
ROUND = "round t"
"""The horizontal axis of one game, on which a line has many places."""


def curves_figure(
    panels: Sequence[Panel],
    *,
    across: str,
    measure: str,
    band: str,
    x_scale: str = "linear",
    y_scale: str = "linear",
    note: str = "",
    columns: int | None = None,
) -> Figure:
    """Draw a line with a band for each curve, panel by panel, with one legend and a note that explains line and band.

    All texts are plain, such as "eps 1" and "1e-06", and are typeset. Where a label differs between panels, the legend
    has the name alone, and each panel says below its title what follows it there.

    Args:
        panels: What to draw.
        across: The label of the horizontal axis; `ROUND` for rounds of one game.
        measure: What the samples are, a key of `LABELS` or a label for the vertical axis.
        band: The kind of line and band, a key of `dp_bandit_envs.metrics.BANDS`.
        x_scale: `"linear"` or `"log"`, of the horizontal axes.
        y_scale: The same of the vertical axes; with `"log"` all panels share it, and nothing is drawn at 0 or below.
        note: What to say after the meaning of line and band.
        columns: Number of panels in a row; None for at most three.

    Raises:
        ValueError: If there is no panel, or `band` or a scale is unknown.
    """
    if not panels:
        raise ValueError("panels must have at least one panel; received none.")
    x_scale, y_scale = (checks.known_name("scale", scale, SCALES) for scale in (x_scale, y_scale))
    band = checks.known_name("band", band, BANDS)
    bands = bands_of(panels, band)
    legend = entries_of(panels, bands)
    limits = None if y_scale == "linear" else shared_limits(panels, bands)
    with mpl.rc_context(RC):
        figure, grid = grid_of(len(panels), columns)
        algorithms: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for axes, panel, of in zip(grid, panels, bands, strict=False):
            for place, (curve, one) in enumerate(zip(panel.curves, of, strict=True)):
                key, floor = legend.key(curve), None if limits is None else limits[0]
                line = draw_band(axes, curve.at, one, legend.looks[key], floor=floor, turn=place / len(of))
                line.set_label(typeset(legend.labels[key]))
                algorithms.setdefault(typeset(legend.labels[key]), line)
            for reference in panel.references:
                others[typeset(reference.label)] = draw_reference(axes, reference, log=limits is not None)
            label = panel.across or across
            places = [curve.at for curve in panel.curves] + [reference.at for reference in panel.references]
            places_axis(axes, places, x_scale, rounds=label == ROUND)
            values_axis(axes, limits)
            axes.set_xlabel(typeset(label))
            axes.set_ylabel(LABELS.get(measure) or typeset(measure))
        for axes in grid[len(panels) :]:
            axes.axis("off")
        set_titles(grid, [panel.title for panel in panels], legend.notes)
        outer_labels_only(grid[: len(panels)])
        trials, fewest = trials_in_words(panels)
        says = band_in_words(band, trials, fewest)
        if limits is not None and any(np.any(one.line <= 0) for of in bands for one in of):
            says += "; a line begins where it is above 0"
        cell = grid[len(panels)] if len(grid) > len(panels) else None
        add_legend_and_note(figure, algorithms | others, typeset(f"{says}. {note}" if note else says), cell)
        return figure


def shared_limits(panels: Sequence[Panel], bands: Sequence[Sequence[Band]]) -> tuple[float, float]:
    """Return the limits of a logarithmic axis that all panels share."""
    lines = [one.line for of in bands for one in of] + [one.line for panel in panels for one in panel.references]
    return log_limits(lines, [end for of in bands for one in of for end in (one.low, one.high)])


def grid_of(number: int, columns: int | None = None, size: tuple[float, float] = CELL) -> tuple[Figure, list[Axes]]:
    """Return a figure in constrained layout, and its cells row by row, at least as many as `number`.

    Args:
        number: Number of panels.
        columns: Number of panels in a row; None for two of four panels, and else for at most three.
        size: Width and height of a panel in inches, unless it is alone.
    """
    across = columns or (2 if number == 4 else min(3, number))
    rows = math.ceil(number / across)
    width, height = ALONE if number == 1 else (size[0] * across, size[1] * rows)
    figure = Figure(figsize=(width, height), layout=RoundedLayout())
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(rows, across, squeeze=False).ravel())


def draw_band(
    axes: Axes,
    at: FloatArray | IntArray,
    band: Band,
    style: Style,
    *,
    floor: float | None = None,
    turn: float = 0.0,
) -> Any:
    """Draw a line with its band and return the line.

    Args:
        axes: The axes to draw on.
        at: Places on the horizontal axis, shape `(places,)`.
        band: What to draw.
        style: How it looks.
        floor: The lower end of a logarithmic axis, where a band that falls to 0 ends; None for a linear axis.
        turn: The share of the distance between two markers by which they are moved, in [0, 1), so that those of
            lines which coincide are seen; where each place has a marker they stay.
    """
    line, low, high = band
    if floor is not None:
        line = np.where(line > 0, line, np.nan)
        high = np.where(high > 0, high, np.nan)
        low = np.where(low > 0, low, floor)
    every = 1 if len(at) <= FEW else len(at) // MARKERS_ON_A_LINE
    axes.fill_between(at, low, high, color=style.colour, alpha=0.18, linewidth=0)
    drawn = axes.plot(
        at,
        line,
        color=style.colour,
        linestyle=style.line,
        marker=style.marker,
        markevery=(int(turn * every), every),
        markersize=4.5,
    )
    return drawn[0]


def draw_reference(axes: Axes, reference: Reference, *, log: bool) -> Any:
    """Draw a line that is no algorithm, on a logarithmic axis where it is above 0, and return it."""
    label, at, line, colour, width, dash = reference
    if log:
        line = np.where(line > 0, line, np.nan)
    return axes.plot(at, line, color=colour, linewidth=width, linestyle=dash, label=typeset(label))[0]


def set_titles(grid: Sequence[Axes], titles: Sequence[str], notes: Sequence[str] = ()) -> None:
    """Write the titles of panels, lettered if there are several, and below in small letters what holds there only.

    Args:
        grid: The axes of the panels.
        titles: Their titles.
        notes: What holds in each panel; "" for nothing, and what the title says already is not repeated.
    """
    figure, place = grid[0].get_figure(root=True), grid[0].get_subplotspec()
    assert figure is not None and place is not None
    rows, across = place.get_gridspec().get_geometry()
    width = figure.get_figwidth() / across - BESIDE
    shown = [typeset(title) for title in titles]
    said = [typeset(note) for note in notes] or [""] * len(shown)
    below = [
        "" if note in title else fitting(figure, note, width, **SMALL) for note, title in zip(said, shown, strict=True)
    ]
    lettered = [f"({chr(97 + index)}) {title}" if len(shown) > 1 else title for index, title in enumerate(shown)]
    # Beside a long title there may be another one; a panel alone has its own room.
    above = [fitting(figure, title, width, fontsize=10) if len(shown) > 1 else title for title in lettered]
    room = SMALL["fontsize"] * 1.3 * max((text.count("\n") + 1 for text in below if text), default=0)
    more = 12 * max(title.count("\n") for title in above)
    figure.set_figheight(figure.get_figheight() + rows * (room + more) / 72)
    for axes, title, text in zip(grid, above, below, strict=False):
        axes.set_title(title, loc="left", pad=6 + room + 2 * bool(room))
        if text:
            points: Any = {"xycoords": "axes fraction", "textcoords": "offset points"}
            axes.annotate(text, (0, 1), xytext=(0, 4), **points, **SMALL)
