"""Confidence bounds that hold for every sample size, so that a check's probability of a false alarm is known."""

import math
from typing import Final

import numpy as np

from dp_bandit_envs.protocols import FloatArray

HALVINGS: Final = 60


def mean_width(samples: FloatArray, failure_probability: float) -> FloatArray:
    """Return confidence widths for sample means of independent numbers in [0, 1], for each column.

    Empirical Bernstein bound: sqrt(2 V ln(2/d) / n) + 7 ln(2/d) / (3 (n - 1)) for each of the two sides, where d is the
    failure probability over twice the number of columns (Maurer and Pontil 2009, theorem 4).

    Args:
        samples: Shape `(samples, columns)`, at least 2 rows.
        failure_probability: For all columns and both sides together, in (0, 1).

    Returns:
        Widths, shape `(columns,)`.
    """
    n, columns = samples.shape
    log = math.log(2 * 2 * columns / failure_probability)
    widths: FloatArray = np.sqrt(2 * samples.var(axis=0, ddof=1) * log / n) + 7 * log / (3 * (n - 1))
    return widths


def chance_at_least(hits: FloatArray, n: int, failure_probability: float) -> FloatArray:
    """Return lower confidence bounds on success probabilities, given `hits` of `n` independent trials.

    Chernoff's bound: a probability p below the solution of n KL(hits / n, p) = ln(1 / failure probability) gives this
    many hits or more with at most the failure probability.
    """
    rates = np.asarray(hits) / n
    low, high = np.zeros_like(rates), rates.copy()
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        far = n * _divergence(rates, middle) > math.log(1 / failure_probability)
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    return low


def chance_at_most(hits: FloatArray, n: int, failure_probability: float) -> FloatArray:
    """Return upper confidence bounds on success probabilities, given `hits` of `n` independent trials."""
    upper: FloatArray = 1 - chance_at_least(n - np.asarray(hits), n, failure_probability)
    return upper


def _divergence(rates: FloatArray, chances: FloatArray) -> FloatArray:
    """Return the Kullback-Leibler divergence of two coins, in nats; `chances` are at most the rates."""
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(rates > 0, rates * np.log(rates / chances), 0.0)
        second = np.where(rates < 1, (1 - rates) * np.log((1 - rates) / (1 - chances)), 0.0)
    divergence: FloatArray = first + second
    return divergence
