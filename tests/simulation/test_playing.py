"""One game by hand: what `play` writes down, against sums done the slow way."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import play, simulate
from dp_bandit_envs.adversaries import GainTable, MemoryBounded, Stochastic
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.simulation import Game
from dp_bandit_envs.wrappers import MiniBatchAverage
from tests.tools.refusals import refused

# Every number is a multiple of 1/8, so that sums are exact.
TABLE = np.array([[0.5, 1.0, 0.0], [0.25, 0.0, 1.0], [1.0, 0.125, 0.5], [0.0, 1.0, 0.25], [0.75, 0.5, 1.0]])


class Script:
    """Plays a list of arms and remembers what it saw."""

    def __init__(self, arms):
        self.arms = arms

    def begin(self, *, n_arms, horizon, rng):
        self.left, self.seen, self.horizon = list(self.arms), [], horizon

    def select_arm(self):
        return self.left.pop(0)

    def update(self, arm, observation):
        self.seen.append(observation["gain"].tolist())


def test_a_game_by_hand():
    # Arms 0, 2, 2, 1, 0 collect .5, 1, .5, 1, .75. Best arm so far: 1, 1, 1.75 (arm 0), 2.125 (arm 1), 2.75 (arm 2).
    game = play(BanditEnv(GainTable(TABLE)), Script([0, 2, 2, 1, 0]))
    assert isinstance(game, Game)
    assert game.arms.tolist() == [0, 2, 2, 1, 0]
    assert game.gains.tolist() == [0.5, 1.0, 0.5, 1.0, 0.75]
    assert game.collected.tolist() == [0.5, 1.5, 2.0, 3.0, 3.75]
    assert game.external_regret.tolist() == [0.5, -0.5, -0.25, -0.875, -1.0]
    assert game.policy_regret.tolist() == game.external_regret.tolist()
    assert game.switches.tolist() == [0, 1, 1, 2, 3]
    assert game.pseudo_regret is None


@pytest.mark.parametrize("observe_charge", [True, False])
def test_a_game_with_memory_by_hand(observe_charge):
    """With memory 1 rounds 2, 4 and 5 are changes of arm and pay nothing: .5, 0, .5, 0, 0; a charge may be hidden."""
    agent = Script([0, 2, 2, 1, 0])
    env = BanditEnv(MemoryBounded(memory=1, gains=GainTable(TABLE)), observe_charge=observe_charge)
    game = play(env, agent)
    assert game.gains.tolist() == [0.5, 0.0, 0.5, 0.0, 0.0]
    assert agent.seen[1] == [0.0, 0.0, 0.0 if observe_charge else 1.0]
    assert game.external_regret.tolist() == [0.5, 0.5, 0.75, 1.125, 1.75]


def charged(arms, table, memory):
    """Collect by the definition of an m-bounded adversary: the last m + 1 arms (or all so far) must agree."""
    return [table[t, arm] if set(arms[max(0, t - memory) : t + 1]) == {arm} else 0.0 for t, arm in enumerate(arms)]


@pytest.mark.parametrize("memory", [0, 1, 3])
def test_regrets_equal_brute_force(memory):
    """Policy regret by its definition: every constant play is charged as the adversary would charge it."""
    rng = np.random.default_rng(memory)
    table = rng.integers(0, 9, (40, 3)) / 8
    arms = np.repeat(rng.integers(3, size=40), rng.integers(1, 6, 40))[:40].tolist()
    game = play(BanditEnv(MemoryBounded(memory=memory, gains=GainTable(table)), block_length=7), Script(arms))
    gains = charged(arms, table, memory)
    assert game.gains.tolist() == gains
    for t in range(1, 41):
        collected = sum(gains[:t])
        best_fixed = max(sum(table[s, arm] for s in range(t)) for arm in range(3))
        best_constant = max(sum(charged([arm] * t, table, memory)) for arm in range(3))
        assert game.external_regret[t - 1] == best_fixed - collected
        assert game.policy_regret[t - 1] == best_constant - collected


def test_pseudo_regret_counts_means_not_luck():
    # Gaps to the best mean .75 are .5, 0, .25.
    env = BanditEnv(Stochastic(horizon=5, means=[0.25, 0.75, 0.5]))
    game = play(env, Script([0, 1, 2, 2, 0]))
    assert game.pseudo_regret.tolist() == [0.5, 0.5, 0.75, 1.0, 1.5]
    assert set(game.gains.tolist()) <= {0.0, 1.0}


def test_a_batch_plays_its_arm_in_every_round():
    agent = Script([2, 0, 1])
    game = play(MiniBatchAverage(BanditEnv(GainTable(TABLE)), batch_size=2), agent)
    # Two steps of two rounds; the last round of five is played in a third step, and never released.
    assert agent.horizon == 2
    assert game.arms.tolist() == [2, 2, 0, 0, 1]
    assert agent.seen == [[0.0, 0.0, 0.5], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]


def test_wrong_arguments_are_refused():
    for argument in ("seed", "trial"):
        with refused(ValueError, argument, 0, -1):
            play(BanditEnv(GainTable(TABLE)), Script([0] * 5), **{argument: -1})
    with refused(TypeError, "play", "DPBandit", "CartPole-v1"):
        play(gym.make("CartPole-v1"), Script([0]))


def test_an_environment_can_be_played_again_and_after_an_error():
    env = BanditEnv(GainTable(TABLE))
    first = play(env, Script([0, 2, 2, 1, 0]))
    with pytest.raises(IndexError):
        play(env, Script([0, 1]))
    with refused(ValueError, "arm", "[0, 2]", 3):
        play(env, Script([3]))
    again = play(env, Script([0, 2, 2, 1, 0]))
    assert np.array_equal(first.external_regret, again.external_regret)
    assert len(again.arms) == 5


def test_simulate_against_brute_force():
    """The compiled loop on the table above, with the arms read off from the counts of pulls at every round."""
    rng = np.random.default_rng(3)
    table = rng.integers(0, 9, (60, 3)) / 8
    simulation = simulate(
        lambda: BanditEnv(MemoryBounded(memory=2, gains=GainTable(table))), ["EXP3-tau", "EXP3"], checkpoints=60
    )
    for outcome, tau in ((simulation["EXP3-tau"], 2), (simulation["EXP3"], 1)):
        differences = np.diff(outcome.collected[0], prepend=0.0)
        # A round that pays names its arm wherever the table's row has no equal numbers.
        for t, gain in enumerate(differences):
            assert gain == 0.0 or gain in table[t]
        best = np.cumsum(table, axis=0).max(axis=1)
        assert np.array_equal(outcome.external_regret[0], best - np.cumsum(differences))
        assert tau == 1 or outcome.switches[0, -1] <= 60 / tau
