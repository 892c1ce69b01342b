"""The picture of a score card: one panel for each epsilon, one row for each axis, and grey ticks for the others."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dp_bandit_envs.plots.plot_style import GREY, LIGHT_GREY, RC, styles_for, typeset

INCHES_OF_PANEL, INCHES_OF_ROW, INCHES_OF_LABELS = 2.1, 0.3, 1.1
INCHES_OF_LETTER, INCHES_OF_CELL, INCHES_OF_LINE = 0.065, 0.9, 0.19
LEAST_INCHES_OF_PANELS = 3.4
"""The axis label below one panel alone needs this width."""
HANDLE_LENGTH = 1.4
LEFT, RIGHT = -1.0, 1.25
"""The scores that the horizontal axis shows; those beyond are arrows at its ends."""


class ScorePanel(NamedTuple):
    """The scores at one epsilon.

    Attributes:
        title: Above the panel.
        field: By row, the scores of all others.
        dots: By name, and by row, a score with the ends of its interval.
    """

    title: str
    field: Mapping[str, Sequence[float]]
    dots: Mapping[str, Mapping[str, tuple[float, float, float]]]


def scores_figure(
    panels: Sequence[ScorePanel],
    rows: Sequence[str],
    *,
    field: str,
    total: str = "",
    table: Sequence[Sequence[str]] = (),
    columns: int | None = None,
    label: str = "score: 0 is chance, 1 is the best without privacy",
    lowest: float = LEFT,
) -> Figure:
    """Return the figure.

    Args:
        panels: A panel for each epsilon.
        rows: The rows, from top to bottom; a line sets the first apart if it is `total`.
        field: Name of the ticks in the legend.
        total: Name of the row of totals.
        table: Rows of text below the panels, the head first; none by default.
        columns: Panels in a row.
        label: What a score is, below the panels.
        lowest: The lowest score that is shown, -1 or 0.
    """
    columns = min(columns or len(panels), len(panels))
    lines = -(-len(panels) // columns)
    below = INCHES_OF_LINE * len(table) + 0.15 if table else 0.0
    inches_of_panels = max(INCHES_OF_PANEL * columns, LEAST_INCHES_OF_PANELS)
    width = INCHES_OF_LABELS + inches_of_panels
    styles = styles_for(dict.fromkeys(name for panel in panels for name in panel.dots))
    in_a_line = _columns_of_legend([field, *map(typeset, styles)], 1 + columns, inches_of_panels)
    top = 0.42 + 0.2 * -(-(1 + len(styles)) // in_a_line)
    height = lines * (INCHES_OF_ROW * len(rows) + 0.55) + 0.03 + top + below
    with mpl.rc_context(RC):
        figure = Figure(figsize=(width, height))
        axes = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        figure.subplots_adjust(
            left=INCHES_OF_LABELS / width,
            right=0.99,
            top=1 - top / height,
            bottom=(0.5 + below) / height,
            wspace=0.07,
            hspace=0.22,
        )
        for ax in axes.flat[len(panels) :]:
            ax.set_visible(False)
        for ax, panel in zip(axes.flat, panels, strict=False):
            _draw_panel(ax, panel, rows, styles, field, lowest)
            if rows[:1] == [total]:
                ax.axhline(0.5, color=LIGHT_GREY, lw=0.8)
        for ax in axes[:, 0]:
            ax.set_yticks(range(len(rows)), rows)
        axes[0, 0].set_ylim(len(rows) - 0.5, -0.5)
        middle = (INCHES_OF_LABELS + inches_of_panels / 2) / width
        figure.text(middle, (0.08 + below) / height, label, ha="center")
        handles: dict[str, Any] = {}
        for ax in axes.flat:
            handles |= {label: line for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        figure.legend(
            list(handles.values()),
            list(handles),
            loc="upper center",
            bbox_to_anchor=(middle, 1 - 0.02 / height),
            ncols=min(in_a_line, len(handles)),
            handlelength=HANDLE_LENGTH,
        )
        if table:
            _draw_table(figure, table, INCHES_OF_LABELS / width, below / height, height)
    return figure


def _columns_of_legend(labels: Sequence[str], most: int, inches: float) -> int:
    """Return the columns, at most `most`, with which a legend is not wider than `inches`."""
    with mpl.rc_context(RC):
        handles = [Line2D([], []) for _ in labels]
        for columns in range(min(most, len(labels)), 1, -1):
            figure = Figure(figsize=(inches, 1.0))
            legend = figure.legend(handles, labels, ncols=columns, handlelength=HANDLE_LENGTH)
            if legend.get_window_extent().width <= inches * figure.dpi:
                return columns
    return 1


def _draw_panel(
    ax: Any, panel: ScorePanel, rows: Sequence[str], styles: Mapping[str, Any], field: str, lowest: float
) -> None:
    for anchor in (0, 1):
        ax.axvline(anchor, color=GREY, lw=0.8, ls=":", zorder=0)
    ax.grid(visible=False)
    for line, row in enumerate(rows):
        scores = np.clip(panel.field.get(row, ()), lowest, RIGHT)
        marks = {"marker": "|", "ls": "", "color": LIGHT_GREY, "ms": 9, "mew": 1.2, "zorder": 1}
        ax.plot(scores, np.full(len(scores), line), label=field if line == 0 else None, **marks)
    shift = 0.44 / max(1, len(panel.dots))
    for index, (name, scores_of_rows) in enumerate(panel.dots.items()):
        at = (index - (len(panel.dots) - 1) / 2) * shift
        look = styles[name]
        for row, (score, low, high) in scores_of_rows.items():
            height = rows.index(row) + at
            ax.plot(np.clip([low, high], lowest, RIGHT), [height, height], color=look.colour, lw=1.4, zorder=3)
            marker = "<" if score <= lowest < 0 else ">" if score >= RIGHT else look.marker
            ax.plot(min(max(score, lowest), RIGHT), height, ls="", color=look.colour, marker=marker, ms=4.5, zorder=4)
        ax.plot([], [], color=look.colour, marker=look.marker, ms=4.5, label=typeset(name))
    ax.set_title(panel.title)
    ax.set_xlim(lowest - 0.07, RIGHT + 0.07)
    ticks = {-1: "−1", -0.5: "", 0: "0", 0.5: "", 1: "1"}
    ax.set_xticks(*zip(*((at, words) for at, words in ticks.items() if at >= lowest), strict=True))
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def _draw_table(figure: Figure, table: Sequence[Sequence[str]], left: float, top: float, height: float) -> None:
    """Write rows of text below the panels, aligned to the right but for their first column."""
    width = figure.get_figwidth()
    names = INCHES_OF_LETTER * max(len(cells[0]) for cells in table)
    ends = left + (names + INCHES_OF_CELL * np.arange(1, len(table[0]))) / width
    for line, cells in enumerate(table):
        y = top - (line * INCHES_OF_LINE + 0.06) / height
        weight = "bold" if line == 0 else "normal"
        figure.text(left, y, typeset(cells[0]), weight=weight, size=7.5, va="top")
        for cell, x in zip(cells[1:], ends, strict=True):
            figure.text(x, y, cell, weight=weight, size=7.5, ha="right", va="top")
