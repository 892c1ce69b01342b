"""Picture of lab 8: in how many re-runs of a trial how many patients got a better treatment."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from dp_bandit_envs.course.panels import panel
from dp_bandit_envs.plots.plot_style import BLUE, GREY


def histogram(numbers: Sequence[int], chance: int, most: int) -> Figure:
    """Draw how often how many patients got a better treatment.

    Args:
        numbers: Patients, one number for each re-run.
        chance: The number that chance gives, which a dashed line shows.
        most: Number of patients, where the axis ends.
    """
    figure, axes = panel(2.4, 6.0)
    axes.hist(numbers, bins=range(700, most + 20, 20), color=BLUE)
    axes.axvline(chance, color=GREY, linestyle="--")
    axes.text(chance, 0.97, "chance ", ha="right", va="top", transform=axes.get_xaxis_transform())
    axes.set(xlabel="patients on one of the better treatments", ylabel=f"re-runs of {len(numbers)}", xlim=(700, most))
    return figure
