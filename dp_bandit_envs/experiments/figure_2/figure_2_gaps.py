"""The statistics for figure 2's claims on gaps (DP-UCB-INT to UCB, and best to worst run), and their verdicts."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.experiments.figure_2.figure_2_numbers import (
    INT,
    OWN,
    PRIVATE_UCB,
    PSEUDO,
    UCB,
    arms,
    first_release,
    horizon,
    level_of,
    name_of,
    pulls_of_a_bonus_above_one,
    realised,
    runs,
    settings,
    spread,
)
from dp_bandit_envs.experiments.verdicts import clearly_above, runs_on_a_worse_arm
from dp_bandit_envs.runs.experiment import GameSpec, Results
from dp_bandit_envs.runs.run_report import Verdict

SAID_GAP, SAID_PRIVATE_GAP = 664.5, 30_000.0
FEW = 20
"""Number of runs below which the gap between best and worst run says nothing about that of 100 runs."""


class GapOverTime(NamedTuple):
    """Mean regret of DP-UCB-INT minus that of UCB in a panel.

    Attributes:
        round: The first checkpoint after all arms have a release and a tenth of the game has passed.
        first, last: The gap at that round and at T.
        grows: Whether it is clearly larger at T.
        flat: Whether it clearly grows by less than a tenth.
        lost: The number of runs of DP-UCB-INT that play a worse arm until the end.
    """

    round: int
    first: float
    last: float
    grows: bool
    flat: bool
    lost: int


class GapToUcb(NamedTuple):
    """The gap over time, by panel; and the number of runs."""

    panels: Mapping[str, GapOverTime]
    runs: int


class BestToWorst(NamedTuple):
    """Differences between best and worst run: as in the paper, and without the randomness of the gains."""

    realised: float
    without_luck: float


class SpreadOfOwn(NamedTuple):
    """Spreads of the paper's algorithms and UCB with two arms, by algorithm and level.

    Attributes:
        spreads: By algorithm and level.
        luck: Standard deviation of the sum of T gains of the best arm.
        horizon: The number of rounds.
    """

    spreads: Mapping[tuple[str, str], BestToWorst]
    luck: float
    horizon: int

    @property
    def over(self) -> list[tuple[str, str]]:
        """The algorithms and levels whose spread is not below the paper's figure."""
        return [name for name, one in self.spreads.items() if not one.realised < SAID_GAP]


class PrivateUcbSpread(NamedTuple):
    """Spread and mean regret of Private-UCB in a panel with two arms.

    Attributes:
        spread: Difference between best and worst run.
        mean: Mean regret.
        pulls: The largest number of pulls of an arm at which its bonus exceeds 1.
        spread_of_int: The spread of DP-UCB-INT.
    """

    spread: float
    mean: float
    pulls: float
    spread_of_int: float


class SpreadOfPrivateUcb(NamedTuple):
    """Spreads of Private-UCB with two arms, by level; and the regret of playing the worse arm throughout."""

    levels: Mapping[str, PrivateUcbSpread]
    most: float


def gap_to_ucb(results: Results) -> tuple[GapToUcb, Verdict]:
    """Judge whether the gap between DP-UCB-INT and UCB grows."""
    panels = {name_of(panel): _gap_over_time(results, panel) for panel in results.experiment.panels}
    if any(one.grows or one.lost for one in panels.values()):
        verdict = Verdict.NO
    else:
        verdict = Verdict.YES if all(one.flat for one in panels.values()) else Verdict.UNDECIDED
    return GapToUcb(panels, results.experiment.trials), verdict


def _gap_over_time(results: Results, panel: GameSpec) -> GapOverTime:
    rounds = results.rounds(panel.key)
    start = min(
        int(np.searchsorted(rounds, max(first_release(panel) * len(arms(panel)), rounds[-1] / 10))), len(rounds) - 1
    )
    gap = results.regret(panel.key, INT, PSEUDO) - results.regret(panel.key, UCB, PSEUDO)
    growth = gap[:, -1] - gap[:, start]
    return GapOverTime(
        round=int(rounds[start]),
        first=float(gap[:, start].mean()),
        last=float(gap[:, -1].mean()),
        grows=clearly_above(growth),
        flat=clearly_above(0.1 * abs(gap[:, -1].mean()) - growth),
        lost=runs_on_a_worse_arm(results, panel, INT),
    )


def spread_of_own(results: Results) -> tuple[SpreadOfOwn, Verdict]:
    """Judge whether the best and worst runs of the paper's algorithms and UCB are close with two arms."""
    panels = results.experiment.panels[:2]
    best = arms(panels[0]).max()
    found = SpreadOfOwn(
        spreads={
            (name, level_of(panel)): BestToWorst(
                spread(realised(results, panel, name)), spread(runs(results, panel, name))
            )
            for panel in panels
            for name in (UCB, *OWN)
        },
        luck=math.sqrt(horizon(results) * best * (1 - best)),
        horizon=horizon(results),
    )
    enough = Verdict.YES if results.experiment.trials >= FEW else Verdict.UNDECIDED
    return found, Verdict.NO if found.over else enough


def spread_of_private_ucb(results: Results) -> tuple[SpreadOfPrivateUcb, Verdict]:
    """Judge whether the best and worst runs of Private-UCB are far apart with two arms."""
    panels = results.experiment.panels[:2]
    levels = {
        level_of(panel): PrivateUcbSpread(
            spread=spread(realised(results, panel, PRIVATE_UCB)),
            mean=float(runs(results, panel, PRIVATE_UCB).mean()),
            pulls=pulls_of_a_bonus_above_one(
                len(arms(panel)), horizon(results), settings(panel, PRIVATE_UCB)["epsilon"]
            ),
            spread_of_int=spread(realised(results, panel, INT)),
        )
        for panel in panels
    }
    most = horizon(results) * float(arms(panels[0]).max() - arms(panels[0]).min())
    missed = Verdict.NO if results.experiment.trials >= FEW else Verdict.UNDECIDED
    reached = max(one.spread for one in levels.values()) >= 0.9 * SAID_PRIVATE_GAP
    return SpreadOfPrivateUcb(levels, most), Verdict.YES if reached else missed
