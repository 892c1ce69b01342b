"""Adversaries that choose gain vectors, for games whose actions are points of a ball, a cube or a simplex."""

from typing import SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.protocols import FloatArray


class Leaning(Adversary):
    """Gain vectors for the ball that lean in one direction: (1 - gap) u + gap v.

    Each round draws u uniformly from the unit sphere; the direction v is drawn in the same way at the start of each
    game. The best fixed point is near v and earns about gap per round.

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
        self._direction = unit_vectors(1, self.n_arms, rng)[0]

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gain vectors of the next `rounds` rounds, shape `(rounds, dimension)`."""
        pulled = (1 - self.gap) * unit_vectors(rounds, self.n_arms, self._rng) + self.gap * self._direction
        gains: FloatArray = np.clip(pulled, -1.0, 1.0)
        return gains


class OneAxis(Adversary):
    """Gain vectors +-e_i for the ball and the cube: one axis per round.

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


class Alternating(Adversary):
    """Gain vectors along the first axis, with alternating signs: half of e_1, then -e_1, e_1, -e_1, ...

    After each round the best fixed point loses in the next round, so follow-the-leader has linear regret. The gains are
    deterministic.

    Args:
        dimension: Number of coordinates d, at least 2.
        horizon: Number of rounds T, at least 1.

    Source: the standard example against follow-the-leader (Cesa-Bianchi and Lugosi 2006, section 4.2).
    """

    lowest = -1.0

    def __init__(self, dimension: SupportsIndex = 10, horizon: SupportsIndex = 2**16) -> None:
        super().__init__(dimension, horizon)

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; its gains are deterministic."""
        self._round = 0

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gain vectors of the next `rounds` rounds, shape `(rounds, dimension)`."""
        t = np.arange(self._round, self._round + rounds)
        gains = np.zeros((rounds, self.n_arms))
        gains[:, 0] = np.where(t == 0, 0.5, np.where(t % 2 == 1, -1.0, 1.0))
        self._round += rounds
        return gains


def unit_vectors(number: int, dimension: int, rng: np.random.Generator) -> FloatArray:
    """Return uniform unit vectors, shape `(number, dimension)`."""
    normal = rng.standard_normal((number, dimension))
    lengths = np.sqrt(np.einsum("ij,ij->i", normal, normal))
    unit: FloatArray = normal / np.where(lengths > 0, lengths, 1.0)[:, np.newaxis]
    return unit
