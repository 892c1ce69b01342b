"""Confidence widths: of a sum of Laplace draws, a Chernoff bound sharpened by a bound on the overshoot; of a normal."""

import math
from collections.abc import Sequence


def laplace_width(scales: Sequence[tuple[float, int]], failure_probability: float) -> float:
    r"""Return w with :math:`P(|\sum_i \mathrm{Lap}(b_i)| > w)` at most the failure probability.

    .. math:: w = \min_{0 < s < 1 / b} \frac{1}{s} \Big( \ln \frac{2}{\gamma} + \ln(1 - s b)
              - \sum_i \ln(1 - b_i^2 s^2) \Big), \quad b = \max_i b_i

    The sum comes from the Chernoff bound: :math:`1 / (1 - b_i^2 s^2)` is the moment generating function of a draw. The
    term before it uses the overshoot: beyond w the density of the sum falls no faster than that of its widest draw, so
    :math:`E[e^{s (S - w)} \mid S > w] \ge 1 / (1 - s b)`. For a single draw the width is exact.

    Args:
        scales: Scales b, each with the number of terms that have it; scales of 0 and numbers of 0 are ignored.
        failure_probability: gamma, in (0, 1).
    """
    terms = [(scale, number) for scale, number in scales if scale > 0 and number > 0]
    if not terms:
        return 0.0
    terms.sort(reverse=True)
    widest, of_widest = terms[0]
    # One widest draw's -ln(1 - x^2) and the overshoot's ln(1 - x) make -ln(1 + x).
    others = [(widest, of_widest - 1), *terms[1:]] if of_widest > 1 else terms[1:]
    log = math.log(2) - math.log(failure_probability)

    def bound(share: float) -> float:
        s = share / widest
        return (log - math.log1p(share) - sum(number * math.log1p(-((scale * s) ** 2)) for scale, number in others)) / s

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


def normal_width(variance: float, failure_probability: float) -> float:
    """Return a width that a normal variable exceeds in absolute value with at most this probability.

    P(|N| > w) <= exp(-w^2 / 2) for the standard normal, without a factor 2 (Craig's form of the tail).
    """
    return math.sqrt(variance * 2 * -math.log(failure_probability))
