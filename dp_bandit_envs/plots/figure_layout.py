"""The layout of a figure: panels and their axes, titles, one legend and a note, without overlaps."""

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.ticker import (
    EngFormatter,
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)
from matplotlib.transforms import ScaledTranslation

from dp_bandit_envs.plots.plot_style import LETTERS
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.typesetting import typeset

SHEET, COLUMN, ALONE = 7.2, 3.6, (6.0, 3.3)
"""Widths of a figure: a page of a paper or of the site; a column of a paper or a telephone; a panel alone, with height.

All lengths are in inches. Letters have at least 7 points at these widths.
"""
CELLS = {1: (COLUMN, 2.4), 2: (SHEET / 2, 2.4), 3: (SHEET / 3, 2.1)}
"""Width and height of a panel with its labels, by the number of panels in a row; of more than three, that of three."""
BESIDE = 0.55
"""Width of the numbers and the label next to a panel."""
EDGE = 0.12
"""Space around a legend or note."""
DIGITS = 7
"""Decimal places of a panel's edges, as shares of the sheet: thousandths of a pixel."""
NOTE_COLOUR = "#444444"
NOTE, SMALL = 7.5, 7.0
"""Points of a note, and of small letters, where others have `LETTERS`; all have 7 at least, if the others have."""
LEAST_PANEL = (0.9, 0.5)
"""The least width and height of a panel without its labels, where a figure's size is given."""
SHORTER = 2
"""So many more columns than of the longest label are tried in a legend."""
LETTERS_IN_AN_INCH = 15
"""About how many letters of a note fit in an inch."""
FEW = 12
"""Up to this number of places, each is marked on the axis and on the line."""
_POWER_OF_TWO = 2**8
"""The smallest places that are written as powers of 2, if all of them are."""


class RoundedLayout(ConstrainedLayoutEngine):
    """Matplotlib's constrained layout with rounded edges, reproducible to the last bit.

    Its solver visits its unknowns in the order of their addresses, which differ between runs, and so do the last bits
    of its edges: the same figure would be written as different bytes.
    """

    def execute(self, fig: Figure) -> None:
        """Place the panels of a figure; see `ConstrainedLayoutEngine`."""
        super().execute(fig)
        for axes in fig.axes:
            if axes.get_in_layout() and axes.get_subplotspec() is not None:
                left, bottom, width, height = (round(edge, DIGITS) for edge in axes.get_position(original=True).bounds)
                axes.set_position((left, bottom, width, height))
                axes.set_in_layout(True)  # which a position set by hand ends


def _look(points: float) -> dict[str, Any]:
    """Return the look of letters that have so many points where others have `LETTERS`."""
    size = mpl.rcParams["font.size"]
    return {"fontsize": max(points * size / LETTERS, min(SMALL, size)), "color": NOTE_COLOUR}


def grid_of(
    number: int, columns: int | None = None, size: tuple[float, float] | None = None
) -> tuple[Figure, list[Axes]]:
    """Return a figure in constrained layout, and its cells row by row, at least as many as `number`.

    Args:
        number: Number of panels.
        columns: Number of panels in a row, 1 for a narrow figure; None for two of four panels, and else for at most
            three.
        size: Width and height of the figure; by default what the panels need.
    """
    across = columns or (2 if number == 4 else min(3, number))
    rows = math.ceil(number / across)
    wide, tall = CELLS[min(3, across)]
    width, height = ALONE if number == 1 and columns is None else (wide * across, tall * rows)
    figure = Figure(figsize=size or (width, height), layout=RoundedLayout())
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(rows, across, squeeze=False).ravel())


def set_titles(grid: Sequence[Axes], titles: Sequence[str], notes: Sequence[str] = (), *, grows: bool = True) -> None:
    """Write the titles of panels, lettered if there are several, and below in small letters notes on the panel.

    Args:
        grid: The axes of the panels.
        titles: Their titles.
        notes: A note for each panel, or ""; words of the title are not repeated.
        grows: Whether the figure grows by what they need.
    """
    figure, cell = grid[0].get_figure(root=True), grid[0].get_subplotspec()
    assert figure is not None and cell is not None
    rows, across = cell.get_gridspec().get_geometry()
    width = figure.get_figwidth() / across - BESIDE
    texts = [typeset(title) for title in titles]
    said = [typeset(note) for note in notes] or [""] * len(texts)
    small, title_points = _look(SMALL), FontProperties(size=mpl.rcParams["axes.titlesize"]).get_size_in_points()
    below = [
        "" if note in title else fitting(figure, note, width, **small) for note, title in zip(said, texts, strict=True)
    ]
    lettered = [f"({chr(97 + index)}) {title}" if len(texts) > 1 else title for index, title in enumerate(texts)]
    # Beside a long title there may be another one; a panel alone has its own room.
    several = len(texts) > 1 or figure.get_figwidth() < ALONE[0]
    above = [fitting(figure, title, width, fontsize=title_points) if several else title for title in lettered]
    room = small["fontsize"] * 1.3 * max((text.count("\n") + 1 for text in below if text), default=0)
    more = 1.2 * title_points * max(title.count("\n") for title in above)
    if grows:
        figure.set_figheight(figure.get_figheight() + rows * (room + more) / 72)
    for axes, title, text in zip(grid, above, below, strict=False):
        axes.set_title(title, loc="left", pad=6 + room + 2 * bool(room))
        if text:
            points: Any = {"xycoords": "axes fraction", "textcoords": "offset points"}
            axes.annotate(text, (0, 1), xytext=(0, 4), **points, **small)


def places_axis(axes: Axes, places: Sequence[FloatArray | IntArray], scale: str, *, rounds: bool) -> None:
    """Set scale, limits and ticks of a horizontal axis.

    Args:
        axes: The axes.
        places: The positions of each line.
        scale: `"linear"` or `"log"`; positions of 0 or less make it linear.
        rounds: Whether positions are rounds of one game, so that a linear axis begins at 0 and not all are marked.
    """
    marked = np.unique(np.concatenate([np.asarray(at, dtype=float) for at in places] or [np.empty(0)]))
    if scale == "log" and marked.size and marked[0] > 0:
        axes.set_xscale("log")
    log = axes.get_xscale() == "log"
    if rounds:
        first = marked[0] if log and marked.size else 0.0
        if marked.size:
            axes.set_xlim(*((first, marked[-1]) if first < marked[-1] else (first / 2, first * 2)))
        if log:
            _powers_of_ten(axes.xaxis)
        else:
            axes.xaxis.set_major_locator(_round_numbers())
            axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        return
    if marked.size > 1:
        margin = (marked[-1] / marked[0]) ** 0.04 if log else 0.04 * (marked[-1] - marked[0])
        axes.set_xlim(
            *((marked[0] / margin, marked[-1] * margin) if log else (marked[0] - margin, marked[-1] + margin))
        )
    if 0 < marked.size <= FEW:
        powers = bool(marked[0] >= _POWER_OF_TWO and np.all(np.log2(marked) % 1 == 0))
        axes.xaxis.set_major_locator(FixedLocator(marked.tolist()))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(_power_of_two if powers else _plain))


def values_axis(axes: Axes, limits: tuple[float, float] | None, linear: tuple[float, float] | None = None) -> None:
    """Make a vertical axis logarithmic with these limits, or if there are none, linear and down to 0.

    Args:
        axes: The axes.
        limits: Ends of a logarithmic axis.
        linear: Ends of a linear axis; by default the range of the lines.
    """
    if limits is None:
        low, high = linear or axes.get_ylim()
        axes.set_ylim(min(0, low), high)
        axes.yaxis.set_major_locator(_round_numbers())
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))
        return
    # Limits first: matplotlib cannot choose them for axes without a positive value.
    axes.set_ylim(*limits)
    axes.set_yscale("log")
    low, high = limits
    if high / low < 300:
        # The fewer powers of ten, the more marks between them.
        marks = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if high / low < 20 else (1.0, 2.0, 5.0)
        axes.yaxis.set_major_locator(LogLocator(10, subs=marks))
        axes.yaxis.set_major_formatter(FuncFormatter(_plain))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        _powers_of_ten(axes.yaxis)


def log_limits(lines: Sequence[FloatArray], ends: Sequence[FloatArray] = ()) -> tuple[float, float]:
    """Return limits of a logarithmic axis for all lines, and for their bands unless they end far below all lines.

    Args:
        lines: Heights of lines, each of any shape.
        ends: Ends of bands.
    """
    height = _positive(lines)
    if not height.size:
        return 0.1, 1.0
    of_bands = _positive(ends)
    # A band that ends near 0 is cut, so that it does not squeeze all lines.
    low = max(min(height.min(), of_bands.min(initial=np.inf)), height.min() / 3)
    return float(low / 1.3), float(max(height.max(), of_bands.max(initial=0.0)) * 1.3)


def _positive(arrays: Sequence[FloatArray]) -> FloatArray:
    flat = np.concatenate([np.ravel(array) for array in arrays] or [np.empty(0)])
    return np.asarray(flat[np.isfinite(flat) & (flat > 0)], dtype=float)


def outer_labels_only(panels: Sequence[Axes]) -> None:
    """Remove an axis label if the panel to the left, or below, has the same."""
    at = {}
    for axes in panels:
        cell = axes.get_subplotspec()
        assert cell is not None
        at[cell.rowspan.start, cell.colspan.start] = axes
    for (row, column), axes in at.items():
        left, below = at.get((row, column - 1)), at.get((row + 1, column))
        axes.yaxis.label.set_visible(left is None or left.get_ylabel() != axes.get_ylabel())
        axes.xaxis.label.set_visible(below is None or below.get_xlabel() != axes.get_xlabel())


def _round_numbers() -> MaxNLocator:
    return MaxNLocator(6, steps=[1, 2, 5, 10])


def _powers_of_ten(axis: Axis) -> None:
    axis.set_major_locator(LogLocator(10, numticks=8))
    axis.set_minor_locator(LogLocator(10, subs="auto", numticks=8))
    axis.set_minor_formatter(NullFormatter())


def _power_of_two(value: float, _: float) -> str:
    power = np.log2(value)
    return rf"$2^{{{power:.0f}}}$" if abs(power - round(power)) < 1e-9 else _plain(value, 0)


def _plain(value: float, _: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def add_legend_and_note(
    figure: Figure, labelled: Mapping[str, Any], note: str, cell: Axes | None = None, *, grows: bool = True
) -> None:
    """Add a legend in a cell without a panel, or if it does not fit there below the panels, and a note below all.

    Below the panels a legend has as many columns as fit.

    Args:
        figure: The figure with all its panels, in constrained layout.
        labelled: The drawn line of each label.
        note: One line, which is wrapped.
        cell: Axes without a panel.
        grows: Whether the figure grows by what legend and note need, or else the panels shrink.

    Raises:
        ValueError: If the figure does not grow, and the panels have too little room.
    """
    if cell is not None and labelled:
        inside = cell.legend(labelled.values(), labelled, loc="center")
        wide, tall = _size(figure, inside)
        width, height = _room(figure, cell)
        if wide <= width and tall <= height:
            _add_below(figure, [], note, grows)
            return
        inside.remove()
    _add_below(figure, [_legend(figure, labelled)] if labelled else [], note, grows)


def _add_below(figure: Figure, legends: list[Legend], note: str, grows: bool) -> None:
    sizes = [_size(figure, legend) for legend in legends]
    width, height = figure.get_size_inches()
    look = _look(NOTE)
    if grows:
        width = max([width, *(wide + 2 * EDGE for wide, _ in sizes)])
        figure.set_figwidth(width)
    text = figure.supxlabel(fitting(figure, note, width - EDGE, **look), y=0.0, va="bottom", **look) if note else None
    note_height = EDGE + _size(figure, text)[1] if text is not None else 0.0
    below = note_height + sum(tall + EDGE for _, tall in sizes)
    whole = height + below if grows else height
    figure.set_figheight(whole)
    top = below - EDGE / 2
    for legend, (_, tall) in zip(legends, sizes, strict=True):
        legend.set_loc("upper center")
        legend.set_bbox_to_anchor((0.5, top / whole), figure.transFigure)
        top -= tall + EDGE
    if text is not None:
        # A fixed place, which the layout of the panels leaves alone.
        text.set_position((0.5, EDGE / 2 / whole))
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    share = min(below / whole, 0.99)
    engine.set(rect=(0, share, 1, 1 - share))
    if not grows:
        _refuse_small_panels(figure, max((wide for wide, _ in sizes), default=0.0))


def _refuse_small_panels(figure: Figure, widest: float) -> None:
    """Raise if the panels of a figure whose size is given have too little room, or the legend has."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        figure.draw_without_rendering()
    extents = [axes.get_window_extent() for axes in figure.axes if axes.axison]
    wide, tall = (min(getattr(box, side) for box in extents) / figure.dpi for side in ("width", "height"))
    if any("layout" in str(warning.message) for warning in warned):  # it finds no room, and leaves the panels there
        wide = tall = 0.0
    width, height = figure.get_size_inches()
    if wide < LEAST_PANEL[0] or tall < LEAST_PANEL[1] or widest > width:
        raise ValueError(
            f"size must leave each panel {LEAST_PANEL[0]:g} x {LEAST_PANEL[1]:g} inches, and the legend its width;"
            f" {width:g} x {height:g} leaves {wide:.1f} x {tall:.1f}, and the legend is {widest:.1f}"
            " wide. Give more, or shorter labels=, legend=False, or fewer panels by select()."
        )


def place_legend(axes: Axes, labelled: Mapping[str, Any], *, inside: bool) -> None:
    """Add the legend of one panel, within it where lines leave most room, or below its labels."""
    if inside:
        frame = {} if mpl.rcParams["legend.frameon"] else {"frameon": True, "edgecolor": "none", "framealpha": 0.8}
        axes.legend(labelled.values(), labelled, loc="best", **frame)
        return
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    box, labels = axes.get_window_extent(), axes.xaxis.get_tightbbox()
    # In inches below the panel, as a layout may change its height.
    down = 0.0 if labels is None else (box.y0 - labels.y0) / figure.dpi
    place = axes.transAxes + ScaledTranslation(0, -down, figure.dpi_scale_trans)
    look: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": place}
    legend = axes.legend(labelled.values(), labelled, ncols=2, **look)
    if legend.get_window_extent().width > box.width * 1.15:
        axes.legend(labelled.values(), labelled, **look)


def _size(figure: Figure, artist: Legend | Text) -> tuple[float, float]:
    """Return width and height of a legend or text, which do not depend on the layout."""
    box = artist.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi


def _room(figure: Figure, cell: Axes) -> tuple[float, float]:
    subplot = cell.get_subplotspec()
    assert subplot is not None
    rows, columns = subplot.get_gridspec().get_geometry()
    width, height = figure.get_size_inches()
    return width / columns, height / rows


def _legend(figure: Figure, labelled: Mapping[str, Any]) -> Legend:
    """Add a legend with as many columns as fit in the figure's width, all about equally long."""
    look: dict[str, Any] = {"loc": "lower left", "borderaxespad": 0.0, "borderpad": 0.0}
    room = figure.get_figwidth() - 2 * EDGE
    legend = figure.legend(labelled.values(), labelled, ncols=1, **look)
    # Columns of shorter labels are narrower, so that some more may fit than of the longest.
    most = min(int(room / _size(figure, legend)[0]) + SHORTER, len(labelled))
    for columns in range(most, 1, -1):
        # With as many rows as these columns need, fewer may do.
        even = math.ceil(len(labelled) / math.ceil(len(labelled) / columns))
        legend.remove()
        legend = figure.legend(labelled.values(), labelled, ncols=even, **look)
        if _size(figure, legend)[0] <= room:
            return legend
    legend.remove()
    return figure.legend(labelled.values(), labelled, ncols=1, **look)


def wrapped(text: str, letters: int) -> str:
    """Return text in lines of this many letters as drawn: mathematics is shorter than its commands."""
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
    return len(re.sub(r"\\[A-Za-z]+|[${}^_\\]", lambda match: "x" if match[0][1:] else "", word))


def fitting(figure: Figure, text: str, width: float, **look: Any) -> str:
    """Return text in as few lines as fit in a width in inches, all about equally long."""
    if not text:
        return ""
    letters = int(width * LETTERS_IN_AN_INCH * NOTE / look.get("fontsize", NOTE))
    probe = figure.text(0, 0, "", **look)
    while True:
        probe.set_text(wrapped(text, letters))
        if _size(figure, probe)[0] <= width or letters < 10:
            break
        # This text is wider than average, so use fewer letters in a line.
        letters = letters * 9 // 10
    probe.remove()
    lines = wrapped(text, letters).count("\n")
    while wrapped(text, letters - 1).count("\n") == lines and letters > 10:
        letters -= 1
    return wrapped(text, letters)
