"""The epoch leader: epochs by hand, the weights of an epoch, and the leader itself without privacy."""

import math

import numpy as np
import pytest

from dp_bandit_envs import play, simulate
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import EpochLeader
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from tests.tools.refusals import refused


def weights_after(gains, **options):
    agent = EpochLeader(**options)
    agent.begin(n_arms=2, horizon=100, rng=np.random.default_rng(0))
    for row in gains:
        arm = agent.select_arm()
        agent.update(arm, {"gain": np.array(row, float), "observed": np.ones(2, np.int8)})
    return list(agent._state.weights)


def test_weights_come_from_the_last_epoch_alone():
    """Epochs are rounds 1, 2, 3 to 4, 5 to 8. At epsilon = 2 an arm that is b behind weighs e^-b."""
    rows = [[1, 0], [0, 0.5], [0.25, 1], [0.25, 1], *[[1, 0]] * 4]
    expected = {
        1: [1, math.exp(-1)],
        2: [math.exp(-0.5), 1],
        3: [math.exp(-0.5), 1],
        4: [math.exp(-1.5), 1],
        7: [math.exp(-1.5), 1],
        8: [1, math.exp(-4)],
    }
    for rounds, weights in expected.items():
        assert weights_after(rows[:rounds], epsilon=2.0) == pytest.approx(weights)
    assert weights_after([[1, 0]], epsilon=0.5) == pytest.approx([1, math.exp(-0.25)])


def test_an_epoch_has_one_arm_and_epochs_double():
    changes = set()
    for seed in range(40):
        arms = play(ExpertsEnv(10, 64), EpochLeader(epsilon=0.1), seed=seed).arms
        changes |= set((np.flatnonzero(np.diff(arms)) + 1).tolist())
    # Counted from 0, the epochs begin at 0, 1, 2, 4, 8, ...
    assert changes == {1, 2, 4, 8, 16, 32}


def test_without_privacy_the_leader_of_the_last_epoch_is_played_and_ties_are_drawn():
    assert weights_after([[0.4, 0.5]], epsilon=math.inf) == [0.0, 1.0]
    assert weights_after([[0.5, 0.5]], epsilon=math.inf) == [1.0, 1.0]
    table = np.tile([0.0, 1.0], (64, 1))
    assert play(ExpertsEnv(gains=GainTable(table)), EpochLeader(epsilon=math.inf)).arms[1:].tolist() == [1] * 63


def test_an_adversary_that_knows_the_epochs_wins():
    """It pays the arms in turns, an epoch each: the leader of an epoch gets nothing in the next, hence no bound."""
    table = np.zeros((256, 2))
    for start in (0, 1, 2, 4, 8, 16, 32, 64, 128):
        epoch = max(start, 1).bit_length() + (start > 0)
        table[start : max(2 * start, 1), epoch % 2] = 1
    leader = {"leader": lambda: EpochLeader(epsilon=4.0)}
    outcome = simulate(lambda: ExpertsEnv(gains=GainTable(table)), leader, trials=20)["leader"]
    # After 8 rounds or more it draws the other arm with probability e^-16 only; all epochs before have 16 rounds.
    # False alarm: 2e-6.
    assert outcome.collected[:, -1].max() <= 16
    assert outcome.external_regret[:, -1].min() > 150


@pytest.mark.parametrize("wrong", [0, -1.0, math.nan])
def test_epsilon_must_be_positive(wrong):
    with refused(ValueError, "epsilon", 0, wrong):
        EpochLeader(epsilon=wrong)
