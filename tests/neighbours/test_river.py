"""river's `bandit.evaluate`, which plays its policies in copies of one environment."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import LaplaceClipRescale
from tests.tools.refusals import refused

bandit = pytest.importorskip("river.bandit", reason="not installed; pip install river")

POLICIES = (0.05, 0.5)


def trace(env, episodes=3):
    policies = [bandit.EpsilonGreedy(epsilon=share, seed=1) for share in POLICIES]
    return list(bandit.evaluate(policies, env, n_episodes=episodes, seed=4))


def test_its_policies_play_whole_games_and_the_greedy_one_earns_more():
    """False alarm: below 1e-6 (a gap of about 0.18 a round in 1,200 rounds of standard deviation 0.5: 9 errors)."""
    steps = trace(gym.make("DPBandit-Stochastic-v0", means=[0.05, 0.95], horizon=400))
    assert len(steps) == 3 * 2 * 400
    earned = [np.mean([step["reward"] for step in steps if step["policy_idx"] == index]) for index in (0, 1)]
    assert 0.6 < earned[1] < earned[0] < 0.96


def test_copies_of_a_game_with_one_noise_are_refused():
    """`evaluate` copies a game after its reset; two copies would release one gain twice with the same noise."""
    env = LaplaceClipRescale(gym.make("DPBandit-Stochastic-v0", horizon=10), epsilon=1.0)
    with refused(TypeError, "LaplaceClipRescale"):
        trace(env)
