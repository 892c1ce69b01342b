"""The refined bound on EXP3's whole game: its steps on random states, exact laws of games, and wrong weights."""

import math

import numpy as np
import pytest

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.privacy import exp3_guarantee
from dp_bandit_envs.privacy.exp3_privacy import WholeGame, cell_edges, draw_loss
from tests.privacy.test_exp3_loss import (
    ARMS,
    COUNT,
    ROUNDING,
    lyapunov,
    moved,
    probabilities as state_probabilities,
    random_states,
    softmax,
    starts,
)
from tests.tools.exp3_laws import law_of_arms, probabilities, renyi

ORDERS = (1.01, 1.5, 2.0, 8.0, 32.0, 200.0)


def start_for(states, h):
    """Return H(h) for each state."""
    q = 1 + states.c
    return (1 + states.c * states.kappa) * (1 - h) * np.exp(h) + q * h


@pytest.mark.parametrize("n_arms", ARMS)
def test_v_starts_below_its_bound_for_the_arms_own_probability(n_arms):
    """For s = 1, and often close to it; a bound for a slightly smaller h fails."""
    states = random_states(n_arms, COUNT, seed=6)
    h = states.eta / states.of_arm(state_probabilities(states, states.scores))
    ratio = starts(states) / (states.eta * start_for(states, h))
    assert 0.98 < ratio.max() <= 1 + ROUNDING
    assert (starts(states) > states.eta * start_for(states, 0.95 * h)).any()


@pytest.mark.parametrize("n_arms", ARMS)
def test_no_difference_grows_beyond_the_largest(n_arms):
    states = random_states(n_arms, COUNT, seed=2)
    most = states.d.max(axis=1)
    after = moved(states)
    assert np.all(after.max(axis=1) <= most * (1 + ROUNDING)) and after.min() >= 0


def cell_of(game, edges, h):
    return np.minimum(np.searchsorted(edges[1:], h), len(edges) - 2)


@pytest.mark.thorough
@pytest.mark.parametrize("n_arms", ARMS)
def test_v_and_the_largest_difference_bound_log_ratios_and_fisher_information(n_arms):
    """Differences are scaled to the first of the two limits that they meet: V = H(h) eta, or the largest d = h."""
    states = random_states(n_arms, 400, seed=7)
    rng = np.random.default_rng(1)
    h = np.exp(rng.uniform(np.log(states.eta), 0.0))
    v, e = lyapunov(states, states.scores, states.d, states.c)
    scale = np.minimum(start_for(states, h) * states.eta / v, h / states.d.max(axis=1))
    p = state_probabilities(states, states.scores)
    slope = (1 - states.gamma)[:, None] * softmax(states.scores) * e / p * scale[:, None]
    largest, fisher = np.zeros(len(h)), np.zeros(len(h))
    for i, gamma in enumerate(states.gamma):
        game, edges = WholeGame(n_arms, float(gamma), 1.0), cell_edges(float(states.eta[i]), float(gamma))
        at = cell_of(game, edges, h[i])
        largest[i], fisher[i] = game.log_ratio[at], game.fisher[at]
    shares = np.abs(slope).max(axis=1) / largest
    assert 0.7 < shares.max() <= 1 + ROUNDING
    fisher_shares = (p * slope**2).sum(axis=1) / fisher
    assert 0.6 < fisher_shares.max() <= 1 + ROUNDING


def test_the_last_cell_is_the_bound_for_the_worst_arm():
    """At h = 1 nothing is refined: the constants of `draw_loss`, to the width of a cell."""
    for n_arms, gamma in ((2, 0.3), (4, 0.0153), (10, 0.2)):
        game, loss = WholeGame(n_arms, gamma, 0.1), draw_loss(n_arms, gamma, 0.1)
        assert game.log_ratio[-1] <= loss.log_ratio * (1 + 1e-9) and game.fisher[-1] <= loss.fisher * (1 + 1e-9)
        assert game.log_ratio.max() == pytest.approx(loss.log_ratio, rel=1e-9)
        assert np.all(np.diff(game.log_ratio[: len(game.log_ratio) // 2]) >= 0)


# ---- whole games


def start_at(multiples, rate, n_arms):
    """Return scores at which arms 1, 2, ... have these multiples of rate / n_arms as probabilities, arm 0 the rest."""
    eta = rate / n_arms
    weights = (np.array(multiples) - 1) * eta / (1 - rate)
    assert weights.sum() < 1
    return np.log(np.concatenate([[1 - weights.sum()], weights]))


def silent_game(scores, rate, sensitivity, order, draws):
    """Return the exact divergences, both ways, of a game whose gains are 0 after the changed round.

    In that round the arm drawn pays 1 - s or 1. Then scores stand still, and the draws are independent.
    """
    n_arms = len(scores)
    first = probabilities(scores, rate)
    total = np.full(2, -np.inf)
    for arm, p in enumerate(first):
        worlds = np.tile(scores, (2, 1))
        worlds[:, arm] += rate / n_arms / p * np.array([1 - sensitivity, 1.0])
        one, other = np.log(probabilities(worlds, rate))
        both = [np.exp(order * x + (1 - order) * y).sum() for x, y in ((one, other), (other, one))]
        total = np.logaddexp(total, math.log(p) + draws * np.log(both))
    return total / (order - 1)


@pytest.mark.thorough
@pytest.mark.parametrize("sensitivity", [1.0, 1 / 19])
@pytest.mark.parametrize(("n_arms", "rate", "draws"), [(4, 0.0153, 13_797), (2, 0.1, 300), (10, 0.02, 500)])
def test_games_of_full_size_lose_less_than_the_bound_and_not_much_less(n_arms, rate, draws, sensitivity):
    """Rare arms: one or all but one, each at 1.05 to 4 times the least probability, as EXP3 makes them."""
    orders = (*ORDERS, 20.0, 1000.0)
    bound = WholeGame(n_arms, rate, sensitivity).renyi(orders, draws)
    worst = np.zeros(len(orders))
    for number in {1, n_arms - 1}:
        for multiple in np.geomspace(1.05, 4.0, 25):
            others = [1 / n_arms / (rate / n_arms)] * (n_arms - 1 - number)
            scores = start_at([multiple] * number + others, rate, n_arms)
            found = [silent_game(scores, rate, sensitivity, order, draws).max() for order in orders]
            worst = np.maximum(worst, found)
    assert np.all(worst <= bound)
    assert (worst / bound).max() > 0.75


def test_weights_that_count_the_rarity_twice_are_too_small():
    """The planted faults: (eta / h)^2 in place of eta / h, and a reach of 0.8 h; 10^5 draws at order 8."""
    n_arms, rate, sensitivity, order, draws = 4, 0.0153, 1 / 19, 8.0, 100_000
    true = max(
        silent_game(start_at([multiple] * 3, rate, n_arms), rate, sensitivity, order, draws).max()
        for multiple in (1.4, 1.6, 1.8)
    )
    assert true <= WholeGame(n_arms, rate, sensitivity).renyi([order], draws)[0]
    twice = WholeGame(n_arms, rate, sensitivity)
    twice._log_weight = 2 * twice._log_weight
    short = WholeGame(n_arms, rate, sensitivity)
    short.log_ratio, short.log_range, short.fisher = 0.8 * short.log_ratio, 0.8 * short.log_range, 0.64 * short.fisher
    for wrong in (twice, short):
        assert wrong.renyi([order], draws)[0] < true


def test_no_law_of_all_arms_loses_more_than_the_bound():
    """The changed round is the first one; later gains depend on past arms, and the first law on any scores."""
    for n_arms, draws in [(2, 9), (3, 6), (4, 5)]:
        for rate in [0.02, 0.1, 0.3]:
            for sensitivity in [1.0, 0.2]:
                rng = np.random.default_rng(0)
                bound = WholeGame(n_arms, rate, sensitivity).renyi(ORDERS, draws - 1)
                largest = 0.0
                for trial in range(6):
                    scores = start_at(rng.uniform(1.1, 3.0, n_arms - 1), rate, n_arms)
                    first = np.empty((n_arms**draws, draws))
                    for t in range(draws):
                        by_prefix = (
                            rng.integers(0, 2, n_arms ** (t + 1)) * (trial % 3 > 0) * (0.5 if trial % 3 == 2 else 1.0)
                        )
                        first[:, t] = np.repeat(by_prefix, n_arms ** (draws - 1 - t))
                    second = first.copy()
                    first[:, 0], second[:, 0] = 1 - sensitivity, 1.0
                    laws = [law_of_arms(scores, rate, gains) for gains in (first, second)]
                    for order, most in zip(ORDERS, bound, strict=True):
                        for one, other in (laws, laws[::-1]):
                            largest = max(largest, float(renyi(one, other, order)) / most)
                # A divergence of 1e-9 is a difference of sums of rounded logs.
                assert 0.3 < largest <= 1 + 1e-6


# ---- what is declared


@pytest.mark.parametrize(
    ("batch", "expected", "older"), [(4, 11.409, 12.8), (19, 1.4359, 1.612), (76, 0.2525, 0.281), (150, 0.1093, 0.121)]
)
def test_exp3_tau_at_full_size(batch, expected, older):
    """K = 4, T = 2^18, delta = T^-2; for batches of 19 the truth is at least about 1.06."""
    guarantee = make_algorithm("EXP3-tau", batch_size=batch).guarantee(n_arms=4, horizon=2**18)
    assert guarantee.epsilon_at(2.0**-36) == pytest.approx(expected, abs=6e-4 * expected)
    assert guarantee.epsilon_at(2.0**-36) < 0.92 * older


@pytest.mark.thorough
@pytest.mark.parametrize(("n_arms", "sensitivity"), [(2, 1.0), (4, 0.01), (100, 1.0)])
def test_the_curve_is_the_smaller_of_both_bounds_at_every_order(n_arms, sensitivity):
    """And never above the older bound, which alone stands for rates beyond the condition."""
    for rate in (1e-6, 0.01, 0.2, 0.35, 0.5, 0.62, 1.0):
        guarantee = exp3_guarantee(n_arms=n_arms, draws=10, exploration_rate=rate, sensitivity=sensitivity)
        assert guarantee.epsilon <= 10 * sensitivity and guarantee.rho <= 10 * sensitivity**2 / 8
        if guarantee.curve is None:
            continue
        loss = draw_loss(n_arms, rate, sensitivity)
        orders = [order for order, _ in guarantee.curve]
        refined = WholeGame(n_arms, rate, sensitivity).renyi(orders, 10)
        for (order, divergence), of_game in zip(guarantee.curve, refined, strict=True):
            assert divergence <= of_game and divergence <= 10 * loss.renyi(order) * (1 + 1e-12)
            assert divergence <= guarantee.rho * order * (1 + 1e-14)
            assert divergence <= min(10 * sensitivity, 10 * order * sensitivity**2 / 8) * (1 + 1e-14)
