"""Transportation costs and thresholds of the search for the best arm, and the rounds that it takes at least."""

import itertools
import math

import numpy as np
import pytest

from dp_bandit_envs import algorithm_names, make_algorithm
from dp_bandit_envs.theory.divergences import bernoulli_kl, private_divergence
from dp_bandit_envs.theory.identification_bounds import (
    characteristic_time,
    identification_lower_bound,
    total_variation_time,
)
from dp_bandit_envs.theory.transport_costs import (
    bernoulli_cost,
    episode_threshold,
    exceeds_noisy_cost,
    gaussian_cost,
    noisy_divergence,
    noisy_threshold,
    noisy_tilt,
    private_cost,
    private_slope,
    sequential_threshold,
)
from tests.tools.refusals import refused

GRID = np.linspace(0, 1, 20_001)


def test_costs_by_hand():
    """4 ones against 4 zeros: 4 ln 2 + 4 ln 2; squares: 2 / (1/4 + 1/4) = 4; both 0 if the arm is not ahead."""
    assert bernoulli_cost(1.0, 4, 0.0, 4) == pytest.approx(8 * math.log(2), rel=1e-14)
    assert gaussian_cost(1.0, 4, 0.0, 4) == 4
    # At a small epsilon the divergence is about epsilon times the distance, whatever u: 4 epsilon in all.
    assert private_cost(1.0, 4, 0.0, 4, 1e-6) == pytest.approx(4e-6, rel=1e-5)
    for cost in (bernoulli_cost, gaussian_cost, lambda *pair: private_cost(*pair, 1.0)):
        assert cost(0.5, 4, 0.5, 9) == cost(0.3, 4, 0.5, 9) == 0


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 30.0])
def test_the_private_cost_is_the_least_over_a_grid(epsilon):
    for high, n_high, low, n_low in [(0.9, 30, 0.2, 50), (0.55, 1000, 0.5, 7), (1.0, 12, 0.0, 40), (0.3, 5, 0.0, 5)]:
        inside = GRID[(low < GRID) & (high > GRID)]
        costs = [
            n_high * private_divergence(1 - high, 1 - u, epsilon) + n_low * private_divergence(low, u, epsilon)
            for u in inside
        ]
        cost = private_cost(high, n_high, low, n_low, epsilon)
        assert cost <= min(costs) + 1e-12
        # The grid's step is 5e-5; the cost's slope is at most (n + n') epsilon, or it is smooth there.
        assert cost >= min(costs) - 5e-5 * (n_high + n_low) * min(epsilon, 1)


def test_slopes_are_those_of_the_divergence():
    for x, y, epsilon in itertools.product((0.0, 0.2, 0.6), (0.61, 0.9), (0.1, 1.0, 5.0)):
        slope = (private_divergence(x, y + 1e-6, epsilon) - private_divergence(x, y - 1e-6, epsilon)) / 2e-6
        assert private_slope(x, y, epsilon) == pytest.approx(slope, rel=1e-5)


def laplace_sum_cdf(x, draws):
    """P(a sum of one or two Laplace draws of scale 1 is at most x): e^x / 2, and e^x (2 - x) / 4, for x < 0."""
    below = np.exp(-np.abs(x)) * (0.5 if draws == 1 else (2 + np.abs(x)) / 4)
    return np.where(x < 0, below, 1 - below)


@pytest.mark.parametrize("draws", [1, 2])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_chernoffs_bound_holds_exactly(draws, epsilon):
    """P(n coins plus k draws <= n x) by the exact law, for every x on a grid, against e^(-n d)."""
    n, y = 30, 0.7
    ones = np.arange(n + 1)
    law = np.array([math.comb(n, k) * y**k * (1 - y) ** (n - k) for k in range(n + 1)])
    for x in np.linspace(0, 0.69, 24):
        tail = float(law @ laplace_sum_cdf((n * x - ones) * epsilon, draws))
        t = noisy_tilt(x, y, epsilon, draws / n)
        bound = math.exp(-n * noisy_divergence(x, y, epsilon, draws / n, t))
        assert tail <= bound * (1 + 1e-12)
        # No other tilt gives more, but for what halving leaves.
        others = [noisy_divergence(x, y, epsilon, draws / n, s) for s in np.linspace(0, epsilon, 400)[:-1]]
        assert bound <= math.exp(-n * max(others)) * (1 + 1e-6)


def test_the_noisy_cost_is_compared_at_its_least():
    high, n_high, k_high, low, n_low, k_low, epsilon = 0.85, 60.0, 2.0, 0.2, 90.0, 3.0, 0.6

    def side(x, y, n, k):
        return n * noisy_divergence(x, y, epsilon, k / n, noisy_tilt(x, y, epsilon, k / n))

    inside = GRID[(low < GRID) & (high > GRID)]
    least = min(side(low, u, n_low, k_low) + side(1 - high, 1 - u, n_high, k_high) for u in inside)
    pair = (high, n_high, k_high, low, n_low, k_low, epsilon)
    assert exceeds_noisy_cost(*pair, least - 1e-4)
    assert not exceeds_noisy_cost(*pair, least + 1e-9)
    assert not exceeds_noisy_cost(low, n_low, k_low, high, n_high, k_high, epsilon, 0.0)
    # Chernoff's bound counts the draws, which the divergence alone does not.
    assert least < private_cost(high, n_high, low, n_low, epsilon)


def test_thresholds_by_hand():
    odds = math.log(1 / 0.01)
    assert sequential_threshold(9, 4, odds) == pytest.approx(math.log(100 * 3 * 2 * 4), rel=1e-14)
    chance = math.log(2 * 100 * 6 * 2)  # episodes 2 and 1
    noise = (chance + 0.003) / 0.5 * math.sqrt(2 * (1 / 4 + 1 / 1))
    assert episode_threshold(4, 1, 2, 1, odds, 0.5) == pytest.approx((math.sqrt(chance) + noise) ** 2, rel=1e-14)
    x = noisy_threshold(2, 1, odds) - 0.003 * 3
    assert (1 + x) * math.exp(-x) == pytest.approx(0.01 / (6 * 2), rel=1e-9)


def test_the_mixture_of_coins_loses_half_a_logarithm_at_most():
    """B(s + 1/2, n - s + 1/2) / pi >= (s/n)^s (1 - s/n)^(n - s) / (2 sqrt n), which the first threshold is made of."""
    for n in (1, 2, 3, 10, 77, 500):
        for s in np.linspace(0, n, 41):
            mixture = math.lgamma(s + 0.5) + math.lgamma(n - s + 0.5) - math.lgamma(n + 1) - math.log(math.pi)
            best = sum(part * math.log(part / n) for part in (s, n - s) if part > 0)
            assert mixture >= best - 0.5 * math.log(n) - math.log(2) - 1e-12


def time_of_two(worse, best, epsilon):
    """The characteristic time of two arms over a grid of shares and of u."""
    inside = np.linspace(worse, best, 4001)[1:-1]

    def divergences(x, places):
        kind = bernoulli_kl if math.isinf(epsilon) else lambda one, other: private_divergence(one, other, epsilon)
        return np.array([kind(x, place) for place in places])

    down, up = divergences(1 - best, 1 - inside), divergences(worse, inside)
    return 1 / max((share * down + (1 - share) * up).min() for share in np.linspace(0.001, 0.999, 999))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, math.inf])
@pytest.mark.parametrize("means", [(0.2, 0.8), (0.0, 0.5), (0.9, 1.0), (0.0, 1.0), (0.4, 0.45)], ids=str)
def test_two_arms_over_a_grid(means, epsilon):
    assert characteristic_time(means, epsilon) == pytest.approx(time_of_two(*means, epsilon), rel=2e-3)


def test_times_of_more_arms():
    """With equal others and squares T* is (1 + sqrt(K - 1))^2 / (2 gap^2), which coins near 1/2 come close to."""
    means = [0.505, *[0.5] * 4]
    near = (1 + math.sqrt(4)) ** 2 / (2 * 0.005**2)
    assert characteristic_time(means) == pytest.approx(near, rel=1e-3)
    assert total_variation_time([0.2, 0.8, 0.5]) == pytest.approx(1 / 0.3 + 1 / 0.3 + 1 / 0.6)


@pytest.mark.parametrize("means", [(0.2, 0.8), (0.1, 0.5, 0.9, 0.7)], ids=str)
def test_the_two_regimes_of_privacy(means):
    free, distance = characteristic_time(means), total_variation_time(means)
    for epsilon in (1e-3, 0.03, 0.5, 2.0, 9.0):
        assert characteristic_time(means, epsilon) >= max(free, distance / epsilon) * (1 - 1e-9)
    assert characteristic_time(means, 1e-4) == pytest.approx(distance / 1e-4, rel=1e-3)
    assert characteristic_time(means, 20.0) == pytest.approx(free, rel=1e-6)


def test_bounds_by_hand():
    """kl(beta, 1 - beta) = (1 - 2 beta) ln((1 - beta) / beta); 0 from 1/2 on."""
    means, beta = (0.2, 0.8), 0.05
    nats = 0.9 * math.log(19)
    assert identification_lower_bound(means, beta) == pytest.approx(characteristic_time(means) * nats)
    local = identification_lower_bound(means, beta, 1.0, model="local")
    kept = math.tanh(0.5)  # (e - 1) / (e + 1)
    assert local == pytest.approx(characteristic_time([0.5 - 0.3 * kept, 0.5 + 0.3 * kept]) * nats)
    assert identification_lower_bound(means, 0.5) == 0
    assert identification_lower_bound((0.4, 0.4), beta) == math.inf
    assert 0 < identification_lower_bound(means, 1e-300, 1.0) < math.inf


def test_algorithms_that_stop_have_a_lower_bound():
    found = {name: make_algorithm(name).sample_lower_bound(means=[0.2, 0.8]) for name in algorithm_names()}
    assert {name for name, rounds in found.items() if rounds} == {"Top-Two", "AdaP-TT", "DP-TT", "CTB-TT"}
    assert found["Top-Two"] < found["AdaP-TT"] == found["DP-TT"] < found["CTB-TT"]


@pytest.mark.parametrize("beta", [0.0, 1.0, -0.1, math.nan])
def test_failure_probability_must_be_between_0_and_1(beta):
    with refused(ValueError, "failure_probability", "(0, 1)"):
        identification_lower_bound((0.2, 0.8), beta)


def test_the_model_must_be_known():
    with refused(ValueError, "model", "'shuffle'"):
        identification_lower_bound((0.2, 0.8), 0.1, 1.0, model="shuffle")
