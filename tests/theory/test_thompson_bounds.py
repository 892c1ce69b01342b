"""Bounds of Thompson sampling with Beta posteriors: lemmas against exact laws, by hand, in limits."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import beta, binom, gamma, laplace

from dp_bandit_envs import make_algorithm
from dp_bandit_envs.privacy.counters import HybridCounter
from dp_bandit_envs.theory.divergences import bernoulli_kl
from dp_bandit_envs.theory.lower_bounds import lai_robbins
from dp_bandit_envs.theory.tails import BELOW, bernoulli_kls, log_tails, regret_with_waits
from dp_bandit_envs.theory.thompson_bounds import (
    ABOVE,
    _draw_above,
    _exact_waits,
    _late_waits,
    _low_noise,
    _waits,
    dp_ts_bound,
    lazy_dp_ts_bound,
    ts_bound,
)

WIDTH = 6 * math.sqrt(8)
"""DP-TS's slope at epsilon = 1."""


def odds(s, n, y):
    """Return 1 / P(Beta(1 + s, 1 + n - s) > y) - 1."""
    return 1 / beta.sf(y, 1 + s, 1 + n - s) - 1


@pytest.mark.parametrize(("best", "y"), [(0.9, 0.8), (0.3, 0.2), (1.0, 0.6), (0.55, 0.5)])
def test_waits_are_those_of_the_exact_law(best, y):
    """N = 0 and 1 by hand, others from SciPy's laws; and far out, where chances are too small for a float."""
    terms = _exact_waits(best, y)
    assert terms[0] == pytest.approx(y / (1 - y))
    assert terms[1] == pytest.approx((1 - best) / (1 - y) ** 2 + best / (1 - y**2) - 1)
    for n in (2, 7, 30):
        s = np.arange(n + 1)
        assert terms[n] == pytest.approx(np.sum(binom.pmf(s, n, best) * odds(s, n, y)), rel=1e-9)
    n = len(terms) - 1
    s = np.arange(n + 1)
    coins, lower = binom.logpmf(s, n, best), np.maximum(binom.logcdf(s, n + 1, y), -700)
    assert terms[n] == pytest.approx(np.sum(np.exp(coins - lower) - np.exp(coins)), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("best", "y"), [(0.9, 0.8), (0.3, 0.2), (1.0, 0.6), (0.55, 0.5), (0.97, 0.2)])
def test_what_is_left_out_is_bounded(best, y):
    terms = _exact_waits(best, y)
    for first in (0, 1, 5, 31):
        assert math.fsum(terms[first:]) <= _late_waits(best, y, first, len(terms) - first)
        assert terms[first] <= _late_waits(best, y, first, 1)
    assert _waits(best, y, 10) == pytest.approx(math.fsum(terms[:10]))
    # Where all 1,025 terms are computed, others may still matter.
    assert math.fsum(terms) <= _waits(best, y, 10**9) < math.fsum(terms) * 1.4


@pytest.mark.parametrize("mean", [0.35, 0.7])
def test_fractions_wait_no_longer_than_coins(mean):
    """1 / p is convex in s, and sums of 0, 1/2 and 1, or of uniform gains, wait less than sums of coins."""
    for n, y in itertools.product((1, 4, 15), (mean - 0.25, mean - 0.05)):
        s = np.linspace(0, n, 8 * n + 1)
        assert (np.diff(odds(s, n, y), 2) > -1e-9).all()
        one = np.array([(1 - mean) ** 2, 2 * mean * (1 - mean), mean**2])
        law = np.array([1.0])
        for _ in range(n):
            law = np.convolve(law, one)
        halves = float(np.sum(law * odds(np.arange(2 * n + 1) / 2, n, y)))
        assert halves < _exact_waits(mean, y)[n]


def test_rounds_without_a_high_draw_are_fewer_than_the_waits():
    """Thompson sampling itself, in 200 games: how often the worse arm is played while no draw exceeds y.

    False alarm: none (fixed seed).
    """
    means, y, rounds = (0.8, 0.5), 0.65, 200
    rng, counts = np.random.default_rng(5), []
    for _ in range(200):
        heads, plays, low = np.zeros(2), np.zeros(2), 0
        for _ in range(rounds):
            draws = rng.beta(1 + heads, 1 + plays - heads)
            arm = int(draws.argmax())
            low += arm == 1 and draws.max() <= y
            heads[arm] += rng.random() < means[arm]
            plays[arm] += 1
        counts.append(low)
    mean, error = np.mean(counts), np.std(counts) / math.sqrt(200)
    waits = _waits(means[0], y, rounds)
    assert waits / 20 < mean - 4 * error < mean + 4 * error < waits


def test_draws_far_above_are_bounded():
    counts = np.array([1.0, 2, 5, 20, 100, 1000])
    for x, y in ((0.3, 0.5), (0.05, 0.1), (0.8, 0.9), (0.6, 0.601)):
        exact = beta.sf(y, 1 + x * counts, 1 + (1 - x) * counts)
        assert (exact <= _draw_above(counts, x, y) * (1 + 1e-9)).all()
        assert (np.diff(_draw_above(counts, x, y)) <= 0).all()


def test_tails_of_gains_and_noise_are_bounded():
    """Sums of coins and one or three Laplace draws, exactly; without noise within a factor of the exact tail."""
    for mean, x, n, scale in itertools.product((0.1, 0.6), (0.7, 0.95), (1, 12, 60), (0.0, 0.5, 4.0)):
        for draws in (1, 3) if scale else (0,):
            logs, _ = log_tails(mean, x, np.array([float(n)]), [(scale, draws)], 0.3)
            short = n * x - 0.3 - np.arange(n + 1)
            exact = np.sum(binom.pmf(np.arange(n + 1), n, mean) * _sum_tail(short, scale, draws))
            assert exact <= math.exp(min(logs.min(), 0.0)) * (1 + 1e-9)
    logs, rates = log_tails(0.3, 0.5, np.array([10.0, 11.0]), [(2.0, 1)], 1.0)
    assert logs[0] - logs[1] == pytest.approx(rates)
    assert bernoulli_kls(np.array([0.0, 0.5, 1.0]), 0.4) == pytest.approx([bernoulli_kl(x, 0.4) for x in (0, 0.5, 1)])


def _sum_tail(x, scale, draws):
    """Return P(sum of Laplace draws >= x): a sum of `draws` is +- a gamma variable, by the race of two streams."""
    if not draws:
        return (x <= 1e-12).astype(float)
    if draws == 1:
        return laplace.sf(x, scale=scale)
    ways = [math.comb(draws - 1 + i, i) * 0.5 ** (draws + i) for i in range(draws)]
    above = sum(way * gamma.sf(np.abs(x), draws - i, scale=scale) for i, way in enumerate(ways))
    return np.where(x >= 0, above, 1 - above)


def test_ts_by_hand():
    """K = 2: the formula with every x, y and N that are tried, from SciPy's binomial law, in loops."""
    horizon, (best, mean) = 500, (0.9, 0.4)
    bounds = []
    for below in BELOW:
        y = best - 0.5 * below
        waits = 0.0
        for n in range(horizon):
            s = np.arange(n + 1)
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                terms = binom.pmf(s, n, best) * (1 / binom.cdf(s, n + 1, y) - 1)
            waits += np.nansum(np.where(np.isfinite(terms), terms, 0.0))
        for above in ABOVE:
            x = mean + 0.5 * above
            k = bernoulli_kl(x, mean)
            for n in range(1, horizon + 1):
                q = max(x, (1 + x * n) / (n + 2))
                high = math.exp(-(n + 2) * bernoulli_kl(q, y)) if q < y else 1.0
                bounds.append(waits + n + horizon * high + math.exp(-n * k) / (1 - math.exp(-k)))
    by_hand = 0.5 * min(bounds)
    # Not every N is tried beyond 32.
    assert by_hand * (1 - 1e-3) <= ts_bound([mean, best], horizon) <= 1.02 * by_hand


def test_ts_is_near_what_no_algorithm_can_beat():
    """The slope in ln T, from 10^6 to 10^9 rounds, is at most 4 times that of Lai and Robbins, and above it."""
    for means in ([0.9, 0.6], [0.5, 0.3], [0.2, 0.1]):
        steps = [bound(means, 10**9) - bound(means, 10**6) for bound in (ts_bound, lai_robbins)]
        assert 1 < steps[0] / steps[1] < 4


def test_without_noise_private_forms_are_ts_or_its_blocks():
    for means in ([0.9, 0.6], [0.5, 0.3], [0.9, 0.7, 0.4]):
        plain = ts_bound(means, 10**6)
        assert plain <= dp_ts_bound(means, 10**6, math.inf, 0.0) < 1.1 * plain
        assert plain < lazy_dp_ts_bound(means, 10**6, math.inf) < 3.5 * plain
        for bound in (lazy_dp_ts_bound, lambda *sizes: dp_ts_bound(*sizes, WIDTH / sizes[2])):
            bounds = [bound(means, 10**6, epsilon) for epsilon in (0.05, 0.2, 1.0, 5.0, 50.0)]
            assert bounds == sorted(bounds, reverse=True)
            # Of order 1 / epsilon, and something at a million rounds.
            assert 5 < bounds[0] / bounds[2] < 40
            assert bounds[2] < 0.1 * 10**6 * (max(means) - means[1])


def test_failures_of_noise_are_few():
    """Below 1/5 for Lazy-DP-TS: the sum of lg(t + 1) t^-3 / 2; and for DP-TS against the noise itself, simulated."""
    assert sum(math.log2(t + 1) * t**-3 / 2 for t in range(2, 10**5)) < 0.195
    counter = HybridCounter(epsilon=1.0)
    noises = [counter.scales((2 << k) - 1) for k in range(20)]
    assert _low_noise(noises, WIDTH, 2**20 - 1) < 0.8
    rng = np.random.default_rng(2)
    failed = 0.0
    for n in range(1, 16):
        noise = sum(rng.laplace(0, scale, (number, 200_000)).sum(axis=0) for scale, number in counter.scales(n))
        failed += sum(np.mean(noise < -WIDTH * math.log(n + 1) * math.log(t)) for t in range(max(2, n + 1), 16))
    assert 0 < failed < _low_noise(noises[:4], WIDTH, 15)


def test_rounds_that_wait_are_shared_by_arms():
    """Three arms with 1, 2 and 4 plays of their own and 10, 6 and 8 waits: 8 for the last two, of 10 in all."""
    own = {0.5: (1.0, 10.0), 0.4: (2.0, 6.0), 0.3: (4.0, 8.0)}
    regret = regret_with_waits([0.9, *own], 1000, lambda mean, best, y: own[mean])
    assert regret == pytest.approx(0.4 * (1 + 2) + 0.5 * 2 + 0.6 * (4 + 8))
    alone = regret_with_waits([0.9, *own], 1000, lambda mean, best, y: own[mean], shared=False)
    assert alone == pytest.approx(0.4 * 11 + 0.5 * 8 + 0.6 * 12)
    assert ts_bound([0.9, *[0.6] * 9], 10**5) < 0.8 * 9 * ts_bound([0.9, 0.6], 10**5)
    assert ts_bound([0.5, 0.5], 100) == 0


def test_on_graphs_choices_count():
    """One more for each arm that may have the largest draw: N and the chance that a draw is far above its mean."""
    bounds = [ts_bound([0.9, 0.6, 0.6], 10**5, choices) for choices in (1, 2, 3)]
    assert bounds == sorted(bounds)
    assert bounds[2] < 3 * bounds[0]
    plain, most = make_algorithm("TS-N"), make_algorithm("TS-MaxN")
    asked = {"means": [0.9, 0.6, 0.6], "horizon": 10**5}
    assert plain.pseudo_regret_bound(**asked, sensitivity=3.0) == plain.pseudo_regret_bound(**asked) == bounds[0]
    assert most.pseudo_regret_bound(**asked) == bounds[0]
    assert most.pseudo_regret_bound(**asked, sensitivity=3.0) == bounds[2]
    assert make_algorithm("DP-TS").pseudo_regret_bound(**asked, sensitivity=3.0) == math.inf
