"""How far a sum of Laplace draws strays: the Chernoff bound, minimised exactly."""

import math
from collections.abc import Sequence

MOST_EXACT = 30


def laplace_width(scales: Sequence[tuple[float, int]], failure_probability: float) -> float:
    r"""Return w with :math:`P(|\sum_i \mathrm{Lap}(b_i)| > w)` at most the failure probability.

    .. math:: w = \min_{0 < s < 1 / \max b} \frac{-\sum_i \ln(1 - b_i^2 s^2) + \ln(2 / \gamma)}{s}

    from the moment generating function :math:`1 / (1 - b^2 s^2)` of a Laplace draw; and the exact quantile for up to
    30 draws of one scale.

    Args:
        scales: Scales b, each with the number of terms that have it; scales of 0 and numbers of 0 are ignored.
        failure_probability: gamma, in (0, 1).
    """
    terms = [(scale, number) for scale, number in scales if scale > 0 and number > 0]
    if not terms:
        return 0.0
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
    chernoff = bound((low + high) / 2)
    if len(terms) == 1 and terms[0][1] <= MOST_EXACT and failure_probability > 1e-250:
        return widest * _exact_width(terms[0][1], failure_probability, chernoff / widest)
    return chernoff


def equal_scales_tail(number: int, width: float) -> float:
    r"""Return P(|S| > width) for the sum S of `number` Laplace draws of scale 1, exactly.

    S is the difference of two Gamma(number) variables, so
    :math:`P(S > w) = e^{-w} \sum_{j < m} \sum_{i \le j} \frac{w^{j - i}}{(j - i)!} \binom{m + i - 1}{i} 2^{-(m + i)}`.
    """
    weights = [math.comb(number + i - 1, i) * 2.0 ** -(number + i) for i in range(number)]
    powers = [1.0]
    for power in range(1, number):
        powers.append(powers[-1] * width / power)
    total = sum(weight * sum(powers[: number - i]) for i, weight in enumerate(weights))
    return 2 * math.exp(-width) * total


def _exact_width(number: int, failure_probability: float, high: float) -> float:
    low = 0.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if equal_scales_tail(number, middle) > failure_probability else (low, middle)
    return high
