"""Divergences between Bernoulli arms in nats, with and without privacy, and their inverses: upper bounds on a mean.

Plain functions of floats without checks, because compiled agents call them for every arm in every round. A caller with
a noisy mean must clip it to [0, 1] first.
"""

import math

from dp_bandit_envs.draws import exp, expm1, log, log1p

SMALLEST_MEAN = 1e-300
"""A smaller mean counts as 0, so that a division by it does not overflow."""
NATS_TO_ONE = 40.0
"""kl(x, q) is below this many times 1 - x for every float q below 1."""


def bernoulli_kl(x: float, y: float) -> float:
    r"""Return the Kullback-Leibler divergence of Bernoulli(y) from Bernoulli(x), in nats; in [0, inf].

    .. math:: \mathrm{kl}(x, y) = x \ln \frac{x}{y} + (1 - x) \ln \frac{1 - x}{1 - y}, \quad 0 \ln 0 = 0

    Args:
        x: A mean in [0, 1].
        y: A mean in [0, 1]; at 0 and at 1 the divergence is inf, unless x = y.
    """
    if x == y:
        return 0.0
    if y <= 0.0 or y >= 1.0:
        return math.inf
    if x < SMALLEST_MEAN:
        return -log1p(-y)
    if x >= 1.0:
        return -log(y)
    rise = y - x
    nats = -x * _log_ratio(y, x, rise) - (1.0 - x) * _log_ratio(1.0 - y, 1.0 - x, -rise)
    # Near x = y the two terms cancel; Pinsker's inequality keeps what is left of them above 0.
    return max(nats, 2.0 * rise * rise)


def private_divergence(x: float, y: float, epsilon: float) -> float:
    r"""Return the divergence of Bernoulli(y) from Bernoulli(x), y > x, under epsilon-DP, in nats; in [0, inf].

    .. math:: d_\epsilon(x, y) = \inf_z \{ \epsilon |z - x| + \mathrm{kl}(z, y) \} = \begin{cases} \mathrm{kl}(x, y) &
              \ln \frac{y (1 - x)}{x (1 - y)} \le \epsilon \\ -\epsilon x - \ln(1 - y (1 - e^{-\epsilon})) &
              \text{otherwise} \end{cases}

    The slope in z is :math:`\epsilon` minus the difference of the log-odds of y and z, so the infimum is at x, or where
    the log-odds of z equal the log-odds of y minus epsilon.

    Args:
        x: A mean in [0, 1].
        y: A larger mean in [0, 1].
        epsilon: Privacy parameter, in (0, inf]; inf gives `bernoulli_kl`.

    Source: Azize, Wu, Honda, Orabona, Ito and Basu (2025).
    Differs from the source in: 0 for x >= y, because an index only looks for larger means.
    """
    if x >= y:
        return 0.0
    if y >= 1.0:
        return epsilon * (1.0 - x)
    if y * (1.0 - x) * exp(-epsilon) <= x * (1.0 - y):
        return bernoulli_kl(x, y)
    return max(-epsilon * x - _log_mixture(y, 1.0 - y, epsilon), 0.0)


def kl_upper(mean: float, level: float) -> float:
    r"""Return the largest q in [mean, 1] with :math:`\mathrm{kl}(\text{mean}, q)` at most a level: KL-UCB's index.

    Accurate to about 1e-14, by Halley's iteration for :math:`s = \ln \frac{1 - \text{mean}}{1 - q}`. The divergence is
    convex in s, and every s > 0 corresponds to a q in (mean, 1). It starts at the solution for small levels and ends
    after one to four steps (20 million arguments tried).

    Args:
        mean: A mean in [0, 1].
        level: The largest divergence allowed, in nats; 0 or less returns the mean.

    Source: Garivier and Cappé (2011), equation 1.
    """
    if not level > 0.0:
        return mean
    rest = 1.0 - mean
    if level >= NATS_TO_ONE * rest:
        return 1.0
    if mean < SMALLEST_MEAN:
        return -expm1(-level)
    root = math.sqrt(2.0 * mean * level / rest)
    s = root + (2.0 - mean) * level / (3.0 * rest)
    # So close to the mean the start is exact to all digits, and a step would only add rounding.
    if root > 1e-5 * mean:
        for _ in range(20):
            rise = -rest * expm1(-s)
            q = mean + rise
            newton = (rest * s - mean * log1p(rise / mean) - level) * q / rise
            step = newton / (1.0 - 0.5 * newton * mean * (1.0 - q) / (q * rise))
            s -= step
            # The next step would be about the third power of this one.
            if abs(step) <= 1e-4 * s:
                break
    return min(mean - rest * expm1(-s), 1.0)


def below_kl_upper(mean: float, level: float) -> float:
    """Return a number usually slightly below `kl_upper`, at a fraction of its cost; nan if there is none."""
    rest = 1.0 - mean
    if not (level > 0.0 and mean >= SMALLEST_MEAN and level < rest):
        return math.nan
    s = math.sqrt(2.0 * mean * level / rest) + (2.0 - mean) * level / (3.0 * rest)
    return mean - rest * expm1(-0.999 * s)


def private_upper(mean: float, level: float, epsilon: float) -> float:
    r"""Return the largest q in [mean, 1] with :math:`d_\epsilon(\text{mean}, q)` at most a level: DP-KLUCB's index.

    .. math:: q = \frac{1 - e^{-\text{level} - \epsilon\, \text{mean}}}{1 - e^{-\epsilon}} \quad \text{for} \quad
              \epsilon (1 - m) + \ln(m + (1 - m) e^{-\epsilon}) < \text{level} < \epsilon (1 - m),
              \quad m = \text{mean}

    and 1 for larger levels, which every mean meets. For smaller levels it is `kl_upper`: q is within epsilon of the
    mean in log-odds.

    Args:
        mean: A mean in [0, 1].
        level: The largest divergence allowed, in nats; 0 or less returns the mean.
        epsilon: Privacy parameter, in (0, inf]; inf gives `kl_upper`.

    Source: Azize, Wu, Honda, Orabona, Ito and Basu (2025), algorithm DP-KLUCB.
    """
    if not level > 0.0:
        return mean
    if level >= epsilon * (1.0 - mean):
        return 1.0
    if level > epsilon * (1.0 - mean) + _log_mixture(1.0 - mean, mean, epsilon):
        return max(expm1(-level - epsilon * mean) / expm1(-epsilon), mean)
    return kl_upper(mean, level)


def _log_mixture(y: float, rest: float, epsilon: float) -> float:
    """Return ln(rest + y e^-epsilon) to all digits, for rest = 1 - y."""
    drop = y * expm1(-epsilon)
    if drop > -0.5:
        return log1p(drop)
    return log(max(rest + y * exp(-epsilon), SMALLEST_MEAN))


def _log_ratio(above: float, below: float, difference: float) -> float:
    """Return ln(above / below) to all digits, given above - below to all digits."""
    if 0.75 * below < above < 1.25 * below:
        return log1p(difference / below)
    return log(above / below)
