r"""From zero-concentrated and Gaussian privacy to (epsilon, delta), as tightly as is known.

**zCDP.** Let y be the privacy loss, so that :math:`E\, e^{(\alpha - 1) y} \le e^{(\alpha - 1) \alpha \rho}` for all
:math:`\alpha > 1`. The smallest delta at epsilon is :math:`E \max(0, 1 - e^{\epsilon - y})`. With x = y - epsilon,

.. math:: \max(0, 1 - e^{-x}) \le \frac1\alpha \Big(1 - \frac1\alpha\Big)^{\alpha - 1} e^{(\alpha - 1) x},

because :math:`(1 - e^{-x}) e^{-(\alpha - 1) x}` is largest where :math:`e^{-x} = 1 - 1 / \alpha`. Hence

.. math:: \delta = \inf_{\alpha > 1} e^{(\alpha - 1)(\alpha \rho - \epsilon)} \,
          \frac1\alpha \Big(1 - \frac1\alpha\Big)^{\alpha - 1}

(Canonne, Kamath and Steinke 2020, proposition 12 and corollary 13). Its logarithm is convex in alpha. Solved for
epsilon with L = ln(1 / delta), this is

.. math:: \epsilon = \inf_{\alpha > 1} \alpha \rho + \frac{L - \ln \alpha}{\alpha - 1} + \ln\Big(1 - \frac1\alpha\Big),

whose derivative in alpha is :math:`\rho - (L - \ln \alpha) / (\alpha - 1)^2`; so the best alpha is the only root of
:math:`(\alpha - 1)^2 \rho + \ln \alpha = L`. Every alpha gives a true bound: an error in the root costs tightness only.
Bun and Steinke (2016), proposition 1.3, leave out the two logarithms, with :math:`\rho + 2 \sqrt{\rho L}`.

**One Gaussian draw.** `smallest_delta` of `dp_bandit_envs.privacy.gaussian` is exact (Balle and Wang 2018).
"""

import math
from collections.abc import Callable

from dp_bandit_envs.privacy.gaussian import smallest_delta

ROUNDING = 1e-15
"""Rounding error of a sum of a few terms, relative to the sum of their absolute values."""
SAFETY = 1 - 2.0**-40
"""Shrinks a budget, so that rounding errors never exceed it."""
FAR = 700.0
"""Bounds |ln(alpha - 1)| in searches."""


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the smallest epsilon for which rho-zCDP is known to give (epsilon, delta)-DP, rounded up.

    Args:
        rho: In [0, inf].
        delta: In (0, 1).
    """
    if rho in (0.0, math.inf):
        return rho
    log = -math.log(delta)
    beta = _root(lambda beta: beta * beta * rho + math.log1p(beta) - log)
    terms = (rho, beta * rho, log / beta, -math.log1p(beta) / beta, -math.log1p(1 / beta))
    return max(0.0, math.fsum(terms) + ROUNDING * math.fsum(map(abs, terms)))


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Return the smallest delta for which rho-zCDP is known to give (epsilon, delta)-DP, rounded up, at most 1.

    Args:
        rho: In [0, inf].
        epsilon: In [0, inf].
    """
    if rho == 0.0 or math.isinf(epsilon):
        return 0.0
    if math.isinf(rho):
        return 1.0
    # Beyond this delta is below all doubles, and it falls with epsilon.
    epsilon = min(epsilon, 2 * rho + 1e4 * math.sqrt(rho))
    beta = _root(lambda beta: (1 + 2 * beta) * rho - math.log1p(1 / beta) - epsilon)
    terms = (beta * rho, beta * (beta * rho), -beta * epsilon, -beta * math.log1p(1 / beta), -math.log1p(beta))
    log = math.fsum(terms) + ROUNDING * math.fsum(map(abs, terms))
    return math.exp(log) * (1 + ROUNDING) if log < 0 else 1.0


def zcdp_within(epsilon: float, delta: float) -> float:
    """Return the largest rho, nearly, for which rho-zCDP gives (epsilon, delta)-DP by the optimal conversion.

    It is the inverse of `zcdp_epsilon` in rho, so that what is guaranteed at delta is epsilon, less a millionth of it
    at most. A tiny epsilon gets the rho of epsilon = 0, which is about 1.36 delta^2.

    Args:
        epsilon: Greater than 0; inf gives inf.
        delta: In (0, 1).
    """
    if math.isinf(epsilon):
        return math.inf
    # The conversion of Bun and Steinke (2016), rho + 2 sqrt(rho ln(1 / delta)) = epsilon, gives less.
    log = -math.log(delta)
    low = (epsilon / (math.sqrt(log + epsilon) + math.sqrt(log))) ** 2
    high = max(2 * low, 1e-300)
    while zcdp_epsilon(high, delta) <= epsilon:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if zcdp_epsilon(middle, delta) <= epsilon else (low, middle)
    return low * SAFETY


def gaussian_curve_epsilon(sigma: float, delta: float) -> float:
    """Return the smallest epsilon at which a Gaussian mechanism is (epsilon, delta)-DP, rounded up.

    Args:
        sigma: Standard deviation at L2 sensitivity 1, in [0, inf].
        delta: In (0, 1).
    """
    if sigma < 1e-100:
        return math.inf
    if math.isinf(sigma) or smallest_delta(sigma, 0.0) <= delta:
        return 0.0
    # zCDP gives a bound, which also holds where rounding hides that of the curve.
    low, high = 0.0, zcdp_epsilon(1 / (2 * sigma**2) * (1 + ROUNDING), delta)
    if smallest_delta(sigma, high) > delta:
        return high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if smallest_delta(sigma, middle) > delta else (low, middle)
    return high


def gaussian_curve_delta(sigma: float, epsilon: float) -> float:
    """Return the smallest delta at which a Gaussian mechanism is (epsilon, delta)-DP, rounded up.

    Args:
        sigma: Standard deviation at L2 sensitivity 1, in [0, inf].
        epsilon: In [0, inf].
    """
    if math.isinf(epsilon) or math.isinf(sigma):
        return 0.0
    return 1.0 if sigma < 1e-100 else min(1.0, max(0.0, smallest_delta(sigma, epsilon)))


def _root(rising: Callable[[float], float]) -> float:
    """Return where a rising function of a positive number changes its sign, or an end of the range."""
    low, high = -FAR, FAR
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(math.exp(middle)) > 0 else (middle, high)
    return math.exp(high)
