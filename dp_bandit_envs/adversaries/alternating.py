"""Alternating gains, which hurt whoever follows the leader: the leader of each round loses the next one."""

from typing import SupportsIndex

import numpy as np

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.protocols import FloatArray


class Alternating(Adversary):
    """Gain vectors along the first axis, with alternating signs: half of e_1, then -e_1, e_1, -e_1, ...

    After each round the best fixed point so far is the one that loses the next round, so following the leader has
    linear regret. Nothing is random.

    Args:
        dimension: Number of coordinates d, at least 2.
        horizon: Number of rounds T, at least 1.

    Source: the standard example against follow-the-leader (Cesa-Bianchi and Lugosi 2006, section 4.2).
    """

    lowest = -1.0

    def __init__(self, dimension: SupportsIndex = 10, horizon: SupportsIndex = 2**16) -> None:
        super().__init__(dimension, horizon)

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; nothing is random."""
        self._round = 0

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gain vectors of the next `rounds` rounds, shape `(rounds, dimension)`."""
        t = np.arange(self._round, self._round + rounds)
        gains = np.zeros((rounds, self.n_arms))
        gains[:, 0] = np.where(t == 0, 0.5, np.where(t % 2 == 1, -1.0, 1.0))
        self._round += rounds
        return gains
