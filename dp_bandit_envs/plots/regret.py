"""Regret against time, one panel a game: median of means with Gini's mean difference below and above."""

import io
import math
import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from dp_bandit_envs.metrics import gini_below_and_above, median_of_means
from dp_bandit_envs.plots.style import RC, look
from dp_bandit_envs.protocols import FloatArray, IntArray

Curves = dict[str, FloatArray]
MARKERS = 8


def regret_figure(panels: Sequence[tuple[str, IntArray, Curves]], *, note: str, spacing: str = "linear") -> Figure:
    """Draw external regret against the round.

    Args:
        panels: For each game its title, the rounds `(checkpoints,)` and each algorithm's external regret
            `(trials, checkpoints)`.
        note: One line below the figure that says what line and band are.
        spacing: `"linear"`, or `"log"` for a logarithmic axis of rounds.
    """
    with mpl.rc_context(RC):
        columns = min(3, len(panels)) if len(panels) > 1 else 1
        # With several panels the legend has a cell of its own, so that it covers nothing.
        cells = len(panels) + (len(panels) > 1)
        rows = math.ceil(cells / columns)
        figure = Figure(figsize=(3.4 * columns + (4.2 if columns == 1 else 0), 2.9 * rows + 0.3), layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for index, (axes, (title, rounds, curves)) in enumerate(zip(grid, panels, strict=False)):
            _panel(axes, rounds, curves)
            _axes(axes, rounds, spacing)
            axes.set_title(f"({chr(97 + index)}) {title}" if len(panels) > 1 else title, loc="left")
        handles, labels = grid[0].get_legend_handles_labels()
        for axes in grid[len(panels) :]:
            axes.axis("off")
        if len(panels) > 1:
            grid[len(panels)].legend(handles, labels, loc="center", fontsize=10, handlelength=3)
        else:
            figure.legend(handles, labels, loc="outside right upper", handlelength=3)
        width = int(figure.get_figwidth() * 15)
        figure.supxlabel("\n".join(textwrap.wrap(note, width)), fontsize=8, color="#444444")
        return figure


def _panel(axes: Axes, rounds: IntArray, curves: Curves) -> None:
    names = list(curves)
    for place, (name, regret) in enumerate(curves.items()):
        middle = median_of_means(regret).value
        below, above = gini_below_and_above(regret, middle)
        colour, line, marker = look(name, names)
        every = max(1, len(rounds) // MARKERS)
        start = min(place * every // max(len(names), 1), len(rounds) - 1)
        axes.fill_between(rounds, middle - below, middle + above, color=colour, alpha=0.18, linewidth=0)
        axes.plot(
            rounds,
            middle,
            color=colour,
            linestyle=line,
            marker=marker,
            markevery=(start, every),
            markersize=4.5,
            label=name,
        )


def _axes(axes: Axes, rounds: IntArray, spacing: str) -> None:
    axes.set_xscale(spacing)
    axes.set_xlim(rounds[0] if spacing == "log" else 0, rounds[-1])
    axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    axes.set_xlabel("round t")
    axes.set_ylabel("external regret (gain)")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_major_formatter(EngFormatter(sep=""))


def as_bytes(figure: Figure, kind: str) -> bytes:
    """Return a figure as the bytes of a `"png"` or `"svg"` file; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context(RC):
        figure.savefig(buffer, format=kind, dpi=200, metadata=metadata)
    return buffer.getvalue()
