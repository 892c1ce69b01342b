"""How far a sum of Laplace draws strays: the Chernoff bound, minimised exactly."""

import math
from collections.abc import Sequence

from dp_bandit_envs.protocols import FloatArray


def laplace_width(scales: Sequence[tuple[float, int]], failure_probability: float) -> float:
    r"""Return w with :math:`P(|\sum_i \mathrm{Lap}(b_i)| > w)` at most the failure probability.

    .. math:: w = \min_{0 < s < 1 / \max b} \frac{-\sum_i \ln(1 - b_i^2 s^2) + \ln(2 / \gamma)}{s}

    from the moment generating function :math:`1 / (1 - b^2 s^2)` of a Laplace draw.

    Args:
        scales: Scales b, each with the number of terms that have it; scales of 0 and numbers of 0 are ignored.
        failure_probability: gamma, in (0, 1).
    """
    terms = [(scale, number) for scale, number in scales if scale > 0 and number > 0]
    if not terms:
        return 0.0
    widest = max(scale for scale, _ in terms)
    log = math.log(2 / failure_probability)

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


def all_noise(state: FloatArray) -> float:
    """Return the sum of an array of noise terms in order."""
    total = 0.0
    for term in state:
        total += term
    return total
