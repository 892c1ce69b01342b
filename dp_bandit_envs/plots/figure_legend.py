"""Places the legend and the note of a figure so that they fit and cover nothing, however long they are."""

import math
import re
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.text import Text

EDGE = 0.12
"""Space around a legend or note. All lengths are in inches."""
NOTE: dict[str, Any] = {"fontsize": 8, "color": "#444444"}
SHORTER = 2
"""So many more columns than of the longest label are tried in a legend."""
LETTERS = 15
"""About how many letters of a note fit in an inch."""


def add_legend_and_note(figure: Figure, labelled: Mapping[str, Any], note: str, cell: Axes | None = None) -> None:
    """Add a legend in a cell without a panel, or if it does not fit there below the panels, and a note below all.

    Below the panels a legend has as many columns as fit, and the figure grows by what legend and note need.

    Args:
        figure: The figure with all its panels, in constrained layout.
        labelled: The drawn line of each label.
        note: One line, which is wrapped.
        cell: Axes without a panel.
    """
    if cell is not None and labelled:
        inside = cell.legend(labelled.values(), labelled, loc="center")
        wide, tall = size(figure, inside)
        width, height = _room(figure, cell)
        if wide <= width and tall <= height:
            add_below(figure, [], note)
            return
        inside.remove()
    add_below(figure, [_legend(figure, labelled)] if labelled else [], note)


def add_below(figure: Figure, legends: list[Legend], note: str) -> None:
    """Let a figure grow by legends and a note, and place them below its panels."""
    sizes = [size(figure, legend) for legend in legends]
    width, height = figure.get_size_inches()
    width = max([width, *(wide + 2 * EDGE for wide, _ in sizes)])
    figure.set_figwidth(width)
    text = figure.supxlabel(fitting(figure, note, width - EDGE, **NOTE), y=0.0, va="bottom", **NOTE) if note else None
    note_height = EDGE + size(figure, text)[1] if text is not None else 0.0
    below = note_height + sum(tall + EDGE for _, tall in sizes)
    figure.set_figheight(height + below)
    top = below - EDGE / 2
    for legend, (_, tall) in zip(legends, sizes, strict=True):
        legend.set_loc("upper center")
        legend.set_bbox_to_anchor((0.5, top / (height + below)), figure.transFigure)
        top -= tall + EDGE
    if text is not None:
        # A fixed place, which the layout of the panels leaves alone.
        text.set_position((0.5, EDGE / 2 / (height + below)))
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    share = below / (height + below)
    engine.set(rect=(0, share, 1, 1 - share))


def size(figure: Figure, artist: Legend | Text) -> tuple[float, float]:
    """Return width and height of a legend or text in inches, which do not depend on the layout."""
    box = artist.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi


def _room(figure: Figure, cell: Axes) -> tuple[float, float]:
    """Return width and height of a cell of the figure's grid, in inches."""
    place = cell.get_subplotspec()
    assert place is not None
    rows, columns = place.get_gridspec().get_geometry()
    width, height = figure.get_size_inches()
    return width / columns, height / rows


def _legend(figure: Figure, labelled: Mapping[str, Any]) -> Legend:
    """Add a legend with as many columns as fit in the figure's width, all about equally long."""
    look: dict[str, Any] = {"loc": "lower left", "borderaxespad": 0.0, "borderpad": 0.0}
    room = figure.get_figwidth() - 2 * EDGE
    legend = figure.legend(labelled.values(), labelled, ncols=1, **look)
    # Columns of shorter labels are narrower, so that some more may fit than of the longest.
    most = min(int(room / size(figure, legend)[0]) + SHORTER, len(labelled))
    for columns in range(most, 1, -1):
        # With as many rows as these columns need, fewer may do.
        even = math.ceil(len(labelled) / math.ceil(len(labelled) / columns))
        legend.remove()
        legend = figure.legend(labelled.values(), labelled, ncols=even, **look)
        if size(figure, legend)[0] <= room:
            return legend
    legend.remove()
    return figure.legend(labelled.values(), labelled, ncols=1, **look)


def wrapped(text: str, letters: int) -> str:
    """Return text in lines of so many letters, counted as they are drawn: mathematics is shorter than its commands."""
    # A space within mathematics does not end a word.
    words = re.findall(r"(?:\\\$|\$(?:[^$\\]|\\.)*\$|\S)+", text)
    lines: list[str] = []
    length = 0
    for word in words:
        seen = _letters(word)
        if lines and length + 1 + seen <= letters:
            lines[-1] += f" {word}"
            length += 1 + seen
        else:
            lines.append(word)
            length = seen
    return "\n".join(lines)


def _letters(word: str) -> int:
    return len(re.sub(r"\\[A-Za-z]+|[${}^_\\]", lambda found: "x" if found[0][1:] else "", word))


def fitting(figure: Figure, text: str, width: float, **look: Any) -> str:
    """Return text in as few lines as fit in a width in inches, all about equally long."""
    if not text:
        return ""
    letters = int(width * LETTERS * NOTE["fontsize"] / look.get("fontsize", NOTE["fontsize"]))
    probe = figure.text(0, 0, "", **look)
    while True:
        probe.set_text(wrapped(text, letters))
        if size(figure, probe)[0] <= width or letters < 10:
            break
        # This text is wider than average, so use fewer letters in a line.
        letters = letters * 9 // 10
    probe.remove()
    lines = wrapped(text, letters).count("\n")
    while wrapped(text, letters - 1).count("\n") == lines and letters > 10:
        letters -= 1
    return wrapped(text, letters)
