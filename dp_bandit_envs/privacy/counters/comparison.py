"""Which counter to pick: exact variances of all that fit, side by side."""

from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.counters import COUNTERS, Counter
from dp_bandit_envs.protocols import FloatArray, IntArray


class Row(NamedTuple):
    """One counter: its name, mean and maximum variance over times 1 to T, and whether it must know T."""

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
        rows.append(Row(name, counter, float(variances.mean()), float(variances.max())))
    return sorted(rows, key=lambda row: row.mean)


def times(horizon: int) -> IntArray:
    """Return all times up to 2^17, and beyond it as many random ones with the powers of two and their neighbours."""
    if horizon <= 2**17:
        return np.arange(1, horizon + 1)
    powers = 2 ** np.arange(int(horizon).bit_length())
    near = np.concatenate([powers - 1, powers, powers + 1, [horizon]])
    drawn = np.random.default_rng(0).integers(1, horizon + 1, 2**17)
    return np.unique(np.concatenate([near[(near >= 1) & (near <= horizon)], drawn]))


def variances_at(counter: Counter, at: IntArray) -> FloatArray:
    """Return the exact variance of the release at each of these times."""
    return np.array([counter.variance(int(t)) for t in at])
