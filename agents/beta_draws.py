"""Finds the arm with the largest of many independent Beta draws, without making the draws that cannot win.

The distribution of the result is exact. Thompson sampling does this in every round. An arm whose posterior is far below
the largest draw so far costs one exponential variable and a comparison instead of two gamma variables.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from dp_bandit_envs.arithmetic import log, log1p

LAZY_FROM: Final = 1.5
"""The smallest x at which `above` uses rejection sampling instead of an ordinary draw; chosen by timing."""

NEVER: Final = 40.0
"""An x at which `above` draws nothing: the probability of winning is below e^-40.9, less than the resolution of a
uniform double."""

TANGENT_MARGIN: Final = 0.9
"""At x of LAZY_FROM or more, the mass under the tangent in `above` is at most exp(-x - TANGENT_MARGIN)."""


def largest(alphas: Sequence[float], betas: Sequence[float], first: int, rng: np.random.Generator) -> int:
    """Return the arm with the largest of K independent draws from Beta(alphas[i], betas[i]).

    The distribution of the result does not depend on `first`, but the running time does: pass an arm that is likely
    to win.

    Args:
        alphas: First parameters, shape `(n_arms,)`, each at least 1.
        betas: Second parameters, shape `(n_arms,)`, each at least 1.
        first: The arm that gets an ordinary draw, for example the arm played last.
        rng: Source of randomness.

    Source: Thompson (1933) for the rule; see `above` for how draws are made.
    """
    best = first
    floor = rng.beta(alphas[first], betas[first])
    for arm in range(len(alphas)):
        if arm != first:
            draw = above(alphas[arm], betas[arm], floor, rng)
            if draw > floor:
                best = arm
                floor = draw
    return best


def above(alpha: float, beta: float, floor: float, rng: np.random.Generator) -> float:
    r"""Return a draw from Beta(alpha, beta) if it exceeds `floor`; otherwise some value <= floor, of no meaning.

    For alpha, beta of at least 1 the density f is log-concave, so right of its mode it lies below its tangent g at c:

    .. math:: f(\theta) \le g(\theta) = f(c) e^{-s (\theta - c)}, \quad s = \frac{n c - k}{c (1 - c)}, \quad
              \int_c^\infty g = \frac{f(c)}{s} \le e^{-x - 0.9}, \quad x = \frac{(n c - k)^2}{2 n v} \ge 1.5

    with c = floor, k = alpha - 1, n = alpha + beta - 2 and v the largest t (1 - t) between the mode k / n and c. One
    standard exponential variable E decides: f(c) is computed only if E > x + 0.9, and a point of g is proposed only if
    E > ln(s / f(c)). The remainder of E is again exponential, and is s times the distance of that point from c. The
    point is accepted with probability f / g. Where x is below 1.5 the arm often wins, and an ordinary draw is cheaper.

    Args:
        alpha: First parameter, at least 1.
        beta: Second parameter, at least 1.
        floor: c, in [0, 1].
        rng: Source of randomness.

    Source: rejection from exponential tangents of a log-concave density, Devroye (1986), Non-Uniform Random Variate
    Generation, chapter VII. The bound on the mass: ln f falls from the mode to c by n kl(k / n, c), which is at least
    x, and faster than x grows; so x = 1.5 is the worst case, where the tests find a factor below exp(-0.93).
    """
    k = alpha - 1.0
    n = k + (beta - 1.0)
    excess = n * floor - k
    # spread is at most n / 2.
    if excess > 0.0 and excess * excess > 0.5 * NEVER * n:
        return 0.0
    if floor < 0.5:
        spread = 2.0 * n * floor * (1.0 - floor)
    elif 2.0 * k > n:
        spread = 2.0 * k * (n - k) / n
    else:
        spread = 0.5 * n
    # Here x = excess^2 / spread.
    if not (excess > 0.0 and excess * excess >= LAZY_FROM * spread):
        return rng.beta(alpha, beta)
    wait = rng.standard_exponential()
    if (wait - TANGENT_MARGIN) * spread < excess * excess or floor >= 1.0:
        return 0.0
    slope = excess / (floor * (1.0 - floor))
    wait += log_density(alpha, beta, floor) - log(slope)
    step = wait / slope
    # The tangent continues beyond 1; the density is 0 there.
    if wait < 0.0 or step >= 1.0 - floor:
        return 0.0
    gap = -wait - k * log1p(step / floor) - (beta - 1.0) * log1p(-step / (1.0 - floor))
    if rng.standard_exponential() < gap:
        return 0.0
    return floor + step


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
