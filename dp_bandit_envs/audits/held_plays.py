"""Agents that play what they are told, whatever they see, and keep it: with them, the compiled loop shows releases."""

from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.agents.functional_points import FunctionalPointAgent
from dp_bandit_envs.observations import Gains, Sums
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """What is played and what was seen.

    Attributes:
        plays: The arm of each step, `(steps,)`, or the point of all of them, `(dimension,)`.
        step: The number of steps so far, `(1,)`.
        values: What was released in each step, `(steps * n_values,)`.
        counts: How many gains are in it; 0 where nothing was, `(steps * n_values,)`.
    """

    plays: Any
    step: IntArray
    values: FloatArray
    counts: IntArray


def select(state: State, rng: np.random.Generator) -> int:
    """Play the arm of this step."""
    return int(state.plays[min(state.step[0], len(state.plays) - 1)])


def select_point(state: State, point: FloatArray, rng: np.random.Generator) -> None:
    """Play the point."""
    for place in range(len(point)):
        point[place] = state.plays[place]


def keep_gains(state: State, arm: int, seen: Gains) -> State:
    """Keep released gains."""
    first = state.step[0] * len(seen.gains)
    for each in range(len(seen.gains)):
        if first + each < len(state.values):
            state.values[first + each] = seen.gains[each]
            state.counts[first + each] = seen.observed[each]
    state.step[0] += 1
    return state


def keep_sums(state: State, arm: int, seen: Sums) -> State:
    """Keep released sums."""
    first = state.step[0] * len(seen.sums)
    for each in range(len(seen.sums)):
        if first + each < len(state.values):
            state.values[first + each] = seen.sums[each]
            state.counts[first + each] = seen.counts[each]
    state.step[0] += 1
    return state


class HeldArms(FunctionalAgent):
    """Plays given arms and keeps released gains.

    Args:
        plays: The arm of each step, `(steps,)`.
        n_values: Number of values that a step can release.
    """

    functions = Functions(select, keep_gains)

    def __init__(self, plays: IntArray, n_values: int) -> None:
        self._plays, self._n_values = plays, n_values

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        return first_state(self._plays, self._n_values, horizon)


class HeldArmsOnSums(HeldArms):
    """The same for released sums."""

    functions = Functions(select, keep_sums)
    learns_from = Sums


class HeldPoint(FunctionalPointAgent):
    """Plays a given point and keeps what is released.

    Args:
        plays: The point, `(dimension,)`.
        n_values: Number of values that a step can release.
    """

    functions = Functions(select_point, keep_gains)  # type: ignore[arg-type]

    def __init__(self, plays: FloatArray, n_values: int) -> None:
        self._plays, self._n_values = plays, n_values

    def initial_state(self, dimension: int, horizon: int) -> State:
        """Return the state before the first step."""
        return first_state(self._plays, self._n_values, horizon)


class HeldPointOnSums(HeldPoint):
    """The same for released sums."""

    functions = Functions(select_point, keep_sums)  # type: ignore[arg-type]
    learns_from = Sums


class HeldPointOnPayoffs(HeldPoint):
    """The same where a round reveals the payoff alone."""

    feedback = "payoff"


def first_state(plays: Any, n_values: int, steps: int) -> State:
    """Return the state before the first step."""
    room = steps * n_values
    return State(np.array(plays), np.zeros(1, np.int64), np.zeros(room), np.zeros(room, np.int64))
