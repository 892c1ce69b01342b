"""Plots Bayesian regret on feedback graphs over time, and the cost of feedback under privacy."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FixedLocator, FormatStrFormatter, NullLocator

from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.plots.figure_legend import add_legend_and_note, add_note, size
from dp_bandit_envs.plots.plot_style import BLACK, RC
from dp_bandit_envs.plots.regret_plot import NORMAL_95, Curves, draw_curves, share_limits
from dp_bandit_envs.protocols import FloatArray, IntArray

ACROSS = 3
CELL = (3.5, 2.9)
"""Width and height of a panel with its labels, in inches."""
BOTH = 3.0
"""Width of both legends in place of a panel."""
LABEL = "Bayesian regret (gain)"


class OnGraph(NamedTuple):
    """One graph over time: title, rounds `(checkpoints,)`, regret `(trials, checkpoints)` by name, and the bound."""

    title: str
    rounds: IntArray
    curves: Curves
    bound: FloatArray


class ByFeedback(NamedTuple):
    """Regret after the last round, `(trials, numbers)` by level, against the number of gains revealed in a round."""

    title: str
    revealed: Sequence[int]
    curves: Curves


def graph_figure(graphs: Sequence[OnGraph], feedback: ByFeedback, *, note: str, guarantee: str = "") -> Figure:
    """Draw a panel for each graph, and one for the cost of feedback; all axes are logarithmic.

    Args:
        graphs: The graphs.
        feedback: The data of the last panel.
        note: One line below the figure.
        guarantee: The guarantee of the algorithms on graphs, for the title of their legend.
    """
    with mpl.rc_context(RC):
        rows = math.ceil((len(graphs) + 2) / ACROSS)
        figure = Figure(figsize=(CELL[0] * ACROSS, CELL[1] * rows + 0.3), layout="constrained")
        FigureCanvasAgg(figure)
        grid = list(figure.subplots(rows, ACROSS, squeeze=False).ravel())
        labelled: dict[str, Any] = {}
        for axes, data in zip(grid, graphs, strict=False):
            draw_curves(axes, data.rounds, data.curves, "mean", names=list(data.curves))
            axes.plot(data.rounds, data.bound, color=BLACK, linestyle="--", linewidth=1.8, label="bound for TS-N")
            axes.set_xscale("log")
            if len(data.rounds) > 1:
                axes.set_xlim(data.rounds[0], data.rounds[-1])
            axes.set_xlabel("round t")
            axes.xaxis.set_major_formatter(EngFormatter(sep=""))
            labelled |= {label: line for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        share_limits(grid[: len(graphs)])
        last = grid[len(graphs)]
        _by_feedback(last, feedback)
        share_limits([last])
        titles = [data.title for data in graphs] + [feedback.title]
        for index, (axes, title) in enumerate(zip(grid, titles, strict=False)):
            axes.set_title(f"({chr(97 + index)}) {title}", loc="left")
            axes.set_ylabel(LABEL)
        for axes in grid[len(titles) :]:
            axes.axis("off")
        cell = grid[len(titles)]
        names = f"(a) to ({chr(96 + len(graphs))})" + (f"\n{guarantee}" if guarantee else "")
        # At the left edge, where other panels have their axis label, so that both legends fit.
        first = cell.legend(
            labelled.values(), labelled, loc="center left", bbox_to_anchor=(-0.1, 0.5), handlelength=2.5, title=names
        )
        handles, labels = last.get_legend_handles_labels()
        second = cell.legend(handles, labels, loc="center right", handlelength=2, title=f"({chr(97 + len(graphs))})")
        if size(figure, first)[0] + size(figure, second)[0] > BOTH or size(figure, first)[1] > CELL[1]:
            add_legend_and_note(figure, labelled, note, (rows, ACROSS), title=names)
        else:
            cell.add_artist(first)
            add_note(figure, note, rows)
        return figure


def _by_feedback(axes: Axes, data: ByFeedback) -> None:
    shades = mpl.colormaps["viridis"]
    for index, (label, regret) in enumerate(data.curves.items()):
        middle, error = mean_and_standard_error(regret)
        last = index == len(data.curves) - 1
        colour: Any = BLACK if last else shades(0.9 * index / max(len(data.curves) - 2, 1))
        axes.errorbar(
            data.revealed,
            middle,
            yerr=NORMAL_95 * error,
            color=colour,
            linestyle="--" if last else "-",
            marker="osD^vP"[index % 6],
            markersize=4.5,
            capsize=2,
            label=label,
        )
    axes.set_xscale("log")
    axes.set_xlabel("gains revealed in a round")
    axes.xaxis.set_major_locator(FixedLocator(list(data.revealed)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
