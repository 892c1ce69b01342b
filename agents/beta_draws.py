r"""Lazy Beta draws: bounds on the chance that a draw exceeds a floor, and a draw for an arm whose coin says it may.

For alpha, beta of at least 1 the density f is log-concave, so right of its mode it lies below its tangent g at c:

.. math:: f(\theta) \le g(\theta) = f(c) e^{-s (\theta - c)}, \quad s = \frac{n c - k}{c (1 - c)}, \quad
          \int_c^\infty g = \frac{f(c)}{s} \le e^{-x - 0.9}, \quad x = \frac{(n c - k)^2}{2 n v} \ge 1.5

with k = alpha - 1, n = alpha + beta - 2 and v the largest t (1 - t) between the mode k / n and the floor c. Both bounds
are chances of a coin: a draw is made only if it falls on heads.

Source: rejection from exponential tangents of a log-concave density, Devroye (1986), Non-Uniform Random Variate
Generation, chapter VII. The second bound: ln f falls from the mode to c by n kl(k / n, c), which is at least x, and
faster than x grows; so x = 1.5 is the worst case, where the tests find a factor below exp(-0.93).
"""

import math
from typing import Final

import numpy as np

from dp_bandit_envs.arithmetic import exp, log, log1p

LAZY_FROM: Final = 1.5
"""The smallest x for which the second bound holds."""

TANGENT_MARGIN: Final = 0.9
"""At x of LAZY_FROM or more, the mass under the tangent is at most exp(-x - TANGENT_MARGIN)."""

LAZY_BELOW: Final = 0.25
"""An arm with a larger chance gets an ordinary draw, which is cheaper there; chosen by timing."""

UNKNOWN: Final = math.inf
"""Takes the place of a `log_scale` that was not computed."""


def distance(alpha: float, beta: float, floor: float) -> float:
    """Return x for a floor in [0, 1]; 0 left of the mode."""
    k = alpha - 1.0
    n = k + (beta - 1.0)
    excess = n * floor - k
    if not excess > 0.0:
        return 0.0
    if floor < 0.5:
        twice_nv = 2.0 * n * floor * (1.0 - floor)
    elif 2.0 * k > n:
        twice_nv = 2.0 * k * (n - k) / n
    else:
        twice_nv = 0.5 * n
    return excess * excess / twice_nv


def rough_chance(alpha: float, beta: float, floor: float) -> float:
    """Return a step function of x that is at least exp(-x - 0.9), and 1 below LAZY_FROM: it needs no exponential."""
    x = distance(alpha, beta, floor)
    if x < 5.0:
        return 1.0 if x < LAZY_FROM else 0.091
    # Beyond 40 it is below e^-40.9, less than the resolution of a uniform double.
    return 0.0 if x > 40.0 else (0.00275 if x < 10.0 else 0.0000185)


def chance(alpha: float, beta: float, scale: float, floor: float, log_floor: float, log_rest: float) -> float:
    """Return the first bound, or the second one where the first is not known; 1 if that is not small.

    Args:
        alpha: First parameter, at least 1.
        beta: Second parameter, at least 1.
        scale: `log_scale(alpha, beta)`, or UNKNOWN.
        floor: c, in (0, 1].
        log_floor: ln c.
        log_rest: ln(1 - c).
    """
    k, rest = alpha - 1.0, beta - 1.0
    excess = (k + rest) * floor - k
    if not excess > 0.0:
        return 1.0
    if scale == UNKNOWN:
        x = distance(alpha, beta, floor)
        bound = exp(-x - TANGENT_MARGIN) if x >= LAZY_FROM else 1.0
    else:
        bound = exp(scale + k * log_floor + rest * log_rest) * (floor * (1.0 - floor)) / excess
    return bound if bound < LAZY_BELOW else 1.0


def above(alpha: float, beta: float, floor: float, bound: float, rng: np.random.Generator) -> float:
    r"""Return a draw from Beta(alpha, beta) if it exceeds `floor`; otherwise some value <= floor, of no meaning.

    It is for an arm whose coin fell on heads: its chance, times that of a draw above the floor here, is the probability
    that Beta(alpha, beta) exceeds the floor.

    A point of g is proposed if an exponential variable exceeds ln(s / f(c)); the coin says that it exceeds -ln(bound).
    The remainder is again exponential, and is s times the distance of that point from c. The point is accepted with
    probability f / g.

    Args:
        alpha: First parameter, at least 1.
        beta: Second parameter, at least 1.
        floor: c, in (0, 1], right of the mode.
        bound: The chance of the coin, in (0, 1]: a bound for this floor or for a smaller one.
        rng: Source of randomness.
    """
    wait = rng.standard_exponential() - log(bound)
    x = distance(alpha, beta, floor)
    if floor >= 1.0 or (x >= LAZY_FROM and wait < x + TANGENT_MARGIN):
        return 0.0
    k = alpha - 1.0
    slope = ((k + (beta - 1.0)) * floor - k) / (floor * (1.0 - floor))
    wait += log_density(alpha, beta, floor) - log(slope)
    step = wait / slope
    # The tangent continues beyond 1; the density is 0 there.
    if wait < 0.0 or step >= 1.0 - floor:
        return 0.0
    gap = -wait - k * log1p(step / floor) - (beta - 1.0) * log1p(-step / (1.0 - floor))
    if rng.standard_exponential() < gap:
        return 0.0
    return floor + step


def log_scale(alpha: float, beta: float) -> float:
    """Return c such that the density at theta is e^c theta^(alpha - 1) (1 - theta)^(beta - 1), or a trifle more."""
    mean = alpha / (alpha + beta)
    exact = log_density(alpha, beta, mean) - (alpha - 1.0) * log(mean) - (beta - 1.0) * log(1.0 - mean)
    # More than rounding here and in `chance`, which must not be too small.
    return exact + 1e-9 + 1e-14 * (alpha + beta)


def log_density(alpha: float, beta: float, theta: float) -> float:
    """Return the logarithm of the Beta density at theta in (0, 1), to about 1e-11 for parameters from 1 to 1e7.

    Stirling's formula cancels the large terms analytically instead of in floating point; they leave
    -(alpha + beta) kl(mean, theta).
    """
    total = alpha + beta
    # (theta - mean) * total, computed from the end of [0, 1] at which no digits are lost.
    ahead = beta - total * (1.0 - theta) if theta > 0.5 else total * theta - alpha
    rise = log1p(ahead / alpha) if ahead > -0.5 * alpha else log(total * theta / alpha)
    fall = log1p(-ahead / beta) if ahead < 0.5 * beta else log(total * (1.0 - theta) / beta)
    peak = 0.5 * log(alpha * (beta / total) / (2.0 * math.pi)) - log(theta * (1.0 - theta))
    return alpha * rise + beta * fall + peak + (stirling(total) - stirling(alpha) - stirling(beta))


def stirling(x: float) -> float:
    r"""Return :math:`\ln \Gamma(x) - (x - 1/2) \ln x + x - \ln(2 \pi) / 2` for x at least 1.

    Source: the series in DLMF 5.11.1, after the recurrence has raised x to at least 8.
    """
    shift = 0.0
    while x < 8.0:
        shift += (x + 0.5) * log1p(1.0 / x) - 1.0
        x += 1.0
    y = 1.0 / (x * x)
    series = 1.0 / 1188.0 - y * (691.0 / 360360.0)
    series = 1.0 / 1260.0 - y * (1.0 / 1680.0 - y * series)
    return shift + (1.0 / 12.0 - y * (1.0 / 360.0 - y * series)) / x
