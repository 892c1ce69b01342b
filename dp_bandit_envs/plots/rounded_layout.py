"""A layout of panels that is the same in every run, to the last bit."""

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

DIGITS = 7
"""Decimal places of a panel's edges, as shares of the sheet: thousandths of a pixel."""


class RoundedLayout(ConstrainedLayoutEngine):
    """Matplotlib's constrained layout, with rounded edges.

    Its solver goes through its unknowns in the order of their addresses. These differ from run to run, and so do the
    last bits of the edges it finds: the same figure would be written as other bytes.
    """

    def execute(self, fig: Figure) -> None:
        """Place the panels of a figure; see `ConstrainedLayoutEngine`."""
        super().execute(fig)
        for axes in fig.axes:
            if axes.get_in_layout() and axes.get_subplotspec() is not None:
                left, bottom, width, height = (round(edge, DIGITS) for edge in axes.get_position(original=True).bounds)
                axes.set_position((left, bottom, width, height))
                axes.set_in_layout(True)  # which a position set by hand ends
