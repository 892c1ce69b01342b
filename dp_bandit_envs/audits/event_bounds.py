"""What the hits of an event on two tables of gains say of epsilon: a cautious estimate, and a confidence bound."""

import math

import numpy as np

from dp_bandit_envs.optional import require
from dp_bandit_envs.protocols import FloatArray, IntArray

MARGIN = 2.0
"""Standard errors, and games, by which an estimate is on the cautious side."""


def cautious_log_ratio(more: IntArray, less: IntArray, games: int, delta: float) -> FloatArray:
    """Return ln((p - delta) / q) with a margin on either side, to compare events by.

    Args:
        more: Hits on the table on which an event is more frequent, of any shape.
        less: Hits on the other one, of that shape.
        games: Games on each table.
        delta: In [0, 1).
    """
    rates = [np.asarray(hits) / games for hits in (more, less)]
    slack = [MARGIN * (np.sqrt(rate * (1 - rate) / games) + 1 / games) for rate in rates]
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
