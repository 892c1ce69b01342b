"""Places the legend and the note of a figure so that they fit and cover nothing, however long they are."""

import math
import textwrap
from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

TALL = 4.2
"""The height of a legend's columns if one column does not fit, or the figure's height if that is larger."""
PANEL_WIDTH, PANEL_HEIGHT = 2.8, 2.0
"""The smallest size of a panel with its labels beside the legend and above the note."""
EDGE = 0.15
"""Space around a legend or note. All lengths are in inches."""


def add_legend_and_note(
    figure: Figure, labelled: Mapping[str, Any], note: str, shape: tuple[int, int], title: str | None = None
) -> None:
    """Add a legend to the right of the panels and a note below them; the figure grows if there is no room.

    Args:
        figure: The figure with all its panels, in constrained layout.
        labelled: The drawn line of each label.
        note: One line.
        shape: Rows and columns of panels.
        title: The legend's.
    """
    rows, across = shape
    width, height = figure.get_size_inches()
    legend = _legend(figure, labelled, title, columns=1)
    one_wide, tall = size(figure, legend)
    if tall + EDGE + size(figure, _write(figure, note))[1] > height:
        legend.remove()
        legend = _legend(figure, labelled, title, columns=math.ceil(tall / max(TALL, height)))
    wide, tall = size(figure, legend)
    # Further columns widen the figure, not at the panels' expense.
    figure.set_figwidth(max(width + (wide - one_wide), wide + PANEL_WIDTH * across))
    add_note(figure, note, rows, tall)


def add_note(figure: Figure, note: str, rows: int, tall: float = 0.0) -> None:
    """Add a note below a figure, which grows if the rows of panels, or a legend of height `tall`, would not fit."""
    height = figure.get_figheight()
    note_height = size(figure, _write(figure, note))[1]
    if note_height + max(PANEL_HEIGHT * rows, tall + EDGE) > height:
        figure.set_figheight(note_height + max(height, tall + EDGE))


def size(figure: Figure, artist: Legend | Text) -> tuple[float, float]:
    """Return width and height of a legend or text in inches, which do not depend on the layout."""
    box = artist.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi


def _legend(figure: Figure, labelled: Mapping[str, Any], title: str | None, columns: int) -> Legend:
    look: dict[str, Any] = {"handlelength": 3, "ncols": columns, "title": title}
    return figure.legend(labelled.values(), labelled, loc="outside right upper", **look)


def _write(figure: Figure, note: str) -> Text:
    """Add a note, wrapped to the figure's width."""
    letters = int(figure.get_figwidth() * 15)
    while True:
        text = figure.supxlabel("\n".join(textwrap.wrap(note, letters)), fontsize=8, color="#444444")
        if size(figure, text)[0] <= figure.get_figwidth() - EDGE or letters < 10:
            return text
        # This text is wider than average, so use fewer letters in a line.
        letters = letters * 9 // 10
