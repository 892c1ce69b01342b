"""Searches for an event that reveals which of two neighbouring inputs was played."""

import math
from typing import Final, NamedTuple

import numpy as np

from dp_bandit_envs.conformance.bounds import chance_at_least, chance_at_most
from dp_bandit_envs.protocols import FloatArray

QUANTILES: Final = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])


class Event(NamedTuple):
    """The event that a feature is above a threshold, or that it is not.

    Attributes:
        column: The number of the feature.
        threshold: In the feature's unit.
        above: True for "above the threshold", False for "not above".
        first: Whether the event is more frequent in the first sample.
        score: An estimate of the log ratio by which it is more frequent than the guarantee allows.
    """

    column: int
    threshold: float
    above: bool
    first: bool
    score: float


def features_of(releases: FloatArray) -> FloatArray:
    """Return features of releases: the values, their changes, and their running totals.

    Totals detect a gain that is released repeatedly with fresh noise each time.

    Args:
        releases: Shape `(games, steps, numbers)`.

    Returns:
        Shape `(games, features)`.
    """
    games = len(releases)
    changes = np.diff(releases, axis=1, prepend=0.0)
    features: FloatArray = np.concatenate([releases, changes, np.cumsum(releases, axis=1)], axis=1).reshape(games, -1)
    return features


def strongest_event(first: FloatArray, second: FloatArray, epsilon: float, delta: float) -> Event:
    """Return the event that most seems to break the guarantee.

    Args:
        first: Features of games on one input, shape `(games, features)`.
        second: The same on its neighbour.
        epsilon: The guaranteed epsilon.
        delta: The guaranteed delta.
    """
    best = Event(0, 0.0, True, True, -math.inf)
    pooled = np.quantile(np.concatenate([first, second]), QUANTILES, axis=0)
    for threshold in pooled:
        over = [(part > threshold).mean(axis=0) for part in (first, second)]
        for above in (True, False):
            rates = over if above else [1 - rate for rate in over]
            for is_first in (True, False):
                more, less = rates if is_first else rates[::-1]
                # Two standard errors and two games of margin: the selection needs no proof, but should avoid flukes.
                low = more - _slack(more, len(first)) - delta
                scores = np.log(np.maximum(low, 1e-300)) - np.log(less + _slack(less, len(first))) - epsilon
                column = int(np.argmax(scores))
                if scores[column] > best.score:
                    best = Event(column, float(threshold[column]), above, is_first, float(scores[column]))
    return best


def _slack(rates: FloatArray, n: int) -> FloatArray:
    return 2 * np.sqrt(rates * (1 - rates) / n) + 2 / n


def excess(event: Event, first: FloatArray, second: FloatArray, epsilon: float, delta: float, failure: float) -> float:
    """Return by how much an event violates the guarantee in fresh samples; above 0 means a violation.

    For a mechanism that keeps its guarantee this is above 0 with at most probability `failure`.
    """
    samples = (first, second) if event.first else (second, first)
    more, less = (((part[:, event.column] > event.threshold) == event.above).sum() for part in samples)
    low = chance_at_least(np.array(more), len(first), failure / 2) - delta
    high = chance_at_most(np.array(less), len(first), failure / 2)
    return math.log(float(low)) - math.log(float(high)) - epsilon if low > 0 else -math.inf
