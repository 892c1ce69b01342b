"""Turns an algorithm written as three plain functions into an agent.

    start(n_arms, horizon, ...) -> State      select(state, rng) -> arm      update(state, arm, value, count) -> State

`State` is a NamedTuple of arrays and numbers; `value` and `count` are sequences of `n_arms` numbers: each arm's
released gain and 0 or 1, or, for agents that learn from sums, its released sum and the number of gains in it. The agent
calls the functions as ordinary Python; `dp_bandit_envs.simulation` compiles the very same ones.
They therefore use scalar arithmetic and `math`, whose results are the same to the last bit both ways.
"""

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.errors import StepOutsideGame, WrongObservation
from dp_bandit_envs.graphs import FeedbackGraph

GAINS: Final = ("gain", "observed")
SUMS: Final = ("sum", "count")
CURE: Final = {
    GAINS: "Use a DPBandit environment without FlattenObservation, or with LaplaceClipRescale or MiniBatchAverage"
    " around it.",
    SUMS: "wrap it in RunningSums(env) or HybridSums(env, epsilon=...).",
}


class Functions(NamedTuple):
    """What an algorithm does in every step, as plain functions."""

    select: Callable[[Any, np.random.Generator], int]
    update: Callable[[Any, int, Sequence[float], Sequence[int]], Any]


class FunctionalAgent(abc.ABC):
    """An agent made of `select` and `update`, and of `initial_state`, which calls the algorithm's `start`."""

    functions: Functions
    """The algorithm's `select` and `update`."""
    learns_from: ClassVar[tuple[str, str]] = GAINS
    """The parts of an observation that `update` gets."""
    waits: bool = False
    """Whether it plays an arm until a release of that arm's own gains."""

    @abc.abstractmethod
    def initial_state(self, n_arms: int, horizon: int) -> Any:
        """Return the state before the first step, with this agent's parameters."""

    def begin(self, *, n_arms: int, horizon: int, rng: np.random.Generator) -> None:
        """Forget everything and get ready for a game of `horizon` steps."""
        self._state = _listed(self.initial_state(n_arms, horizon))
        self._rng = rng

    def with_graph(self, state: Any, graph: FeedbackGraph) -> Any:
        """Return the state with the feedback graph of the next round, for agents that look at it; others ignore it."""
        if self.waits and not graph.reveals_itself:
            raise ValueError(
                f"{type(self).__name__} plays arms until their own gains are released, and on this graph some arms do"
                " not reveal their own. Use self_loops=True, or TsMaxN, UcbMaxN or ThompsonSampling()."
            )
        return state

    def see_graph(self, graph: FeedbackGraph) -> None:
        """Take notice of the feedback graph of the next round; called before the first and whenever it changes."""
        self._check_begun()
        self._state = _listed(self.with_graph(self._state, graph))

    def select_arm(self) -> int:
        """Choose the next arm."""
        self._check_begun()
        return self.functions.select(self._state, self._rng)

    def update(self, arm: int, observation: Mapping[str, NDArray[Any]]) -> None:
        """Learn from what was released after `arm` was played."""
        self._check_begun()
        first, second = self.learns_from
        try:
            value, count = observation[first], observation[second]
        except (KeyError, IndexError, TypeError):
            raise WrongObservation(self._complaint(observation)) from None
        self._state = self.functions.update(self._state, arm, value.tolist(), count.tolist())

    def _complaint(self, observation: Any) -> str:
        name = type(self).__name__
        shown = list(observation) if isinstance(observation, Mapping) else type(observation).__name__
        if self.learns_from == SUMS and isinstance(observation, Mapping) and "gain" in observation:
            return f"{name} learns from running sums, but this environment reports gains; {CURE[SUMS]}"
        first, second = self.learns_from
        cure = CURE[self.learns_from]
        return (
            f"{name} learns from observations with {first!r} and {second!r}; received {shown}."
            f" {cure[0].upper()}{cure[1:]}"
        )

    def _check_begun(self) -> None:
        if not hasattr(self, "_state"):
            raise StepOutsideGame(f"{type(self).__name__} has no game yet; call begin(n_arms=, horizon=, rng=) first.")


def _listed(part: Any) -> Any:
    """Return a state with lists for arrays: element by element, they are twice as fast in ordinary Python."""
    if isinstance(part, np.ndarray):
        return part.tolist()
    return type(part)(*map(_listed, part)) if isinstance(part, tuple) else part
