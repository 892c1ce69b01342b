"""Shifting coins: changes at rounds of their own, drift within a budget, dynamic regret and refused arguments."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, play
from dp_bandit_envs.adversaries import Shifting, Stochastic
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.metrics import dynamic_regret


def begun(seed=0, **options):
    adversary = Shifting(**options)
    adversary.begin(np.random.default_rng(seed))
    return adversary


@pytest.mark.parametrize(("shifts", "horizon"), [(0, 50), (1, 2), (3, 4), (6, 200), (199, 200)])
def test_the_best_arm_changes_as_often_as_asked(shifts, horizon):
    for seed in range(20):
        means = begun(seed, n_arms=3, horizon=horizon, shifts=shifts, gap=0.5).means_at(np.arange(1, horizon + 1))
        assert set(np.unique(means)) == {0.25, 0.75} and (means.sum(axis=1) == 1.25).all()
        assert np.count_nonzero(np.diff(means.argmax(axis=1))) == shifts


def test_rounds_and_arms_of_changes_are_uniform():
    """One change in 4 rounds and 3 arms: rounds and 6 pairs of arms alike. False alarm: 1e-5 (five errors)."""
    seen, adversary, rng = np.zeros((4, 3, 3)), Shifting(n_arms=3, horizon=4, shifts=1), np.random.default_rng(0)
    for _ in range(3600):
        adversary.begin(rng)
        best = adversary.means_at([1, 2, 3, 4]).argmax(axis=1)
        seen[np.flatnonzero(np.diff(best))[0] + 1, best[0], best[-1]] += 1
    cells = seen[1:][:, ~np.eye(3, dtype=bool)]
    assert cells.sum() == 3600
    assert np.abs(cells - 200).max() < 5 * np.sqrt(3600 / 18 * 17 / 18)


@pytest.mark.parametrize("budget", [0.0, 0.3, 7.0, 500.0])
def test_drift_stays_within_its_budget(budget):
    """Away from the turns each round moves every mean by V / (T - 1), so nearly all of the budget is used."""
    for seed in range(5):
        means = begun(seed, n_arms=4, horizon=1001, gap=0.8, budget=budget).means_at(np.arange(1, 1002))
        assert means.min() >= 0.1 - 1e-12 and means.max() <= 0.9 + 1e-12
        spent = np.abs(np.diff(means, axis=0)).max(axis=1).sum()
        assert spent <= budget * (1 + 1e-9) and spent >= 0.9 * budget


@pytest.mark.parametrize("options", [{"shifts": 2}, {"budget": 4.0}], ids=str)
def test_gains_are_coins_of_the_means(options):
    """Mean of gains less means, weighted by random signs: error below sqrt(.25 / 80,000). False alarm: 5e-7."""
    adversary = begun(4, n_arms=4, horizon=20_000, gap=0.6, **options)
    gains = np.concatenate([adversary.next_gains(rounds) for rounds in (7, 13_000, 6_993)])
    assert set(np.unique(gains)) == {0.0, 1.0}
    rest = gains - adversary.means_at(np.arange(1, 20_001))
    signs = np.random.default_rng(1).choice([-1, 1], (20, 1, 4)) * np.sign(np.sin(np.arange(20_000) / 900))[:, None]
    assert np.abs((rest * signs).mean(axis=(1, 2))).max() < 5.6 * np.sqrt(0.25 / 80_000)


def test_dynamic_regret_by_hand():
    means = np.array([[0.5, 0.25], [0.5, 0.25], [0.25, 0.5], [0.25, 1.0]])
    assert dynamic_regret(means, np.array([0, 1, 0, 1])).tolist() == [0, 0.25, 0.5, 0.5]
    assert dynamic_regret(means, np.array([1, 1, 1, 0])).tolist() == [0.25, 0.5, 0.5, 1.25]


def test_play_states_the_dynamic_regret_beside_the_others():
    """Exact but for one comparison with 5 standard errors of the gains. False alarm: below 1e-6, once for the seed."""
    env = gym.make("DPBandit-Shifting-v0", n_arms=3, horizon=3000, shifts=4, gap=0.5)
    game = play(env, make_algorithm("UCB"), seed=3)
    means = env.unwrapped.adversary.means_at(np.arange(1, 3001))
    assert game.pseudo_regret is None and game.dynamic_regret.shape == (3000,)
    assert game.dynamic_regret[-1] == pytest.approx(0.5 * np.count_nonzero(game.arms != means.argmax(axis=1)))
    # The best arm of each round collects more than any fixed arm; the gains' own chance is below 5 sqrt(T) / 2.
    assert game.dynamic_regret[-1] > game.external_regret[-1] - 5 * np.sqrt(3000) / 2
    stable = play(BanditEnv(Stochastic(means=[0.2, 0.7], horizon=500)), make_algorithm("UCB"), seed=3)
    np.testing.assert_allclose(stable.dynamic_regret, stable.pseudo_regret, atol=1e-9)
    drifting = gym.make("DPBandit-Shifting-v0", horizon=300, budget=2.0)
    assert play(drifting, make_algorithm("EXP3"), seed=0).dynamic_regret[-1] >= 0
    charged = gym.make("DPBandit-Switching-v0", horizon=100)
    assert play(charged, make_algorithm("EXP3"), seed=0).dynamic_regret is None
