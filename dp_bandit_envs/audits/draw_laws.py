"""The law of one draw of an agent, from its own `select`: which uniform numbers lead to which arm."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.audits.step_functions import steps_of
from dp_bandit_envs.errors import NotAuditedError

Select = Callable[[Any, Any], int]


class Branch(NamedTuple):
    """One outcome of `select`.

    Attributes:
        probability: In (0, 1].
        arm: The arm.
        state: The agent's state afterwards.
    """

    probability: float
    arm: int
    state: Any


class _NeedsMoreError(Exception):
    """`select` asked for one more uniform number than was given."""


class _Uniforms:
    """A random generator that returns given uniform numbers."""

    def __init__(self, numbers: list[float]) -> None:
        self._left = numbers[::-1]

    def random(self) -> float:
        """Return the next one."""
        if not self._left:
            raise _NeedsMoreError
        return self._left.pop()

    def __getattr__(self, name: str) -> Any:
        raise NotAuditedError(f"its draws ({name}) are not of uniform numbers")


def copied(part: Any) -> Any:
    """Return a copy of a state with lists instead of arrays, which are faster in ordinary Python."""
    if isinstance(part, np.ndarray):
        return part.tolist()
    if isinstance(part, list):
        return [copied(row) for row in part] if part and isinstance(part[0], list) else [*part]
    return type(part)(*map(copied, part)) if isinstance(part, tuple) else part


def frozen(part: Any) -> Hashable:
    """Return a state as nested tuples, which can be compared."""
    return tuple(map(frozen, part)) if isinstance(part, (list, tuple)) else part


def select_law(select: Select, state: Any, given: list[float] | None = None) -> list[Branch]:
    """Return every outcome of `select` with its probability, exact up to 2^-53 for each.

    Every uniform number that it asks for is followed: the arm is a step function of it, whose steps are bisected.

    Args:
        select: The agent's function, which may change the state.
        state: The state before it, as `copied` returns it; it is not changed.
        given: Uniform numbers that it has had already.

    Raises:
        NotAuditedError: If it draws anything but uniform numbers, or its state keeps more than which arm they led to.
    """
    numbers = given or []

    def outcome(*more: float) -> tuple[int, Any]:
        own = copied(state)
        try:
            return int(select(own, _Uniforms([*numbers, *more]))), own
        except _NeedsMoreError:
            return -1, state

    arm, after = outcome()
    if arm >= 0:
        return [Branch(1.0, arm, after)]
    branches: list[Branch] = []
    for low, high, arm in steps_of(lambda u: outcome(u)[0]):
        ends = [outcome(u) for u in (low, (low + high) / 2)]
        if arm < 0:
            # Where in the interval the number lies changes nothing: it is only compared with the interval's ends.
            inner = select_law(select, state, [*numbers, low])
        elif frozen(ends[0][1]) != frozen(ends[1][1]):
            raise NotAuditedError("its state keeps more of a draw than the arm it led to")
        else:
            inner = [Branch(1.0, arm, ends[0][1])]
        branches += [each._replace(probability=each.probability * (high - low)) for each in inner]
    return branches
