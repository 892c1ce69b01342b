"""What each algorithm loses in a situation: the mean regret of simulated games, its interval, and a bad game."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from dp_bandit_envs.advice.situations import Situation
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.metrics.trial_summaries import mean_and_standard_error, median_and_tail
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation import simulate

Role = Literal["private", "uniform", "not private"]
WIDTH = 1.96
"""Standard errors on each side of the mean in a 95 % interval."""


@dataclasses.dataclass(frozen=True)
class Standing:
    """What one algorithm loses in one situation, in units of gain.

    Attributes:
        situation: The situation's name.
        algorithm: The algorithm's name.
        role: `"private"`; `"uniform"` for arms at random, which need no data; or `"not private"`.
        regret: The regret of each game: gains of the best arm throughout less the gains collected; in stable
            situations, their expectations given the arms played. Shape `(trials,)`.
    """

    situation: str
    algorithm: str
    role: Role
    regret: FloatArray = dataclasses.field(repr=False, compare=False)

    @property
    def mean(self) -> float:
        """The mean regret."""
        return float(self.regret.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the mean; NaN for one game."""
        return interval_of(self.regret)

    @property
    def tail(self) -> float:
        """The 99 % quantile: in one game of a hundred the regret is larger."""
        return float(median_and_tail(self.regret)[1])


def interval_of(samples: FloatArray) -> tuple[float, float]:
    """Return the 95 % confidence interval of the mean of samples."""
    mean, error = (float(part) for part in mean_and_standard_error(samples))
    return mean - WIDTH * error, mean + WIDTH * error


def standings(
    situation: Situation, players: Sequence[tuple[Algorithm, Role]], *, horizon: int, trials: int, seed: int, jobs: int
) -> list[Standing]:
    """Play algorithms in a situation, on the same gains, and return what each loses, the least mean first."""
    played = simulate(
        lambda: situation.game(horizon),
        [algorithm for algorithm, _ in players],
        trials=trials,
        seed=seed,
        checkpoints=1,
        jobs=jobs,
    )
    found = []
    for algorithm, role in players:
        outcome = played[algorithm.name]
        stable = situation.kind == "stable" and outcome.pseudo_regret is not None
        regret = outcome.pseudo_regret if stable else outcome.external_regret
        assert regret is not None
        found.append(Standing(situation.name, algorithm.name, role, np.array(regret[:, -1], dtype=float)))
    return sorted(found, key=lambda one: one.mean)


def shares(found: Sequence[Standing]) -> dict[str, FloatArray]:
    """Return for each algorithm its regret over uniform play's mean regret, averaged over situations; `(trials,)`.

    Args:
        found: Standings of the same algorithms in one or several situations, uniform play among them.
    """
    by_situation: dict[str, list[Standing]] = {}
    for one in found:
        by_situation.setdefault(one.situation, []).append(one)
    totals: dict[str, FloatArray] = {}
    for group in by_situation.values():
        uniform = next(one.mean for one in group if one.role == "uniform")
        for one in group:
            part = one.regret / (uniform if uniform > 0 else math.nan) / len(by_situation)
            totals[one.algorithm] = totals.get(one.algorithm, np.zeros(len(part))) + part
    return totals
