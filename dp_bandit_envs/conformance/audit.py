"""Looks for an event that betrays which of two neighbouring inputs was played."""

import math
from typing import Final, NamedTuple

import numpy as np

from dp_bandit_envs.conformance.bounds import chance_at_least, chance_at_most
from dp_bandit_envs.protocols import FloatArray

QUANTILES: Final = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])
LOOSE: Final = 0.05
"""The failure probability of the bounds by which an event is chosen; the choice needs no proof."""


class Event(NamedTuple):
    """"Feature `column` is above `threshold`", or not above it, which is more frequent on one side.

    Attributes:
        column: The number of the feature.
        threshold: Its unit is the feature's.
        above: Whether the event is "above".
        first: Whether it is more frequent in the first sample.
        score: How much it is more frequent than the guarantee allows, as the logarithm of a ratio, by loose bounds.
    """

    column: int
    threshold: float
    above: bool
    first: bool
    score: float


def features_of(releases: FloatArray) -> FloatArray:
    """Return numbers to look at: what was released, its changes, and its totals so far.

    Totals find a gain that is released again and again with noise that is fresh each time.

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
        epsilon: What is guaranteed.
        delta: What is guaranteed.
    """
    best = Event(0, 0.0, True, True, -math.inf)
    pooled = np.quantile(np.concatenate([first, second]), QUANTILES, axis=0)
    for threshold in pooled:
        for above in (True, False):
            hits = [((part > threshold) == above).sum(axis=0) for part in (first, second)]
            for is_first in (True, False):
                more, less = hits if is_first else hits[::-1]
                scores = _scores(more, less, len(first), epsilon, delta, LOOSE)
                column = int(np.argmax(scores))
                if scores[column] > best.score:
                    best = Event(column, float(threshold[column]), above, is_first, float(scores[column]))
    return best


def excess(event: Event, first: FloatArray, second: FloatArray, epsilon: float, delta: float, failure: float) -> float:
    """Return by how much an event breaks the guarantee in fresh samples; above 0 means that it does.

    For a mechanism that keeps its guarantee this is above 0 with at most probability `failure`.
    """
    samples = (first, second) if event.first else (second, first)
    more, less = (((part[:, event.column] > event.threshold) == event.above).sum() for part in samples)
    return float(_scores(np.array([more]), np.array([less]), len(first), epsilon, delta, failure)[0])


def _scores(more: FloatArray, less: FloatArray, n: int, epsilon: float, delta: float, failure: float) -> FloatArray:
    """Return ln of (chance - delta) over the neighbour's chance, each by a bound that fails half of `failure`."""
    low = chance_at_least(more, n, failure / 2) - delta
    high = chance_at_most(less, n, failure / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores: FloatArray = np.where(low > 0, np.log(np.maximum(low, 1e-300)) - np.log(high), -math.inf) - epsilon
    return scores
