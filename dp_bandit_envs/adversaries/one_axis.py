"""One axis a round: a random axis with a random sign, so that most of a gain vector is 0."""

from typing import SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.protocols import FloatArray


class OneAxis(Adversary):
    """Gain vectors +-e_i for the ball and the cube: one axis a round.

    The axis is uniform; its sign is the axis's good sign with probability (1 + gap) / 2. Good signs are drawn at the
    start of each game.

    Args:
        dimension: Number of coordinates d, at least 2.
        horizon: Number of rounds T, at least 1.
        gap: In [0, 1].

    Source: Agarwal and Singh (2017), section 1.1, whose lower bounds use such gains.
    """

    lowest = -1.0

    def __init__(
        self, dimension: SupportsIndex = 10, horizon: SupportsIndex = 2**16, *, gap: SupportsFloat = 0.1
    ) -> None:
        super().__init__(dimension, horizon)
        self.gap = checks.in_range("gap", gap, 0, 1)

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self._rng = rng
        self._signs = np.where(rng.random(self.n_arms) < 0.5, -1.0, 1.0)

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gain vectors of the next `rounds` rounds, shape `(rounds, dimension)`."""
        drawn = self._rng.random((rounds, 2))
        axes = np.minimum((drawn[:, 0] * self.n_arms).astype(np.int64), self.n_arms - 1)
        gains = np.zeros((rounds, self.n_arms))
        good = drawn[:, 1] < (1 + self.gap) / 2
        gains[np.arange(rounds), axes] = np.where(good, self._signs[axes], -self._signs[axes])
        return gains
