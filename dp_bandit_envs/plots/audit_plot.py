"""What an algorithm declares, loses exactly, and loses at least: one bar each."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dp_bandit_envs.plots.mathematics import typeset
from dp_bandit_envs.plots.plot_style import BLACK, BLUE, GREY, LIGHT_GREY, ORANGE, RC, VERMILION
from dp_bandit_envs.plots.rounded_layout import RoundedLayout

COLOURS = {"declared": LIGHT_GREY, "exact": BLUE, "arms": ORANGE, "releases": ORANGE}
MOST_WIDE = 1.25
"""The end of the axis, in units of the longest finite bar: an infinite bar and the numbers need room."""


class Bar(NamedTuple):
    """One epsilon.

    Attributes:
        kind: A key of `COLOURS`.
        label: What it is.
        epsilon: In [0, inf], or None where there is none.
        at_least: Whether it is a lower bound.
    """

    kind: str
    label: str
    epsilon: float | None
    at_least: bool = False

    @property
    def number(self) -> str:
        """The number in words."""
        if self.epsilon is None:
            return "-"
        return ("at least " if self.at_least else "") + (
            r"$\infty$" if math.isinf(self.epsilon) else f"{self.epsilon:.4g}"
        )


def audit_figure(bars: Sequence[Bar], title: str) -> Figure:
    """Draw one horizontal bar for each epsilon, the first at the top, and the declared one as a line through all.

    Args:
        bars: The bars; one that exceeds the declared epsilon is red.
        title: The title, in plain text.
    """
    declared = next((bar.epsilon for bar in bars if bar.kind == "declared" and bar.epsilon is not None), math.inf)
    longest = longest_of(bars)
    with mpl.rc_context(RC):
        figure = Figure(figsize=(7.6, 0.9 + 0.42 * len(bars)), layout=RoundedLayout())
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        for place, bar in enumerate(bars):
            length = 0.0 if bar.epsilon is None else min(bar.epsilon, MOST_WIDE * longest)
            refuted = bar.epsilon is not None and bar.kind != "declared" and bar.epsilon > declared * (1 + 1e-6)
            axes.barh(place, length, color=VERMILION if refuted else COLOURS[bar.kind], height=0.62)
            inside = length > 0.6 * longest
            axes.annotate(
                bar.number,
                (length, place),
                xytext=(-4 if inside else 4, 0),
                textcoords="offset points",
                va="center",
                ha="right" if inside else "left",
                color="white" if inside and (refuted or bar.kind == "exact") else BLACK,
            )
        if math.isfinite(declared):
            axes.axvline(declared, color=GREY, linestyle="--", linewidth=1.0)
        axes.set_yticks(range(len(bars)), [bar.label for bar in bars])
        axes.invert_yaxis()
        axes.set_xlim(0, MOST_WIDE * longest)
        axes.set_xlabel(typeset("epsilon for a changed round (dashed: declared)"))
        axes.grid(visible=False, axis="y")
        axes.set_axisbelow(True)
        axes.set_title(typeset(title), loc="left")
        return figure


def longest_of(bars: Sequence[Bar]) -> float:
    """Return the largest finite epsilon, or 1 if there is none above 0."""
    return (
        max([bar.epsilon for bar in bars if bar.epsilon is not None and math.isfinite(bar.epsilon)], default=0.0) or 1.0
    )
