"""Agents that write down what one game shows: another agent's arms, or what is released for given arms or a point."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.agents.functional_points import FunctionalPointAgent
from dp_bandit_envs.observations import Gains, Sums
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.specialise import specialise


class Tape(NamedTuple):
    """What one game shows; arrays, so that compiled code can write to them.

    Attributes:
        step: Number of arms chosen so far, `(1,)`.
        arms: The arm of each step, `(steps,)`; one more step than releases if the last batch of rounds is not full. Or
            the point of all steps, `(dimension,)`.
        values: The released gains or sums after each step, `(releases, n_values)`.
        counts: Which gains were released, or the numbers of gains in the sums, `(releases, n_values)`.
    """

    step: IntArray
    arms: Any
    values: FloatArray
    counts: IntArray


class Taped(NamedTuple):
    """An agent's own state beside a tape."""

    own: Any
    tape: Tape


def own_select(state: Any, rng: np.random.Generator) -> int:
    """Placeholder for the agent's own function."""
    raise NotImplementedError


def own_update(state: Any, arm: int, seen: Gains | Sums) -> Any:
    """Placeholder for the agent's own function."""
    raise NotImplementedError


def select_and_note(state: Taped, rng: np.random.Generator) -> int:
    """Let the agent choose an arm, and write it down."""
    arm = own_select(state.own, rng)
    tape = state.tape
    tape.arms[tape.step[0]] = arm
    tape.step[0] += 1
    return arm


def update_own(state: Taped, arm: int, seen: Gains | Sums) -> Taped:
    """Let the agent learn."""
    return Taped(own_update(state.own, arm, seen), state.tape)


def own_tidy(state: Any) -> Any:
    """Placeholder for the agent's own function."""
    raise NotImplementedError


def tidy_own(state: Taped) -> Taped:
    """Let the agent tidy up."""
    return Taped(own_tidy(state.own), state.tape)


def select_held(state: Tape, rng: np.random.Generator) -> int:
    """Return the arm that is to be played in this step."""
    state.step[0] += 1
    return int(state.arms[state.step[0] - 1])


def select_held_point(state: Tape, point: FloatArray, rng: np.random.Generator) -> None:
    """Play the point."""
    state.step[0] += 1
    for place in range(len(point)):
        point[place] = state.arms[place]


def note_gains(state: Tape, arm: int, seen: Gains) -> Tape:
    """Write down the released gains."""
    step = state.step[0] - 1
    for each in range(len(seen.gains)):
        state.values[step, each] = seen.gains[each]
        state.counts[step, each] = seen.observed[each]
    return state


def note_sums(state: Tape, arm: int, seen: Sums) -> Tape:
    """Write down the released sums."""
    step = state.step[0] - 1
    for each in range(len(seen.sums)):
        state.values[step, each] = seen.sums[each]
        state.counts[step, each] = seen.counts[each]
    return state


class TapedAgent(FunctionalAgent):
    """Another agent, whose arms are written down; it chooses and learns by its own functions.

    Args:
        agent: The agent.
        steps: Number of steps in which it chooses an arm.
    """

    def __init__(self, agent: FunctionalAgent, steps: int) -> None:
        self._agent, self._steps = agent, steps
        select: Callable[..., Any] = specialise(select_and_note, "own_select", agent.functions.select)
        update = specialise(update_own, "own_update", agent.functions.update)
        own = agent.functions.tidy
        tidy = None if own is None else specialise(tidy_own, "own_tidy", own)
        self.functions = Functions(select, update, tidy)

    def initial_state(self, n_arms: int, horizon: int) -> Taped:
        """Return the agent's own state and an empty tape."""
        own = self._agent.initial_state(n_arms, horizon)
        return Taped(own, _tape(np.zeros(self._steps, np.int64), 0, 0))


class HeldGains(FunctionalAgent):
    """Plays given arms and writes down the gains that are released.

    Args:
        arms: The arm of each step, `(steps,)`.
        n_values: Number of values that a round can reveal.
    """

    functions = Functions(select_held, note_gains)

    def __init__(self, arms: Sequence[int], n_values: int) -> None:
        self._arms, self._n_values = np.array(arms, np.int64), n_values

    def initial_state(self, n_arms: int, horizon: int) -> Tape:
        """Return a tape on which the arms are written."""
        return _tape(self._arms.copy(), horizon, self._n_values)


class HeldSums(HeldGains):
    """Plays given arms and writes down the sums that are released; arguments as for `HeldGains`."""

    functions = Functions(select_held, note_sums)
    learns_from = Sums


class HeldPoint(FunctionalPointAgent):
    """Plays a given point and writes down the gains that are released.

    Args:
        point: The point, `(dimension,)`.
        n_values: Number of values that a round can reveal.
    """

    functions = Functions(select_held_point, note_gains)  # type: ignore[arg-type]

    def __init__(self, point: FloatArray, n_values: int) -> None:
        self._held, self._n_values = point, n_values

    def initial_state(self, dimension: int, horizon: int) -> Tape:
        """Return a tape with the point."""
        return _tape(self._held.copy(), horizon, self._n_values)


class HeldPointOnSums(HeldPoint):
    """Plays a given point and writes down the sums that are released; arguments as for `HeldPoint`."""

    functions = Functions(select_held_point, note_sums)  # type: ignore[arg-type]
    learns_from = Sums


class HeldPointOnPayoffs(HeldPoint):
    """The same as `HeldPoint` where a round reveals the payoff alone."""

    feedback = "payoff"


def _tape(arms: Any, releases: int, n_values: int) -> Tape:
    size = (releases, n_values)
    return Tape(np.zeros(1, np.int64), arms, np.zeros(size), np.zeros(size, np.int64))
