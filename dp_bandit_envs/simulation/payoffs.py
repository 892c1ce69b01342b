"""The stages of the compiled loop for an adversary with a payoff function, and the comparisons for its regrets."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.payoff import python_function
from dp_bandit_envs.compiling.compiled import compile_with, in_background
from dp_bandit_envs.compiling.functions import frozen
from dp_bandit_envs.compiling.numba_errors import in_short
from dp_bandit_envs.errors import PayoffRangeError
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.play_block import Progress, Streams
from dp_bandit_envs.specialise import specialise


class History(NamedTuple):
    """The state of a game with a payoff function; arrays, so that the compiled loop can write to them.

    Attributes:
        arms: The last m + 1 arms, the oldest first.
        seen: A read-only view of `arms`, which is passed to the payoff function.
        options: What each arm would have paid in this round after the same previous arms, shape `(1, n_arms)`.
        totals: Sums of `options` so far, shape `(n_arms,)`.
        checkpoints: Rounds at which to record the totals, ascending.
        next_checkpoint: Index of the next checkpoint, shape `(1,)`.
        totals_at: The recorded totals, shape `(checkpoints, n_arms)`.
    """

    arms: IntArray
    seen: IntArray
    options: FloatArray
    totals: FloatArray
    checkpoints: IntArray
    next_checkpoint: IntArray
    totals_at: FloatArray


def new_history(memory: int, checkpoints: IntArray, n_arms: int) -> History:
    """Return the history before round 1, for a payoff function with a memory of `memory` rounds."""
    arms = np.zeros(memory + 1, np.int64)
    options, totals, totals_at = np.zeros((1, n_arms)), np.zeros(n_arms), np.zeros((len(checkpoints), n_arms))
    return History(arms, read_only(arms), options, totals, checkpoints, np.zeros(1, np.int64), totals_at)


def read_only(array: Any) -> Any:
    """Return a read-only view of an array."""
    view = array.view()
    view.flags.writeable = False
    return view


def payoff(gains: FloatArray, arms: IntArray, t: int) -> float:
    """Placeholder for an adversary's own function."""
    raise NotImplementedError


def reveal(
    graph: Any, gains: FloatArray, row: int, arm: int, own: float, states: Any, streams: Streams, progress: Progress
) -> None:
    """Placeholder for the stage of a feedback graph."""
    raise NotImplementedError


def reveal_payoffs(
    graph: Any, gains: FloatArray, row: int, arm: int, own: float, states: Any, streams: Streams, progress: Progress
) -> None:
    """Release what the arms would have paid instead of their gains."""
    reveal(graph, progress.history.options, 0, arm, own, states, streams, progress)


def pay(gains: FloatArray, row: int, arm: int, gain: float, run: int, t: int, memory: int, progress: Progress) -> float:
    """Return what the payoff function pays; also compute and add up what every arm would have paid."""
    history = progress.history
    arms, last = history.arms, len(history.arms) - 1
    for place in range(last):
        arms[place] = arms[place + 1]
    for each in range(len(history.totals)):
        # Rounds before the first count as the first.
        for place in range(last if t == 1 else 0):
            arms[place] = each
        arms[last] = each
        paid = payoff(gains[row], history.seen, t)
        if paid is None or not 0 <= paid <= 1:
            raise PayoffRangeError
        history.options[0, each] = paid
        history.totals[each] += history.options[0, each]
    for place in range(last if t == 1 else 0):
        arms[place] = arm
    arms[last] = arm
    checkpoint = history.next_checkpoint[0]
    if t == history.checkpoints[checkpoint]:
        for each in range(len(history.totals)):
            history.totals_at[checkpoint, each] = history.totals[each]
        history.next_checkpoint[0] += 1
    return history.options[0, arm]  # type: ignore[no-any-return]


def add_up_constant(gains: FloatArray, first: int, constant: History) -> None:
    """Add up what playing each arm in every round would have collected, and record it at checkpoints.

    Args:
        gains: Gains of rounds `first`, `first + 1`, ..., read-only, shape `(rounds, n_arms)`.
        first: The round of the first row.
        constant: Holds the totals before that round; changed in place.
    """
    for each in range(len(constant.totals)):
        for place in range(len(constant.arms)):
            constant.arms[place] = each
        checkpoint = np.searchsorted(constant.checkpoints, first)
        for row in range(len(gains)):
            paid = payoff(gains[row], constant.seen, first + row)
            if paid is None or not 0 <= paid <= 1:
                raise PayoffRangeError
            constant.options[0, each] = paid
            constant.totals[each] += constant.options[0, each]
            if checkpoint < len(constant.checkpoints) and first + row == constant.checkpoints[checkpoint]:
                constant.totals_at[checkpoint, each] = constant.totals[each]
                checkpoint += 1


def compiled_constant(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `add_up_constant` for a payoff function as it is now, compiled at its first call."""
    return _constant(frozen(function))


@functools.lru_cache(maxsize=256)
def _constant(function: Callable[..., Any]) -> Callable[..., Any]:
    return compile_with(add_up_constant, {"payoff": function})


def compilable(adversary: Adversary) -> Callable[..., Any] | str | None:
    """Return an adversary's payoff function, None if it has none, or the reason why it cannot be compiled."""
    if adversary.payoff is None:
        return None
    function: Callable[..., Any] = python_function(adversary.payoff)
    no_rounds, history = read_only(np.zeros((0, 2))), new_history(1, np.ones(1, np.int64), 2)
    try:
        in_background(lambda stopped: compiled_constant(function)(no_rounds, 1, history))
    # Numba raises errors of many types here, all of them before the function runs.
    except Exception as error:
        return in_short(error, [function], {function: f", the payoff function of {type(adversary).__name__}"})
    return function


def with_payoff(
    stages: dict[str, Callable[..., Any]], function: Callable[..., Any] | None, *, shown: bool
) -> dict[str, Callable[..., Any]]:
    """Return the stages of the loop with a payoff function in them, if there is one.

    Args:
        stages: The functions that replace the stages of `play_block`, by name.
        function: The payoff function.
        shown: Whether what arms that were not played would have paid is revealed too.
    """
    if function is None:
        return stages
    revealing = {"reveal": specialise(reveal_payoffs, "reveal", stages["reveal"])} if shown else {}
    return {**stages, **revealing, "pay": specialise(pay, "payoff", function)}
