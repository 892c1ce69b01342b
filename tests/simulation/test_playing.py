"""One game by hand: what `play` writes down, against sums done the slow way; and regret against means that move."""

import functools
import math
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import BanditEnv, compare, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import GainTable, MemoryBounded, Shifting, Stochastic
from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.simulation import Game
from dp_bandit_envs.simulation.engines import always_compiled
from dp_bandit_envs.wrappers import MiniBatchAverage
from tests.tools.both_ways import assert_same
from tests.tools.refusals import refused
from tests.tools.toys import Script

# Every number is a multiple of 1/8, so that sums are exact.
TABLE = np.array([[0.5, 1.0, 0.0], [0.25, 0.0, 1.0], [1.0, 0.125, 0.5], [0.0, 1.0, 0.25], [0.75, 0.5, 1.0]])


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


# ---- dynamic regret: against the best arm of each round


class Aside(gym.ActionWrapper):
    """Not part of the compiled loop."""

    def action(self, action):
        return action


GAME = {"horizon": 700, "n_arms": 3}
GIVEN = {**GAME, "trials": 4, "seed": 6, "checkpoints": 7}


@pytest.mark.parametrize("options", [{"shifts": 4, "gap": 0.5}, {"budget": 5.0}], ids=str)
def test_compiled_games_have_the_dynamic_regret_of_play(options):
    assert_same("DPBandit-Shifting-v0", [*map(make_algorithm, ("DP-KLUCB", "EXP3-tau"))], n_arms=3, **options)
    with always_compiled():
        outcome = simulate(("Shifting", options), "EXP3-tau", **GIVEN)["EXP3-tau"]
    assert outcome.pseudo_regret is None
    assert np.all((outcome.dynamic_regret[:, -1] > outcome.dynamic_regret[:, 0]) & (outcome.dynamic_regret[:, 0] > 0))


def test_games_in_python_have_it_too():
    make = functools.partial(gym.make, "DPBandit-Shifting-v0", horizon=300)
    assert_same(lambda: Aside(make()), [make_algorithm("UCB")], engine="play")


def test_where_means_stay_it_is_the_pseudo_regret():
    with always_compiled():
        outcome = simulate("Stochastic", ["UCB"], **GIVEN)["UCB"]
    assert outcome.engine == "lanes"
    assert outcome.dynamic_regret.tolist() == outcome.pseudo_regret.tolist()
    assert outcome.mean("dynamic_regret").tolist() == outcome.mean("pseudo_regret").tolist()
    game = play("Stochastic", "UCB", seed=6, **GAME)
    assert game.dynamic_regret is game.pseudo_regret


def test_a_summary_and_a_comparison_have_it():
    with always_compiled():
        whole = simulate("Shifting", ["UCB"], **GIVEN)["UCB"]
        summary = simulate("Shifting", ["UCB"], keep="summary", **GIVEN)["UCB"]
    assert summary.last("dynamic_regret").tolist() == whole.dynamic_regret[:, -1].tolist()
    assert summary.mean("dynamic_regret") == pytest.approx(whole.dynamic_regret.mean(axis=0), rel=1e-12)
    with refused(AttributeError, "dynamic_regret", "keep='summary'"):
        _ = summary.dynamic_regret
    compared = compare(["Shifting", "Stochastic"], ["UCB"], horizon=200, trials=2, seed=6)
    moving, still = compared.entries
    assert "dynamic_regret" in moving.measures and "dynamic_regret" not in still.measures
    assert still.values("dynamic_regret").tolist() == still.values("pseudo_regret").tolist()
    assert "UCB" in compared.table(measure="dynamic_regret")


class Coins(NamedTuple):
    """When arms change places."""

    change: int


def certain(state, t, row, rng):
    """Arm 0 pays 1 before the change, and arm 1 from then on."""
    for arm in range(len(row)):
        row[arm] = 1.0 if (arm == 0) == (t < state.change) else 0.0


class Half(RoundByRound):
    """Certain gains that change places after 20 of 50 rounds."""

    next_round = staticmethod(certain)

    def first_round_state(self, rng):
        return Coins(21)

    def means_at(self, rounds):
        return np.column_stack([rounds < 21, rounds >= 21])


def test_an_own_adversary_gives_its_means_by_means_at():
    """Each round with the other arm loses 1; external regret is against arm 1, which pays in 30 of 50 rounds."""
    with always_compiled():
        outcome = simulate(Half(2, 50), ["UCB"], trials=1, seed=1)["UCB"]
    lost = outcome.dynamic_regret[0, -1]
    assert outcome.engine == "compiled" and 0 < lost < 50
    assert (outcome.collected[0, -1], outcome.external_regret[0, -1]) == (50 - lost, 30 - (50 - lost))
    assert play(Half(2, 50), "UCB", seed=1).dynamic_regret[-1] == lost


@pytest.mark.parametrize("wrong", [[0.5, 0.4], [[0.5, 0.4]], [["a", "b"]] * 50, [[math.nan, 0.4]] * 50], ids=str)
def test_means_of_another_shape_or_kind_are_refused(wrong):
    class Wrong(Half):
        def means_at(self, rounds):
            return wrong

    with refused(ValueError, "Wrong.means_at", (50, 2)):
        play(Wrong(2, 50), "UCB")
    with always_compiled(), refused(ValueError, "Wrong.means_at", (50, 2)):
        simulate(Wrong(2, 50), ["UCB"], trials=1)


def test_unknown_means_have_none():
    class Silent(Shifting):
        def means_at(self, rounds):
            return None

        def next_gains(self, rounds):
            return np.full((rounds, self.n_arms), 0.5)

    with always_compiled():
        outcome = simulate(Silent(3, 40), ["UCB"], trials=2, seed=1)["UCB"]
    assert outcome.engine == "compiled" and outcome.dynamic_regret is None
    assert play(Silent(3, 40), "UCB", seed=1).dynamic_regret is None
    with refused(ValueError, "dynamic_regret", "external_regret"):
        outcome.last("dynamic_regret")
    charged = simulate("Switching", ["UCB"], horizon=40, trials=2, seed=1)["UCB"]
    assert charged.dynamic_regret is None
