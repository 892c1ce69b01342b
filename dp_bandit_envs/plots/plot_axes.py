"""Ticks, scales and limits: places that are marked one by one, powers of ten, and axes that panels share."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import (
    EngFormatter,
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from dp_bandit_envs.protocols import FloatArray, IntArray

FEW = 12
"""Up to this number of places, each is marked on the axis and on the line."""
_POWER_OF_TWO = 2**8
"""The smallest places that are written as powers of 2, if all of them are."""


def places_axis(axes: Axes, places: Sequence[FloatArray | IntArray], scale: str, *, rounds: bool) -> None:
    """Set scale, limits and ticks of a horizontal axis.

    Args:
        axes: The axes.
        places: The places of each line.
        scale: `"linear"` or `"log"`; places of 0 or less make it linear.
        rounds: Whether places are rounds of one game, so that a linear axis begins at 0 and not all are marked.
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
            axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
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
        axes.xaxis.set_major_formatter(FuncFormatter(power_of_two if powers else plain))


def values_axis(axes: Axes, limits: tuple[float, float] | None) -> None:
    """Make a vertical axis logarithmic with these limits, or if there are none, linear and down to 0."""
    if limits is None:
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
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
        axes.yaxis.set_major_formatter(FuncFormatter(plain))
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
    """Remove an axis label where the panel to the left, or below, has the same."""
    at = {}
    for axes in panels:
        place = axes.get_subplotspec()
        assert place is not None
        at[place.rowspan.start, place.colspan.start] = axes
    for (row, column), axes in at.items():
        left, below = at.get((row, column - 1)), at.get((row + 1, column))
        axes.yaxis.label.set_visible(left is None or left.get_ylabel() != axes.get_ylabel())
        axes.xaxis.label.set_visible(below is None or below.get_xlabel() != axes.get_xlabel())


def _powers_of_ten(axis: Axis) -> None:
    axis.set_major_locator(LogLocator(10, numticks=8))
    axis.set_minor_locator(LogLocator(10, subs="auto", numticks=8))
    axis.set_minor_formatter(NullFormatter())


def power_of_two(value: float, _: float) -> str:
    """Write 1024 as a power of 2."""
    power = np.log2(value)
    return rf"$2^{{{power:.0f}}}$" if abs(power - round(power)) < 1e-9 else plain(value, 0)


def plain(value: float, _: float) -> str:
    """Write a number without an exponent."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"
