"""Compares the counters that release after every item by their variances."""

import math
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.counters import COUNTERS, Counter
from dp_bandit_envs.protocols import FloatArray, IntArray


class Row(NamedTuple):
    """One counter: its name, and the mean and the maximum of its variance over times 1 to T, both exact."""

    name: str
    counter: Counter
    mean: float
    maximum: float


def compare(horizon: int, epsilon: float, delta: float | None = None) -> list[Row]:
    """Return the counters that release after every item, the one with the smallest mean variance first.

    Args:
        horizon: Number of items T.
        epsilon: Privacy parameter, in (0, inf).
        delta: Also compare the Gaussian counter at (epsilon, delta).

    Raises:
        OverflowError: If a variance does not fit a float.
    """
    rows = []
    for name, kind in COUNTERS.items():
        if not kind.after_every_item or (name == "square-root" and delta is None):
            continue
        extra: dict[str, Any] = {"delta": delta} if name == "square-root" else {}
        counter = kind(epsilon=epsilon, horizon=horizon, **extra)
        mean, maximum = counter.mean_variance(horizon), float(worst_variances(counter, np.array([horizon]))[0])
        if not math.isfinite(mean + maximum):
            raise OverflowError(f"the variance of {name} does not fit a float")
        rows.append(Row(name, counter, mean, maximum))
    return sorted(rows, key=lambda row: row.mean)


def worst_variances(counter: Counter, at: IntArray) -> FloatArray:
    """Return the largest variance of a release up to each of these times, exact, shape `(times,)`."""
    return np.array([max(map(counter.variance, counter.peaks(int(t)))) for t in at])
