"""Leaning: uniform unit vectors, pulled a little towards one direction."""

from typing import SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.protocols import FloatArray


class Leaning(Adversary):
    """Gain vectors for the ball that lean in one direction: (1 - gap) u + gap v.

    Each round draws u uniformly from the unit sphere; the direction v is drawn in the same way at the start of each
    game. The best fixed point is near v, and earns about gap a round.

    Args:
        dimension: Number of coordinates d, at least 2.
        horizon: Number of rounds T, at least 1.
        gap: In [0, 1].

    Source: this project.
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
        self._direction = self._unit_vectors(1)[0]

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gain vectors of the next `rounds` rounds, shape `(rounds, dimension)`."""
        gains: FloatArray = (1 - self.gap) * self._unit_vectors(rounds) + self.gap * self._direction
        return np.clip(gains, -1.0, 1.0)

    def _unit_vectors(self, number: int) -> FloatArray:
        normal = self._rng.standard_normal((number, self.n_arms))
        lengths = np.sqrt(np.einsum("ij,ij->i", normal, normal))
        return normal / np.where(lengths > 0, lengths, 1.0)[:, np.newaxis]
