"""The stages of the compiled loop for an adversary with a payoff function, and what its regrets compare with."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.payoff import python_function
from dp_bandit_envs.errors import PayoffRangeError
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.compiling import compile_with
from dp_bandit_envs.simulation.play_block import Progress, Streams
from dp_bandit_envs.simulation.spreading import in_background
from dp_bandit_envs.specialise import specialise


class History(NamedTuple):
    """What a game with a payoff function remembers; arrays, so that the compiled loop can write to them.

    Attributes:
        arms: The last m + 1 arms, the oldest first.
        seen: The same memory, read-only: what the payoff function gets.
        options: What each arm would have paid in this round after the same arms, shape `(1, n_arms)`.
        totals: Their sums so far, shape `(n_arms,)`.
        checkpoints: Rounds at which to write the sums down, ascending.
        next_checkpoint: The place of the next one, shape `(1,)`.
        totals_at: Where to write, shape `(checkpoints, n_arms)`.
    """

    arms: IntArray
    seen: IntArray
    options: FloatArray
    totals: FloatArray
    checkpoints: IntArray
    next_checkpoint: IntArray
    totals_at: FloatArray


def new_history(memory: int, checkpoints: IntArray, n_arms: int) -> History:
    """Return the history before round 1, of a payoff function that looks `memory` rounds back."""
    arms = np.zeros(memory + 1, np.int64)
    options, totals, totals_at = np.zeros((1, n_arms)), np.zeros(n_arms), np.zeros((len(checkpoints), n_arms))
    return History(arms, read_only(arms), options, totals, checkpoints, np.zeros(1, np.int64), totals_at)


def read_only(array: Any) -> Any:
    """Return a view of the same memory through which nothing can be written."""
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
    """Release what the arms would have paid in place of the gains behind it."""
    reveal(graph, progress.history.options, 0, arm, own, states, streams, progress)


def pay(gains: FloatArray, row: int, arm: int, run: int, t: int, memory: int, progress: Progress) -> float:
    """Return what the payoff function pays; work out and add up what the other arms would have paid."""
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
    """Add up what each arm played throughout would have collected, and write it down at checkpoints.

    Args:
        gains: Gains of rounds `first`, `first + 1`, ..., read-only, shape `(rounds, n_arms)`.
        first: The number of the first row's round.
        constant: Its sums are the arms' payoffs before that round; changed in place.
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


@functools.cache
def compiled_constant(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `add_up_constant` for a payoff function, to be compiled when it is first called."""
    return compile_with(specialise(add_up_constant, "payoff", function), {})


def compilable(adversary: Adversary) -> Callable[..., Any] | str | None:
    """Return an adversary's payoff function; None if it has none; a text that says so if it cannot be compiled."""
    if adversary.payoff is None:
        return None
    function: Callable[..., Any] = python_function(adversary.payoff)
    no_rounds, history = read_only(np.zeros((0, 2))), new_history(1, np.ones(1, np.int64), 2)
    try:
        in_background(lambda stopped: compiled_constant(function)(no_rounds, 1, history))
    # Numba raises errors of many types here, and nothing of the function has run.
    except Exception:
        return f"Numba cannot compile the payoff function {function.__name__}"
    return function


def with_payoff(
    stages: dict[str, Callable[..., Any]], function: Callable[..., Any] | None, *, shown: bool
) -> dict[str, Callable[..., Any]]:
    """Return the stages of the loop with a payoff function in them, if there is one.

    Args:
        stages: What takes the places of the stages of `play_block`, by name.
        function: The payoff function.
        shown: Whether arms that were not played are revealed too, by what they would have paid.
    """
    if function is None:
        return stages
    revealing = {"reveal": specialise(reveal_payoffs, "reveal", stages["reveal"])} if shown else {}
    return {**stages, **revealing, "pay": specialise(pay, "payoff", function)}
