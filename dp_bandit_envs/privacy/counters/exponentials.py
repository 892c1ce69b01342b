r"""A lower triangular Toeplitz matrix close to the square root of the matrix of sums, as a sum of a few exponentials.

The square root has entries :math:`f_k = \frac{1}{\pi} \int_0^1 \frac{u^k}{\sqrt{u (1 - u)}} du`. With
:math:`u = e^{-e^s}` the trapezoidal rule in s gives :math:`l_k = \sum_i w_i \theta_i^k`, the entries of L. The other
factor C of the matrix of sums, with L C = that matrix, is exact for this L: its generating function is
:math:`C(x) = \frac{1}{(1 - x) L(x)}`. Written as a function of z = 1 / x, it is
:math:`\frac{1}{(z - 1) \sum_i w_i / (z - \theta_i)}`, whose poles are 1 and one number between each two neighbours
among the :math:`\theta_i`, all with positive residues. So its entries are a sum of exponentials, too, and no digits are
lost in any of the sums here, whose terms are all positive.

Source: McMahan, Xu and Zhang (2024), A Hassle-free Algorithm for Private Learning in Practice, for noise from a sum of
exponentials (BLT); they choose them by optimisation.
"""

import math
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.protocols import FloatArray

STEP = 2.0
"""Distance of the trapezoidal rule's nodes in s; smaller steps do not bring the variance down."""
HIGHEST = 0.5
"""The largest s: there u is e^-1.6."""
BELOW = 6.0
"""How far the smallest s reaches below -ln T, so that entries up to T are close to the square root's."""


class Exponentials(NamedTuple):
    r"""Entries :math:`a_0` = first and :math:`a_k = \sum_i w_i (1 - g_i)^{k - 1}` for k = 1, 2, ...

    Attributes:
        first: Entry 0.
        weights: w, `(terms,)`, greater than 0.
        gaps: g, `(terms,)`, in [0, 1), so that numbers close to 1 keep their digits.
    """

    first: float
    weights: FloatArray
    gaps: FloatArray

    def sum_of_squares(self, entries: int) -> float:
        """Return the sum of the squares of the first entries, at least 1 of them."""
        pairs, gaps = self._pairs()
        return float(self.first**2 + (pairs * geometric(gaps, entries - 1)).sum())

    def sum_of_sums(self, most: int) -> float:
        """Return the sum of `sum_of_squares(n)` over n = 1, ..., most."""
        pairs, gaps = self._pairs()
        return float(most * self.first**2 + (pairs * sum_of_geometric(gaps, most - 1)).sum())

    def _pairs(self) -> tuple[FloatArray, FloatArray]:
        gaps = self.gaps[:, np.newaxis] + self.gaps - self.gaps[:, np.newaxis] * self.gaps
        return self.weights[:, np.newaxis] * self.weights, gaps


def geometric(gaps: FloatArray, terms: int) -> FloatArray:
    """Return 1 + p + ... + p^(terms - 1) for p = 1 - gap in [0, 1]."""
    safe = np.where(gaps > 0, np.minimum(gaps, 1 - 1e-16), 1.0)
    sums: FloatArray = np.where(gaps > 0, -np.expm1(terms * np.log1p(-np.minimum(safe, 1 - 1e-16))) / safe, terms)
    return sums


def sum_of_geometric(gaps: FloatArray, most: int) -> FloatArray:
    """Return the sum of `geometric(gaps, n)` over n = 1, ..., most."""
    # (most - p geometric(most)) / gap cancels where gap * most is small; there a series in gap * most is used.
    small = gaps * (most + 1) < 1e-3
    g = np.where(small, 1.0, gaps)
    long = (most - (1 - g) * geometric(g, most)) / g
    n = float(most)
    # The sum over n of sum_j binomial(n, j + 1) (-gap)^j is sum_j binomial(most + 1, j + 2) (-gap)^j.
    term, short = n * (n + 1) / 2, np.zeros_like(gaps)
    factor = np.ones_like(gaps)
    for j in range(8):
        short = short + term * factor
        factor = -factor * gaps
        term = term * max(n - 1 - j, 0.0) / (j + 3)
    return np.where(small, short, long)


def number_of_terms(horizon: int) -> int:
    """Return how many exponentials are used for a number of items T: 8 at 2^10, 12 at 2^20, and 19 from 2^40 on."""
    return 1 + math.ceil((math.log(min(horizon, 2**40)) + BELOW + HIGHEST) / STEP)


def exponentials(horizon: int) -> tuple[FloatArray, FloatArray]:
    r"""Return :math:`\theta` in (0, 1), descending, and w > 0 of L, each `(terms,)`."""
    x = np.exp(HIGHEST - STEP * np.arange(number_of_terms(horizon)))[::-1]
    weights: FloatArray = STEP / math.pi * x / np.sqrt(np.expm1(x))
    return np.exp(-x), weights


def of_releases(decay: FloatArray, weights: FloatArray) -> Exponentials:
    """Return the entries of L."""
    return Exponentials(float(weights.sum()), weights * decay, 1 - decay)


def of_items(decay: FloatArray, weights: FloatArray) -> Exponentials:
    """Return the entries of C."""
    gaps = 1 - decay
    low, high = gaps[:-1].copy(), gaps[1:].copy()
    # Between two neighbours sum_i w_i / (z - theta_i) falls from inf to -inf in z, so it grows in the gap 1 - z.
    for _ in range(200):
        middle = np.sqrt(low * high)
        above = (weights / (gaps - middle[:, np.newaxis])).sum(axis=1) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    roots = np.sqrt(low * high)
    slopes = (weights / (gaps - roots[:, np.newaxis]) ** 2).sum(axis=1)
    residues = np.concatenate([[1 / (weights / gaps).sum()], 1 / (roots * slopes)])
    return Exponentials(float(1 / weights.sum()), residues, np.concatenate([[0.0], roots]))
