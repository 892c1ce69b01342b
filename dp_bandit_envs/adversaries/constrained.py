"""The stochastically constrained adversary: one arm is always ahead, while all are good or bad together in phases."""

from typing import NamedTuple, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.draws import log
from dp_bandit_envs.protocols import FloatArray, IntArray

GROWTH = (8, 5)
"""Phases grow by 8 / 5; fractions of integers give exact first rounds."""
LOG_GROWTH = log(GROWTH[0] / GROWTH[1])


class PhasedCoins(NamedTuple):
    """The state of a game.

    Attributes:
        starts: The first round of each phase and of the next phase after the end, in increasing order.
        low, high: The arms' means in bad and in good phases, each `(n_arms,)`.
        first: 0 if the first phase is bad and 1 if it is good, `(1,)`.
    """

    starts: IntArray
    low: FloatArray
    high: FloatArray
    first: IntArray


def next_round(state: PhasedCoins, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Toss a coin for each arm, from one uniform number."""
    phase = int(log(float(t)) / LOG_GROWTH)  # off by one at most, where rounding decides
    phase = phase - 1 if t < state.starts[phase] else phase
    phase = phase + 1 if t >= state.starts[phase + 1] else phase
    good = float((phase + state.first[0]) % 2)
    for arm in range(len(row)):
        mean = good * state.high[arm] + (1.0 - good) * state.low[arm]
        row[arm] = 1.0 if rng.random() < mean else 0.0


class ConstrainedCoins(RoundByRound):
    """One arm is always ahead by a gap, but all arms are good or bad together, in phases that grow by 1.6.

    Every arm is a coin. In a good phase the best arm has mean 1 and the others 1 - gap; in a bad phase the best arm has
    mean gap and the others 0. Phase k, from 0, begins in round ceil(1.6^k), and good and bad phases alternate. So an
    arm's past gains are informative only in comparison with the gains of other arms at the same time. The best arm and
    the kind of the first phase are drawn for each game; if the order of arms is given, the best is arm 0.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        gap: How far the best arm is ahead, in (0, 1].

    Source: Zimmert and Seldin (2021), Tsallis-INF: An Optimal Algorithm for Stochastic and Adversarial Bandits, JMLR
    22(28), the experiments with a stochastically constrained adversary.

    Differs from the source in: gains instead of losses; whether the first phase is good is drawn; and phases begin at,
    rather than last for, powers of 1.6.
    """

    next_round = staticmethod(next_round)
    _arm_order = "random"

    def __init__(self, n_arms: SupportsIndex = 4, horizon: SupportsIndex = 2**18, *, gap: SupportsFloat = 0.2) -> None:
        super().__init__(n_arms, horizon)
        self.gap = checks.in_range("gap", gap, 0, 1)
        checks.greater_than("gap", self.gap, 0)
        self._starts = first_rounds(self.horizon)

    def first_round_state(self, rng: np.random.Generator) -> PhasedCoins:
        """Draw the best arm and the kind of the first phase."""
        best = self.gap * (self.draw_order(rng) == 0)
        return PhasedCoins(self._starts, best, best + (1 - self.gap), rng.integers(2, size=1))

    def means_at(self, rounds: ArrayLike) -> FloatArray:
        """Return the arms' means in rounds of this game, counted from 1, shape `(len(rounds), n_arms)`."""
        phases = np.searchsorted(self._starts, np.asarray(rounds), side="right") - 1
        good = (phases + self._state.first[0]) % 2 == 1
        means: FloatArray = np.where(good[:, np.newaxis], self._state.high, self._state.low)
        return means


def first_rounds(horizon: int) -> IntArray:
    """Return ceil(1.6^k) for k = 0, 1, ..., up to the first two beyond the horizon."""
    starts, above, below = [1], 1, 1
    while len(starts) < 3 or starts[-2] <= horizon:
        above, below = above * GROWTH[0], below * GROWTH[1]
        starts.append(-(-above // below))
    return np.array(starts)
