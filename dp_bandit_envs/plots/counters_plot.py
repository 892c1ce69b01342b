"""The worst error of each counter so far, against time."""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.plots.curves_plot import grid_of, set_titles
from dp_bandit_envs.plots.figure_legend import add_legend_and_note
from dp_bandit_envs.plots.mathematics import typeset
from dp_bandit_envs.plots.plot_axes import log_limits, places_axis, values_axis
from dp_bandit_envs.plots.plot_style import BLACK, BLUE, GREEN, ORANGE, PURPLE, RC, VERMILION, WINE
from dp_bandit_envs.privacy.counters.table import Row, worst_variances
from dp_bandit_envs.privacy.guarantee import label_of, level_of

# The seven have colours of their own, as none of them is an algorithm of a bandit.
COLOURS = {
    "hybrid": VERMILION,
    "segment-trees": ORANGE,
    "binary": BLACK,
    "honaker": BLUE,
    "smooth-binary": PURPLE,
    "k-ary": GREEN,
    "square-root": WINE,
}
POINTS = 400


def counters_figure(rows: list[Row], horizon: int) -> Figure:
    """Draw the largest standard deviation of each counter's release up to each time.

    Between peaks an error falls and rises again; a user who asks how wrong a sum may be needs the worst so far.

    Args:
        rows: The counters.
        horizon: Number of items T.
    """
    at = np.unique(np.geomspace(1, horizon, POINTS).astype(int))
    worst = {row.name: np.sqrt(worst_variances(row.counter, at)) for row in rows}
    with mpl.rc_context(RC):
        figure, (axes,) = grid_of(1)
        labelled = {}
        for row in sorted(rows, key=lambda row: -row.maximum):
            line = "--" if row.counter.needs_horizon else "-"
            label = typeset(label_of(row.name, [level_of(row.counter.guarantee)]))
            # An error stays the worst until a worse one.
            look: Any = {"color": COLOURS[row.name], "linestyle": line, "drawstyle": "steps-post", "label": label}
            labelled[label] = axes.plot(at, worst[row.name], **look)[0]
        set_titles([axes], [f"Worst error of released sums up to item t, T = {horizon:,}"])
        places_axis(axes, [at], "log", rounds=True)
        values_axis(axes, log_limits(list(worst.values())))
        axes.set_xlabel(typeset("items t"))
        axes.set_ylabel("largest standard deviation so far")
        add_legend_and_note(figure, labelled, "dashed: the counter must know the horizon")
        return figure
