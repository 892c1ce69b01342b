"""Panels of a lab's pictures: small figures of their own, so that they stand one below the other on a narrow screen."""

from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dp_bandit_envs.plots.plot_style import RC


def panel(height: float = 3.4, width: float = 4.7) -> tuple[Figure, Any]:
    """Return a figure in the project's style, and its axes.

    Args:
        height: In inches.
        width: In inches.
    """
    with mpl.rc_context(RC):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        return figure, figure.subplots()
