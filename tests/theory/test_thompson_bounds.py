"""Bounds of Thompson sampling and of noisy indices: lemmas against exact and simulated laws, by hand, in limits."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, binom, gamma, laplace

from dp_bandit_envs import make_algorithm
from dp_bandit_envs.privacy.counters import HybridCounter
from dp_bandit_envs.theory.divergences import bernoulli_kl, private_divergence
from dp_bandit_envs.theory.lower_bounds import lai_robbins
from dp_bandit_envs.theory.noisy_index_bounds import (
    _chance_too_low,
    _lowest,
    _off_by_noise,
    _rounds,
    noisy_int_bound,
    private_divergence_bound,
)
from dp_bandit_envs.theory.stochastic_bounds import kl_ucb_bound
from dp_bandit_envs.theory.tails import BELOW, SHARES, bernoulli_kls, log_tails, regret_with_waits
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_ts_is_near_what_no_algorithm_can_beat():
    """The slope in ln T, from 10^6 to 10^9 rounds, is at most 4 times that of Lai and Robbins, and above it."""
    for means in ([0.9, 0.6], [0.5, 0.3], [0.2, 0.1]):
        steps = [bound(means, 10**9) - bound(means, 10**6) for bound in (ts_bound, lai_robbins)]
        assert 1 < steps[0] / steps[1] < 4
    # Without noise private forms are ts or its blocks.
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


@pytest.mark.thorough
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
    # One more for each arm that may have the largest draw: N and the chance that a draw is far above its mean.
    bounds = [ts_bound([0.9, 0.6, 0.6], 10**5, choices) for choices in (1, 2, 3)]
    assert bounds == sorted(bounds)
    assert bounds[2] < 3 * bounds[0]
    plain, most = make_algorithm("TS-N"), make_algorithm("TS-MaxN")
    asked = {"means": [0.9, 0.6, 0.6], "horizon": 10**5}
    assert plain.pseudo_regret_bound(**asked, sensitivity=3.0) == plain.pseudo_regret_bound(**asked) == bounds[0]
    assert most.pseudo_regret_bound(**asked) == bounds[0]
    assert most.pseudo_regret_bound(**asked, sensitivity=3.0) == bounds[2]
    assert make_algorithm("DP-TS").pseudo_regret_bound(**asked, sensitivity=3.0) == math.inf


# ---- DP-KLUCB, DP-IMED and DP-UCB-INT


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 6.0])
@pytest.mark.parametrize("coins", [True, False])
def test_a_release_is_rarely_far_below_a_level(epsilon, coins):
    """P(n d(mean, y) > u), simulated with coins or uniform gains, is below q. False alarm: none (fixed seed)."""
    rng, games = np.random.default_rng(7), 100_000
    for (best, y), (draws, n) in itertools.product(((0.8, 0.7), (0.4, 0.1), (1.0, 0.9)), ((1, 4), (3, 16), (5, 64))):
        if coins or best == 1:
            sums = rng.binomial(n, best, games)
        else:
            sums = rng.uniform(2 * best - 1 if best > 0.5 else 0, min(2 * best, 1), (n, games)).sum(axis=0)
        noisy = np.clip((sums + rng.laplace(0, 1 / epsilon, (draws, games)).sum(axis=0)) / n, 0, 1)
        nats = n * np.array([private_divergence(mean, y, epsilon) for mean in noisy[:20_000]])
        for u in (0.0, 0.5, 2.0, 4.0):
            often, bound = np.mean(nats > u), float(_chance_too_low(np.array([u]), n, draws, best, y, epsilon)[0])
            assert often - 4 * math.sqrt(often / 20_000) <= bound


def test_chance_too_low_by_hand():
    """Without noise e^(-u - n k); with noise the formula at each s of the grid."""
    k = bernoulli_kl(0.6, 0.8)
    assert _chance_too_low(np.array([2.0]), 5, 3, 0.8, 0.6, math.inf) == pytest.approx(math.exp(-2 - 5 * k))
    by_hand = min(
        math.exp(-2 * s)
        / (1 - s * s) ** 3
        * (math.exp(-5 * private_divergence(0.6, 0.8, s)) + math.exp(-5 * k) / (1 - s))
        for s in SHARES
    )
    found = _chance_too_low(np.array([2.0, 3.0]), 5, 3, 0.8, 0.6, 1.0)
    assert found[0] == pytest.approx(by_hand + math.exp(-2 - 5 * k) / 2)
    assert found[1] < found[0]
    # P(mean of coins + noise <= mu - u), exactly: a sum over coins of the noise's tail; p is above it, within 30.
    from scipy.stats import binom

    for n, v, u in itertools.product((1, 10, 200), (1.05, 1.5), (0.05, 0.3, 0.7)):
        s = np.arange(n + 1)
        exact = np.sum(binom.pmf(s, n, 0.6) * laplace.cdf(0.6 - u - s / n, scale=n ** (v / 2 - 1)))
        assert exact <= _off_by_noise(np.array([float(n)]), np.array([u]), v)[0]
    assert _off_by_noise(np.array([9.0]), np.array([0.0]), 1.1)[0] == 1


def test_steps_of_rounds_cover_the_game():
    for horizon in (1, 2, 9, 1000):
        rounds = [first for first, number in _rounds(horizon) for _ in range(number)]
        assert len(rounds) == horizon
        assert all(first <= t + 1 < 1.15 * first + 1 for t, first in enumerate(rounds))
    # Smallest mean within a level.
    for y, level, epsilon in itertools.product((0.2, 0.9), (0.001, 0.1, 2.0), (0.1, 1.0, math.inf)):
        x = _lowest(y, level, epsilon)
        assert 0 <= x < y
        if x > 0:
            assert private_divergence(x, y, epsilon) == pytest.approx(level, rel=1e-5)


@pytest.mark.parametrize("by_count", [False, True])
def test_by_hand_without_noise(by_count):
    """K = 2, epsilon = inf, sums at 1, 2, 4, ...: all y and J in loops, with every round of its own."""
    horizon, (best, mean) = 300, (0.8, 0.3)
    ends = [2**k for k in range(10)]
    bounds = []
    for y in (best - 0.5 * share for share in BELOW):
        waits = 0.0
        for t in range(1, horizon + 1):
            nats = [max(math.log(t / (2 * n if by_count else 2)), 0) for n in ends if n <= horizon]
            low = sum(math.exp(-u - n * bernoulli_kl(y, best)) for u, n in zip(nats, ends, strict=False))
            waits += low if by_count else min(low, 1.0)
        for first in (n for n in ends if n <= horizon):
            others = float(first)
            for n in (n for n in ends if first <= n <= horizon):
                x = _lowest(y, math.log(horizon / n if by_count else horizon) / n, math.inf)
                tail = math.exp(-n * bernoulli_kl(x, mean)) if x > mean else 1.0
                others += (min(2 * n, horizon) - n) * tail
            bounds.append(others + waits)
    by_hand = 0.5 * min(bounds)
    # Rounds are taken in steps of up to 15 %, and exponents from a grid.
    found = private_divergence_bound([mean, best], horizon, math.inf, ends, by_count=by_count)
    assert by_hand * (1 - 1e-9) <= found <= 1.15 * by_hand


def test_int_by_hand():
    """K = 2, ends at 100, 200, ..., 900: all y and J in loops, with every round of its own."""
    horizon, (best, mean), v = 1000, (0.9, 0.1), 1.1
    ends = list(range(100, 1000, 100))

    def off(n, u):
        return (
            min(0.5 * math.exp(-(n ** (1 - v / 2)) * u + n ** (1 - v) / 8) + math.exp(-2 * n * u * u), 1)
            if u > 0
            else 1
        )

    bounds = []
    for y in (best - 0.8 * share for share in BELOW):
        waits = sum(
            min(sum(off(n, best - y + math.sqrt(2 * math.log(t) / n)) for n in ends), 1) for t in range(1, horizon + 1)
        )
        for first in ends:
            high = sum(100 * off(n, y - mean - math.sqrt(2 * math.log(horizon) / n)) for n in ends if n >= first)
            bounds.append(first + high + waits)
    found = noisy_int_bound([mean, best], horizon, ends, v)
    assert 0.8 * min(bounds) <= found * (1 + 1e-9) <= 0.8 * min(bounds) * 1.1
    assert found < noisy_int_bound([mean, best], horizon, ends, v, redraws=True)


@pytest.mark.thorough
def test_bounds_say_something_and_grow():
    """At a million rounds; they need no bonus for noise. More rounds cost no less, nor less epsilon for the INT."""
    for means in ([0.9, 0.6], [0.5, 0.3], [0.9, 0.8, 0.6, 0.2]):
        for name in ("DP-KLUCB", "DP-IMED", "DP-UCB-INT"):
            for epsilon in (0.1, 1.0):
                algorithm = make_algorithm(name, epsilon=epsilon)
                bounds = [algorithm.pseudo_regret_bound(means=means, horizon=10**k) for k in range(7)]
                assert bounds == sorted(bounds)
                assert bounds[-1] < 0.2 * (max(means) - min(means)) * 10**6
                assert bounds[-1] > lai_robbins(means, 10**6)
                gap = max(means) - min(means)
                assert all(bound <= gap * 10**k * (1 + 1e-12) for k, bound in enumerate(bounds))
    # Noise that is drawn again is no better than noise that stays, in what is proven.
    asked = {"means": [0.9, 0.5], "horizon": 10**5}
    once, again = (make_algorithm("DP-UCB-INT", mode=mode).pseudo_regret_bound(**asked) for mode in ("once", "redraw"))
    assert once < again < 0.4 * 10**5


def test_without_noise_blocks_cost_about_as_much_as_rounds():
    for means in ([0.9, 0.6], [0.5, 0.3]):
        for name in ("DP-KLUCB", "DP-IMED"):
            bound = make_algorithm(name, epsilon=math.inf).pseudo_regret_bound(means=means, horizon=10**6)
            assert lai_robbins(means, 10**6) < bound < 1.5 * kl_ucb_bound(means, 10**6)
    # Ends one by one up to 1,000 of them; then groups, each as if all were its first.
    for horizon in (3000, 50_000):
        ends = list(range(3, horizon, 3))
        grouped = noisy_int_bound([0.9, 0.3], horizon, ends, 1.1)
        assert grouped <= noisy_int_bound([0.9, 0.3], 2 * horizon, [*ends, *range(horizon, 2 * horizon, 3)], 1.1)
        assert grouped < 0.6 * horizon * 0.99


def test_moments_of_one_draw_are_as_in_the_proof():
    """E exp(s max(G, 0)) over G > 0, and the private divergence as the best exponent up to s epsilon, by quadrature."""
    for s in (0.2, 0.7):
        above = quad(lambda x, s=s: math.exp(s * x - x) / 2, 0, math.inf)[0]
        assert above < 1 / (1 - s * s)
    for y, best, epsilon in ((0.6, 0.8, 0.5), (0.2, 0.3, 4.0)):
        exponents = np.linspace(0, epsilon, 10_001)
        nats = -(exponents * y + np.log1p(best * np.expm1(-exponents)))
        assert nats.max() == pytest.approx(private_divergence(y, best, epsilon), abs=1e-6)
