"""Bounds for full information and of agents that forget, each step of a proof by a second route."""

import math

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.theory.divergences import bernoulli_kl
from dp_bandit_envs.theory.drifting_bounds import (
    _slices,
    discounted_ucb_bound,
    restarted_bound,
    window_klucb_bound,
    window_ucb_bound,
)
from dp_bandit_envs.theory.experts_bounds import (
    binomial_tail,
    epoch_leader_bound,
    hedge_regret_bound,
    lazy_hedge_regret_bound,
    noisy_hedge_rate,
    noisy_hedge_regret_bound,
)
from dp_bandit_envs.theory.stochastic_bounds import adap_ucb_bound, kl_ucb_bound


def test_hedges_bound_by_hand():
    """At K = 8 arms (ln K = 2.0794415), a = 1/2 and T = 16: 4.158883 + 1."""
    assert hedge_regret_bound(8, 16, 0.5) == pytest.approx(5.1588830834)
    assert hedge_regret_bound(4, 16, 0.0) == math.inf
    # Lazy hedge with a draw in every round has hedges bound.
    assert lazy_hedge_regret_bound(5, 100, 0.2, 1.0, 99) == hedge_regret_bound(5, 100, 0.2)
    # One draw too few, wanted with certainty: every round may be lost.
    assert lazy_hedge_regret_bound(5, 100, 0.2, 1.0, 98) == hedge_regret_bound(5, 100, 0.2) + 100


@pytest.mark.parametrize(("trials", "probability", "most"), [(10, 0.3, 3), (60, 0.1, 12), (200, 0.5, 110), (5, 0.2, 4)])
def test_the_binomial_tail_is_the_sum_of_its_terms(trials, probability, most):
    terms = [
        math.comb(trials, n) * probability**n * (1 - probability) ** (trials - n) for n in range(most + 1, trials + 1)
    ]
    assert binomial_tail(trials, probability, most) == pytest.approx(sum(terms), rel=1e-10)
    assert binomial_tail(10, 0.3, 10) == binomial_tail(10, 0.0, 0) == 0.0 and binomial_tail(10, 1.0, 9) == 1.0


@pytest.mark.thorough
@pytest.mark.parametrize(("scale", "gain"), [(0.2, 0.0), (2.0, 0.3), (30.0, 1.0), (2.0, 1.0)])
def test_clipped_noise_keeps_what_the_proof_says(scale, gain):
    """Mean and exponential moment of a clipped noisy gain, by integrals of the density on 4 million points."""
    horizon = 1000
    bound = scale * math.log(horizon)
    rate = noisy_hedge_rate(4, horizon, scale)
    step = 60 * scale / 2_000_000
    noise = (np.arange(-2_000_000, 2_000_000) + 0.5) * step
    density = np.exp(-np.abs(noise) / scale) / (2 * scale) * step
    seen = np.clip(gain + noise, -bound, 1 + bound)
    assert density.sum() == pytest.approx(1, abs=1e-9)
    assert (density * seen).sum() >= gain - 0.5 / horizon
    moment = (density * np.exp(rate * (seen - gain))).sum()
    assert moment <= 1 / (1 - (rate * scale) ** 2) + rate * scale / (2 * horizon) + 1e-9
    unclipped = (density * np.exp(rate * noise)).sum()
    assert unclipped == pytest.approx(1 / (1 - (rate * scale) ** 2), rel=1e-6)


def test_noisy_hedges_bound_by_hand():
    """K = 8, a = .1, T = 100 and b = 2: ln 8 / .1 + .1 * 100 / 8 - 100 ln(1 - .04) / .1 + (2 + 1) / 2."""
    expected = 20.7944154168 + 1.25 + 40.8219945203 + 1.5
    assert noisy_hedge_regret_bound(8, 100, 0.1, 2.0) == pytest.approx(expected)
    # Without noise it is Hedge's.
    rate = noisy_hedge_rate(10, 500, 0.0)
    assert rate == pytest.approx(math.sqrt(8 * math.log(10) / 500))
    assert noisy_hedge_regret_bound(10, 500, rate, 0.0) == pytest.approx(hedge_regret_bound(10, 500, rate))
    assert noisy_hedge_regret_bound(10, 500, 1.0, 1.0) == math.inf
    # The rate of noisy hedge is nearly the best.
    for scale in (1.0, 10.0):
        best = min(noisy_hedge_regret_bound(10, 2**16, rate, scale) for rate in np.geomspace(1e-5, 0.09, 4000))
        assert noisy_hedge_regret_bound(10, 2**16, noisy_hedge_rate(10, 2**16, scale), scale) < 1.001 * best


def exact_pseudo_regret(means, horizon, epsilon):
    """Return that of the epoch leader with two independent coins, by the law of both sums of each epoch."""
    gap = abs(means[0] - means[1])
    best, worse = max(means), min(means)
    total, seen, played = gap / 2, 1, 1
    while played < horizon:
        length = min(played, horizon - played)
        law = [
            np.array([math.comb(seen, n) * p**n * (1 - p) ** (seen - n) for n in range(seen + 1)])
            for p in (worse, best)
        ]
        behind = np.subtract.outer(np.arange(seen + 1), np.arange(seen + 1))
        drawn = 1 / (1 + np.exp(np.minimum(-epsilon * behind / 2, 700.0)))
        total += length * gap * (np.outer(*law) * drawn).sum()
        seen, played = length, played + length
    return total


def test_the_bound_of_the_epoch_leader_by_hand():
    """Means 1 and 0, epsilon = 2 (so c = 1): .5, then a round at e^-.5, two at e^-.5, and four at e^-1."""
    expected = 0.5 + math.exp(-0.5) + 2 * math.exp(-0.5) + 4 * math.exp(-1)
    assert epoch_leader_bound([1.0, 0.0], 8, 2.0) == pytest.approx(expected)
    # And not far above: at most 12 times, so that a bound of another order would be noticed.
    for epsilon in [0.1, 1.0, 20.0]:
        for means in [(0.9, 0.6), (0.5, 0.7), (1.0, 0.0), (0.52, 0.5)]:
            for horizon in (1, 2, 7, 64, 1024):
                exact = exact_pseudo_regret(means, horizon, epsilon)
                bound = epoch_leader_bound(means, horizon, epsilon)
                assert exact <= bound * (1 + 1e-9)
                assert bound <= 12 * exact


# ---- agents that forget


NAMES = ("SW-UCB", "D-UCB", "SW-KLUCB-CF", "Restarted-AdaP-UCB")


@pytest.mark.thorough_cases("False")
@pytest.mark.parametrize("squares", [True, False])
def test_the_lemma_holds_for_sums_that_are_looked_at_after_each_gain(squares):
    """20,000 sums of up to 256 coins of mean .5. False alarm: 1e-5 (4.3 errors)."""
    coins = np.random.default_rng(3).random((20_000, 256)) < 0.5
    n = np.arange(1, 257)
    means = np.cumsum(coins, axis=1) / n
    if squares:
        found = 2 * n * np.maximum(0.5 - means, 0) ** 2
    else:
        kl = np.array([[bernoulli_kl(s / each, 0.5) if s < 0.5 * each else 0.0 for s in range(257)] for each in n])
        found = n * kl[np.arange(256), np.rint(means * n).astype(int)]
    for nats in (2.5, 5.0):
        chance, share = _slices(nats, 256.0, squares=squares), (found >= nats).any(axis=1).mean()
        assert share <= chance + 4.3 * math.sqrt(chance / 20_000)
        assert share > chance / 40


def test_the_lemma_by_hand():
    """One slice of [1, 4]: beta = 4, so 4 * 2 / 9 of L, or a fourth of it; two slices have beta = 2."""
    two = 2 * math.exp(-5 * 4 * math.sqrt(2) / (1 + math.sqrt(2)) ** 2)
    assert _slices(5.0, 4.0, squares=True) == pytest.approx(min(math.exp(-5 * 8 / 9), two))
    assert _slices(40.0, 4.0, squares=False) <= 2 * math.exp(-20.0)
    assert _slices(0.0, 4.0, squares=True) == 1 and _slices(3.0, 0.9, squares=True) == 0


def test_bounds_by_hand():
    """T = 2^20 and w = 2^14: 64 windows with N = ceil(2.4 * ln 2^14 / .25) = 94 plays each; failures add less."""
    least = 64 * math.ceil(2.4 * math.log(2**14) / 0.25) * 0.5
    assert least < window_ucb_bound([0.9, 0.4], 2**20, 2**14, 0.6) < 1.5 * least
    # Discount 1 - 2^-14: 64 blocks of 2^14 rounds, 16 * .6 ln 2^14 / .25 times e plays each.
    least = 64 * 9.6 * math.log(2**14) / 0.25 * math.e * 0.5
    assert least < discounted_ucb_bound([0.9, 0.4], 2**20, 1 - 2**-14, 0.6) < 1.1 * least
    assert restarted_bound([0.9, 0.4], 2500, 1000, 1.0, 3.1) == pytest.approx(
        2 * adap_ucb_bound([0.9, 0.4], 1000, 1.0, 3.1) + adap_ucb_bound([0.9, 0.4], 500, 1.0, 3.1)
    )


def test_a_window_of_the_whole_game_is_nearly_a_game_without_one():
    """KL-UCB has level ln T, and a window of all rounds 3 ln ln T more; at epsilon = inf coins are the gains."""
    whole = window_klucb_bound([0.9, 0.4], 10**6, 10**6, math.inf)
    plain = kl_ucb_bound([0.9, 0.4], 10**6)
    assert math.log(10**6) / bernoulli_kl(0.4, 0.9) * 0.5 < whole < 3 * plain
    assert window_klucb_bound([0.9, 0.4], 10**6, 10**6, 1.0) > whole
    # No bound is above all that can be lost.
    for horizon in (1, 2, 3, 40):
        for name in NAMES:
            assert make_algorithm(name).pseudo_regret_bound(means=[0.75, 0.25], horizon=horizon) <= 0.5 * horizon
    assert make_algorithm("Restarted-AdaP-UCB", alpha=1.5).pseudo_regret_bound(means=[0.9, 0.6], horizon=99) == math.inf


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("means", [(0.5, math.nextafter(0.5, 1)), (0.0, 1e-200), (0.0, 5e-324)], ids=str)
def test_the_tiniest_gaps_cost_all_that_they_can(name, means):
    """Their squares vanish; and ln n of a D-UCB's single round, over such a square, was -30 by rounding."""
    gap = means[1] - means[0]
    for horizon in (1, 2, 10**6):
        bound = make_algorithm(name).pseudo_regret_bound(means=means, horizon=horizon)
        assert bound == pytest.approx(horizon * gap, rel=1e-12, abs=0)


def settings(number):
    """Yield means, horizons and algorithms whose bounds say something in most games."""
    rng = np.random.default_rng(11)
    for _ in range(number):
        means = [0.95, *np.round(rng.uniform(0, 0.6, rng.integers(1, 4)), 3).tolist()]
        horizon = int(2 ** rng.uniform(9, 15))
        window = int(horizon ** rng.uniform(0.6, 1))
        yield (
            means,
            horizon,
            {
                "SW-UCB": make_algorithm("SW-UCB", window=window, bonus=rng.uniform(0.5, 2)),
                "D-UCB": make_algorithm("D-UCB", discount=1 - 1 / window, bonus=rng.uniform(0.3, 1)),
                "SW-KLUCB-CF": make_algorithm("SW-KLUCB-CF", epsilon=rng.uniform(1, 9), window=window),
                "Restarted-AdaP-UCB": make_algorithm("Restarted-AdaP-UCB", epsilon=rng.uniform(1, 9), period=window),
            },
        )


def test_with_changes_the_dynamic_regret_is_below_its_bound():
    """Every arm is behind by .8 in some round; 2 changes cost at most w, or H, rounds each."""
    size, shifts, gap = 2**16, 2, 0.8
    game, means = ("Shifting", {"n_arms": 3, "shifts": shifts, "gap": gap}), [0.9, 0.1, 0.1, 0.1]
    window = make_algorithm("SW-UCB", window=2**11)
    restarted = make_algorithm("Restarted-AdaP-UCB", epsilon=5, period=2**11)
    played = simulate(game, {"window": window, "restarted": restarted}, horizon=size, trials=6, seed=1, checkpoints=1)
    for name, one in (("window", window), ("restarted", restarted)):
        # With four arms, so that each of three may be behind.
        still = one.pseudo_regret_bound(means=means, horizon=size)
        found = played[name].mean("dynamic_regret")[-1]
        assert found <= still + shifts * 2**11 * gap < 0.6 * size * gap


@pytest.mark.parametrize("number", [6, pytest.param(50, marks=pytest.mark.slow)])
def test_no_setting_violates_a_bound(number, capsys):
    """Means of 4 games. False alarm: below 1e-6: where a bound says something it is far above."""
    useful, nearest = dict.fromkeys(NAMES, 0), dict.fromkeys(NAMES, 0.0)
    for means, horizon, algorithms in settings(number):
        played = simulate(("Stochastic", {"means": means}), algorithms, horizon=horizon, trials=4, checkpoints=1)
        for name, outcome in played.items():
            bound = algorithms[name].pseudo_regret_bound(means=means, horizon=horizon)
            mean = outcome.mean("pseudo_regret")[-1]
            assert mean <= bound * (1 + 1e-9), (name, means, horizon)
            if bound < 0.999 * horizon * (0.95 - min(means)):
                useful[name] += 1
                nearest[name] = max(nearest[name], mean / bound)
    with capsys.disabled():
        for name, share in useful.items():
            print(f"{name}: {share / number:.0%} not vacuous, means up to {nearest[name]:.3f} of the bound")
    assert useful["SW-UCB"] >= 2 and (number < 50 or min(useful.values()) >= 10)
