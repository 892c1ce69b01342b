"""How far a sum of Laplace draws strays: its quantile, or far out the Chernoff bound."""

import math
from collections.abc import Sequence

import numpy as np

SMALLEST_EXACT = 1e-6
"""Below this failure probability the Chernoff bound is close enough."""
NODES = 20_000
Terms = Sequence[tuple[float, int]]


def laplace_width(scales: Terms, failure_probability: float) -> float:
    r"""Return w with :math:`P(|\sum_i \mathrm{Lap}(b_i)| > w)` at most the failure probability.

    For failure probabilities from 1e-6 the quantile; below, the Chernoff bound.

    Args:
        scales: Scales b, each with the number of terms that have it; scales of 0 and numbers of 0 are ignored.
        failure_probability: gamma, in (0, 1).
    """
    terms = [(scale, number) for scale, number in scales if scale > 0 and number > 0]
    if not terms:
        return 0.0
    chernoff = chernoff_width(terms, failure_probability)
    if failure_probability < SMALLEST_EXACT:
        return chernoff
    if sum(number for _, number in terms) == 1:
        return -terms[0][0] * math.log(failure_probability)
    low, high = 0.0, chernoff
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if laplace_tail(terms, middle) > failure_probability else (low, middle)
    return high


def chernoff_width(terms: Terms, failure_probability: float) -> float:
    r"""Return the Chernoff bound on the width, minimised over its parameter.

    .. math:: w = \min_{0 < s < 1 / \max b} \frac{-\sum_i \ln(1 - b_i^2 s^2) + \ln(2 / \gamma)}{s}

    from the moment generating function :math:`1 / (1 - b^2 s^2)` of a Laplace draw.

    Args:
        terms: Scales greater than 0, each with the number of draws that have it.
        failure_probability: gamma, in (0, 1).
    """
    widest = max(scale for scale, _ in terms)
    log = math.log(2) - math.log(failure_probability)

    def bound(share: float) -> float:
        s = share / widest
        return (log - sum(number * math.log1p(-((scale * s) ** 2)) for scale, number in terms)) / s

    # The bound falls and then rises in s; golden section on (0, 1) finds the lowest point.
    ratio = (math.sqrt(5) - 1) / 2
    low, high = 0.0, 1.0
    for _ in range(80):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if bound(left) < bound(right):
            high = right
        else:
            low = left
    return bound((low + high) / 2)


def laplace_tail(terms: Terms, width: float) -> float:
    r"""Return P(|S| > width) for a sum S of at least two Laplace draws, to within 1e-9, from above.

    Gil-Pelaez: :math:`1 - \frac{2}{\pi} \int_0^\infty \frac{\sin(w u)}{u} \prod_i \frac{1}{1 + b_i^2 u^2} du`. By
    Poisson's formula the trapezoidal rule with step h errs by at most P(|S| > 2 pi / h - w), here 1e-12.

    Args:
        terms: Scales greater than 0, each with the number of draws that have it.
        width: At least 0.
    """
    step = 2 * math.pi / (width + chernoff_width(terms, 1e-12))
    u = step * np.arange(1, NODES + 1)
    log = np.zeros(NODES)
    for scale, number in terms:
        log += number * np.log1p((scale * u) ** 2)
    inside = step * width / 2 + float((step * np.sin(width * u) / u * np.exp(-log)).sum())
    # What lies beyond the last node is below the product there.
    return 1 - 2 / math.pi * inside + math.exp(-log[-1]) + 1e-9
