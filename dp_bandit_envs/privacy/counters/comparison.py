"""Which counter to pick: the variances of all that fit, side by side."""

from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.counters import COUNTERS, Counter
from dp_bandit_envs.protocols import FloatArray, IntArray

EXACT = 2**17
"""The largest horizon whose mean is over all times."""


class Row(NamedTuple):
    """One counter: its name, and the mean and the maximum of its variance over times 1 to T.

    The maximum is exact; so is the mean up to T = 2^17, beyond which it is over as many random times.
    """

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
    """
    rows = []
    for name, kind in COUNTERS.items():
        if name == "logarithmic" or (name == "square-root" and delta is None):
            continue
        extra: dict[str, Any] = {"delta": delta} if name == "square-root" else {}
        counter = kind(epsilon=epsilon, horizon=horizon, **extra)
        variances = variances_at(counter, times(horizon))
        maximum = max(counter.variance(t) for t in counter.peaks(horizon))
        rows.append(Row(name, counter, float(variances.mean()), maximum))
    return sorted(rows, key=lambda row: row.mean)


def times(horizon: int) -> IntArray:
    """Return all times up to 2^17, or as many random ones of more."""
    if horizon <= EXACT:
        return np.arange(1, horizon + 1)
    return np.sort(np.random.default_rng(0).integers(1, horizon + 1, EXACT))


def variances_at(counter: Counter, at: IntArray) -> FloatArray:
    """Return the exact variance of the release at each of these times."""
    return np.array([counter.variance(int(t)) for t in at])
