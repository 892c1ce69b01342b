"""The probability simplex, with gain vectors from [0, 1]^d: mixtures of experts."""

from collections.abc import Sequence

import numpy as np

from dp_bandit_envs.decisions.decision_set import TOLERANCE, DecisionSet
from dp_bandit_envs.privacy.facts import Values, all_gains_of_arms
from dp_bandit_envs.protocols import FloatArray


def contains(point: Sequence[float]) -> bool:
    """Return whether all coordinates are at least 0 and add up to 1; False for NaN."""
    total, inside = 0.0, True
    for coordinate in point:
        total = total + coordinate
        inside = inside & (coordinate >= -TOLERANCE)
    return inside & (abs(total - 1.0) <= TOLERANCE)


class Simplex(DecisionSet):
    """Probabilities of d arms, and gain vectors of numbers in [0, 1]; payoffs are in [0, 1].

    Args:
        dimension: Number of coordinates d, at least 1.
    """

    name = "simplex"
    low = 0.0
    payoffs = (0.0, 1.0)
    contains = staticmethod(contains)
    rule = "coordinates of at least 0 that add up to 1"

    def has_gains(self, rows: FloatArray) -> bool:
        """Return whether all entries are in [0, 1]."""
        return bool(np.all((rows >= 0.0) & (rows <= 1.0)))

    def support(self, totals: FloatArray) -> FloatArray:
        """Return the largest coordinate."""
        largest: FloatArray = np.max(totals, axis=-1)
        return largest

    def best_point(self, direction: FloatArray) -> FloatArray:
        """Return the corner of the largest coordinate, the first of several."""
        corner = np.zeros(self.dimension)
        corner[np.argmax(direction)] = 1.0
        return corner

    def _nearest(self, point: FloatArray) -> FloatArray:
        """Lower all coordinates by one number, and cut them at 0."""
        # What is more than 1 below the largest coordinate becomes 0, however far below it is.
        with np.errstate(over="ignore"):
            point = np.maximum(point - point.max(), -1.0)
        falling = np.sort(point)[::-1]
        surplus = (np.cumsum(falling) - 1.0) / np.arange(1, self.dimension + 1)
        lowered = point - surplus[np.count_nonzero(falling > surplus) - 1]
        cut: FloatArray = np.maximum(lowered, 0.0)
        cut /= cut.sum()
        return cut

    def outline(self) -> FloatArray:
        """Return a triangle."""
        return np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])

    @property
    def l1(self) -> float:
        """The dimension."""
        return float(self.dimension)

    @property
    def vectors(self) -> Values:
        """Distance 1 in the sup norm, the set's own norm."""
        return all_gains_of_arms(self.dimension)
