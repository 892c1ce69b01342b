"""The Gaussian mechanism, calibrated exactly (Balle and Wang 2018)."""

import math

from dp_bandit_envs import checks


def gaussian_sigma(epsilon: float, delta: float) -> float:
    r"""Return the smallest standard deviation for (epsilon, delta)-DP at L2 sensitivity 1, rounded up.

    The analytic condition :math:`\Phi(\frac{1}{2 \sigma} - \epsilon \sigma) - e^\epsilon \Phi(-\frac{1}{2 \sigma}
    - \epsilon \sigma) \le \delta` is necessary and sufficient (Balle and Wang 2018, theorem 8).

    Args:
        epsilon: In (0, inf); inf gives 0.
        delta: In (0, 1).
    """
    epsilon, delta = checks.epsilon(epsilon), checks.delta(delta)
    if math.isinf(epsilon):
        return 0.0
    low, high = 0.0, 1.0
    while privacy_loss(high, epsilon) > delta:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if privacy_loss(middle, epsilon) > delta else (low, middle)
    return high * (1 + 1e-12)


def privacy_loss(sigma: float, epsilon: float) -> float:
    """Return the smallest delta for which the Gaussian mechanism is (epsilon, delta)-DP at L2 sensitivity 1."""
    first = _normal_below(1 / (2 * sigma) - epsilon * sigma)
    # exp(epsilon) Phi(x) through the logarithm, as the first factor may overflow while the second underflows.
    second = epsilon + _log_normal_below(-1 / (2 * sigma) - epsilon * sigma)
    return first - math.exp(second)


def _normal_below(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def _log_normal_below(x: float) -> float:
    value = _normal_below(x)
    if value > 1e-290:
        return math.log(value)
    # Far out, Phi(x) is the density over |x| with a relative error below 1 / x^2, here 1e-3 or less; from above.
    return -x * x / 2 - math.log(-x * math.sqrt(2 * math.pi))
