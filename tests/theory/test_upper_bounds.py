"""Bounds of KL-UCB, Gaussian-TS, AdaP-KLUCB, Private-UCB and UCB-MaxN by hand, and all against simulated games."""

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
    ucb_max_n_bound,
)

PLAIN = ("KL-UCB", "Gaussian-TS", "TS")
PRIVATE = ("AdaP-KLUCB", "Private-UCB", "Lazy-DP-TS", "DP-TS", "DP-KLUCB", "DP-IMED", "DP-UCB-INT", "DP-UCB")
ON_GRAPHS = ("UCB-N", "UCB-MaxN", "TS-N", "TS-MaxN")


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


def check(algorithms, game, means, horizon, trials, seed, shares):
    """Compare mean regrets with bounds; note how near they are, for each whose bound says something.

    False alarm: none (fixed seed).
    """
    played = simulate(game, algorithms, horizon=horizon, trials=trials, seed=seed)
    for algorithm in algorithms:
        sensitivity = 1.0 if game[0] == "Stochastic" else 2.0
        bound = algorithm.pseudo_regret_bound(means=means, horizon=horizon, sensitivity=sensitivity)
        outcome = played[algorithm.name]
        mean, error = (of("pseudo_regret")[-1] for of in (outcome.mean, outcome.standard_error))
        assert mean - 4 * error <= bound * (1 + 1e-9), (algorithm.name, means, horizon, algorithm.parameters)
        if bound < 0.999 * horizon * (max(means) - min(means)):
            shares.setdefault(algorithm.name, []).append(mean / bound)


def report(shares, number, capsys):
    with capsys.disabled():
        for name, ratios in shares.items():
            print(f"{name}: {len(ratios) / number:.0%} not vacuous, means up to {max(ratios):.3f} of the bound")


def test_one_setting_of_each_is_below_its_bound():
    """Two arms far apart, so that short games are enough for bounds to say something."""
    shares, means = {}, [0.95, 0.1]
    algorithms = [*map(make_algorithm, PLAIN), *(make_algorithm(name, epsilon=20.0) for name in PRIVATE)]
    check(algorithms, ("Stochastic", {"means": means}), means, 2000, 8, 3, shares)
    assert set(shares) > {*PLAIN, "Lazy-DP-TS", "DP-TS", "DP-KLUCB", "DP-IMED", "DP-UCB-INT"}


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "seed"), [(12, 1), pytest.param(200, 2, marks=pytest.mark.slow)])
def test_no_setting_violates_a_bound(number, seed, capsys):
    """Means of 12 games. False alarm: below 1e-5 in all: where a bound says something it is far above."""
    shares = {}
    for means, horizon, epsilon in settings(number, seed):
        algorithms = [make_algorithm(name) for name in PLAIN]
        algorithms += [make_algorithm(name, epsilon=epsilon) for name in PRIVATE]
        check(algorithms, ("Stochastic", {"means": means}), means, horizon, 12, seed, shares)
    report(shares, number, capsys)
    assert min(len(shares[name]) for name in PLAIN) > number / 4


@pytest.mark.parametrize(("number", "seed"), [(2, 1), pytest.param(200, 2, marks=pytest.mark.slow)])
def test_no_graph_violates_a_bound(number, seed, capsys):
    """One graph for each game, or another every five rounds, on which arms reveal themselves and some others."""
    shares, rng = {}, np.random.default_rng(seed)
    for means, horizon, _ in settings(number, seed):
        again = [None, 5][rng.integers(2)]
        game = {"means": means, "n_arms": len(means), "graph": "erdos-renyi", "redraw_every": again}
        check([make_algorithm(name) for name in ON_GRAPHS], ("Graph", game), means, horizon, 12, seed, shares)
    report(shares, number, capsys)
    assert number < 10 or min(map(len, shares.values())) > number / 4


def test_ucb_max_n_by_hand():
    """Gap 1/2 at T = 1000: N = ceil(32 ln T) = 222 for each of C arms that UCB may have chosen."""
    n = math.ceil(32 * math.log(1000))
    failures = 2 * sum(t**-3 for t in range(2, 10**5))
    for choices in (1, 3):
        by_hand = min(0.5 * (choices * n + failures), 500.0)
        assert ucb_max_n_bound([0.9, 0.4], 1000, choices) == pytest.approx(by_hand, abs=1e-6)
    assert ucb_max_n_bound([0.9, 0.4], 1000) <= ucb_bound([0.9, 0.4], 1000)
    assert make_algorithm("UCB-MaxN").pseudo_regret_bound(means=[0.9, 0.4, 0.4], horizon=9000) < 1000
