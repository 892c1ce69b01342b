"""The three regrets by hand, and how they hang together."""

import numpy as np
import pytest

from dp_bandit_envs.adversaries import GainTable, MemoryBounded, Stochastic
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.metrics import external_regret, policy_regret, pseudo_regret

TABLE = np.array([[1.0, 0.0], [0.25, 0.5], [0.5, 1.0]])  # totals 1.75 and 1.5


def play(env, arms):
    env.reset(seed=0)
    return sum(env.step(arm)[1] for arm in arms)


def test_external_and_policy_regret_by_hand_with_the_best_arm_of_each_trial_and_checkpoint():
    """Arms 1 0 1 collect 0 + 0.25 + 1 = 1.25; arm 0 throughout would have collected 1.75."""
    assert external_regret(TABLE.sum(axis=0), np.array(1.25)) == 0.5
    assert external_regret(TABLE.sum(axis=0), np.array(1.0 + 0.5 + 1.0)) == -0.75
    env = BanditEnv(GainTable(TABLE))
    assert play(env, [1, 0, 1]) == 1.25 and env.external_regret() == 0.5
    # An adversary that pays the table for arm 0 throughout but only half of it for arm 1: 1.75 and 0.75.
    assert policy_regret(np.array([1.75, 0.75]), np.array(1.25)) == 0.5
    assert policy_regret(np.array([[0.5, 0.75]]), np.array([1.25])).tolist() == [-0.5]
    totals = np.array([[[1.0, 3.0], [5.0, 4.0]], [[2.0, 2.0], [0.0, 7.0]]])
    collected = np.array([[2.0, 2.0], [2.0, 2.0]])
    assert external_regret(totals, collected).tolist() == [[1, 3], [0, 5]]


def test_pseudo_regret_by_hand():
    """Means 0.5, 0.25, 0: each play of arm 1 costs 0.25 and of arm 2 costs 0.5, whatever the gains were."""
    means = np.array([0.5, 0.25, 0.0])
    assert pseudo_regret(np.array([10, 4, 3]), means) == 4 * 0.25 + 3 * 0.5
    assert pseudo_regret(np.array([10, 0, 0]), means) == 0
    assert pseudo_regret(np.array([10, 4, 3]), means[::-1]) == 10 * 0.5 + 4 * 0.25
    assert pseudo_regret(np.array([[[1, 1, 0], [1, 1, 2]]]), means).tolist() == [[0.25, 1.25]]


@pytest.mark.thorough
def test_pseudo_regret_is_the_regret_on_average_against_the_best_arm():
    """For a fixed plan, gains of arm 0 less gains collected average to it; the error comes from 1,000 games.

    40 rounds in each, 20 with arm 0 and 20 with arm 1, at means 0.7 and 0.4: 20 * 0.3 = 6.

    False alarm: 7e-7 (five measured standard errors of 1,000 games, two sides).
    """
    env, differences = BanditEnv(Stochastic(means=[0.7, 0.4], horizon=40)), []
    for seed in range(1000):
        env.reset(seed=seed)
        for t in range(40):
            env.step(t % 2)
        differences.append(env.cumulative_gains[0] - env.collected)
    error = np.std(differences, ddof=1) / np.sqrt(1000)
    assert abs(np.mean(differences) - pseudo_regret(np.array([20, 20]), env.adversary.means)) <= 5 * error


@pytest.mark.parametrize("memory", [0, 1, 2])
def test_policy_regret_of_a_game_with_memory_replays_every_constant_play(memory):
    """Here a constant play is never charged, so the policy regret is the external one."""
    env = BanditEnv(MemoryBounded(memory=memory, gains=GainTable(TABLE)))
    constant = np.array([play(env, [arm] * 3) for arm in range(2)])
    np.testing.assert_array_equal(constant, TABLE.sum(axis=0))
    collected = play(env, [1, 0, 1])
    assert collected == {0: 1.25, 1: 0.0, 2: 0.0}[memory]
    assert policy_regret(constant, np.array(collected)) == env.external_regret() == 1.75 - collected
