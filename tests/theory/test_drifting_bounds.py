"""Bounds of agents that forget: the lemma against simulated sums, by hand, limits, and against simulated games."""

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
from dp_bandit_envs.theory.stochastic_bounds import adap_ucb_bound, kl_ucb_bound

NAMES = ("SW-UCB", "D-UCB", "SW-KLUCB-CF", "Restarted-AdaP-UCB")


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


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("means", [(0.5, math.nextafter(0.5, 1)), (0.0, 1e-200), (0.0, 5e-324)], ids=str)
def test_the_tiniest_gaps_cost_all_that_they_can(name, means):
    """Their squares vanish; and ln n of a D-UCB's single round, over such a square, was -30 by rounding."""
    gap = means[1] - means[0]
    for horizon in (1, 2, 10**6):
        bound = make_algorithm(name).pseudo_regret_bound(means=means, horizon=horizon)
        assert bound == pytest.approx(horizon * gap, rel=1e-12, abs=0)


def test_no_bound_is_above_all_that_can_be_lost():
    for horizon in (1, 2, 3, 40):
        for name in NAMES:
            assert make_algorithm(name).pseudo_regret_bound(means=[0.75, 0.25], horizon=horizon) <= 0.5 * horizon
    assert make_algorithm("Restarted-AdaP-UCB", alpha=1.5).pseudo_regret_bound(means=[0.9, 0.6], horizon=99) == math.inf


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


def check_bounds(number, capsys):
    """Compare means of 4 games with bounds. False alarm: below 1e-6: where a bound says something it is far above."""
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
    return useful


def test_no_setting_violates_a_bound(capsys):
    assert check_bounds(6, capsys)["SW-UCB"] >= 2


@pytest.mark.slow
def test_none_of_50_settings_violates_a_bound(capsys):
    assert min(check_bounds(50, capsys).values()) >= 10


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
