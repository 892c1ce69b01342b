"""Step functions of a uniform number: where a draw changes its outcome, by looking and halving."""

import itertools
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from dp_bandit_envs.errors import NotAuditedError

Value = TypeVar("Value")
MOST_STEPS = 4096
"""More steps than this are no draw."""


def steps_of(result: Callable[[float], Value], *, places: int = 9) -> list[tuple[float, float, Value]]:
    """Return the intervals [low, high) of [0, 1) in which a step function is constant, with its value there.

    Args:
        result: The function.
        places: At how many numbers it is looked at, before the places of its steps are halved.

    Raises:
        NotAuditedError: If it has too many steps.
    """
    found: list[tuple[float, float, Value]] = []
    looked_at = np.linspace(0.0, np.nextafter(1.0, 0.0), places).tolist()
    start, now = 0.0, result(0.0)
    for left, right in itertools.pairwise(looked_at):
        while result(right) != now:
            low, high = max(left, start), right
            while low < (middle := (low + high) / 2) < high:
                low, high = (middle, high) if result(middle) == now else (low, middle)
            found.append((start, high, now))
            start, now = high, result(high)
            if len(found) > MOST_STEPS:
                raise NotAuditedError("what it does is no step function of a uniform number")
    return [*found, (start, 1.0, now)]
