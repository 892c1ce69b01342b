"""Checks a block of gains, and adds up what each arm would have paid; compiled."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dp_bandit_envs.compiling.compiled import compile_with
from dp_bandit_envs.protocols import FloatArray, IntArray


def all_in_range(gains: FloatArray) -> bool:
    """Return whether all gains, shape `(numbers,)`, are in [0, 1]; False for NaN."""
    valid = True
    for place in range(len(gains)):
        valid &= (gains[place] >= 0.0) & (gains[place] <= 1.0)
    return valid


def add_up(gains: FloatArray, totals: FloatArray, first: int, checkpoints: IntArray, record: FloatArray) -> None:
    """Add each row of `gains` to `totals`, shape `(n_arms,)`, and record them at checkpoints.

    Args:
        gains: Gains of rounds `first`, `first + 1`, ..., shape `(rounds, n_arms)`.
        totals: Each arm's gains before them; changed in place.
        first: The round of the first row.
        checkpoints: Rounds at which to record, ascending.
        record: The recorded totals, shape `(checkpoints, n_arms)`; changed in place.
    """
    checkpoint = np.searchsorted(checkpoints, first)
    for row in range(len(gains)):
        for arm in range(len(totals)):
            totals[arm] += gains[row, arm]
        if checkpoint < len(checkpoints) and first + row == checkpoints[checkpoint]:
            for arm in range(len(totals)):
                record[checkpoint, arm] = totals[arm]
            checkpoint += 1


@functools.cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that allocates nothing, compiled once in a process."""
    return compile_with(function, {})
