"""Events of the arms played: sets of sequences that are more frequent on one table of gains than on its neighbour."""

import dataclasses
import math

import numpy as np

from dp_bandit_envs.optional import require
from dp_bandit_envs.protocols import FloatArray, IntArray

MOST_BITS = 12
"""The search tells at most 2^12 sequences apart."""


@dataclasses.dataclass(frozen=True)
class ArmEvent:
    """The event that the arms of some rounds are one of a set of sequences.

    Attributes:
        rounds: The rounds that it looks at, from 0.
        n_arms: More than every arm in it.
        codes: The sequences, each as a number with the first round as its highest digit in base `n_arms`, sorted.
        first: Whether it is more frequent on the first of two tables.
        score: A cautious estimate of the log ratio of its probabilities, on the samples that it was chosen on.
    """

    rounds: tuple[int, ...]
    n_arms: int
    codes: IntArray
    first: bool
    score: float

    def hits(self, arms: IntArray) -> int:
        """Return in how many games it happened; `arms` has shape `(games, rounds)`."""
        return int(np.isin(codes_of(arms, self.rounds, self.n_arms), self.codes).sum())


def codes_of(arms: IntArray, rounds: tuple[int, ...], n_arms: int) -> IntArray:
    """Return the arms of some rounds as one number for each game, `(games,)`."""
    code = np.zeros(len(arms), np.int64)
    for t in rounds:
        code = code * n_arms + arms[:, t]
    return code


def strongest_arm_event(one: IntArray, other: IntArray, *, delta: float = 0.0) -> ArmEvent:
    """Return the set of sequences that most seems to tell two samples apart, in either direction.

    Sequences are taken in the order of their estimated likelihood ratio, which is best for an event of any size.

    Args:
        one: Arms of games on one table, `(games, rounds)`.
        other: The same on its neighbour, with as many games.
        delta: What the guarantee allows besides epsilon.
    """
    n_arms = int(max(one.max(), other.max())) + 1
    length = max(1, int(MOST_BITS / math.log2(max(n_arms, 2))))
    total = one.shape[1]
    views = {tuple(range(min(length, total))), tuple(range(max(0, total - length), total))}
    views.add(tuple(sorted(set(np.linspace(0, total - 1, min(length, total)).astype(int).tolist()))))
    events = []
    for view in sorted(views):
        pair = [codes_of(arms, view, n_arms) for arms in (one, other)]
        codes, places = np.unique(np.concatenate(pair), return_inverse=True)
        counts = [np.bincount(part, minlength=len(codes)) for part in np.split(places.ravel(), [len(one)])]
        for first in (True, False):
            more, less = counts if first else counts[::-1]
            order = np.argsort(-(more + 0.5) / (less + 0.5), kind="stable")
            scores = _scores(np.cumsum(more[order]), np.cumsum(less[order]), len(one), delta)
            size = int(np.argmax(scores)) + 1
            events.append(ArmEvent(view, n_arms, np.sort(codes[order[:size]]), first, float(scores[size - 1])))
    return max(events, key=lambda event: event.score)


def _scores(more: IntArray, less: IntArray, games: int, delta: float) -> FloatArray:
    """Return log ratios with two standard errors and two games of margin on either side."""
    rates = [more / games, less / games]
    slack = [2 * np.sqrt(rate * (1 - rate) / games) + 2 / games for rate in rates]
    low = rates[0] - slack[0] - delta
    scores: FloatArray = np.log(np.maximum(low, 1e-300)) - np.log(rates[1] + slack[1])
    return scores


def least_epsilon(more: int, less: int, games: int, delta: float, failure: float) -> float:
    """Return a lower confidence bound on the epsilon for which an event's probabilities fit, or -inf.

    ln((p - delta) / q) with Clopper-Pearson bounds on p from below and on q from above, each wrong with at most half
    the failure probability.

    Args:
        more: Hits among the games on the table on which the event is more frequent.
        less: Hits on the other one.
        games: Games on each table.
        delta: In [0, 1).
        failure: In (0, 1).
    """
    beta = require("scipy.stats", extra="audits").beta
    low = float(beta.ppf(failure / 2, more, games - more + 1)) if more else 0.0
    high = float(beta.ppf(1 - failure / 2, less + 1, games - less)) if less < games else 1.0
    return math.log((low - delta) / high) if low > delta else -math.inf
