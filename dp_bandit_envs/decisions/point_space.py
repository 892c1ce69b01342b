"""The points of a decision set as a Gymnasium space, whose samples are points of the set."""

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from dp_bandit_envs.errors import WrongPointError
from dp_bandit_envs.protocols import FloatArray

if TYPE_CHECKING:
    from dp_bandit_envs.decisions.decision_set import DecisionSet


class PointSpace(spaces.Box):
    """A box of which only the points of a decision set are members.

    `low` and `high` are those of the box around the set, most of whose points may be outside of the set.

    Args:
        decision_set: The set; it is copied.
        games: None for one point, shape `(dimension,)`; or a number of games, with a point for each.
    """

    def __init__(self, decision_set: "DecisionSet", games: int | None = None) -> None:
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
        """Return whether `x` is a point of the set, or one for each game."""
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
