"""What bounds for sums of gains and noise share: Chernoff's bounds, and rounds that wait for the best arm."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.theory.argument_ranges import arm_means

BELOW = (0.1, 0.15, 0.2, 0.27, 0.35, 0.45, 0.6)
"""Where the level y is that are tried, in gaps below the best mean."""
SHARES = np.linspace(0.02, 0.98, 49)
"""Multiples of the largest exponent at which moments are finite, in Chernoff's bounds."""


def regret_of_plays(gaps: list[float], pulls: list[float], horizon: int) -> float:
    """Return the largest regret if each arm is played at most as often as `pulls` allows, and T times in total."""
    regret, left = 0.0, float(horizon)
    for gap, most in sorted(zip(gaps, pulls, strict=True), reverse=True):
        regret += gap * min(most, left)
        left -= min(most, left)
    return regret


def regret_with_waits(
    means: Sequence[SupportsFloat],
    horizon: int,
    plays: Callable[[float, float, float], tuple[float, float]],
    *,
    shared: bool = True,
) -> float:
    r"""Return the regret of arms that are played for their own index, or because the best arm is below a level.

    All arms have their level y at the same share of their gaps; the best of all shares is taken, arm by arm or for all.
    A round waits if the best arm is below y. For an arm with a larger gap y is lower, so that the rounds that wait at
    its y also wait at the others'. So arms with a gap of at least :math:`\Delta` are played in such rounds at most as
    often as the largest number of waits among them, all together.

    Args:
        means: The arms' means.
        horizon: Number of rounds T.
        plays: Gives for an arm's mean, the best mean and y, with mean < y < best, the arm's other plays and the waits.
        shared: Whether rounds that wait are shared by arms; otherwise each arm may be played so often.
    """
    numbers = arm_means(means)
    best = max(numbers)
    order = sorted((mean for mean in numbers if mean < best), reverse=True)
    gaps = [best - mean for mean in order]
    alone = dict.fromkeys(order, float(horizon))
    regrets = []
    for share in BELOW:
        parts = {}
        for mean in alone:
            y = best - (best - mean) * share
            parts[mean] = plays(mean, best, y) if mean < y < best else (float(horizon), 0.0)
            alone[mean] = min(alone[mean], sum(parts[mean]))
        if shared:
            others, waits = np.array([parts[mean] for mean in order]).reshape(-1, 2).T
            waits = np.append(np.maximum.accumulate(waits[::-1])[::-1], 0.0)
            regrets.append(regret_of_plays(gaps, (others + waits[:-1] - waits[1:]).tolist(), horizon))
    return min([*regrets, regret_of_plays(gaps, [alone[mean] for mean in order], horizon)])


def bernoulli_kls(x: FloatArray, y: FloatArray | float) -> FloatArray:
    """Return the divergence kl(x, y) of coins, for many x in [0, 1] and as many y in (0, 1], or one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        heads = np.where(x > 0, x * np.log(x / y), 0.0)
        tails = np.where(x < 1, (1 - x) * np.log((1 - x) / (1 - y)), 0.0)
    nats: FloatArray = np.maximum(heads + tails, 2 * (x - y) ** 2)
    return nats


def log_tails(
    mean: float, x: float, counts: FloatArray, noise: Sequence[tuple[float, int]], width: float
) -> tuple[FloatArray, FloatArray]:
    r"""Return logarithms of Chernoff's bounds on P(S + Z + width > n x), shape (n, exponents), and how they fall in n.

    S is the sum of n gains in [0, 1] of this mean, and Z that of the noise's Laplace draws.

    Args:
        mean: The mean, in [0, x).
        x: The level, in (0, 1).
        counts: The numbers n.
        noise: Scales, each with its number of draws.
        width: The width added to the sum.
    """
    if math.isinf(width + sum(scale for scale, _ in noise)):
        return np.zeros((len(counts), 1)), np.zeros(1)
    # Up to 1 / scale, where moments end, or the best exponent without noise.
    best = math.log(x * (1 - mean) / (mean * (1 - x))) if mean > 0 else 50.0
    s = SHARES * min([1.02 * best, *(1 / scale for scale, number in noise if scale > 0 and number)])
    rates = s * x - np.log1p(mean * np.expm1(s))
    rest = s * width - sum(number * np.log1p(-((scale * s) ** 2)) for scale, number in noise)
    return rest - counts[:, np.newaxis] * rates, rates


def counts_to(horizon: int) -> FloatArray:
    """Return the N that are tried: all small ones, powers of two, and 3 % more each time; not more than T of them."""
    counts = _counts()
    return counts[counts <= horizon]


@functools.cache
def _counts() -> FloatArray:
    steps = {math.ceil(1.03**k) for k in range(1 + math.ceil(math.log(checks.MOST_ROUNDS, 1.03)))}
    return np.array(sorted(steps | {1 << k for k in range(checks.MOST_ROUNDS.bit_length())}), float)
