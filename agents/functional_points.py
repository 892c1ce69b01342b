"""Turns an algorithm for points, written as three plain functions, into an agent.

    start(dimension, horizon, ...) -> State    select(state, point, rng)    update(state, 0, seen) -> State

As in `functional`, but `select` writes its point into `point`, a sequence of `dimension` numbers that the caller owns.
`update` gets 0 in place of an arm; an agent that needs the point played keeps it in its state.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent
from dp_bandit_envs.decisions import DecisionSet
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.protocols import FloatArray


class FunctionalPointAgent(FunctionalAgent):
    """An agent for points made of `select` and `update`, and of `initial_state`, which calls `start`."""

    feedback: ClassVar[Literal["full", "payoff"]] = "full"
    """Whether it learns from gain vectors or from the payoffs of the points it played."""
    _size_is = "dimension"
    decision_set: DecisionSet | None = None
    """The set whose points are played, set before `begin`."""

    def begin(self, *, dimension: int, horizon: int, rng: np.random.Generator) -> None:  # type: ignore[override]
        """Reset everything for a game of `horizon` steps."""
        dimension = checks.integer("dimension", dimension, at_least=1, at_most=checks.MOST_ARMS)
        super().begin(n_arms=dimension, horizon=horizon, rng=rng)
        self._use_values(dimension if self.feedback == "full" else 1)
        self._point = [0.0] * dimension

    def see_set(self, decision_set: DecisionSet) -> None:
        """Receive the decision set; called before `begin`."""
        if not isinstance(decision_set, DecisionSet):
            raise WrongTypeError(f"decision_set must be a DecisionSet; received a {type(decision_set).__name__}.")
        self.decision_set = decision_set

    def select_point(self) -> FloatArray:
        """Choose the next point, shape `(dimension,)`."""
        self._check_begun()
        self.functions.select(self._state, self._point, self._rng)  # type: ignore[call-arg, arg-type]
        return np.array(self._point)

    def select_arm(self) -> int:
        """Raise: it plays points."""
        raise WrongTypeError(f"{type(self).__name__} plays points; call select_point().")

    def update(self, point: Any, observation: Mapping[str, NDArray[Any]]) -> None:
        """Learn from what was released after `point` was played."""
        super().update(0, observation)
