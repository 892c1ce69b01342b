r"""When an algorithm that looks for the best arm may stop: transportation costs of two arms, and their thresholds.

An arm b is recommended once its cost against every other arm a exceeds a threshold. The cost is the least evidence, in
nats, against pairs of means such that a is at least as good as b:

.. math:: W(b, a) = \inf_u \, n_b \, d(\hat\mu_b, u) + n_a \, d(\hat\mu_a, u)

where d is 0 if u does not lie between the two means. If a is the best arm, W is at most the evidence of the two arms'
data against their true means, so a threshold only has to bound this sum. The proofs in docs/notes/identification.md
hold for independent gains in [0, 1] with fixed means.

Plain functions of floats without checks, because compiled agents call them.
"""

import math
from typing import Final

from dp_bandit_envs.draws import expm1, log, log1p
from dp_bandit_envs.theory.divergences import bernoulli_kl, private_divergence

HALVINGS: Final = 44
"""Halvings of the interval that contains a minimum: its last width is far below the rounding of the cost."""
TILT_HALVINGS: Final = 30
"""Halvings for a tilt; a rough tilt can only make the cost smaller."""
GRID_NATS: Final = 0.003
"""More than half a step of the grid of noisy sums, at most 2^-8 of the noise's deviation, in units of its scale."""


def bernoulli_cost(high: float, n_high: float, low: float, n_low: float) -> float:
    """Return W with the Kullback-Leibler divergence of coins, where u is the mean of all gains; 0 if high <= low.

    Args:
        high: The mean of b, in [0, 1].
        n_high: The number of gains in it.
        low: The mean of a, in [0, 1].
        n_low: The number of gains in it.
    """
    if high <= low:
        return 0.0
    middle = (n_high * high + n_low * low) / (n_high + n_low)
    return n_high * bernoulli_kl(high, middle) + n_low * bernoulli_kl(low, middle)


def gaussian_cost(high: float, n_high: float, low: float, n_low: float) -> float:
    """Return W with d(x, u) = 2 (x - u)^2, which is below the divergence of coins; means may leave [0, 1]."""
    return 2.0 * (high - low) ** 2 / (1.0 / n_high + 1.0 / n_low) if high > low else 0.0


def private_cost(high: float, n_high: float, low: float, n_low: float, epsilon: float) -> float:
    """Return W with `private_divergence`, for means in [0, 1] and a finite epsilon."""
    if high <= low:
        return 0.0
    left, right = low, high
    for _ in range(HALVINGS):
        middle = 0.5 * (left + right)
        rise = n_low * private_slope(low, middle, epsilon)
        fall = n_high * private_slope(1.0 - high, 1.0 - middle, epsilon)
        if rise < fall:
            left = middle
        else:
            right = middle
    middle = 0.5 * (left + right)
    above, below = private_divergence(1.0 - high, 1.0 - middle, epsilon), private_divergence(low, middle, epsilon)
    return n_high * above + n_low * below


def private_slope(x: float, y: float, epsilon: float) -> float:
    """Return the derivative of `private_divergence` in y, for x < y < 1."""
    hidden = -expm1(-epsilon)
    if y * (1.0 - x) * (1.0 - hidden) <= x * (1.0 - y):
        return (y - x) / (y * (1.0 - y))
    return hidden / (1.0 - y * hidden)


def noisy_tilt(x: float, y: float, epsilon: float, share: float) -> float:
    """Return the t in (0, epsilon) that maximises `noisy_divergence`, or slightly less."""
    left, right = 0.0, epsilon
    for _ in range(TILT_HALVINGS):
        t = 0.5 * (left + right)
        kept = 1.0 + expm1(-t)
        if y * kept / (1.0 - y * (1.0 - kept)) - 2.0 * share * t / (epsilon * epsilon - t * t) > x:
            left = t
        else:
            right = t
    return left


def noisy_divergence(x: float, y: float, epsilon: float, share: float, t: float) -> float:
    r"""Return the evidence of a noisy mean x against a true mean y > x, in nats per gain: Chernoff's bound at tilt t.

    .. math:: -t x - \ln(1 - y (1 - e^{-t})) + \frac{k}{n} \ln\Big(1 - \frac{t^2}{\epsilon^2}\Big)

    A sum of n gains with mean y and of k Laplace draws of scale :math:`1 / \epsilon` is at most n x with probability at
    most e to the minus n times this, for any t. For k = 0 its supremum is `private_divergence`.

    Args:
        x: A mean in [0, 1], below y.
        y: A mean in (0, 1].
        epsilon: Of the draws, finite.
        share: k / n.
        t: The tilt, in [0, epsilon).
    """
    return -t * x - log1p(y * expm1(-t)) + share * log1p(-((t / epsilon) ** 2))


def exceeds_noisy_cost(
    high: float, n_high: float, k_high: float, low: float, n_low: float, k_low: float, epsilon: float, nats: float
) -> bool:
    """Return whether W with `noisy_divergence` exceeds a threshold, for means in [0, 1] and k draws in each arm's sum.

    W is convex in u, so its minimum is found by bisection; it stops at the first u with a cost of at most the
    threshold.
    """
    if high <= low:
        return False
    share_high, share_low = k_high / n_high, k_low / n_low
    left, right = low, high
    for _ in range(HALVINGS):
        u = 0.5 * (left + right)
        up = noisy_tilt(low, u, epsilon, share_low)
        down = noisy_tilt(1.0 - high, 1.0 - u, epsilon, share_high)
        cost = n_low * noisy_divergence(low, u, epsilon, share_low, up)
        cost += n_high * noisy_divergence(1.0 - high, 1.0 - u, epsilon, share_high, down)
        if cost <= nats:
            return False
        rise, fall = -n_low * expm1(-up) / (1.0 + u * expm1(-up)), -n_high * expm1(-down)
        if rise < fall / (1.0 + (1.0 - u) * expm1(-down)):
            left = u
        else:
            right = u
    return True


def sequential_threshold(n: float, m: float, log_odds: float) -> float:
    r"""Return a threshold for `bernoulli_cost` that holds after every gain (sequentially): derived here.

    .. math:: \ln \frac{K - 1}{\beta} + \frac{1}{2} \ln n + \frac{1}{2} \ln m + \ln 4

    Args:
        n: The number of gains of one arm.
        m: The number of gains of the other arm.
        log_odds: ln((K - 1) / beta), with beta the failure probability of the whole game.
    """
    return log_odds + 0.5 * (log(n) + log(m)) + log(4.0)


def release_weight(release: float) -> float:
    """Return ln(j (j + 1)) of an arm's release j; the reciprocals of j (j + 1) add up to 1."""
    return log(release * (release + 1.0))


def episode_threshold(n: float, m: float, j: float, i: float, log_odds: float, epsilon: float) -> float:
    r"""Return a threshold for `gaussian_cost` of means that have one Laplace draw each: derived here.

    .. math:: \big(\sqrt{c} + \sqrt{c'}\big)^2, \quad c = \ln \frac{2 (K - 1) j (j + 1) i (i + 1)}{\beta}, \quad
              c' = 2 \Big(\frac{1}{n} + \frac{1}{m}\Big) \frac{c^2}{\epsilon^2}

    c is for chance, c' for noise; both have the form of Azize et al. (2023), who add twice c and c'.

    Args:
        n: The number of gains in the last episode of one arm.
        m: The number of gains of the other arm's.
        j: The number of the one arm's episode, from 1.
        i: The number of the other arm's episode.
        log_odds: ln((K - 1) / beta), with beta the failure probability of the whole game.
        epsilon: Epsilon of the draws, of scale 1 / epsilon in a sum.
    """
    chance = log_odds + log(2.0) + release_weight(j) + release_weight(i)
    noise = (chance + GRID_NATS) / epsilon * math.sqrt(2.0 * (1.0 / n + 1.0 / m))
    return (math.sqrt(chance) + noise) ** 2


def noisy_threshold(j: float, i: float, log_odds: float) -> float:
    r"""Return a threshold for W with `noisy_divergence` at the releases j and i of two arms: derived here.

    It is the x > 0 with :math:`x - \ln(1 + x) = \ln \frac{(K - 1) j (j + 1) i (i + 1)}{\beta}`, for each arm's share of
    W is at most an exponential number, and two of these exceed x with probability :math:`(1 + x) e^{-x}`.
    """
    nats = log_odds + release_weight(j) + release_weight(i)
    x = nats + math.sqrt(2.0 * nats) + 1.0
    for _ in range(6):  # Newton's steps, from above: the left side is convex
        x -= (x - log1p(x) - nats) * (1.0 + x) / x
    return x + GRID_NATS * (j + i)
