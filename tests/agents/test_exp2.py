"""EXP2: its design, its estimates by enumeration and by NumPy, its first step by hand, and its rates."""

import math

import numpy as np
import pytest

from dp_bandit_envs.adversaries.linear_gains import default_features
from dp_bandit_envs.agents import exp2
from dp_bandit_envs.agents.exp2 import Exp2
from dp_bandit_envs.agents.optimal_design import SLACK, optimal_design
from dp_bandit_envs.observations import Gains
from dp_bandit_envs.theory.linear_bounds import exp2_rates, exp2_regret_bound
from tests.tools.refusals import refused

FEATURES = {
    "10 in 5": default_features(10, 5),
    "3 in 5": default_features(3, 5),
    "rank 2 of 4": default_features(7, 2) @ np.eye(2, 4),
    "one line": np.array([[0.5, 0.5], [-0.1, -0.1], [0.0, 0.0]]),
    "axes": np.eye(4),
    "200 in 8": default_features(200, 8),
}


@pytest.mark.parametrize("name", FEATURES)
def test_the_design_is_nearly_optimal(name):
    """Kiefer and Wolfowitz: the mean leverage under any design is d, so the largest is at least d; ours is 1.01 d."""
    features = FEATURES[name]
    rank = np.linalg.matrix_rank(features)
    design = optimal_design(features)
    assert design.weights.min() >= 0 and design.weights.sum() == pytest.approx(1, abs=1e-12)
    moment = features.T @ (design.weights[:, np.newaxis] * features)
    leverages = np.einsum("ki,ij,kj->k", features, np.linalg.pinv(moment, rcond=1e-10), features)
    assert rank * (1 - 1e-9) <= leverages.max() <= SLACK * rank * (1 + 1e-9)
    np.testing.assert_allclose(np.sum(design.points**2, axis=1), leverages, atol=1e-9)
    np.testing.assert_allclose(
        design.points.T @ (design.weights[:, np.newaxis] * design.points), np.eye(rank), atol=1e-12
    )


def begun(features, horizon=1000, **options):
    agent = Exp2(**options)
    agent.see_features(features)
    agent.begin(n_arms=len(features), horizon=horizon, rng=np.random.default_rng(5))
    return agent


@pytest.mark.parametrize("mixing", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("name", FEATURES)
def test_the_estimate_is_unbiased(name, mixing):
    """Over all arms that may be drawn, the estimate of every arm's gain above 1 / 2 averages to that gain above 1 / 2.

    Errors are relative to the largest estimate, which is 1 / mixing times larger than the gains.
    """
    features = FEATURES[name]
    rng = np.random.default_rng(1)
    hidden = rng.standard_normal(features.shape[1])
    payoffs = features @ hidden / np.linalg.norm(hidden) / 2
    state = exp2.start(*optimal_design(features)[:2], 1.0, mixing, 0.0)
    state.scores[:] = 5 * rng.random(len(features))
    exp2.weigh(state)
    chances = state.chances.copy()
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    mean, largest = np.zeros(len(features)), 1.0
    for arm in range(len(features)):
        trial = state._replace(scores=np.zeros(len(features)), chances=chances.copy())
        gains = np.zeros(len(features))
        gains[arm] = 0.5 + payoffs[arm]
        exp2.update_features(trial, arm, Gains(gains, np.eye(len(features), dtype=int)[arm]))
        mean += chances[arm] * trial.scores
        largest = max(largest, np.abs(trial.scores).max())
    np.testing.assert_allclose(mean, payoffs, atol=1e-12 * largest)


def test_each_update_is_that_of_the_pseudo_inverse():
    """An independent route: NumPy's pseudo-inverse of P in the given features, 200 rounds, with rescaled noise."""
    features = FEATURES["rank 2 of 4"]
    agent = begun(features, horizon=200, exploration_rate=0.2, learning_rate=0.05)
    agent.noise = agent.noise._replace(bound=1.5)
    agent.begin(n_arms=7, horizon=200, rng=np.random.default_rng(5))
    design = optimal_design(features).weights
    rng, scores = np.random.default_rng(3), np.zeros(7)
    for _ in range(200):
        weights = np.exp(scores - scores.max())
        p = 0.8 * weights / weights.sum() + 0.2 * design
        np.testing.assert_allclose(agent.probabilities(), p, rtol=1e-9)
        arm, gain = agent.select_arm(), rng.random()
        moment = features.T @ (p[:, np.newaxis] * features)
        noisy = gain * 4 - 1.5
        scores += 0.05 * features @ np.linalg.pinv(moment, rcond=1e-10) @ features[arm] * (noisy - 0.5)
        gains = np.zeros(7)
        gains[arm] = gain
        agent.update(arm, {"gain": gains, "observed": np.eye(7, dtype=np.int8)[arm]})
    assert np.ptp(scores) > 0.5


def test_first_step_on_arms_by_hand():
    """Two arms at probability 1 / 2; a gain of 0.25 is a loss of 0.75, estimated as 1.5; at rate 0.2 a score of -0.3.

    Then p = 0.6 softmax + 0.4 / 2.
    """
    agent = Exp2(learning_rate=0.2, exploration_rate=0.4)
    agent.begin(n_arms=2, horizon=10, rng=np.random.default_rng(0))
    agent.update(0, {"gain": np.array([0.25, 0.0]), "observed": np.array([1, 0], np.int8)})
    expected = 0.6 * math.exp(-0.3) / (1 + math.exp(-0.3)) + 0.2
    assert agent.probabilities().tolist() == pytest.approx([expected, 1 - expected])
    before = agent.probabilities()
    agent.update(0, {"gain": np.zeros(2), "observed": np.zeros(2, np.int8)})
    assert agent.probabilities().tolist() == before.tolist()


def test_features_of_another_game_are_forgotten():
    agent = begun(FEATURES["axes"])
    with refused(ValueError, "features", 5, 4):
        agent.begin(n_arms=5, horizon=10, rng=np.random.default_rng(0))
    agent.see_features(None)
    agent.begin(n_arms=5, horizon=10, rng=np.random.default_rng(0))
    assert agent.probabilities().tolist() == [0.2] * 5


@pytest.mark.parametrize(("rank", "n_arms"), [(5, 10), (3, 40)])
def test_the_bound_without_noise_is_theorem_27_1(rank, n_arms):
    """2 sqrt(3 d T ln K) for payoffs in [-1, 1], half of it for gains."""
    found = exp2_regret_bound("smallest-bound", n_arms, rank, float(rank), 0.5, 50_000, 0.0, 0.0)
    assert 2 * found == pytest.approx(2 * math.sqrt(3 * rank * 50_000 * math.log(n_arms)))


@pytest.mark.parametrize("scale", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("largest", [0.5, 1.0])
def test_no_other_rate_has_a_smaller_bound(scale, largest):
    """The bound as a function of the rate, from its formula, is smallest at ours."""
    k, d, t, clip = 10, 5, 10**6, 3 * scale

    def bound(rate):
        return math.log(k) / rate + rate * d * t * (largest**2 + 2 * scale**2) + rate * d * (largest + clip) * t

    rate, mixing = exp2_rates("smallest-bound", k, d, float(d), largest, t, scale, clip)
    assert mixing == pytest.approx(rate * d * (largest + clip)) and mixing < 1
    assert bound(rate) < min(bound(0.97 * rate), bound(1.03 * rate))


def test_rates_by_hand():
    """K = 4, d = 2, L = 3, M = 1/2, T = 100, noise of scale 1 cut at 2: d (M^2 + 2) = 4.5 and L (M + c) = 7.5."""
    sizes = (4, 2, 3.0, 0.5, 100, 1.0, 2.0)
    for rates, cost in (("paper", 4.5), ("smallest-bound", 12.0)):
        rate = math.sqrt(math.log(4) / (100 * cost))
        assert exp2_rates(rates, *sizes) == pytest.approx((rate, 7.5 * rate))


def test_rates_are_checked():
    with refused(ValueError, "rates", "smallest-bound", "paper"):
        Exp2(rates="best")
    for wrong in (0, 1.5, math.nan):
        with refused(ValueError, "exploration_rate"):
            Exp2(exploration_rate=wrong)
