"""The m-bounded memory adversary: which rounds count, by hand."""

import numpy as np
import pytest

from dp_bandit_envs.adversaries import GainTable, MemoryBounded, Stochastic, SwitchingCost
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from tests.tools.refusals import refused

BY_HAND = [
    # A gain counts if the arm was also played in the m rounds before, or in all of them while there are fewer.
    (0, [0, 0, 1, 1, 1, 0, 2, 2], [1, 1, 1, 1, 1, 1, 1, 1]),
    (1, [0, 0, 1, 1, 1, 0, 2, 2], [1, 1, 0, 1, 1, 0, 0, 1]),
    (2, [0, 0, 1, 1, 1, 0, 2, 2], [1, 1, 0, 0, 1, 0, 0, 0]),
    (2, [0, 1, 1, 1, 1, 1, 0, 1], [1, 0, 0, 1, 1, 1, 0, 0]),  # round 3 still remembers round 1
    (3, [0, 0, 0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0, 1]),
    (100, [1, 1, 1, 1, 0, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0, 0]),  # a switch is never forgotten
]


def rewards(env, arms, seed=0):
    env.reset(seed=seed)
    return [env.step(arm)[1] for arm in arms]


@pytest.mark.parametrize(("memory", "arms", "counts"), BY_HAND)
@pytest.mark.parametrize("block_length", [1, 3, 8])
def test_charges_by_hand(memory, arms, counts, block_length):
    ones = GainTable(np.ones((8, 3)))
    assert rewards(BanditEnv(MemoryBounded(memory=memory, gains=ones), block_length=block_length), arms) == counts


@pytest.mark.parametrize(("memory", "arms", "counts"), BY_HAND)
def test_charges_by_hand_in_a_vector_of_games(memory, arms, counts):
    """The second game stays with arm 2 and pays nothing, so a charge that mixes up games would show."""
    env = BanditVectorEnv(2, MemoryBounded(memory=memory, gains=GainTable(np.ones((8, 3)))))
    env.reset(seed=0)
    seen = np.array([env.step(np.array([arm, 2]))[1] for arm in arms])
    assert seen[:, 0].tolist() == counts
    assert seen[:, 1].tolist() == [1] * 8


def test_a_new_game_forgets_the_last_ones_arms():
    env = BanditEnv(MemoryBounded(memory=1, gains=GainTable(np.ones((4, 2)))))
    assert rewards(env, [0, 0, 0, 0]) == [1, 1, 1, 1]
    assert rewards(env, [1, 1, 0, 0]) == [1, 1, 0, 1]


def test_charged_gain_is_the_tables_own_or_zero():
    table = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]])
    env = BanditEnv(MemoryBounded(memory=1, gains=GainTable(table)))
    assert rewards(env, [0, 1, 1, 0]) == [0.1, 0.0, 0.7, 0.0]
    np.testing.assert_allclose(env.cumulative_gains, [1.0, 3.0], rtol=1e-15)  # before any charge
    assert env.collected == pytest.approx(0.8, rel=1e-15)


def test_memory_one_over_the_walk_is_the_switching_cost_game():
    arms = np.random.default_rng(0).integers(4, size=300).tolist()
    remembering = rewards(BanditEnv(MemoryBounded(horizon=300, memory=1)), arms, seed=9)
    assert remembering == rewards(BanditEnv(SwitchingCost(horizon=300)), arms, seed=9)
    assert 0.0 in remembering


def test_memory_zero_is_the_game_without_a_charge():
    arms = np.random.default_rng(0).integers(4, size=300).tolist()
    plain = rewards(BanditEnv(Stochastic(horizon=300)), arms)
    assert rewards(BanditEnv(MemoryBounded(memory=0, gains=Stochastic(horizon=300))), arms) == plain


def test_the_other_adversary_brings_its_own_size():
    adversary = MemoryBounded(4, 1000, gains=Stochastic(n_arms=7, horizon=50))
    assert (adversary.n_arms, adversary.horizon) == (7, 50)


@pytest.mark.parametrize("memory", [-1, 1.5, "2", None])
def test_memory_must_be_a_number_of_rounds(memory):
    with refused(ValueError, "memory", 0, repr(memory)):
        MemoryBounded(memory=memory)
