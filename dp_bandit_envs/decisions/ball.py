"""The unit ball in L2, with gain vectors from the same ball."""

import math
from collections.abc import Sequence

import numpy as np

from dp_bandit_envs.decisions.decision_set import MARGIN, TOLERANCE, DecisionSet, up
from dp_bandit_envs.privacy.facts import Values
from dp_bandit_envs.protocols import FloatArray


def contains(point: Sequence[float]) -> bool:
    """Return whether a point has L2 norm at most 1; False for NaN."""
    square = 0.0
    for coordinate in point:
        square = square + coordinate * coordinate
    return square <= (1.0 + TOLERANCE) ** 2


class Ball(DecisionSet):
    """Points and gain vectors of L2 norm at most 1; payoffs are in [-1, 1].

    Args:
        dimension: Number of coordinates d, at least 1.
    """

    name = "ball"
    low = -1.0
    payoffs = (-1.0, 1.0)
    contains = staticmethod(contains)
    rule = "L2 norm at most 1"

    def has_gains(self, rows: FloatArray) -> bool:
        """Return whether all rows have L2 norm at most 1."""
        return bool(np.all(np.einsum("ij,ij->i", rows, rows) <= MARGIN) and rows.min() >= -1.0 and rows.max() <= 1.0)

    def support(self, totals: FloatArray) -> FloatArray:
        """Return the L2 norm."""
        squares: FloatArray = np.sum(totals * totals, axis=-1)
        return np.sqrt(squares)

    def best_point(self, direction: FloatArray) -> FloatArray:
        """Return the direction at length 1; any point for 0."""
        scale = float(np.abs(direction).max())
        if not scale > 0:
            corner = np.zeros(self.dimension)
            corner[0] = 1.0
            return corner
        # Divided by the largest coordinate first, so that squares of tiny ones do not vanish.
        unit: FloatArray = direction / scale
        unit /= np.linalg.norm(unit)
        return unit

    def _nearest(self, point: FloatArray) -> FloatArray:
        # Divided by the largest coordinate first, so that squares do not overflow.
        scale = max(1.0, float(np.abs(point).max()))
        point = point / scale
        nearest: FloatArray = point / max(1.0 / scale, float(np.linalg.norm(point)))
        return nearest

    def outline(self) -> FloatArray:
        """Return a circle."""
        angles = np.linspace(0, 2 * math.pi, 200)
        return np.column_stack([np.cos(angles), np.sin(angles)])

    @property
    def l1(self) -> float:
        """2 sqrt(d)."""
        return up(2 * math.sqrt(self.dimension))

    @property
    def vectors(self) -> Values:
        """Distance 2 in L2, which is also the set's own norm."""
        return Values(-1.0, 1.0, l2=up(2.0), norm="l2", own=up(2.0), complete=True)
