"""Linear gains: every arm has a public feature vector, and its gain is linear in it."""

from typing import SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.vectors import unit_vectors
from dp_bandit_envs.protocols import FloatArray

FEATURE_SEED = 20170811
"""Seed of the default features: they are public, and the same in every game of this size."""
MARGIN = 1 + 1e-12
"""The norm of a feature vector may exceed 1 by rounding."""


class LinearGains(Adversary):
    r"""Gains that are linear in public features: :math:`g_t(k) = (1 + \langle A_k, \theta_t \rangle) / 2`.

    Each round has a hidden vector :math:`\theta_t = (1 - gap) u_t + gap\, v` of the unit ball, with :math:`u_t` uniform
    on the unit sphere. The direction v is drawn in the same way at the start of each game; the best arm is the arm
    whose features point most along v. With `coins`, a gain is instead an independent Bernoulli draw with mean
    :math:`(1 + gap \langle A_k, v \rangle) / 2`: gains are linear in expectation only, as in the usual stochastic
    linear bandit, and the adversary has `means`.

    Args:
        n_arms: Number of arms K, at least 2; by default the number of rows of `features`, or 10 without `features`.
        horizon: Number of rounds T, at least 1.
        features: The arms' feature vectors A, shape `(n_arms, dimension)`, each of L2 norm at most 1 and not all 0; by
            default uniform unit vectors, the same for each size up to the arms' order. They are public: agents get them
            through `see_features`.
        dimension: Number of features of an arm, at least 1; by default taken from `features`, or 5.
        gap: In [0, 1]: scale of the differences between arms' mean gains.
        coins: Whether gains are 0 or 1, as above.

    Source: this project; model of Bubeck, Cesa-Bianchi and Kakade (2012), Towards Minimax Policies for Online Linear
    Optimization with Bandit Feedback, COLT.
    """

    features: FloatArray

    def __init__(
        self,
        n_arms: SupportsIndex | None = None,
        horizon: SupportsIndex = 2**18,
        *,
        features: ArrayLike | None = None,
        dimension: SupportsIndex | None = None,
        gap: SupportsFloat = 0.2,
        coins: bool = False,
    ) -> None:
        rows = None if features is None else checked_features(features)
        self.arm_order = "random" if rows is None else "given"
        if n_arms is None:
            n_arms = 10 if rows is None else len(rows)
        super().__init__(n_arms, horizon)
        default = 5 if rows is None else rows.shape[1]
        width = default
        if dimension is not None:
            width = checks.integer("dimension", dimension, at_least=1, at_most=checks.MOST_ARMS)
        if rows is None:
            rows = default_features(self.n_arms, width)
        if rows.shape != (self.n_arms, width):
            raise ValueError(
                f"features must have a row for each of {self.n_arms} arms and {width} columns; received shape"
                f" {rows.shape}. Omit n_arms and dimension."
            )
        rows.setflags(write=False)
        self.features = self._features = rows
        self.gap = checks.in_range("gap", gap, 0, 1)
        self.coins = checks.boolean("coins", coins)

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self._rng = rng
        self.features = self._features[self.draw_order(rng)]
        self.features.setflags(write=False)
        self._direction = unit_vectors(1, self.features.shape[1], rng)[0]
        if self.coins:
            self.means = self._along(self.gap * self._direction[np.newaxis])[0]

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        if self.coins:
            assert self.means is not None
            return (self._rng.random((rounds, self.n_arms)) < self.means).astype(float)
        pulled = (1 - self.gap) * unit_vectors(rounds, self.features.shape[1], self._rng) + self.gap * self._direction
        return self._along(pulled)

    def _along(self, vectors: FloatArray) -> FloatArray:
        """Return (1 + <A_k, vector>) / 2 for each vector and arm.

        Column by column, because a product of matrices rounds differently in blocks of different lengths.
        """
        total = np.zeros((len(vectors), self.n_arms))
        for column in range(vectors.shape[1]):
            total += vectors[:, column, np.newaxis] * self.features[:, column]
        return np.clip((1 + total) / 2, 0.0, 1.0)


def default_features(n_arms: int, dimension: int) -> FloatArray:
    """Return the default feature vectors: uniform unit vectors, shape `(n_arms, dimension)`."""
    return unit_vectors(n_arms, dimension, np.random.default_rng(FEATURE_SEED))


def checked_features(features: ArrayLike) -> FloatArray:
    """Return feature vectors as a fresh array, or raise ValueError."""
    rule = "features must be a table of numbers, a row for each of at least 2 arms, of L2 norm at most 1 and not all 0"
    try:
        numbers = np.array(features, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{rule}; received {checks.kind_of(features)}.") from None
    if numbers.ndim != 2 or len(numbers) < 2 or numbers.shape[1] < 1:
        raise ValueError(f"{rule}; received shape {numbers.shape}.")
    longest = float(np.max(np.sum(numbers * numbers, axis=1)))
    if not (0 < longest <= MARGIN**2):
        raise ValueError(f"{rule}; the longest row received has norm {np.sqrt(longest):g}.")
    return numbers
