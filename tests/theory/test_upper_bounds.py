"""Bounds of KL-UCB, Gaussian-TS, AdaP-KLUCB and Private-UCB: by hand, by their parts, and against simulated games."""

import math

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.theory.divergences import bernoulli_kl
from dp_bandit_envs.theory.stochastic_bounds import (
    _best_arm_too_low,
    _rounds_below,
    adap_klucb_bound,
    adap_ucb_bound,
    gaussian_ts_bound,
    kl_ucb_bound,
    private_ucb_default_bound,
    ucb_bound,
)

NAMES = ("KL-UCB", "Gaussian-TS", "AdaP-KLUCB", "Private-UCB")


def test_the_integral_is_above_the_sum():
    """The first rounds count as 1 each."""
    assert _best_arm_too_low(1) == 0
    assert _best_arm_too_low(3) == 2
    for horizon in (2**12, 2**12 + 1, 10**5):
        terms = [min(1.0, math.e * math.ceil(math.log(t) ** 2) / t) for t in range(2, horizon + 1)]
        assert math.fsum(terms) <= _best_arm_too_low(horizon) * (1 + 1e-12) <= 1.1 * math.fsum(terms)


def test_kl_ucb_by_hand():
    """With one x, half way: N, the geometric series and the sum, times the gap; the bound takes the best of 19."""
    horizon, gap = 10**6, 0.3
    least = math.ceil(math.log(horizon) / bernoulli_kl(0.75, 0.9))
    rate = bernoulli_kl(0.75, 0.6)
    series = sum(math.exp(-n * rate) for n in range(least, least + 4000))
    by_hand = gap * (least + series + _best_arm_too_low(horizon))
    assert 0.8 * by_hand < kl_ucb_bound([0.9, 0.6], horizon) <= by_hand * (1 + 1e-9)
    assert kl_ucb_bound([1.0, 0.0], horizon) == pytest.approx(1 + _best_arm_too_low(horizon), abs=0.1)


def test_adap_klucb_is_adap_ucb_with_other_constants():
    """At T where both have the same N = 2048, they differ by the factor c alone."""
    r = 2**-1.1
    parts = r / (1 - r) ** 2 + 3 * r / (1 - r)
    one, other = (bound([0.9, 0.6], 10**6, 1.0) for bound in (adap_klucb_bound, adap_ucb_bound))
    assert one - other == pytest.approx(0.3 * (1.5 - 2**-3.1 - 0.5) * parts)


def test_private_ucb_without_noise_is_ucb_and_with_it_is_never_more_than_all():
    assert private_ucb_default_bound([0.9, 0.6], 10**5, math.inf) == ucb_bound([0.9, 0.6], 10**5)
    for horizon in (1, 2, 5, 19, 20, 1000):
        assert private_ucb_default_bound([0.9, 0.6], horizon, 1.0) <= 0.3 * horizon * (1 + 1e-12)
    assert private_ucb_default_bound([0.9, 0.6], 10**8, 1.0) < 0.02 * 0.3 * 10**8


@pytest.mark.parametrize(("y", "gap"), [(0.8, 0.1), (0.3, 0.2)])
def test_what_gaussian_draws_wait_for_is_below_h(y, gap):
    """E(1 / p_n - 1) for coins of mean y + gap, exactly, against the sum of h_n; of one gain by hand."""
    total, best = 0.0, y + gap
    for n in range(120):
        law = [math.comb(n, s) * best**s * (1 - best) ** (n - s) for s in range(n + 1)]
        below = [(y - s / (n + 1)) * math.sqrt(n + 1) for s in range(n + 1)]
        total += sum(chance * (2 / math.erfc(u / math.sqrt(2)) - 1) for chance, u in zip(law, below, strict=True))
    assert total <= _rounds_below(y, gap, 120) < 6 * total
    # n = 0: the integral of (1 / Phi(-y - v) - 1) 4 v exp(-2 v^2), with trapezoids.
    v = np.linspace(0, 6, 60_001)
    values = [(2 / math.erfc((y + x) / math.sqrt(2)) - 1) * 4 * x * math.exp(-2 * x * x) for x in v]
    assert 0 <= _rounds_below(y, gap, 1) / (sum(values) * 1e-4) - 1 < 0.025


def test_the_gaussian_bound_is_near_the_least_of_its_theorem():
    """Means .9 and .6, 2^16 rounds: 296.4 with every h_n, steps of 1 / 128 and the best N, by a program of its own."""
    assert 296 < gaussian_ts_bound([0.9, 0.6], 2**16) < 299


def test_gaussian_ts_is_near_2_ln_t_over_the_gap_in_long_games():
    """N is 2 ln T / (y - x)^2, where x and y come nearer to the means, from .6 to .88 of the gap, in longer games."""
    step = gaussian_ts_bound([0.9, 0.4], 10**30) - gaussian_ts_bound([0.9, 0.4], 10**15)
    assert 1 <= step / (2 * 15 * math.log(10) / 0.5) < 3
    assert gaussian_ts_bound([0.9, 0.9], 1000) == 0
    assert gaussian_ts_bound([0.9, 0.9 - 1e-9, 0.0], 5) <= 4.5


def settings(number, seed):
    """Yield means, horizons and epsilons."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        means = np.round(rng.random(rng.integers(2, 7)), 3)
        yield means.tolist(), int(2 ** rng.uniform(3, 13)), float(rng.choice([0.1, 0.5, 1.0, 5.0, 50.0]))


@pytest.mark.parametrize(("number", "seed"), [(12, 1), pytest.param(400, 2, marks=pytest.mark.slow)])
def test_no_setting_violates_a_bound(number, seed, capsys):
    """Compare means of 8 games with bounds. False alarm: below 1e-5: where a bound says something it is far above."""
    useful, nearest = dict.fromkeys(NAMES, 0), dict.fromkeys(NAMES, 0.0)
    for means, horizon, epsilon in settings(number, seed):
        private = [make_algorithm(name, epsilon=epsilon) for name in NAMES[2:]]
        algorithms = [*map(make_algorithm, NAMES[:2]), *private]
        played = simulate(("Stochastic", {"means": means}), algorithms, horizon=horizon, trials=8, seed=seed)
        for algorithm in algorithms:
            bound = algorithm.pseudo_regret_bound(means=means, horizon=horizon)
            outcome = played[algorithm.name]
            mean, error = (of("pseudo_regret")[-1] for of in (outcome.mean, outcome.standard_error))
            assert mean - 5 * error <= bound * (1 + 1e-9), (algorithm.name, means, horizon, epsilon)
            if bound < 0.999 * horizon * (max(means) - min(means)):
                useful[algorithm.name] += 1
                nearest[algorithm.name] = max(nearest[algorithm.name], mean / bound)
    with capsys.disabled():
        for name, share in useful.items():
            print(f"{name}: {share / number:.0%} not vacuous, means up to {nearest[name]:.3f} of the bound")
    assert min(useful["KL-UCB"], useful["Gaussian-TS"]) > number / 4
