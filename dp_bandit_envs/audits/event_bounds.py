"""What the hits of an event on two tables of gains say of epsilon: a cautious estimate, and a confidence bound."""

import math

import numpy as np

from dp_bandit_envs.optional import require
from dp_bandit_envs.protocols import FloatArray, IntArray

MARGIN = 3.0
"""Standard errors by which an estimate is on the cautious side; about as many as in the final test."""


def cautious_log_ratio(more: IntArray, less: IntArray, games: int, delta: float) -> FloatArray:
    """Return ln((p - delta) / q) with a margin on either side, to compare events by.

    The margin is that of the square root of the hits, whose standard error is about 1/2 however few they are: among
    many rare events, some with 20 hits and none on the other table would else seem better than any that is.

    Args:
        more: Hits on the table on which an event is more frequent, of any shape.
        less: Hits on the other one, of that shape.
        games: Games on each table.
        delta: In [0, 1).
    """
    hits = [np.asarray(each, np.float64) for each in (more, less)]
    half = [MARGIN / 2 * np.sqrt(1 - each / games) for each in hits]
    low = np.maximum(np.sqrt(hits[0]) - half[0], 0.0) ** 2 / games - delta
    high = (np.sqrt(hits[1] + 1) + half[1]) ** 2 / games
    scores: FloatArray = np.log(np.maximum(low, 1e-300)) - np.log(high)
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
