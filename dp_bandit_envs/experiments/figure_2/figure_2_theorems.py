"""The statistics for theorems of Tossou and Dimitrakakis (2016) on privacy and regret, and their verdicts."""

from collections.abc import Mapping
from typing import NamedTuple

from dp_bandit_envs.experiments.figure_2.figure_2_numbers import (
    BOUND,
    INT,
    arms,
    epsilon_of,
    first_release,
    horizon,
    input_epsilon,
    level_of,
    name_of,
    printed_bounds,
    runs,
    settings,
)
from dp_bandit_envs.experiments.verdicts import clearly_above, yes_or_no
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Verdict


class OptimalRegret(NamedTuple):
    """The cost of the input epsilon of corollary 3.2.

    Attributes:
        inverse_inputs: 1 / input, by level.
        waits: Rounds of round-robin play before every arm has a release, by panel.
    """

    inverse_inputs: Mapping[str, float]
    waits: Mapping[str, int]


class BoundAndMean(NamedTuple):
    """A bound as printed, and the mean regret; `broken` if the mean exceeds the bound by more than chance explains."""

    bound: float
    mean: float
    broken: bool


class PrintedBounds(NamedTuple):
    """Bounds as printed, by algorithm and panel; and T times the largest gap of each panel, which no regret exceeds."""

    bounds: Mapping[tuple[str, str], BoundAndMean]
    most: Mapping[str, float]

    @property
    def above(self) -> dict[tuple[str, str], BoundAndMean]:
        """The bounds that a mean exceeds."""
        return {name: one for name, one in self.bounds.items() if one.mean > one.bound}

    @property
    def telling(self) -> int:
        """The number of bounds below T times the largest gap; the others cannot fail."""
        return sum(one.bound < self.most[panel] for (_, panel), one in self.bounds.items())


class HybridPrivacy(NamedTuple):
    """Epsilon of DP-UCB-BOUND: claimed, of the printed algorithm, and of the one played here."""

    claimed: float
    printed: float
    here: float


class IntervalPrivacy(NamedTuple):
    """Epsilon of DP-UCB-INT: claimed, of the printed algorithm, and here by claimed epsilon; and its delta."""

    claimed: float
    printed: float
    here: Mapping[float, float]
    delta: float


def optimal_regret(results: Results) -> tuple[OptimalRegret, Verdict]:
    """Judge whether the input epsilon of DP-UCB-INT is about the one that it guarantees."""
    panels = results.experiment.panels
    found = OptimalRegret(
        {level_of(panel): 1 / input_epsilon(panel) for panel in panels},
        {name_of(panel): min(first_release(panel) * len(arms(panel)), horizon(results)) for panel in panels},
    )
    fits = all(found.inverse_inputs[level_of(panel)] <= 2 / settings(panel, INT)["epsilon"] for panel in panels)
    return found, yes_or_no(fits)


def bounds_as_printed(results: Results) -> tuple[PrintedBounds, Verdict]:
    """Judge whether mean regrets are within the printed bounds."""
    found: dict[tuple[str, str], BoundAndMean] = {}
    most: dict[str, float] = {}
    for panel in results.experiment.panels:
        most[name_of(panel)] = horizon(results) * float(arms(panel).max() - arms(panel).min())
        for name, bound in printed_bounds(results, panel).items():
            sample = runs(results, panel, name)
            found[name, name_of(panel)] = BoundAndMean(bound, float(sample.mean()), clearly_above(sample - bound))
    statistic = PrintedBounds(found, most)
    if any(one.broken for one in found.values()):
        return statistic, Verdict.NO
    return statistic, Verdict.UNDECIDED if statistic.above else Verdict.YES


def hybrid_privacy(results: Results) -> tuple[HybridPrivacy, Verdict]:
    """Judge whether DP-UCB-BOUND as printed guarantees its input epsilon."""
    panel = results.experiment.panels[0]
    claimed = settings(panel, BOUND)["epsilon"]
    printed = epsilon_of(results, panel, BOUND, budget="paper")
    return HybridPrivacy(claimed, printed, epsilon_of(results, panel, BOUND)), yes_or_no(printed <= claimed)


def interval_privacy(results: Results) -> tuple[IntervalPrivacy, Verdict]:
    """Judge whether DP-UCB-INT as printed guarantees the epsilon for which its input was computed."""
    panels = results.experiment.panels[:2]
    found = IntervalPrivacy(
        claimed=settings(panels[0], INT)["epsilon"],
        printed=epsilon_of(results, panels[0], INT, mode="redraw"),
        here={settings(one, INT)["epsilon"]: epsilon_of(results, one, INT) for one in panels},
        delta=settings(panels[0], INT)["delta"],
    )
    return found, yes_or_no(found.printed <= found.claimed)
