"""Bounds for full information, each step of a proof against a second route to the same number."""

import math

import numpy as np
import pytest

from dp_bandit_envs.theory.experts_bounds import (
    binomial_tail,
    epoch_leader_bound,
    hedge_regret_bound,
    lazy_hedge_regret_bound,
    noisy_hedge_rate,
    noisy_hedge_regret_bound,
)


def test_hedges_bound_by_hand():
    """At K = 8 arms (ln K = 2.0794415), a = 1/2 and T = 16: 4.158883 + 1."""
    assert hedge_regret_bound(8, 16, 0.5) == pytest.approx(5.1588830834)
    assert hedge_regret_bound(4, 16, 0.0) == math.inf


@pytest.mark.parametrize(("trials", "probability", "most"), [(10, 0.3, 3), (60, 0.1, 12), (200, 0.5, 110), (5, 0.2, 4)])
def test_the_binomial_tail_is_the_sum_of_its_terms(trials, probability, most):
    terms = [
        math.comb(trials, n) * probability**n * (1 - probability) ** (trials - n) for n in range(most + 1, trials + 1)
    ]
    assert binomial_tail(trials, probability, most) == pytest.approx(sum(terms), rel=1e-10)
    assert binomial_tail(10, 0.3, 10) == binomial_tail(10, 0.0, 0) == 0.0 and binomial_tail(10, 1.0, 9) == 1.0


def test_lazy_hedge_with_a_draw_in_every_round_has_hedges_bound():
    assert lazy_hedge_regret_bound(5, 100, 0.2, 1.0, 99) == hedge_regret_bound(5, 100, 0.2)
    # One draw too few, wanted with certainty: every round may be lost.
    assert lazy_hedge_regret_bound(5, 100, 0.2, 1.0, 98) == hedge_regret_bound(5, 100, 0.2) + 100


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


def test_the_rate_of_noisy_hedge_is_nearly_the_best():
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


def test_the_bound_of_the_epoch_leader_is_above_its_exact_pseudo_regret():
    """And not far above: at most 12 times, so that a bound of another order would be noticed."""
    for epsilon in [0.1, 1.0, 20.0]:
        for means in [(0.9, 0.6), (0.5, 0.7), (1.0, 0.0), (0.52, 0.5)]:
            for horizon in (1, 2, 7, 64, 1024):
                exact = exact_pseudo_regret(means, horizon, epsilon)
                bound = epoch_leader_bound(means, horizon, epsilon)
                assert exact <= bound * (1 + 1e-9)
                assert bound <= 12 * exact


def test_the_bound_of_the_epoch_leader_by_hand():
    """Means 1 and 0, epsilon = 2 (so c = 1): .5, then a round at e^-.5, two at e^-.5, and four at e^-1."""
    expected = 0.5 + math.exp(-0.5) + 2 * math.exp(-0.5) + 4 * math.exp(-1)
    assert epoch_leader_bound([1.0, 0.0], 8, 2.0) == pytest.approx(expected)
