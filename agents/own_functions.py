"""Says in one sentence what an own agent's functions did wrong, if they fail in ordinary Python."""

from pathlib import PurePath
from typing import Any, Final

from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.observations import Gains, Sums

SINGLE: Final = "the arrays of the state are lists in play: read and write single elements, as state.sums[arm] += 1.0"


def no_state(agent: Any) -> WrongTypeError:
    """Return the error for an `update` that returned nothing."""
    name = agent.functions.update.__name__
    return WrongTypeError(
        f"{name} of {type(agent).__name__} must return the state; it returned nothing: write return state."
    )


def explain(error: Exception, agent: Any, function: Any) -> None:
    """Raise a better error in place of one that a function of an agent raised, or return if there is nothing to add.

    Args:
        error: What was raised.
        agent: The agent.
        function: Its function.
    """
    rule = _rule(error, agent)
    line = _line_in(error, function.__code__)
    if rule is None or line is None:
        return
    place = f"{PurePath(function.__code__.co_filename).name}, line {line}"
    raise WrongTypeError(f"{function.__name__} of {type(agent).__name__} ({place}) failed: {rule}.") from error


def _rule(error: Exception, agent: Any) -> str | None:
    """Return what the function must keep to; the error itself is not shown, as it may contain a gain."""
    if isinstance(error, AttributeError) and type(error.obj).__name__ == "Seen":
        fields = agent.learns_from._fields
        there = f"seen has {', '.join(fields[:-1])} and {fields[-1]}, not {error.name}"
        for kind in (Gains, Sums):
            if error.name in kind._fields:
                return f"{there}; write learns_from = {kind.__name__} in the class"
        return there
    text = str(error)
    if isinstance(error, AttributeError) and "can't set" in text:
        return "numbers of the state change by returning a new State(...), or are kept in an array of length 1"
    of_a_list = "list" in text and "list indices" not in text
    return SINGLE if of_a_list or "object is not iterable" in text else None


def _line_in(error: Exception, code: Any) -> int | None:
    """Return the line of a function at which an error passed through it; None if it did not."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is code:
            return trace.tb_lineno
        trace = trace.tb_next
    return None
