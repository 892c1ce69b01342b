"""The table of counters, and a comparison by their variances."""

import inspect
import math
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.errors import UnknownArgumentError
from dp_bandit_envs.privacy.counters.counter import Counter
from dp_bandit_envs.privacy.counters.k_ary import KAryCounter
from dp_bandit_envs.privacy.counters.square_root import SquareRootCounter
from dp_bandit_envs.privacy.counters.trees import (
    BinaryCounter,
    HonakerCounter,
    HybridCounter,
    LogarithmicCounter,
    PaddedBinaryCounter,
    SegmentTreesCounter,
    SmoothBinaryCounter,
)
from dp_bandit_envs.protocols import FloatArray, IntArray

COUNTERS: dict[str, type[Counter]] = {
    "logarithmic": LogarithmicCounter,
    "binary": BinaryCounter,
    "hybrid": HybridCounter,
    "segment-trees": SegmentTreesCounter,
    "honaker": HonakerCounter,
    "padded-binary": PaddedBinaryCounter,
    "smooth-binary": SmoothBinaryCounter,
    "k-ary": KAryCounter,
    "square-root": SquareRootCounter,
}
"""The one table of counters."""


def make_counter(name: str, **arguments: Any) -> Counter:
    """Make a counter by name.

    Args:
        name: A key of `COUNTERS`.
        arguments: Arguments of the counter: `epsilon`, `horizon`, `rng`, and `delta`, `base` or `budget` if it has
            them.
    """
    key = checks.known_name("counter", name, COUNTERS)
    # Some counters take the common arguments as **arguments and pass them to the base class.
    both = {**inspect.signature(Counter).parameters, **inspect.signature(COUNTERS[key]).parameters}
    takes = [name for name, parameter in both.items() if parameter.kind is not parameter.VAR_KEYWORD]
    for argument in arguments:
        if argument not in takes:
            raise UnknownArgumentError(f"the {key} counter", argument, f"Known: {', '.join(takes)}.")
    return COUNTERS[key](**arguments)


class CounterVariance(NamedTuple):
    """One counter: its name, and the mean and the maximum of its variance over times 1 to T, both exact."""

    name: str
    counter: Counter
    mean: float
    maximum: float


def compare(horizon: int, epsilon: float, delta: float | None = None) -> list[CounterVariance]:
    """Return the counters that release after every item, by increasing mean variance.

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
        rows.append(CounterVariance(name, counter, mean, maximum))
    return sorted(rows, key=lambda row: row.mean)


def worst_variances(counter: Counter, at: IntArray) -> FloatArray:
    """Return the largest variance of a release up to each of these times, exact, shape `(times,)`."""
    return np.array([max(map(counter.variance, counter.peaks(int(t)))) for t in at])
