"""The cube [-1, 1]^d, with gain vectors from the L1 ball."""

from collections.abc import Sequence

import numpy as np

from dp_bandit_envs.decisions.decision_set import MARGIN, TOLERANCE, DecisionSet, up
from dp_bandit_envs.privacy.facts import Values
from dp_bandit_envs.protocols import FloatArray


def contains(point: Sequence[float]) -> bool:
    """Return whether all coordinates are in [-1, 1]; False for NaN."""
    inside = True
    for coordinate in point:
        inside = inside & (abs(coordinate) <= 1.0 + TOLERANCE)
    return inside


class Cube(DecisionSet):
    """Points with coordinates in [-1, 1], and gain vectors of L1 norm at most 1; payoffs are in [-1, 1].

    Args:
        dimension: Number of coordinates d, at least 1.
    """

    name = "cube"
    low = -1.0
    payoffs = (-1.0, 1.0)
    contains = staticmethod(contains)
    rule = "coordinates in [-1, 1]"

    def has_gains(self, rows: FloatArray) -> bool:
        """Return whether all rows have L1 norm at most 1."""
        return bool(np.all(np.abs(rows).sum(axis=1) <= MARGIN) and np.all(np.abs(rows) <= 1.0))

    def support(self, totals: FloatArray) -> FloatArray:
        """Return the L1 norm."""
        norms: FloatArray = np.sum(np.abs(totals), axis=-1)
        return norms

    def best_point(self, direction: FloatArray) -> FloatArray:
        """Return the signs of the direction, 1 for 0."""
        return np.where(np.asarray(direction) < 0, -1.0, 1.0)

    def _nearest(self, point: FloatArray) -> FloatArray:
        return np.clip(point, -1.0, 1.0)

    def outline(self) -> FloatArray:
        """Return a square."""
        return np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])

    @property
    def l1(self) -> float:
        """2."""
        return up(2.0)

    @property
    def vectors(self) -> Values:
        """Distance 2 in L1, the set's own norm, and in L2: between an axis's two ends."""
        return Values(-1.0, 1.0, l2=up(2.0), norm="l1", own=up(2.0), complete=True)
