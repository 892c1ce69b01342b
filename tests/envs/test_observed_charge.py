"""Whether a charge for switching is seen by the agent or only in the score."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.adversaries import GainTable, MemoryBounded
from dp_bandit_envs.envs.bandit_env import BanditEnv

TABLE = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]])


@pytest.mark.parametrize(("observe_charge", "seen"), [(True, [0.1, 0.0, 0.7]), (False, [0.1, 0.8, 0.7])])
def test_score_is_charged_either_way_and_the_observation_only_by_default(observe_charge, seen):
    env = BanditEnv(MemoryBounded(memory=1, gains=GainTable(TABLE)), observe_charge=observe_charge)
    env.reset()
    steps = [env.step(arm) for arm in (0, 1, 1)]
    assert [reward for _, reward, *_ in steps] == [0.1, 0.0, 0.7]
    assert [observation["gain"].max() for observation, *_ in steps] == seen
    assert [observation["observed"].tolist() for observation, *_ in steps] == [[1, 0], [0, 1], [0, 1]]
    assert env.collected == pytest.approx(0.8, rel=1e-15)


@pytest.mark.parametrize("id_", ["DPBandit-Switching-v0", "DPBandit-MemoryBounded-v0"])
def test_unseen_charge_shows_the_gain_before_it(id_):
    """After a switch the score has 0; the agent sees what someone who always played arm 1 would have got."""
    switching = gym.make(id_, horizon=5, observe_charge=False)
    constant = gym.make(id_, horizon=5)
    switching.reset(seed=1)
    constant.reset(seed=1)
    switching.step(0)
    constant.step(1)
    observation, reward, *_ = switching.step(1)
    assert reward == 0
    assert observation["gain"][1] == constant.step(1)[1] > 0
