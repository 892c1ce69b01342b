"""The statistics for each claim about graph feedback, and their verdicts."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.experiments.figure_graph import graph_setup as setup
from dp_bandit_envs.experiments.verdicts import DECIDES, all_ahead, clearly_above, over_error
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Verdict


class Difference(NamedTuple):
    """A mean difference, half its 95% interval, and the difference over its standard error."""

    mean: float
    half: float
    errors: float


class LessRegret(NamedTuple):
    """Bayesian regret of `worse` less that of `better`, by graph."""

    better: str
    worse: str
    graphs: Mapping[str, Difference]

    @property
    def behind(self) -> list[str]:
        """The graphs on which `better` is clearly worse."""
        return [title for title, one in self.graphs.items() if one.errors < -DECIDES]

    @property
    def close(self) -> list[str]:
        """The graphs on which neither is clearly better."""
        return [title for title, one in self.graphs.items() if abs(one.errors) <= DECIDES]


class ShareOfBound(NamedTuple):
    """The largest ratio of mean regret to its bound at any round: with the entropy, and without it, as printed."""

    with_entropy: float
    as_printed: float


class BayesianBound(NamedTuple):
    """TS-N beside its bound, by graph."""

    graphs: Mapping[str, ShareOfBound]

    @property
    def over(self) -> list[str]:
        """The graphs on which regret is over the bound."""
        return [title for title, one in self.graphs.items() if one.with_entropy > 1]


class FeedbackAtLevel(NamedTuple):
    """The effect of feedback at a privacy level.

    Attributes:
        means: Mean regret for each number of gains revealed.
        partial: By how many standard errors the largest partial feedback has less regret than bandit feedback.
        whole: The same of full information.
        whole_is_better: Whether full information clearly has less regret than the largest partial feedback.
    """

    means: tuple[float, ...]
    partial: float
    whole: float
    whole_is_better: bool

    @property
    def pays(self) -> bool:
        """Whether feedback clearly reduces regret, partial and full."""
        return self.partial > DECIDES and self.whole > DECIDES

    @property
    def costs(self) -> bool:
        """Whether partial feedback clearly increases regret."""
        return self.partial < -DECIDES

    @property
    def only_whole_costs(self) -> bool:
        """Whether full information clearly increases regret, and partial feedback does not."""
        return not self.costs and self.whole < -DECIDES


class Feedback(NamedTuple):
    """The effect of feedback, by privacy level."""

    levels: Mapping[str, FeedbackAtLevel]

    @property
    def pays(self) -> list[str]:
        """The levels at which it reduces regret."""
        return [label for label, one in self.levels.items() if one.pays]

    @property
    def costs(self) -> list[str]:
        """The levels at which partial feedback increases regret."""
        return [label for label, one in self.levels.items() if one.costs]

    @property
    def only_whole_costs(self) -> list[str]:
        """The levels at which full information increases regret and partial feedback does not."""
        return [label for label, one in self.levels.items() if one.only_whole_costs]

    @property
    def whole_is_better_again(self) -> bool:
        """Whether full information is better than partial feedback at every level where that increases regret."""
        return bool(self.costs) and all(self.levels[label].whole_is_better for label in self.costs)


def less_regret(results: Results, better: str, worse: str) -> tuple[LessRegret, Verdict]:
    """Judge whether one algorithm has less regret than another on every graph."""
    graphs = {}
    for panel in results.experiment.panels:
        one, other = (results.regret(panel.key, name, setup.VIEW.measure)[:, -1] for name in (better, worse))
        mean, error = (float(value) for value in mean_and_standard_error(other - one))
        graphs[panel.title] = Difference(mean, 1.96 * error, over_error(other - one))
    return LessRegret(better, worse, graphs), all_ahead(one.errors for one in graphs.values())


def bayesian_bound(results: Results) -> tuple[BayesianBound, Verdict]:
    """Judge whether the mean regret of TS-N is within its bound at every round."""
    graphs = {}
    for panel in results.experiment.panels:
        rounds = results.rounds(panel.key)
        mean, _ = mean_and_standard_error(results.regret(panel.key, "TS-N", setup.VIEW.measure))
        share = float(np.max(mean / setup.bound(results, panel, rounds)))
        arms = results.experiment.game(panel).n_arms
        graphs[panel.title] = ShareOfBound(share, share * math.sqrt(math.log(arms)))
    found = BayesianBound(graphs)
    return found, Verdict.NO if found.over else Verdict.YES


def regret_over_that_of_one(results: Results) -> dict[str, Mapping[str, float]]:
    """Return mean regret for each number of gains revealed over that for one, by level; and the largest by noise."""
    found: dict[str, Mapping[str, float]] = {}
    for epsilon in (*setup.LEVELS, None):
        means = setup.by_feedback(results, setup.label_at(epsilon)).mean(axis=0)
        found[f"feedback over one/{setup.label_at(epsilon)}"] = {
            str(most): float(mean / means[0]) for most, mean in zip(setup.REVEALED, means, strict=True)
        }
    partial = [
        found[f"feedback over one/{setup.label_at(epsilon)}"][str(most)]
        for epsilon in setup.LEVELS
        if epsilon <= 1
        for most in setup.REVEALED[1:-1]
    ]
    return {**found, "feedback over one/partial, epsilon at most 1": {"most": max(partial)}}


def feedback(results: Results) -> tuple[Feedback, Verdict]:
    """Compare the largest partial feedback and full information with bandit feedback, at each level."""
    levels = {}
    for epsilon in (*setup.LEVELS, None):
        label = setup.label_at(epsilon)
        regret = setup.by_feedback(results, label)
        levels[label] = FeedbackAtLevel(
            means=tuple(float(mean) for mean in regret.mean(axis=0)),
            partial=over_error(regret[:, 0] - regret[:, -2]),
            whole=over_error(regret[:, 0] - regret[:, -1]),
            whole_is_better=clearly_above(regret[:, -2] - regret[:, -1]),
        )
    found = Feedback(levels)
    if found.costs or found.only_whole_costs:
        return found, Verdict.NO
    return found, Verdict.YES if found.pays else Verdict.UNDECIDED
