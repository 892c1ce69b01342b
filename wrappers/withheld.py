"""Keeps what is private inside a boundary: numbers out of prints, and errors without their text and frames."""

from collections.abc import Callable
from typing import Any, TypeVar

from dp_bandit_envs.errors import BoundaryError
from dp_bandit_envs.privacy.mechanism import Below
from dp_bandit_envs.protocols import Observation

Result = TypeVar("Result")

WITHHELD = (
    "something in or below {} failed; its message is withheld because it may contain private gains. To read it, play"
    " without the wrapper on data that is not private, or let dp_bandit_envs.conformance.check_wrapper try it."
)


class RefusedError(Exception):
    """Raised inside a boundary with a message that is public."""


class Withheld:
    """Holds private numbers so that neither a repr nor a list of attributes shows them."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "withheld"


def attempt(
    call: Callable[[], Result], wrapper: str, *, trusted: bool
) -> tuple[Result, None] | tuple[Any, BoundaryError]:
    """Call something that handles private gains; return its result, or a fresh error that carries nothing of its own.

    The error is made outside the except clause, so the private one is not its context; and as the caller raises it, no
    frame in its traceback has seen a gain.

    Args:
        call: What to call.
        wrapper: The name of the boundary.
        trusted: Whether what is next below is itself a boundary, whose errors are public.
    """
    message, interrupted = None, None
    try:
        return call(), None
    except RefusedError as refusal:
        message = str(refusal)
    except BoundaryError as error:
        message = str(error) if trusted else None
    except Exception:
        pass
    except (KeyboardInterrupt, SystemExit, GeneratorExit) as stop:
        interrupted = type(stop)
    if interrupted is not None:
        # Raised anew, as the text and the frames of the first one may hold private gains.
        raise KeyboardInterrupt if interrupted is KeyboardInterrupt else SystemExit(1)
    return None, BoundaryError(WITHHELD.format(wrapper) if message is None else message)


def gains_and_observed(seen: Observation, below: Below, wrapper: str) -> tuple[list[float], list[int]]:
    """Return the gains of one round, and which of them are revealed.

    Raises:
        RefusedError: If a gain is outside of its range, or more are revealed than the noise is scaled to.
    """
    low, high = below.values.low, below.values.high
    gains: list[float] = seen["gain"].tolist()
    for gain in gains:
        # NaN fails, too.
        if not low <= gain <= high:
            raise RefusedError(outside_the_range(wrapper, low, high))
    observed: list[int] = seen["observed"].tolist()
    if sum(map(bool, observed)) > below.gains_in_a_round:
        raise RefusedError(too_many_gains(wrapper, below.gains_in_a_round))
    return gains, observed


def outside_the_range(wrapper: str, low: float, high: float) -> str:
    """Return the message for a gain outside its range, without the gain."""
    return (
        f"{wrapper} received a gain outside [{low:g}, {high:g}]; it is withheld. Rescale the gains below the wrapper."
    )


def too_many_gains(wrapper: str, most: int) -> str:
    """Return the message for a round that reveals more gains than the noise is scaled to."""
    return (
        f"{wrapper} received more gains of one round than the {most} that the sensitivity of the game below stands for."
        " Declare a larger sensitivity there, or values with complete=True if every round reveals all of them."
    )


def ends_by_itself(wrapper: str) -> str:
    """Return the message for a game whose end is not that of its horizon, and so may depend on gains."""
    return f"{wrapper} needs a game that terminates after its horizon, neither before nor later; gains could decide."
