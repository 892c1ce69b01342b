"""An adversary whose arms drift: the one that looks best at first fades, and another becomes the best."""

from typing import NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.round_by_round import RoundByRound
from dp_bandit_envs.protocols import FloatArray


class Fading(NamedTuple):
    """The last round of the good time, and the means before and after it, each of shape `(n_arms,)`."""

    turn: int
    early: FloatArray
    late: FloatArray


def next_round(state: Fading, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Write a gain of 0 or 1 for each arm, from one uniform number."""
    for arm in range(len(row)):
        mean = state.early[arm] if t <= state.turn else state.late[arm]
        row[arm] = 1.0 if rng.random() < mean else 0.0


class FadingArms(RoundByRound):
    """Coins of which one looks best at first and then becomes the worst.

    In the first third of the game one arm is ahead of all others by the gap. Then it falls below them by the gap, and
    another arm is ahead of the rest by the gap, the best one over the whole game. Which arms these are is drawn anew
    for each game.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        gap: The distance of the means, in (0, 0.5].
    """

    next_round = staticmethod(next_round)

    def __init__(self, n_arms: SupportsIndex, horizon: SupportsIndex, *, gap: SupportsFloat) -> None:
        super().__init__(n_arms, horizon)
        self.gap = checks.in_range("gap", gap, 0.0, 0.5)
        self._early, self._late = np.full(self.n_arms, 0.5), np.full(self.n_arms, 0.5)
        self._early[-1] += self.gap
        self._late[-1] -= self.gap
        self._late[0] += self.gap

    def first_round_state(self, rng: np.random.Generator) -> Fading:
        """Return the means, with the arms shuffled, and when they change."""
        order = rng.permutation(self.n_arms)
        return Fading(self.horizon // 3, self._early[order], self._late[order])
