"""What is compiled, what falls back to `play`, and that the result says which and why."""
# ruff: noqa: D102 (the methods of a stand-in do what the protocol says)

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit

from dp_bandit_envs import Exp3, LaplaceClipRescale, MiniBatchAverage, RandomizedResponse, play, simulate
from dp_bandit_envs.adversaries import GainTable, Stochastic
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents import exp3 as exp3_module
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.simulation.simulation import prepare
from tests.simulation.test_play_equals_simulate import assert_same
from tests.tools.playable import BANDITS, players_for
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


def always_the_next(state, rng):
    return state.arm


def the_next(state, arm, seen):
    return exp3_module.State(state.scores, state.weights, state.reference + 1.0, state.exploration_rate)


def by_reference(state, rng):
    return int(state.reference) % len(state.scores)


class OwnFunctions(FunctionalAgent):
    """Compilable functions that are not the project's own."""

    functions = Functions(by_reference, the_next)

    def initial_state(self, n_arms, horizon):
        return exp3_module.start(n_arms, 1.0)


class GenerousEnv(BanditEnv):
    """An environment with a step of its own, which pays twice for nothing."""

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, 2 * reward, *rest


def test_everything_of_the_project_is_compiled():
    """This is settled before anything is compiled; `assert_same` looks at the engine of what has been played."""
    for env_id in IDS:
        prepared = prepare(env_id, players_for(env_id), horizon=20, seed=0, checkpoints=None, env_kwargs=None)
        assert prepared.in_threads and prepared.reasons == {}
        assert [name for work in prepared.works for name in work.plans] == list(prepared.players)


def assert_falls_back(algorithm, *words, env_id=GAME, make_env=None, horizon=60):
    given = {"horizon": horizon} if make_env is None else {}
    simulation = simulate(make_env or env_id, [algorithm, "EXP3"], trials=2, seed=9, checkpoints=[7, 30], **given)
    outcome = simulation[algorithm.name]
    assert outcome.engine == "play"
    assert not missing(outcome.reason, *words)
    for trial in range(2):
        env = gym.make(env_id, horizon=horizon) if make_env is None else make_env()
        game = play(env, algorithm, seed=9, trial=trial)
        at = np.array([7, 30, 60]) - 1
        assert np.array_equal(outcome.external_regret[trial], game.external_regret[at])
        assert np.array_equal(outcome.policy_regret[trial], game.policy_regret[at])
        assert np.array_equal(outcome.collected[trial], game.collected[at])
        assert np.array_equal(outcome.switches[trial], game.switches[at])
        assert np.array_equal(outcome.pulls[trial], np.bincount(game.arms, minlength=4))
    return simulation


def test_your_own_agent_is_played():
    simulation = assert_falls_back(Algorithm("mine", RoundRobin), "RoundRobin")
    assert simulation["mine"].pulls.tolist() == [[15, 15, 15, 15]] * 2
    assert simulation["EXP3"].engine == "compiled"


def test_an_agent_that_adds_to_compilable_functions_is_played():
    assert_falls_back(Algorithm("mine", Exp3WithMemories), "Exp3WithMemories", "update")


def test_an_agent_that_chooses_arms_its_own_way_is_never_compiled():
    """`select_arm` is as much a part of an agent as `update`: compiled without it, another agent would play."""

    class Stubborn(Exp3):
        def select_arm(self):
            return 3

    outcome = simulate(GAME, {"stubborn": Stubborn}, horizon=40)["stubborn"]
    assert outcome.pulls.tolist() == [[0, 0, 0, 40]]
    assert outcome.engine == "play"


def test_any_number_of_mechanisms_is_compiled():
    def twice(env):
        return LaplaceClipRescale(LaplaceClipRescale(env, epsilon=2.0), epsilon=3.0)

    def four(env):
        return RandomizedResponse(twice(MiniBatchAverage(twice(env), batch_size=3)), epsilon=4.0)

    assert_same("DPBandit-Stochastic-v0", {}, [Algorithm("twice", Exp3, twice), Algorithm("four", Exp3, four)])


def test_two_batches_are_played():
    def twice(env):
        return MiniBatchAverage(MiniBatchAverage(env, batch_size=3), batch_size=2)

    assert_falls_back(Algorithm("twice", Exp3, twice), "MiniBatchAverage")


def test_a_wrapper_of_gymnasium_in_between_is_played():
    def counted(env):
        return LaplaceClipRescale(RecordEpisodeStatistics(env), epsilon=2.0)

    assert_falls_back(Algorithm("counted", Exp3, counted), "RecordEpisodeStatistics")


def test_a_subclass_of_a_privacy_wrapper_is_played():
    class Louder(LaplaceClipRescale):
        def _advance(self, arm):
            observation, *rest = super()._advance(arm)
            return {**observation, "gain": observation["gain"] / 2}, *rest

    assert_falls_back(Algorithm("louder", Exp3, lambda env: Louder(env, epsilon=2.0)), "Louder")


def test_an_environment_with_its_own_step_is_played():
    def make():
        return GenerousEnv(Stochastic(4, 60))

    assert_falls_back(
        Algorithm("batched", Exp3, lambda env: MiniBatchAverage(env, batch_size=7)), "GenerousEnv", make_env=make
    )
    assert {outcome.engine for outcome in simulate(make, BANDITS).values()} == {"play"}


def test_an_environment_with_its_own_reset_is_never_compiled():
    """A reset of one's own may put another adversary in place, which the compiled loop would not notice."""

    class Swapping(BanditEnv):
        def reset(self, **given):
            self.adversary = GainTable(np.tile([0.0, 1.0], (30, 1)))
            return super().reset(**given)

    def make():
        return Swapping(GainTable(np.tile([1.0, 0.0], (30, 1))))

    outcome = simulate(make, ["Uniform"])["Uniform"]
    game = play(make(), make_algorithm("Uniform"))
    assert np.array_equal(outcome.collected[0, -1], game.collected[-1])


def test_a_wrapper_around_the_environment_that_was_given_is_seen():
    """What `env_id` makes may bring wrappers of its own; they count like the algorithm's."""

    def private():
        return LaplaceClipRescale(gym.make(GAME, horizon=60), epsilon=1.0)

    assert simulate(private, ["EXP3"])["EXP3"].engine == "compiled"
    lap = LaplaceClipRescale(gym.make(GAME, horizon=60), epsilon=1.0)
    game = play(lap, make_algorithm("EXP3"), seed=3)
    assert np.array_equal(
        simulate(private, ["EXP3"], seed=3, checkpoints=60)["EXP3"].external_regret[0], game.external_regret
    )
    assert simulate(lambda: RecordEpisodeStatistics(private()), ["EXP3"])["EXP3"].engine == "play"


def test_a_shorter_time_limit_ends_the_game_or_is_refused():
    """`play` stops at Gymnasium's limit; whatever `simulate` does, it must not report rounds that were not played."""

    def limited():
        return TimeLimit(gym.make(GAME, horizon=60), max_episode_steps=20)

    with pytest.warns(UserWarning, match="20 of its 60"):
        assert len(play(limited(), Exp3()).arms) == 20
    with pytest.raises(ValueError, match=r"horizon|rounds"):
        simulate(limited, ["EXP3"])


def test_functions_of_your_own_are_compiled_and_equal_to_play():
    outcome = simulate(GAME, {"mine": OwnFunctions}, horizon=50, trials=2, checkpoints=50)["mine"]
    assert outcome.engine == "compiled"
    game = play(gym.make(GAME, horizon=50), OwnFunctions(), trial=1)
    assert game.arms[:6].tolist() == [0, 1, 2, 3, 0, 1]
    assert np.array_equal(outcome.external_regret[1], game.external_regret)


def test_all_engines_meet_the_same_gains():
    """Regret plus gains collected is the best arm's total: the same for all players of a trial, and it varies."""
    simulation = simulate(GAME, [*BANDITS, Algorithm("mine", RoundRobin)], horizon=200, trials=4)
    engines = {outcome.engine for outcome in simulation.values()}
    assert engines == {"lanes", "compiled", "play"}
    best = [outcome.external_regret + outcome.collected for outcome in simulation.values()]
    assert all(np.allclose(total, best[0], rtol=0, atol=1e-9) for total in best)
    assert len(set(best[0][:, -1])) > 1


def test_every_outcome_carries_its_guarantee():
    simulation = simulate(GAME, ["DP-EXP3-Lap", "EXP3-tau", "Uniform"], horizon=1000)
    for name, outcome in simulation.items():
        assert outcome.guarantee == make_algorithm(name).guarantee(n_arms=4, horizon=1000)
    assert simulation["DP-EXP3-Lap"].guarantee.epsilon == 1.0
