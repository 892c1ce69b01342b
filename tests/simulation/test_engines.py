"""What is compiled, what falls back to `play`, and that the result says which and why."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit

from dp_bandit_envs import Exp3, LaplaceClipRescale, play, simulate
from dp_bandit_envs.adversaries import GainTable, Stochastic
from dp_bandit_envs.agents import exp3
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.privacy import Mechanism, PrivacyGuarantee
from dp_bandit_envs.simulation.simulation import prepare
from dp_bandit_envs.wrappers import MiniBatchAverage, PrivacyBoundary, RandomizedResponse
from tests.simulation.test_play_equals_simulate import assert_same
from tests.tools.playable import players_for
from tests.tools.refusals import missing

GAME = "DPBandit-Stochastic-v0"


class RoundRobin:
    """An agent that has never heard of this project."""

    def begin(self, *, n_arms, horizon, rng):
        self.n_arms, self.next = n_arms, 0

    def select_arm(self):
        self.next += 1
        return (self.next - 1) % self.n_arms

    def update(self, arm, observation):
        pass


class Exp3WithMemories(Exp3):
    """Made of compilable functions, but it does more."""

    def update(self, arm, observation):
        super().update(arm, observation)
        self.last = arm


class Stubborn(Exp3):
    """`select_arm` is as much a part of an agent as `update`: compiled without it, another agent would play."""

    def select_arm(self):
        return 3


class GenerousEnv(BanditEnv):
    """An environment with a step of its own, which pays twice for nothing."""

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, 2 * reward, *rest


class Swapping(BanditEnv):
    """A reset of one's own may put another adversary in place, which the compiled loop would not notice."""

    def reset(self, **given):
        self.adversary = GainTable(np.tile([0.0, 1.0, 0.0, 0.0], (60, 1)))
        return super().reset(**given)


@pytest.mark.thorough
def test_everything_of_the_project_is_compiled():
    """This is settled before anything is compiled; `assert_same` looks at the engine of what has been played."""
    for env_id in IDS:
        setup = prepare(env_id, players_for(env_id), horizon=20, seed=0, checkpoints=None, env_kwargs=None)
        assert setup.in_threads and setup.reasons == {}
        assert [name for engine in setup.engines for name in engine.games] == list(setup.players)


def in_words(state, arm, gain, rng):
    # Numba knows no dict of such mixed values.
    words = {"gain": [gain]}
    words["arm"] = f"arm {arm}"
    return words["gain"][0] / 2, 1


class InWords(Mechanism):
    """Plain Python that Numba cannot compile."""

    release = staticmethod(in_words)

    def new_state(self, below):
        return exp3.start(below.n_values, 1.0)

    def guarantee(self, below):
        return PrivacyGuarantee.none("a test")


class Louder(LaplaceClipRescale):
    """A boundary with a step of its own."""

    def _advance(self, arm):
        observation, *rest = super()._advance(arm)
        return {**observation, "gain": observation["gain"] / 2}, *rest


def batched(env, batch_size=7):
    return MiniBatchAverage(env, batch_size=batch_size)


def laplace(env, epsilon=2.0):
    return LaplaceClipRescale(env, epsilon=epsilon)


def coins():
    return gym.make(GAME, horizon=60)


def generous():
    return GenerousEnv(Stochastic(4, 60))


def swapping():
    return Swapping(GainTable(np.tile([1.0, 0.0, 0.0, 0.0], (60, 1))))


PLAYED = {
    "an agent": (coins, RoundRobin, lambda env: env, ("RoundRobin",)),
    "an agent that adds to ours": (coins, Exp3WithMemories, lambda env: env, ("Exp3WithMemories", "update")),
    "an agent that chooses arms its own way": (coins, Stubborn, lambda env: env, ("Stubborn", "its own way")),
    "two batches": (coins, Exp3, lambda env: batched(batched(env, 3), 2), ("MiniBatchAverage",)),
    "a wrapper": (coins, Exp3, lambda env: laplace(RecordEpisodeStatistics(env)), ("RecordEpisodeStatistics",)),
    "a mechanism": (coins, Exp3, lambda env: PrivacyBoundary(env, InWords()), ("in_words",)),
    "a boundary": (coins, Exp3, lambda env: Louder(env, epsilon=2.0), ("Louder",)),
    "an environment with its own step": (generous, Exp3, batched, ("GenerousEnv",)),
    "an environment with its own reset": (swapping, Exp3, batched, ("Swapping",)),
}
"""By what is the user's: the game, the agent, its wrappers, and what the reason names."""


@pytest.mark.parametrize("kind", PLAYED)
def test_what_is_not_ours_is_played_and_says_why(kind):
    make, agent, wrap, words = PLAYED[kind]
    player = Algorithm("mine", agent, wrap)
    simulation = simulate(make, [player, "EXP3"], trials=2, seed=9, checkpoints=[7, 30])
    outcome, at = simulation["mine"], np.array([7, 30, 60]) - 1
    assert outcome.engine == "play" and not missing(outcome.reason, *words)
    assert simulation["EXP3"].engine == ("compiled" if make is coins else "play")
    assert kind != "an agent" or outcome.pulls.tolist() == [[15, 15, 15, 15]] * 2
    for trial in range(2):
        game = play(make(), player, seed=9, trial=trial)
        for measure in ("external_regret", "policy_regret", "collected", "switches"):
            assert np.array_equal(getattr(outcome, measure)[trial], getattr(game, measure)[at])
        assert np.array_equal(outcome.pulls[trial], np.bincount(game.arms, minlength=4))


@pytest.mark.thorough
def test_any_number_of_mechanisms_is_compiled():
    def twice(env):
        return laplace(laplace(env), 3.0)

    def five(env):
        return RandomizedResponse(twice(batched(twice(env), 3)), epsilon=4.0)

    assert_same("DPBandit-Stochastic-v0", {}, [Algorithm("five", Exp3, five)])


def test_a_wrapper_around_the_environment_that_was_given_is_seen():
    """What `env_id` makes may bring wrappers of its own; they count like the algorithm's."""

    def private():
        return laplace(coins(), 1.0)

    outcome = simulate(private, ["EXP3"], seed=3, checkpoints=60)["EXP3"]
    assert outcome.engine == "compiled"
    assert np.array_equal(outcome.external_regret[0], play(private(), make_algorithm("EXP3"), seed=3).external_regret)
    assert simulate(lambda: RecordEpisodeStatistics(private()), ["EXP3"])["EXP3"].engine == "play"


def test_a_shorter_time_limit_ends_the_game_or_is_refused():
    """`play` stops at Gymnasium's limit; whatever `simulate` does, it must not report rounds that were not played."""

    def limited():
        return TimeLimit(gym.make(GAME, horizon=60), max_episode_steps=20)

    with pytest.warns(UserWarning, match="20 of its 60"):
        assert len(play(limited(), Exp3()).arms) == 20
    with pytest.raises(ValueError, match=r"horizon|rounds"):
        simulate(limited, ["EXP3"])
