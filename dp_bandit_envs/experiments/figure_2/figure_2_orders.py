"""The statistics for figure 2's claims on which algorithm has less regret, and when; and their verdicts."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.experiments.figure_2.figure_2_numbers import (
    BOUND,
    INT,
    OWN,
    PRIVATE_UCB,
    PSEUDO,
    UCB,
    ZEROS,
    horizon,
    in_turn,
    name_of,
    runs,
)
from dp_bandit_envs.experiments.verdicts import DECIDES, all_ahead, errors_ahead, over_error, ratio, runs_on_a_worse_arm
from dp_bandit_envs.runs.experiment import GameSpec, Results
from dp_bandit_envs.runs.run_report import Verdict


class IntBesidePrivate(NamedTuple):
    """Regret of DP-UCB-INT in a panel, compared with the other private algorithms.

    Attributes:
        median, mean, greatest: Of its runs.
        least_other: The smallest mean of the others.
        errors: The smallest number of standard errors by which it has less regret than another.
        lost: The number of its runs that play a worse arm until the end.
    """

    median: float
    mean: float
    greatest: float
    least_other: float
    errors: float
    lost: int


class BestOfThePrivate(NamedTuple):
    """DP-UCB-INT compared with the other private algorithms, by panel; and the number of runs."""

    panels: Mapping[str, IntBesidePrivate]
    runs: int

    @property
    def behind(self) -> list[str]:
        """The panels in which it is not clearly the best."""
        return [name for name, one in self.panels.items() if not one.errors > DECIDES]


class Early(NamedTuple):
    """Regret of DP-UCB relative to DP-UCB-BOUND in a panel, at the rounds where the difference is clear.

    Attributes:
        round: The round with DP-UCB's largest advantage; 0 if no difference is clear.
        most: Its regret divided by that of DP-UCB-BOUND at this round, minus 1; NaN if no difference is clear.
        before: The same at its largest disadvantage before this round, at least 0.
    """

    round: int
    most: float
    before: float

    @property
    def better(self) -> bool:
        """Whether its largest advantage exceeds its largest disadvantage before."""
        return -self.most - self.before > 0


class EarlyOrder(NamedTuple):
    """DP-UCB compared with DP-UCB-BOUND at small rounds, by panel."""

    panels: Mapping[str, Early]

    @property
    def behind(self) -> list[str]:
        """The panels in which it is not better early."""
        return [name for name, one in self.panels.items() if not one.better]


class Late(NamedTuple):
    """Mean regret of DP-UCB divided by that of DP-UCB-BOUND at T, and by how many standard errors it is larger."""

    ratio: float
    errors: float


class LateOrder(NamedTuple):
    """DP-UCB compared with DP-UCB-BOUND at T, by panel."""

    panels: Mapping[str, Late]
    horizon: int

    @property
    def behind(self) -> list[str]:
        """The panels in which DP-UCB-BOUND does not have clearly less regret."""
        return [name for name, one in self.panels.items() if not one.errors > DECIDES]


class WorstOfAll(NamedTuple):
    """Private-UCB in a panel: mean regret divided by that of round-robin play, and standard errors to each other."""

    over_in_turn: float
    errors: Mapping[str, float]


class PrivateUcbOrder(NamedTuple):
    """Private-UCB compared with all others, by panel."""

    panels: Mapping[str, WorstOfAll]


def best_of_the_private(results: Results) -> tuple[BestOfThePrivate, Verdict]:
    """Judge whether DP-UCB-INT has less regret than the other private algorithms."""

    def beside(panel: GameSpec) -> IntBesidePrivate:
        own = runs(results, panel, INT)
        others = (PRIVATE_UCB, BOUND, ZEROS)
        return IntBesidePrivate(
            median=float(np.median(own)),
            mean=float(own.mean()),
            greatest=float(own.max()),
            least_other=min(float(runs(results, panel, one).mean()) for one in others),
            errors=min(errors_ahead(results, panel.key, INT, one, PSEUDO) for one in others),
            lost=runs_on_a_worse_arm(results, panel, INT),
        )

    panels = {name_of(panel): beside(panel) for panel in results.experiment.panels}
    found = BestOfThePrivate(panels, results.experiment.trials)
    return found, all_ahead(one.errors for one in panels.values())


def early_order(results: Results) -> tuple[EarlyOrder, Verdict]:
    """Judge whether DP-UCB is better than DP-UCB-BOUND at first."""
    found = EarlyOrder({name_of(panel): _early(results, panel) for panel in results.experiment.panels})
    unclear = any(math.isnan(one.most) for one in found.panels.values())
    missed = Verdict.UNDECIDED if unclear else Verdict.NO
    return found, missed if found.behind else Verdict.YES


def _early(results: Results, panel: GameSpec) -> Early:
    rounds = results.rounds(panel.key)
    own, other = (results.regret(panel.key, name, PSEUDO) for name in (ZEROS, BOUND))
    clear = [at for at in range(len(rounds)) if abs(over_error(other[:, at] - own[:, at])) > DECIDES]
    if not clear:
        return Early(0, math.nan, 0.0)
    more = {at: ratio(own[:, at].mean(), other[:, at].mean()) - 1 for at in clear}
    best = min(more, key=more.__getitem__)
    before = max((value for at, value in more.items() if at < best), default=0.0)
    # Compare its largest advantage with its largest disadvantage before that.
    return Early(int(rounds[best]), more[best], max(before, 0.0))


def late_order(results: Results) -> tuple[LateOrder, Verdict]:
    """Judge whether DP-UCB-BOUND outperforms DP-UCB in the end."""
    panels = {
        name_of(panel): Late(
            ratio(runs(results, panel, ZEROS).mean(), runs(results, panel, BOUND).mean()),
            errors_ahead(results, panel.key, BOUND, ZEROS, PSEUDO),
        )
        for panel in results.experiment.panels
    }
    return LateOrder(panels, horizon(results)), all_ahead(one.errors for one in panels.values())


def private_ucb_order(results: Results) -> tuple[PrivateUcbOrder, Verdict]:
    """Judge whether Private-UCB has more regret than all others."""
    panels = {
        name_of(panel): WorstOfAll(
            ratio(runs(results, panel, PRIVATE_UCB).mean(), in_turn(results, panel)),
            {one: errors_ahead(results, panel.key, one, PRIVATE_UCB, PSEUDO) for one in (UCB, *OWN)},
        )
        for panel in results.experiment.panels
    }
    return PrivateUcbOrder(panels), all_ahead(min(one.errors.values()) for one in panels.values())
