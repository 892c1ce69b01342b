"""The decision sets of online linear optimisation: simplex, ball and cube, with membership and best points.

A point x of the set X earns the scalar product <g, x> with the round's gain vector g, which comes from a set Y of gain
vectors. Each X has its own Y, chosen so that payoffs stay in a fixed range.
"""

import abc
import copy
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongPointError
from dp_bandit_envs.privacy.facts import ValueRange, all_gains_of_arms
from dp_bandit_envs.protocols import FloatArray

__all__ = ["DECISION_SETS", "TOLERANCE", "Ball", "Cube", "DecisionSet", "PointSpace", "Simplex", "payoff", "payoffs"]

TOLERANCE = 1e-9
"""How far outside the set a point may be: rounding errors of agents are far below it."""
MARGIN = 1 + 1e-12
"""The norm of a gain vector may exceed 1 by rounding; the distances that noise is scaled to are larger by as much."""

WAY_OUT = "The set's method project returns the nearest point, and the wrapper ProjectToSet(env) plays it."


def payoff(gains: Sequence[float], point: Sequence[float], low: float, high: float) -> float:
    """Return the scalar product of gains and point, clipped to [low, high], which only rounding errors exceed."""
    total = 0.0
    for index in range(len(point)):
        total += gains[index] * point[index]
    return min(max(total, low), high)


def payoffs(gains: FloatArray, points: FloatArray, low: float, high: float) -> FloatArray:
    """Return the same as `payoff` for each row of `(..., dimension)`, to the last bit: shape `(...)`."""
    # Accumulated coordinate by coordinate; 0.0 is where `payoff` starts, which matters to the sign of 0 only.
    totals = np.add.accumulate(gains * points, axis=-1)[..., -1] + 0.0
    within: FloatArray = np.minimum(np.maximum(totals, low), high)
    return within


class DecisionSet(abc.ABC):
    """A set of points that can be played, and its set of gain vectors.

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
    rule: ClassVar[str]
    """Which points are in the set, in words."""

    def __init__(self, dimension: Any) -> None:
        self.dimension = checks.integer("dimension", dimension, at_least=1, at_most=checks.MOST_ARMS)

    @property
    def space(self) -> "PointSpace":
        """The set as an action space."""
        return PointSpace(self)

    def checked(self, point: Any) -> FloatArray:
        """Return a point as a fresh array, or raise `WrongPointError` if it is not in this set."""
        numbers = self._numbers(point, (self.dimension,), "an action")
        if not self.contains(numbers.tolist()):
            raise WrongPointError(f"an action must be {self._wanted()}; received one outside of it, or NaN. {WAY_OUT}")
        return numbers

    def checked_rows(self, points: Any, rows: int) -> FloatArray:
        """Return points, shape `(rows, dimension)`, as a fresh array, or raise `WrongPointError`."""
        numbers = self._numbers(points, (rows, self.dimension), "actions")
        with np.errstate(over="ignore", invalid="ignore"):
            inside = np.asarray(self.contains(numbers.T))
        if not inside.all():
            raise WrongPointError(
                f"every action must be {self._wanted()}; that of game {int(np.argmin(inside))} is outside of it, or"
                f" NaN. {WAY_OUT}"
            )
        return numbers

    def _wanted(self) -> str:
        return f"a point of the {self.name} ({self.rule})"

    def _numbers(self, point: Any, shape: tuple[int, ...], what: str) -> FloatArray:
        """Return real numbers of this shape as a fresh array, or raise; text, None and complex numbers are refused."""
        received = checks.kind_of(point)
        try:
            numbers = np.asarray(point)
        except Exception:  # whatever an object of another package raises when it is read
            numbers = np.empty(0)
        else:
            received += f" of shape {numbers.shape} of {numbers.dtype}"
        if numbers.shape != shape or numbers.dtype.kind not in "fiu":
            raise WrongPointError(f"{what} must be real numbers of shape {shape}; received {received}.")
        return np.array(numbers, dtype=np.float64)

    @staticmethod
    @abc.abstractmethod
    def contains(point: Any) -> Any:
        """Return whether a point is in the set, up to `TOLERANCE`; False for NaN.

        A plain function of numbers, which the simulator compiles. It also accepts one array per coordinate, for many
        points: so use &, not `and`.
        """

    @abc.abstractmethod
    def has_gains(self, rows: FloatArray) -> bool:
        """Return whether all rows, shape `(rounds, dimension)`, are gain vectors; False for NaN."""

    @abc.abstractmethod
    def support(self, totals: FloatArray) -> FloatArray:
        """Return the payoff of the best fixed point on summed gain vectors `(..., dimension)`: shape `(...)`."""

    @abc.abstractmethod
    def best_point(self, direction: FloatArray) -> FloatArray:
        """Return a point with the largest scalar product with `direction`, shape `(dimension,)`."""

    def project(self, point: Any) -> FloatArray:
        """Return the point of the set nearest to `point` in L2, shape `(dimension,)`.

        Raises:
            WrongPointError: If `point` is not `dimension` finite real numbers.
        """
        numbers = self._numbers(point, (self.dimension,), "point")
        if not np.isfinite(numbers).all():
            raise WrongPointError("point must be finite numbers; received inf or NaN.")
        return self._nearest(numbers)

    @abc.abstractmethod
    def _nearest(self, point: FloatArray) -> FloatArray:
        """Return the point of the set nearest to a finite `point` in L2, as a fresh array."""

    @abc.abstractmethod
    def outline(self) -> FloatArray:
        """Return the corners of the set's first two coordinates, for pictures, shape `(corners, 2)`."""

    @property
    @abc.abstractmethod
    def l1(self) -> float:
        """The L1 diameter of the set of gain vectors, rounded up: the sensitivity of a revealed vector."""

    @property
    @abc.abstractmethod
    def vectors(self) -> ValueRange:
        """Public facts about a revealed gain vector."""

    @property
    def payoff_values(self) -> ValueRange:
        """Public facts about a revealed payoff: one number, whose sensitivity is the width of its range."""
        low, high = self.payoffs
        return ValueRange(low, high, l2=high - low, norm="sup", norm_distance=high - low, complete=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dimension})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.dimension))


class PointSpace(spaces.Box):
    """A box whose members are only the points of a decision set.

    `low` and `high` describe the box around the set; most points of the box may be outside the set.

    Args:
        decision_set: The set; it is copied.
        games: None for one point, shape `(dimension,)`; or a number of games, with one point per game.
    """

    def __init__(self, decision_set: DecisionSet, games: int | None = None) -> None:
        self.decision_set = copy.deepcopy(decision_set)
        self._games = games
        shape = (decision_set.dimension,) if games is None else (games, decision_set.dimension)
        super().__init__(decision_set.low, decision_set.high, shape, np.float64)

    def sample(self, mask: Any = None, probability: Any = None) -> FloatArray:
        """Return a random point: uniform in the box, then moved to the nearest point of the set."""
        drawn = self.np_random.uniform(self.low, self.high)
        if self._games is None:
            return self.decision_set.project(drawn)
        return np.array([self.decision_set.project(row) for row in drawn])

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a point of the set, or one point per game."""
        try:
            if self._games is None:
                self.decision_set.checked(x)
            else:
                self.decision_set.checked_rows(x, self._games)
        except WrongPointError:
            return False
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PointSpace) and self.decision_set == other.decision_set and self._games == other._games

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"PointSpace({self.decision_set!r}{'' if self._games is None else f', games={self._games}'})"


@batch_space.register(PointSpace)
def _batched(space: PointSpace, n: int = 1) -> PointSpace:
    return PointSpace(space.decision_set, n)


def up(number: float) -> float:
    """Return a number enlarged by the margin for rounding errors of gain vectors, and rounded up."""
    return math.nextafter(number * MARGIN, math.inf)


def in_simplex(point: Sequence[float]) -> bool:
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
    contains = staticmethod(in_simplex)
    rule = "coordinates of at least 0 that add up to 1"

    def has_gains(self, rows: FloatArray) -> bool:
        """Return whether all entries are in [0, 1]."""
        return bool(np.all((rows >= 0.0) & (rows <= 1.0)))

    def support(self, totals: FloatArray) -> FloatArray:
        """Return the largest coordinate."""
        largest: FloatArray = np.max(totals, axis=-1)
        return largest

    def best_point(self, direction: FloatArray) -> FloatArray:
        """Return the corner of the first largest coordinate."""
        corner = np.zeros(self.dimension)
        corner[np.argmax(direction)] = 1.0
        return corner

    def _nearest(self, point: FloatArray) -> FloatArray:
        """Lower all coordinates by one number, and clip them at 0."""
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
    def vectors(self) -> ValueRange:
        """Distance 1 in the sup norm, the set's own norm."""
        return all_gains_of_arms(self.dimension)


def in_ball(point: Sequence[float]) -> bool:
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
    contains = staticmethod(in_ball)
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
    def vectors(self) -> ValueRange:
        """Distance 2 in L2, which is also the set's own norm."""
        return ValueRange(-1.0, 1.0, l2=up(2.0), norm="l2", norm_distance=up(2.0), complete=True)


def in_cube(point: Sequence[float]) -> bool:
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
    contains = staticmethod(in_cube)
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
    def vectors(self) -> ValueRange:
        """Distance 2 in L1, the set's own norm, and in L2: between an axis's two ends."""
        return ValueRange(-1.0, 1.0, l2=up(2.0), norm="l1", norm_distance=up(2.0), complete=True)


DECISION_SETS: dict[str, type[DecisionSet]] = {one.name: one for one in (Ball, Cube, Simplex)}
"""The one table of decision sets."""
