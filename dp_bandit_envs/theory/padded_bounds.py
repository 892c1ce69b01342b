r"""An upper bound on the pseudo-regret of DP-UCB, whose counters all advance in every round, without a bonus for noise.

Its noise grows with t, whatever an arm's count is, so that no count makes the best arm's index safe in early rounds of
its own. But noise changes from round to round, and is as often above 0 as below.
"""

import functools
import math
from collections.abc import Sequence

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.counters import make_counter
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.theory.argument_ranges import arm_means, checked
from dp_bandit_envs.theory.divergences import bernoulli_kl
from dp_bandit_envs.theory.stochastic_bounds import Means, ucb_bound
from dp_bandit_envs.theory.tails import SHARES, counts_to, regret_of_plays

LEVELS = (0.2, 0.35, 0.55)
"""Where y is, in smallest gaps below the best mean."""
ABOVE = (0.1, 0.2, 0.35)
"""Where x is, as a share of the way from the arm's mean to y."""
HEIGHTS = (1.5, 3.0, 5.0, 8.0, 12.0)
"""The h that are tried, in scales of noise."""
LAYERS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0)
"""The M that are tried, times g and in scales of noise."""
CELL = 0.25
"""The width of a cell of the grid on which laws of noise are computed, in scales."""
CELLS = 240
Octave = Sequence[tuple[float, int]]
"""Scales of the logarithmic part and of the tree, with the most draws of each."""


@checked()
def padded_ucb_bound(means: Means, horizon: int, epsilon: float, **options: str) -> float:
    r"""Return the bound of DP-UCB, for a level y that all arms share, :math:`g = \mu^* - y`, and any h, l, M and N.

    .. math:: E[n_a] \le N_a + r_a + w_a, \quad r_a = \sum_{n \ge N_a} e^{-n\,\mathrm{kl}(x, \mu_a)}
              + R \Big( N_a (y - x) - \sqrt{2 N_a \ln T} \Big), \quad R(z) = \sum_{t \le T} P(Z_t \ge z), \\
              \sum_a w_a \le \sum_{i < m} \lambda_i (M_{i + 1} - M_i + L)
              + \lambda_0 \Big( \sum_a r_a + [K > 2] \sum_a N_a + \tfrac14 \Big)
              + \sum_B L\, E[1 - (1 + \lambda_0) p(H_B)]^+ + R(M_m g) + 3 L + \tfrac14

    Proof. A round waits if the best arm's index is below y. Its mean of n gains is at least
    :math:`\mu^* - \sqrt{2 \ln t / n}` for all n up to t, but with probability :math:`t^{-3}`; then a round waits only
    if :math:`Z_t < -n g` for the noise of the best arm's sum. In others arm a is played by an index of at least y:
    with fewer than :math:`N_a` gains; or a mean above x, or noise that is at least the argument of R: :math:`r_a`. What
    counts of the rounds that wait are plays of an arm with :math:`N_a` gains or more: :math:`w_a`.

    Cut time into blocks of :math:`L = 2^l` rounds. The noise in block B is :math:`H_B`, from draws of before, plus F,
    from the l lowest levels of the tree: a round whose number has m ones there has m of its draws, of scale b. Noise
    does not depend on plays. Let p(H) be the share of a block's rounds, on average, with :math:`H + F \ge 0`, and
    :math:`p_i(H) = p(H + M_i g)`. If the best arm begins the block with at least :math:`M_i` gains, at most a share of
    :math:`1 - p_i \le \lambda_i p_i + [1 - (1 + \lambda_i) p_i]^+` of its rounds waits, and at least :math:`p_i` does
    not. The latter are few: over all blocks that begin with less than :math:`M_{i + 1}`, plays of the best arm,
    :math:`M_{i + 1} - M_i + L` at most, and of others: of two arms, only :math:`r_a` once one has :math:`N_a` gains,
    which may happen in the midst of a block. Take :math:`1 + \lambda_0 = 1 / p(-h)`, and the smallest
    :math:`\lambda_i` with which no [ ] is more than that for i = 0. From :math:`M_m` gains on all low noise counts,
    and so do the octaves of t with at most l levels, 2 L rounds.

    Laws of sums of m Laplace draws are exact at points h of a grid: up to its sign, such a sum is a gamma variable
    whose shape is the number of arrivals missing in the slower of two streams when the faster has had m. The draws of
    the logarithmic part are in :math:`H_B` by Chernoff's bound, as are all in R.

    It is finite and below T for long games, but of an order just below T: :math:`\lambda_0 L` cannot be small where
    :math:`H_B` is rarely below -h.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter of the hybrid counters, in (0, inf]; inf gives `ucb_bound`.
        options: Further arguments of the counters.
    """
    numbers = sorted(arm_means(means), reverse=True)
    if math.isinf(epsilon):
        return ucb_bound(means, horizon)
    best, worse = numbers[0], [mean for mean in numbers if mean < numbers[0]]
    gaps = [best - mean for mean in worse]
    counter = make_counter("hybrid", epsilon=epsilon, **options)
    octaves = [counter.scales((2 << k) - 1) for k in range(min(horizon, checks.MOST_ROUNDS).bit_length())]
    scale, counts = max(scale for scale, _ in octaves[-1]), counts_to(horizon)
    regrets = [horizon * max(gaps, default=0.0)]
    for share in LEVELS if worse and math.isfinite(scale / gaps[0]) else ():
        y = best - gaps[0] * share
        if not worse[0] < y < best:
            continue
        layers = np.ceil(np.array(LAYERS) * (scale / (best - y)))
        beyond = _above(octaves, layers * (best - y))
        late = {mean: _late_plays(mean, y, counts, octaves, horizon) for mean in worse}
        for low, height in ((low, height) for low in range(3, len(octaves) - 3) for height in HEIGHTS):
            factors = _factors(low, height)
            many = 1 + factors[0] * (len(numbers) > 2)
            first = [int(np.argmin(many * counts + (1 + factors[0]) * late[mean])) for mean in worse]
            rest = math.fsum(late[mean][k] for mean, k in zip(worse, first, strict=True))
            climbs = np.cumsum(factors[:-1] * (np.diff(layers) + (1 << low)))
            waits = float(np.min(climbs + beyond[1:])) + 3 * (1 << low) + (1 + factors[0]) / 4
            waits += factors[0] * rest + (many - 1) * math.fsum(counts[k] for k in first)
            waits += sum(_bad_blocks(tuple(octave), k, low, height) for k, octave in enumerate(octaves) if k > low)
            plays = [float(counts[k] + late[mean][k]) for mean, k in zip(worse, first, strict=True)]
            plays[-1] += waits
            regrets.append(regret_of_plays(gaps, plays, horizon))
    return min(regrets)


def _above(octaves: Sequence[Octave], z: FloatArray) -> FloatArray:
    """Return R(z) for many z, by Chernoff's bound for each octave of t, in half of whose rounds a level has a draw."""
    total = np.zeros(len(z))
    for k, ((first, number), (tree, _)) in enumerate(octaves):
        s = SHARES / max(first, tree)
        logs = k * np.log((1 + 1 / (1 - (tree * s) ** 2)) / 2) - number * np.log1p(-((first * s) ** 2))
        total += 2.0**k * np.exp(np.minimum((logs - np.outer(z, s)).min(axis=1), 0.0))
    return total


def _late_plays(mean: float, y: float, counts: FloatArray, octaves: Sequence[Octave], horizon: int) -> FloatArray:
    """Return the r of an arm for each N, at the best x."""
    plays = []
    for x in (mean + (y - mean) * share for share in ABOVE):
        rate = bernoulli_kl(x, mean)
        means_above = np.exp(-counts * rate) / -math.expm1(-rate) if rate > 0 else np.full(len(counts), math.inf)
        plays.append(means_above + _above(octaves, counts * (y - x) - np.sqrt(2 * counts * math.log(horizon))))
    least: FloatArray = np.min(plays, axis=0)
    return least


@functools.cache
def _laplace_sums() -> FloatArray:
    """Return P(sum of m Laplace draws >= h), shape (m = 0, ..., 63; h = 0, CELL, 2 CELL, ...)."""
    h = CELL * np.arange(CELLS + 1)
    poisson = np.array([np.exp(j * np.log(np.maximum(h, 1e-300)) - h - math.lgamma(j + 1)) for j in range(63)])
    gammas = np.cumsum(poisson, axis=0)  # a gamma variable of j + 1 arrivals is at least h
    tails = [(h <= 0).astype(float)]
    for m in range(1, 64):
        ways = [math.comb(m - 1 + i, i) * 0.5 ** (m + i) for i in range(m)]
        tails.append(np.array(ways) @ gammas[m - 1 :: -1] if m > 1 else ways[0] * gammas[0])
    return np.array(tails)


@functools.cache
def _ones(levels: int) -> FloatArray:
    """Return the shares of numbers below 2^levels with 0, 1, ... ones."""
    return np.array([math.comb(levels, m) * 0.5**levels for m in range(levels + 1)])


@functools.cache
def _shares(low: int) -> FloatArray:
    """Return p(H) for H = -CELLS CELL, ..., CELLS CELL."""
    tails, ones = _laplace_sums()[: low + 1], _ones(low)
    above = ones[0] + ones[1:] @ (1 - tails[1:, 1:])
    return np.concatenate([(ones @ tails)[::-1], above])


@functools.cache
def _factors(low: int, height: float) -> FloatArray:
    """Return the lambda of each layer."""
    shares, start = _shares(low), round(height / CELL)
    below = shares[CELLS - start :: -1]  # p at -h, -h - CELL, ...
    factors = [1 / below[0]]
    for shift in (round(layer / CELL) for layer in LAYERS[1:]):
        moved = shares[np.minimum(np.arange(CELLS - start + shift, shift - 1, -1), 2 * CELLS)]
        factors.append(min(factors[0], max(1 / moved[0], float(np.max(factors[0] * below[:-1] / moved[1:])))))
    return np.array(factors) - 1


@functools.lru_cache(maxsize=8192)
def _bad_blocks(octave: Octave, k: int, low: int, height: float) -> float:
    """Return the sum of L E[1 - (1 + lambda_0) p(H)]^+ over the blocks of the rounds 2^k to 2^(k + 1) - 1."""
    (first, number), (tree, _) = octave
    shares, start = _shares(low), round(height / CELL)
    below = shares[CELLS - start :: -1]
    lost = np.maximum(1 - below / below[0], 0.0)
    high = _ones(k - low) @ _laplace_sums()[: k - low + 1]
    s = SHARES / first
    chances = np.ones(len(below))
    for shift in (2, 4, 6, 8, 12, 16):
        logs = -number * np.log1p(-((first * s) ** 2)) - s * shift * CELL * tree
        moved = np.maximum(np.arange(start, CELLS + 1) - shift, -1)
        tails = np.where(moved >= 0, high[moved], 1.0)
        chances = np.minimum(chances, tails + math.exp(min(float(logs.min()), 0.0)))
    return 2.0**k * float(np.sum(np.diff(lost) * chances[:-1]) + (1 - lost[-1]) * chances[-1])
