"""Pictures of privacy: the epsilons that an audit found, one bar each, and the errors of counters against time."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dp_bandit_envs.plots.figure_layout import (
    RoundedLayout,
    add_legend_and_note,
    grid_of,
    log_limits,
    places_axis,
    set_titles,
    values_axis,
)
from dp_bandit_envs.plots.plot_style import BLACK, BLUE, GREEN, GREY, LIGHT_GREY, ORANGE, PURPLE, RC, VERMILION, WINE
from dp_bandit_envs.privacy.counters.table import CounterVariance, worst_variances
from dp_bandit_envs.privacy.guarantee import label_of, shown_epsilon
from dp_bandit_envs.typesetting import typeset

BAR_COLOURS = {"declared": LIGHT_GREY, "exact": BLUE, "arms": ORANGE, "releases": ORANGE}
MOST_WIDE = 1.25
"""The end of the axis, in units of the longest finite bar: an infinite bar and the numbers need room."""
# The seven have colours and markers of their own, as none of them is an algorithm of a bandit.
COUNTER_LOOKS = {
    "hybrid": (VERMILION, "o"),
    "segment-trees": (ORANGE, "s"),
    "binary": (BLACK, "^"),
    "honaker": (BLUE, "D"),
    "smooth-binary": (PURPLE, "v"),
    "k-ary": (GREEN, "P"),
    "square-root": (WINE, "*"),
}
POINTS = 400
MARKED = 6
"""How many markers a line has."""


class Bar(NamedTuple):
    """One epsilon.

    Attributes:
        kind: A key of `BAR_COLOURS`.
        label: Its label.
        epsilon: In [0, inf], or None if unknown.
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
    """Draw one horizontal bar for each epsilon, the first at the top, and the declared epsilon as a line through all.

    Args:
        bars: The bars; bars above the declared epsilon are red.
        title: The title, in plain text.
    """
    declared = next((bar.epsilon for bar in bars if bar.kind == "declared" and bar.epsilon is not None), math.inf)
    longest = longest_of(bars)
    with mpl.rc_context(RC):
        figure = Figure(figsize=(7.6, 0.9 + 0.42 * len(bars)), layout=RoundedLayout())
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        for height, bar in enumerate(bars):
            length = 0.0 if bar.epsilon is None else min(bar.epsilon, MOST_WIDE * longest)
            refuted = bar.epsilon is not None and bar.kind != "declared" and bar.epsilon > declared * (1 + 1e-6)
            axes.barh(height, length, color=VERMILION if refuted else BAR_COLOURS[bar.kind], height=0.62)
            inside = length > 0.6 * longest
            axes.annotate(
                bar.number,
                (length, height),
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


def counters_figure(rows: list[CounterVariance], horizon: int, columns: int | None = None) -> Figure:
    """Draw the largest standard deviation of each counter's release up to each time.

    Between peaks an error falls and rises again; a user who asks how wrong a sum can be needs the largest up to that
    time.

    Args:
        rows: The counters.
        horizon: Number of items T.
        columns: 1 for a narrow figure.
    """
    at = np.unique(np.geomspace(1, horizon, POINTS).astype(int))
    worst = {row.name: np.sqrt(worst_variances(row.counter, at)) for row in rows}
    with mpl.rc_context(RC):
        figure, (axes,) = grid_of(1, columns)
        labelled = {}
        places = np.geomspace(1, horizon, MARKED * len(rows))
        for index, row in enumerate(sorted(rows, key=lambda row: -row.maximum)):
            line = "--" if row.counter.needs_horizon else "-"
            colour, marker = COUNTER_LOOKS[row.name]
            label = typeset(label_of(row.name, [shown_epsilon(row.counter.guarantee)]))
            # An error stays the worst until a worse one.
            look: Any = {"color": colour, "linestyle": line, "drawstyle": "steps-post", "marker": marker}
            # Each line has its markers at places of its own, so that none hides another's.
            marked = np.unique(np.searchsorted(at, places[index :: len(rows)]).clip(max=len(at) - 1))
            look |= {"markevery": marked.tolist(), "markersize": 4.5}
            labelled[label] = axes.plot(at, worst[row.name], label=label, **look)[0]
        set_titles([axes], [f"Worst error of released sums up to item t, T = {horizon:,}"])
        places_axis(axes, [at], "log", rounds=True)
        values_axis(axes, log_limits(list(worst.values())))
        axes.set_xlabel(typeset("items t"))
        axes.set_ylabel("largest standard deviation so far")
        add_legend_and_note(figure, labelled, "dashed: the counter must know the horizon")
        return figure
