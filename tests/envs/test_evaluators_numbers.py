"""What only the evaluator sees, by hand, on the deterministic game; and who sees a charge for switching."""

import numpy as np
import pytest

from dp_bandit_envs.adversaries import Deterministic, GainTable, MemoryBounded
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv

ARMS = [0, 1, 1, 3, 2, 2]
REWARDS = [0.38, 1, 0, 0, 0, 1]
TOTALS = [
    [0.38, 0, 0, 0],
    [0.76, 1, 0, 0],
    [1.14, 1, 1, 0],
    [1.52, 2, 1, 0],
    [1.90, 2, 1, 0],
    [2.28, 3, 2, 0],
]
COLLECTED = [0.38, 1.38, 1.38, 1.38, 1.38, 2.38]
REGRET = [0, -0.38, -0.24, 0.62, 0.62, 0.62]  # the largest total less what was collected


@pytest.mark.parametrize("block_length", [1, 5, 4096])
def test_evaluators_numbers_by_hand_in_every_round(block_length):
    """Also in a second game, which starts the count anew; and what is shown is a copy."""
    env = BanditEnv(Deterministic(horizon=6), arm_order="given", block_length=block_length)
    for _ in range(2):
        env.reset()
        assert (env.cumulative_gains.tolist(), env.collected, env.external_regret()) == ([0, 0, 0, 0], 0, 0)
        for arm, reward, totals, collected, regret in zip(ARMS, REWARDS, TOTALS, COLLECTED, REGRET, strict=True):
            assert env.step(arm)[1] == reward
            env.cumulative_gains[:] = 100
            np.testing.assert_allclose(env.cumulative_gains, totals, rtol=1e-14)
            assert env.collected == pytest.approx(collected, rel=1e-14)
            assert env.external_regret() == pytest.approx(regret, abs=1e-14)


def test_evaluators_numbers_by_hand_in_a_vector_of_games():
    env = BanditVectorEnv(2, Deterministic(horizon=6), arm_order="given")
    env.reset()
    for t, arm in enumerate(ARMS):
        env.step([arm, 1])  # the second game stays with the best arm
        np.testing.assert_allclose(env.cumulative_gains, [TOTALS[t]] * 2, rtol=1e-14)
        np.testing.assert_allclose(env.collected, [COLLECTED[t], TOTALS[t][1]], rtol=1e-14)
        np.testing.assert_allclose(env.external_regret()[0], REGRET[t], atol=1e-14)
    np.testing.assert_array_equal(env.external_regret()[1], 0)


def test_a_listener_hears_every_round_once_in_blocks():
    heard = []
    env = BanditEnv(Deterministic(horizon=6), arm_order="given", block_length=4)
    env.on_block = lambda *block: heard.append(block)
    env.reset()
    for arm in ARMS:
        env.step(arm)
    assert len(heard) == 1
    env.report_block()
    arms, gains, tables = (np.concatenate(parts) for parts in zip(*heard, strict=True))
    assert arms.tolist() == ARMS
    assert gains.tolist() == REWARDS
    np.testing.assert_allclose(tables.sum(axis=0), TOTALS[-1], rtol=1e-14)


@pytest.mark.parametrize(("observe_charge", "seen"), [(True, [0.1, 0.0, 0.7]), (False, [0.1, 0.8, 0.7])])
def test_score_is_charged_either_way_and_the_observation_only_by_default(observe_charge, seen):
    table = GainTable([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]])
    env = BanditEnv(MemoryBounded(memory=1, gains=table), observe_charge=observe_charge)
    env.reset()
    steps = [env.step(arm) for arm in (0, 1, 1)]
    assert [reward for _, reward, *_ in steps] == [0.1, 0.0, 0.7]
    assert [observation["gain"].max() for observation, *_ in steps] == seen
    assert [observation["observed"].tolist() for observation, *_ in steps] == [[1, 0], [0, 1], [0, 1]]
    assert env.collected == pytest.approx(0.8, rel=1e-15)
