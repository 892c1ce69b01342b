"""What every decision set offers: checks of points and of gain vectors, the best point, and public distances.

A point x of the set X earns the scalar product <g, x> with the round's gain vector g, which comes from a set Y of gain
vectors. Each X has its own Y, chosen so that payoffs stay in a fixed range.
"""

import abc
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongPointError
from dp_bandit_envs.privacy.values import Values
from dp_bandit_envs.protocols import FloatArray

TOLERANCE = 1e-9
"""How far outside the set a point may be: rounding errors of agents are far below it."""
MARGIN = 1 + 1e-12
"""The norm of a gain vector may exceed 1 by rounding; the distances that noise is scaled to are larger by as much."""


def payoff(gains: Sequence[float], point: Sequence[float], low: float, high: float) -> float:
    """Return the scalar product of gains and point, cut to [low, high], which only rounding errors exceed."""
    total = 0.0
    for each in range(len(point)):
        total += gains[each] * point[each]
    return min(max(total, low), high)


class DecisionSet(abc.ABC):
    """A set of points that can be played, and the set of gain vectors that belongs to it.

    Args:
        dimension: Number of coordinates d, at least 1.
    """

    name: ClassVar[str]
    """Its name in tables, messages and ids."""
    low: ClassVar[float]
    """The smallest coordinate of a point."""
    high: ClassVar[float] = 1.0
    """The largest coordinate of a point."""
    payoffs: ClassVar[tuple[float, float]]
    """The smallest and the largest payoff; the coordinates of gain vectors are in the same range."""
    contains: ClassVar[Callable[[Sequence[float]], bool]]
    """Whether a point is in the set, up to `TOLERANCE`: a plain function, which the simulator compiles."""

    def __init__(self, dimension: Any) -> None:
        self.dimension = checks.integer("dimension", dimension, at_least=1, at_most=checks.MOST_ARMS)

    @property
    def space(self) -> spaces.Box:
        """The box around the set, as an action space; most of its points may be outside of the set."""
        return spaces.Box(self.low, self.high, (self.dimension,), np.float64)

    def checked(self, point: Any) -> FloatArray:
        """Return a point as a fresh array, or raise `WrongPointError` if it is none of this set."""
        numbers: Any = None
        if not isinstance(point, (str, bytes)):
            try:
                numbers = np.array(point, dtype=np.float64)
            except (TypeError, ValueError, OverflowError):
                numbers = None
        if numbers is None or numbers.shape != (self.dimension,):
            shape = "" if numbers is None else f" of shape {numbers.shape}"
            raise WrongPointError(
                f"an action must be {self.dimension} numbers, a point of the {self.name}; received a"
                f" {type(point).__name__}{shape}."
            )
        if not self.contains(numbers.tolist()):
            raise WrongPointError(
                f"an action must be a point of the {self.name} ({self.rule}); received one outside of it, or NaN. Its"
                " method project returns the nearest point."
            )
        return numbers  # type: ignore[no-any-return]

    @property
    @abc.abstractmethod
    def rule(self) -> str:
        """Which points are in the set, as a formula."""

    @abc.abstractmethod
    def has_gains(self, rows: FloatArray) -> bool:
        """Return whether all rows, shape `(rounds, dimension)`, are gain vectors; False for NaN."""

    @abc.abstractmethod
    def support(self, totals: FloatArray) -> FloatArray:
        """Return what the best fixed point collects on summed gain vectors `(..., dimension)`: shape `(...)`."""

    @abc.abstractmethod
    def best_point(self, direction: FloatArray) -> FloatArray:
        """Return a point with the largest scalar product with `direction`, shape `(dimension,)`."""

    @abc.abstractmethod
    def project(self, point: FloatArray) -> FloatArray:
        """Return the point of the set nearest to `point` in L2, shape `(dimension,)`."""

    @abc.abstractmethod
    def outline(self) -> FloatArray:
        """Return the corners of the set's first two coordinates, for pictures, shape `(corners, 2)`."""

    @property
    @abc.abstractmethod
    def l1(self) -> float:
        """The L1 diameter of the set of gain vectors, rounded up: the sensitivity of a revealed vector."""

    @property
    @abc.abstractmethod
    def vectors(self) -> Values:
        """Public facts about a revealed gain vector."""

    @property
    def payoff_values(self) -> Values:
        """Public facts about a revealed payoff: one number, whose sensitivity is the width of its range."""
        low, high = self.payoffs
        return Values(low, high, l2=high - low, norm="sup", own=high - low, complete=True)


def up(number: float) -> float:
    """Return a number enlarged by the margin for rounding errors of gain vectors, and rounded up."""
    return math.nextafter(number * MARGIN, math.inf)
