"""What a figure of curves is made from: curves with their samples, reference lines, and panels of both."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.metrics import Band, band_of
from dp_bandit_envs.plots.plot_style import BLACK, Dash
from dp_bandit_envs.protocols import FloatArray, IntArray


class Curve(NamedTuple):
    """One line of one panel.

    Attributes:
        name: The algorithm, which decides the look.
        label: The legend's entry: the name, and after it the guarantee, as in "DP-KLUCB (eps 1)".
        at: Places on the horizontal axis, ascending, shape `(places,)`.
        samples: Shape `(trials, places)`; or one array `(trials,)` for each place, if numbers of trials differ.
    """

    name: str
    label: str
    at: FloatArray | IntArray
    samples: FloatArray | Sequence[FloatArray]


class Reference(NamedTuple):
    """A line that is no algorithm, such as a bound: its label, its places and heights `(places,)`, and its look."""

    label: str
    at: FloatArray | IntArray
    line: FloatArray
    colour: str = BLACK
    width: float = 1.8
    dash: Dash = "--"


class Panel(NamedTuple):
    """One panel.

    Attributes:
        title: Its title.
        curves: Its curves.
        references: Lines that are no algorithms.
        across: The label of its horizontal axis, if it is not that of the figure.
    """

    title: str
    curves: Sequence[Curve]
    references: Sequence[Reference] = ()
    across: str = ""


def bands_of(panels: Sequence[Panel], kind: str) -> list[list[Band]]:
    """Return the band of every curve, panel by panel."""
    return [[band_of(curve.samples, kind) for curve in panel.curves] for panel in panels]


def trials_of(curve: Curve) -> int:
    """Return the smallest number of trials of a curve's places."""
    if isinstance(curve.samples, np.ndarray):
        return len(curve.samples)
    return min((len(sample) for sample in curve.samples), default=0)


def trials_in_words(panels: Sequence[Panel]) -> tuple[str, int]:
    """Return the numbers of trials, as in "100 (1,000 of DP-KLUCB, DP-IMED)", and the smallest."""
    found: dict[int, dict[str, None]] = {}
    for panel in panels:
        for curve in panel.curves:
            found.setdefault(trials_of(curve), {})[curve.name] = None
    if not found:
        return "0", 0
    usual = max(found, key=lambda trials: (len(found[trials]), -trials))
    others = "; ".join(
        f"{trials:,} of {', '.join(names)}" for trials, names in sorted(found.items()) if trials != usual
    )
    return f"{usual:,}" + (f" ({others})" if others else ""), min(found)
