"""Regret against time, one panel a game: medians of means with the spread of trials, or means with their interval."""

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from dp_bandit_envs.metrics import gini_below_and_above, mean_and_standard_error, median_of_means
from dp_bandit_envs.plots.figure_legend import add_legend_and_note, add_note, size
from dp_bandit_envs.plots.plot_style import RC, style_of
from dp_bandit_envs.protocols import FloatArray, IntArray

Curves = dict[str, FloatArray]
MARKERS = 8
CELL = (3.4, 2.9)
"""Width and height of a panel in inches, or of a legend in place of one."""
NORMAL_95 = 1.96
LABELS = {"external_regret": "external regret (gain)", "pseudo_regret": "pseudo-regret (gain)"}


def regret_figure(
    panels: Sequence[tuple[str, IntArray, Curves]],
    *,
    note: str,
    spacing: str = "linear",
    measure: str = "external_regret",
    centre: str = "median of means",
    scale: str = "linear",
    columns: int | None = None,
    labels: Mapping[str, str] | None = None,
) -> Figure:
    """Draw regret against the round.

    Args:
        panels: For each game its title, the rounds `(checkpoints,)` and each algorithm's regret
            `(trials, checkpoints)`.
        note: One line below the figure that explains line and band.
        spacing: `"linear"`, or `"log"` for a logarithmic axis of rounds.
        measure: Which regret it is, a key of `LABELS`.
        centre: `"median of means"` with Gini's mean difference below and above it, or `"mean"` with its 95% interval.
        scale: `"linear"`, or `"log"` for a logarithmic axis of regret, the same for all panels.
        columns: Number of panels in a row, with the legend to their right; None for three, with the legend in an empty
            cell if it fits there.
        labels: The legend's label for each algorithm; by default its name.
    """
    with mpl.rc_context(RC):
        cell = columns is None and len(panels) > 1
        across = columns or min(3, len(panels))
        # With several panels the legend has a cell of its own, so that it covers nothing.
        rows = math.ceil((len(panels) + cell) / across)
        figure = Figure(figsize=(CELL[0] * across + _beside(cell, columns), CELL[1] * rows + 0.3), layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(rows, across, squeeze=False).ravel()
        labelled: dict[str, Any] = {}
        for index, (axes, (title, rounds, curves)) in enumerate(zip(grid, panels, strict=False)):
            draw_curves(axes, rounds, curves, centre, names=list(curves), labels=labels)
            _axes(axes, rounds, spacing, scale, LABELS[measure])
            axes.set_title(f"({chr(97 + index)}) {title}" if len(panels) > 1 else title, loc="left")
            labelled |= {label: line for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        if scale == "log":
            share_limits(list(grid[: len(panels)]))
        for axes in grid[len(panels) :]:
            axes.axis("off")
        if not cell:
            add_legend_and_note(figure, labelled, note, (rows, across))
            return figure
        legend = grid[len(panels)].legend(labelled.values(), labelled, loc="center", fontsize=10, handlelength=3)
        wide, tall = size(figure, legend)
        if wide > CELL[0] or tall > CELL[1]:
            settings: Any = {"spacing": spacing, "measure": measure, "centre": centre, "scale": scale, "labels": labels}
            return regret_figure(panels, note=note, columns=across, **settings)
        add_note(figure, note, rows)
        return figure


def _beside(cell: bool, columns: int | None) -> float:
    """Return the width of a legend beside the panels, in inches."""
    if cell:
        return 0.0
    return 4.2 if columns is None else 1.6


def draw_curves(
    axes: Axes,
    at: IntArray | FloatArray,
    curves: Curves,
    centre: str,
    names: list[str],
    labels: Mapping[str, str] | None = None,
) -> None:
    """Draw a line with a band for each algorithm.

    Args:
        axes: The axes to draw on.
        at: Positions on the horizontal axis, shape `(places,)`.
        curves: Each algorithm's regret, shape `(trials, places)`.
        centre: As for `regret_figure`.
        names: All algorithms of the figure.
        labels: The legend's label for each algorithm; by default its name.
    """
    for place, (name, regret) in enumerate(curves.items()):
        middle, low, high = _line_and_band(regret, centre)
        colour, line, marker = style_of(name, names)
        every = max(1, len(at) // MARKERS)
        start = min(place * every // max(len(curves), 1), len(at) - 1)
        axes.fill_between(at, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.plot(
            at,
            middle,
            color=colour,
            linestyle=line,
            marker=marker,
            markevery=(start, every),
            markersize=4.5,
            label=(labels or {}).get(name, name),
        )


def _line_and_band(regret: FloatArray, centre: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    if centre == "mean":
        middle, error = mean_and_standard_error(regret)
        half = NORMAL_95 * np.nan_to_num(error)
        return middle, middle - half, middle + half
    middle = median_of_means(regret).value
    below, above = gini_below_and_above(regret, middle)
    return middle, middle - below, middle + above


def _axes(axes: Axes, rounds: IntArray, spacing: str, scale: str, label: str) -> None:
    axes.set_xscale(spacing)
    first = rounds[0] if spacing == "log" else 0
    if first < rounds[-1]:
        axes.set_xlim(first, rounds[-1])
    if scale == "linear":
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    axes.set_xlabel("round t")
    axes.set_ylabel(label)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_major_formatter(EngFormatter(sep=""))


def share_limits(panels: Sequence[Axes]) -> None:
    """Make the regret axes of panels logarithmic, from the smallest positive to the largest value of any line."""
    lines = [line for axes in panels for line in axes.lines]
    for line in lines:
        height = np.asarray(line.get_ydata(), dtype=float)
        # A line begins where it becomes positive, not at the bottom of the figure.
        line.set_ydata(np.where(height > 0, height, math.nan))
    values = np.concatenate([np.ravel(line.get_ydata()) for line in lines] or [np.empty(0)])
    positive = values[np.isfinite(values)]
    if not positive.size:
        return
    low, high = positive.min(), positive.max()
    for axes in panels:
        # Limits first: matplotlib cannot choose them for axes without a positive value.
        axes.set_ylim(low / 1.6, high * 1.6)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(_plain)
        axes.minorticks_off()


def _plain(value: float, _: float) -> str:
    """Write 0.1 as it is, and 1000 as 1k."""
    return f"{value:g}" if value < 1 else EngFormatter(sep="")(value)


def as_bytes(figure: Figure, kind: str) -> bytes:
    """Return a figure as the bytes of a `"png"` or `"svg"` file; equal figures give equal bytes."""
    buffer = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context(RC):
        figure.savefig(buffer, format=kind, dpi=200, metadata=metadata)
    return buffer.getvalue()
