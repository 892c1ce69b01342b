"""The picture of a score card: one panel for each epsilon, one row for each axis, and grey ticks for the others."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.plots.figure_layout import add_legend_and_note, grid_of
from dp_bandit_envs.plots.plot_style import GREY, LIGHT_GREY, RC, styles_for
from dp_bandit_envs.typesetting import typeset

INCHES_OF_PANEL, INCHES_OF_ROW, INCHES_OF_LABELS = 2.1, 0.3, 1.1
INCHES_OF_TITLES = 0.7
"""Height of a panel's title and numbers."""
LEAST_INCHES_OF_PANELS = 3.4
"""The note below one panel alone needs this width."""
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
    after_names: Mapping[str, str] = MappingProxyType({}),
    note: str = "",
    columns: int | None = None,
    meaning: str = "Score: 0 is chance, 1 is the best without privacy",
    lowest: float = LEFT,
) -> Figure:
    """Return the figure.

    Args:
        panels: A panel for each epsilon.
        rows: The rows, from top to bottom; a line sets the first apart if it is `total`.
        field: Name of the ticks in the legend.
        total: Name of the row of totals.
        after_names: What the legend says after names.
        note: Text after the meaning of the scores.
        columns: Panels in a row.
        meaning: What a score is.
        lowest: The lowest score that is shown, -1 or 0.
    """
    columns = min(columns or len(panels), len(panels))
    lines = -(-len(panels) // columns)
    width = INCHES_OF_LABELS + max(INCHES_OF_PANEL * columns, LEAST_INCHES_OF_PANELS)
    styles = styles_for(dict.fromkeys(name for panel in panels for name in panel.dots))
    with mpl.rc_context(RC):
        size = (width, lines * (INCHES_OF_ROW * len(rows) + INCHES_OF_TITLES))
        figure, grid = grid_of(len(panels), columns, size)
        handles: dict[str, Any] = {}
        for index, ax in enumerate(grid):
            if index >= len(panels):
                ax.axis("off")
                continue
            _draw_panel(ax, panels[index], rows, styles, field, lowest)
            if rows[:1] == [total]:
                ax.axhline(0.5, color=LIGHT_GREY, lw=0.8)
            ax.set_yticks(range(len(rows)), rows if index % columns == 0 else [""] * len(rows))
            ax.set_ylim(len(rows) - 0.5, -0.5)
            handles |= {label: line for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        labelled = {f"{label}{after_names.get(label, '')}": line for label, line in handles.items()}
        words = ". ".join(filter(None, [meaning, note]))
        add_legend_and_note(figure, {typeset(label): line for label, line in labelled.items()}, words)
    return figure


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
        ax.plot([], [], color=look.colour, marker=look.marker, ms=4.5, label=name)
    ax.set_title(panel.title)
    ax.set_xlim(lowest - 0.07, RIGHT + 0.07)
    ticks = {-1: "−1", -0.5: "", 0: "0", 0.5: "", 1: "1"}
    ax.set_xticks(*zip(*((at, words) for at, words in ticks.items() if at >= lowest), strict=True))
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
