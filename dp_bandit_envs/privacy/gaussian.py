"""The Gaussian mechanism, calibrated exactly (Balle and Wang 2018)."""

import functools
import math
from typing import SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.laplace import MARGIN


def draw_normal(scale: float, rng: np.random.Generator) -> float:
    """Return a normal draw of this standard deviation; for 0, return 0 without drawing."""
    return rng.normal(0.0, scale) if scale > 0.0 else 0.0


@functools.lru_cache(maxsize=4096)
def gaussian_sigma(epsilon: float, delta: float) -> float:
    r"""Return the smallest standard deviation for (epsilon, delta)-DP at L2 sensitivity 1, times 1 + 1e-9.

    The analytic condition :math:`\Phi(\frac{1}{2 \sigma} - \epsilon \sigma) - e^\epsilon \Phi(-\frac{1}{2 \sigma}
    - \epsilon \sigma) \le \delta` is necessary and sufficient (Balle and Wang 2018, theorem 8).

    Args:
        epsilon: In (0, inf); inf gives 0.
        delta: In (0, 1).
    """
    epsilon, delta = checks.epsilon(epsilon), checks.delta(delta)
    if math.isinf(epsilon):
        return 0.0
    # exp(epsilon) overflows for larger values. Capping epsilon makes sigma slightly too large, never too small.
    epsilon = min(epsilon, 500.0)
    low, high = 0.0, 1.0
    while smallest_delta(high, epsilon) > delta:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if smallest_delta(middle, epsilon) > delta else (low, middle)
    return high * MARGIN


def concentrated(sigma: float) -> float:
    """Return the zCDP parameter rho = 1 / (2 sigma^2) of Gaussian noise at L2 sensitivity 1, with room for rounding."""
    return (1 + 1e-12) / (2 * sigma**2)


@functools.lru_cache(maxsize=4096)
def gaussian_epsilon(sigma: float, delta: float) -> float:
    """Return an epsilon, at most 1 + 1e-9 times the smallest, for which `gaussian_sigma` returns at most this sigma.

    Args:
        sigma: Standard deviation at L2 sensitivity 1, greater than 0.
        delta: In (0, 1).
    """
    low, high = 1e-12, 1.0
    while gaussian_sigma(high, delta) > sigma:
        if high >= 500:
            raise ValueError(f"sigma must be larger for any epsilon up to 500; received {sigma!r}.")
        low, high = high, 2 * high
    while high > low * (1 + 1e-9):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if gaussian_sigma(middle, delta) > sigma else (low, middle)
    return high


def epsilon_of_rho(rho: SupportsFloat | None, epsilon: SupportsFloat, delta: float) -> float:
    """Return epsilon as it is asked for, or, with rho, the epsilon of Gaussian noise of that rho at delta.

    Args:
        rho: zCDP parameter, greater than 0, or None.
        epsilon: In (0, inf]; 1, the default of algorithms, where rho is given.
        delta: In (0, 1).
    """
    epsilon = checks.epsilon(epsilon)
    if rho is None:
        return epsilon
    if epsilon != 1:
        raise ValueError("epsilon and rho both fix the noise; give one or the other.")
    try:
        return gaussian_epsilon(1 / math.sqrt(2 * checks.greater_than("rho", rho, 0)), delta)
    except ValueError as error:
        if "sigma" not in str(error):
            raise
        raise ValueError(f"rho must be that of an epsilon of at most 500; received {rho!r}.") from None


def smallest_delta(sigma: float, epsilon: float) -> float:
    """Return the smallest delta such that the Gaussian mechanism is (epsilon, delta)-DP at L2 sensitivity 1.

    The two terms nearly cancel for small delta, so a bound on the rounding error is added.
    """
    first = math.erfc((epsilon * sigma - 1 / (2 * sigma)) / math.sqrt(2)) / 2
    # exp(epsilon) Phi(x) by logarithms, because the first factor may overflow while the second underflows.
    log_below = _log_normal_below(-1 / (2 * sigma) - epsilon * sigma)
    second = math.exp(epsilon + log_below)
    argument = (epsilon * sigma + 1 / (2 * sigma)) ** 2
    relative = 1e-15 * (2 + epsilon + abs(log_below) + argument)
    return first * (1 + relative) - second * (1 - relative)


def _log_normal_below(x: float) -> float:
    """Return ln Phi(x) for x < 0, or a lower bound where Phi(x) underflows."""
    value = math.erfc(-x / math.sqrt(2)) / 2
    if value > 1e-290:
        return math.log(value)
    # Phi(x) >= density (1 - 1 / x^2) / |x|.
    return -x * x / 2 - math.log(-x * math.sqrt(2 * math.pi)) + math.log1p(-1 / (x * x))
