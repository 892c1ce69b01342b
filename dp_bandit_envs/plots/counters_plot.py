"""The error of each counter against time."""

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dp_bandit_envs.plots.plot_style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, RC, VERMILION
from dp_bandit_envs.privacy.counters.comparison import Row, variances_at

COLOURS = {
    "hybrid": VERMILION,
    "segment-trees": ORANGE,
    "binary": BLACK,
    "honaker": BLUE,
    "smooth-binary": PURPLE,
    "k-ary": GREEN,
    "square-root": GREY,
}
POINTS = 400


def counters_figure(rows: list[Row], horizon: int, title: str) -> Figure:
    """Draw the standard deviation of each counter's release against time.

    Args:
        rows: The counters.
        horizon: Number of items T.
        title: The title.
    """
    with mpl.rc_context(RC):
        figure = Figure(figsize=(7.6, 3.8), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        at = np.unique(np.geomspace(1, horizon, POINTS).astype(int))
        for row in sorted(rows, key=lambda row: -row.mean):
            deviation = np.sqrt(variances_at(row.counter, at))
            line = "--" if row.counter.needs_horizon else "-"
            axes.plot(at, deviation, color=COLOURS[row.name], linestyle=line, linewidth=1.2, label=row.name)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(1, max(horizon, 2))
        axes.set_xlabel("items t (dashed: the counter must know the horizon)")
        axes.set_ylabel("standard deviation of the released sum")
        axes.set_title(title, loc="left")
        figure.legend(loc="outside right upper")
        return figure
