"""Bounds of DP-KLUCB, DP-IMED and DP-UCB-INT: their lemmas against exact and simulated laws, by hand, in limits."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace

from dp_bandit_envs import make_algorithm
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
from dp_bandit_envs.theory.tails import BELOW, SHARES


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


def test_means_with_noise_are_rarely_off():
    """P(mean of coins + noise <= mu - u), exactly: a sum over coins of the noise's tail; p is above it, within 30."""
    from scipy.stats import binom

    for n, v, u in itertools.product((1, 10, 200), (1.05, 1.5), (0.05, 0.3, 0.7)):
        s = np.arange(n + 1)
        exact = np.sum(binom.pmf(s, n, 0.6) * laplace.cdf(0.6 - u - s / n, scale=n ** (v / 2 - 1)))
        assert exact <= _off_by_noise(np.array([float(n)]), np.array([u]), v)[0]
    assert _off_by_noise(np.array([9.0]), np.array([0.0]), 1.1)[0] == 1


def test_smallest_mean_within_a_level():
    for y, level, epsilon in itertools.product((0.2, 0.9), (0.001, 0.1, 2.0), (0.1, 1.0, math.inf)):
        x = _lowest(y, level, epsilon)
        assert 0 <= x < y
        if x > 0:
            assert private_divergence(x, y, epsilon) == pytest.approx(level, rel=1e-5)


def test_steps_of_rounds_cover_the_game():
    for horizon in (1, 2, 9, 1000):
        rounds = [first for first, number in _rounds(horizon) for _ in range(number)]
        assert len(rounds) == horizon
        assert all(first <= t + 1 < 1.15 * first + 1 for t, first in enumerate(rounds))


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


def test_many_ends_are_grouped_from_above():
    """Ends one by one up to 1,000 of them; then groups, each as if all were its first."""
    for horizon in (3000, 50_000):
        ends = list(range(3, horizon, 3))
        grouped = noisy_int_bound([0.9, 0.3], horizon, ends, 1.1)
        assert grouped <= noisy_int_bound([0.9, 0.3], 2 * horizon, [*ends, *range(horizon, 2 * horizon, 3)], 1.1)
        assert grouped < 0.6 * horizon * 0.99


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


def test_moments_of_one_draw_are_as_in_the_proof():
    """E exp(s max(G, 0)) over G > 0, and the private divergence as the best exponent up to s epsilon, by quadrature."""
    for s in (0.2, 0.7):
        above = quad(lambda x, s=s: math.exp(s * x - x) / 2, 0, math.inf)[0]
        assert above < 1 / (1 - s * s)
    for y, best, epsilon in ((0.6, 0.8, 0.5), (0.2, 0.3, 4.0)):
        exponents = np.linspace(0, epsilon, 10_001)
        nats = -(exponents * y + np.log1p(best * np.expm1(-exponents)))
        assert nats.max() == pytest.approx(private_divergence(y, best, epsilon), abs=1e-6)
