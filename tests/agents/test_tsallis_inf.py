"""Tsallis-INF and HTINF: the normalisation, updates by hand, skipping, and the way back from a rescaled gain."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize, root_scalar

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.agents import Htinf, tsallis_inf
from dp_bandit_envs.agents.tsallis_inf import PAPER_SIGMA, SKIP_SHARE, normalise, start, update
from dp_bandit_envs.privacy import Noise
from dp_bandit_envs.protocols import Gains


def one_hot(arm, value, n_arms):
    return [value if other == arm else 0.0 for other in range(n_arms)]


def tell(state, arm, gain):
    n_arms = len(state.losses)
    return update(state, arm, Gains(one_hot(arm, gain, n_arms), one_hot(arm, 1, n_arms)))


def losses():
    rng = np.random.default_rng(0)
    yield np.zeros(2)
    yield np.array([0.0, 1e-9])
    yield np.array([5.0, 5.0, 5.0, 1e4])
    yield np.array([-300.0, 0.0, 1e6])
    yield np.array([1e9, 1e9 + 1, 1e9 + 2])
    for n_arms in (2, 4, 30, 1000):
        yield rng.normal(0, 50, n_arms)
        yield rng.exponential(1e4, n_arms)


@pytest.mark.thorough
@pytest.mark.parametrize("rate", [1.0, 0.1, 1e-3])
def test_normalisation_solves_for_a_sum_of_1(rate):
    """Against SciPy's root of the same equation, in units of 1 / rate below the smallest loss."""
    for estimates in losses():
        smallest = estimates.min()

        def excess(below, estimates=estimates, smallest=smallest):
            return math.fsum((rate * (loss - smallest) + below) ** -2 for loss in estimates) - 1

        root = root_scalar(excess, bracket=(1 - 1e-9, math.sqrt(len(estimates)) + 1e-9), xtol=1e-15, rtol=1e-15).root
        expected = [(rate * (loss - smallest) + root) ** -2 for loss in estimates]
        found = np.full(len(estimates), np.nan)
        normalise(estimates.copy(), found, rate)
        assert math.fsum(found) == pytest.approx(1, abs=1e-12)
        assert found == pytest.approx(expected, abs=1e-12)
        assert found == pytest.approx(expected, rel=1e-9)


def test_normalisation_does_not_hide_a_poor_root_behind_a_division():
    """The end divides by the sum; the differences 1/sqrt(x_i) - 1/sqrt(x_j) = rate (L_i - L_j) show the root itself."""
    estimates, rate = np.array([0.0, 3.0, 40.0, 41.0]), 0.2
    x = np.empty(4)
    normalise(estimates, x, rate)
    assert np.diff(x**-0.5) == pytest.approx(rate * np.diff(estimates), rel=1e-12)


def test_the_probabilities_minimise_the_regularised_loss():
    """The definition itself: argmin over the simplex of <L, x> - (2 / rate) sum sqrt(x)."""
    estimates, rate = np.array([0.4, 2.0, 1.1]), 0.7

    def objective(x):
        return estimates @ x - 2 / rate * np.sqrt(np.maximum(x, 0)).sum()

    best = minimize(
        objective,
        np.full(3, 1 / 3),
        method="SLSQP",
        bounds=[(1e-9, 1)] * 3,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
        options={"ftol": 1e-14},
    )
    x = np.empty(3)
    normalise(estimates, x, rate)
    assert x == pytest.approx(best.x, abs=1e-5)
    assert objective(x) <= best.fun + 1e-12


def test_first_update_by_hand():
    # Two arms, x = (1/2, 1/2). We want x = (9/25, 16/25) next, for which 1/sqrt(x_0) - 1/sqrt(x_1) = 5/3 - 5/4 = 5/12
    # must be eta L_0 with eta = 1/sqrt(2) (round 2). So L_0 = 5 sqrt(2) / 12, a loss of half of that over x_0 = 1/2.
    loss = 5 * math.sqrt(2) / 24
    state = tell(start(2, 1.0, False, 0.0), 0, 1 - loss)
    assert state.losses == pytest.approx([5 * math.sqrt(2) / 12, 0])
    assert state.probabilities == pytest.approx([9 / 25, 16 / 25], rel=1e-12)
    assert state.round == 2
    # Round 3, eta = 1/sqrt(3): a loss of 16/25 on arm 1 adds exactly 1 to its estimate.
    state = tell(state, 1, 9 / 25)
    assert state.losses == pytest.approx([5 * math.sqrt(2) / 12, 1.0])
    x = state.probabilities
    assert x[1] ** -0.5 - x[0] ** -0.5 == pytest.approx((1 - 5 * math.sqrt(2) / 12) / math.sqrt(3), rel=1e-12)


def test_a_withheld_gain_changes_the_learning_rate_only():
    state = tell(start(3, 1.0, False, 0.0), 0, 0.2)
    before, x = state.losses.copy(), state.probabilities.copy()
    state = update(state, 1, Gains([0.0, 0.9, 0.0], [0, 0, 0]))
    assert state.losses.tolist() == before.tolist()
    assert state.round == 3
    # 1/sqrt(x_0) - 1/sqrt(x_1) = L_0 / sqrt(t): smaller by sqrt(2 / 3).
    ratio = (state.probabilities[0] ** -0.5 - state.probabilities[1] ** -0.5) / (x[0] ** -0.5 - x[1] ** -0.5)
    assert ratio == pytest.approx(math.sqrt(2 / 3), rel=1e-12)


def test_htinf_skips_losses_beyond_the_threshold_by_hand():
    # Theta = 1 - 2^(-1/3) = 0.2062995; in round 1 with x = 1/2 and sigma = 2 the threshold is
    # Theta * 2 * sqrt(1/2) = 0.2917515.
    assert pytest.approx(0.20629947, abs=1e-8) == SKIP_SHARE
    for gain, counts in ((1 - 0.2917, True), (1 - 0.2918, False), (0.0, False), (1.0, True)):
        state = tell(start(2, 2.0, True, 0.0), 0, gain)
        assert state.losses[0] == (pytest.approx(2 * (1 - gain)) if counts else 0.0)
        assert state.round == 2
    # Round 4 with x = 1/2 (nothing but skips before): the threshold has doubled, 0.583503.
    for loss, counts in ((0.5835, True), (0.5836, False)):
        state = start(2, 2.0, True, 0.0)
        for _ in range(3):
            state = tell(state, 0, 0.0)
        assert state.probabilities.tolist() == [0.5, 0.5]
        assert (tell(state, 0, 1 - loss).losses[0] > 0) == counts


def test_htinf_skips_very_negative_losses_too():
    """A noisy gain far above 1 is a loss far below 0. Bound 2: released 1.0 stands for the gain 3, the loss -2."""
    assert tell(start(2, 1.0, True, 2.0), 0, 1.0).losses.tolist() == [0.0, 0.0]
    assert tell(start(2, 1.0, False, 2.0), 0, 1.0).losses.tolist() == [-4.0, 0.0]


def test_the_learning_rate_goes_with_sigma():
    # After round 1, eta = 1 / (sigma sqrt(2)); the estimate is 2 * 0.1.
    for sigma in (0.5, 1.0, PAPER_SIGMA):
        x = tell(start(2, sigma, True, 0.0), 0, 0.9).probabilities
        expected = 0.2 / (sigma * math.sqrt(2)) if SKIP_SHARE * sigma * math.sqrt(0.5) >= 0.1 else 0.0
        assert x[0] ** -0.5 - x[1] ** -0.5 == pytest.approx(expected, abs=1e-12)


def test_arms_are_drawn_with_the_probabilities():
    """Counts over n draws have standard deviation sqrt(n p (1 - p)): allow five.

    False alarm: 1.8e-6 (five standard errors, two sides, three counts).
    """
    state = start(3, 1.0, False, 0.0)
    state = tell(tell(tell(state, 0, 0.1), 2, 0.8), 0, 0.5)
    rng, n = np.random.default_rng(3), 40_000
    counts = np.bincount([tsallis_inf.select(state, rng) for _ in range(n)], minlength=3)
    p = np.array(state.probabilities)
    assert np.all(np.abs(counts - n * p) < 5 * np.sqrt(n * p * (1 - p)))


@pytest.mark.thorough
def test_tsallis_inf_learns_independent_gains_faster_than_exp3():
    """Its regret is of order ln T there, EXP3's of order sqrt(T): a paired difference of more than five errors.

    False alarm: below 1e-9 (the difference is 39 of its standard errors).
    """
    simulation = simulate(
        "DPBandit-Stochastic-v0",
        ["EXP3", "Tsallis-INF"],
        horizon=20_000,
        trials=60,
        checkpoints=1,
        env_kwargs={"means": [0.7, 0.5, 0.5, 0.5]},
    )
    difference = simulation["EXP3"].pseudo_regret[:, -1] - simulation["Tsallis-INF"].pseudo_regret[:, -1]
    assert difference.mean() > 5 * difference.std(ddof=1) / math.sqrt(60)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "gain"), [("Tsallis-INF", 0.0), ("HTINF", 1.0)])
def test_a_million_rounds_of_equal_gains_stay_finite(name, gain):
    outcome = simulate(
        "DPBandit-Stochastic-v0",
        [make_algorithm(name)],
        horizon=10**6,
        checkpoints=1,
        env_kwargs={"means": [gain] * 4},
    )[name]
    assert outcome.collected[0, -1] == gain * 10**6
    # A NaN would make every draw from then on the last arm's.
    assert outcome.pulls[0, -1] < 0.9 * 10**6
    assert outcome.pulls.min() > 1000


def test_sigma_and_bound_come_from_the_noise():
    """E[(loss)^2] is at most 1 + 2 b^2 with Laplace noise of scale b: b = 2 and 10 make sqrt(9) and sqrt(201).

    The paper's sqrt(6) is kept where a round reveals one gain, whatever b is, as the paper has it.
    """

    def begins_with(sigma, **noise):
        agent = Htinf(sigma=sigma)
        agent.see_noise(Noise(**noise))
        state = agent.initial_state(2, 100)
        return state.sigma, state.bound

    assert begins_with(None) == (1.0, 0.0)
    assert begins_with(None, scale=2.0, bound=7.0) == (3.0, 7.0)
    assert begins_with(PAPER_SIGMA, scale=2.0) == (PAPER_SIGMA, 0.0)
    assert begins_with(PAPER_SIGMA, sensitivity=5.0, scale=10.0, bound=1.5) == (math.sqrt(201), 1.5)
    assert begins_with(20.0, sensitivity=5.0, scale=10.0) == (20.0, 0.0)
