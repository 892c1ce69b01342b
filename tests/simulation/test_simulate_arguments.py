"""What `simulate` takes, gives back and refuses."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, Simulation, Uniform, make_algorithm, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import UnknownNameError, WrongTypeError
from tests.tools.refusals import refused

GAME = "DPBandit-Stochastic-v0"


def test_a_mapping_names_algorithms_and_agents():
    simulation = simulate(
        GAME, {"base": make_algorithm("EXP3"), "class": Exp3, "made": lambda: Exp3()}, horizon=50, trials=2
    )
    assert list(simulation) == ["base", "class", "made"]
    assert len(simulation) == 3
    alone = simulate(GAME, ["EXP3"], horizon=50, trials=2)["EXP3"]
    assert np.array_equal(simulation["base"].external_regret, alone.external_regret)
    for name in ("class", "made"):
        mine = simulate(GAME, Algorithm(name, Exp3), horizon=50, trials=2)[name]
        assert np.array_equal(simulation[name].external_regret, mine.external_regret)


def test_one_algorithm_need_not_be_in_a_list():
    assert list(simulate(GAME, "EXP3", horizon=5)) == ["EXP3"]
    assert list(simulate(GAME, make_algorithm("Uniform"), horizon=5)) == ["Uniform"]


def test_two_settings_are_told_apart_by_their_labels():
    small, large = (make_algorithm("EXP3", exploration_rate=rate, label=f"rate {rate}") for rate in (0.01, 1))
    simulation = simulate(GAME, [small, large], horizon=500, trials=2)
    assert not np.array_equal(simulation["rate 0.01"].pulls, simulation["rate 1"].pulls)


def test_the_same_name_twice_is_refused():
    with refused(ValueError, "algorithms", "'EXP3'", "make_algorithm(..., label='another name')"):
        simulate(GAME, ["EXP3", "exp3"], horizon=5)


def test_names_that_differ_in_case_only_stay_apart():
    """Look-up ignores case for convenience; an exact name must win."""
    simulation = simulate(GAME, {"mine": Exp3, "MINE": Uniform}, horizon=300, trials=2)
    assert list(simulation) == ["mine", "MINE"]
    assert np.array_equal(simulation["mine"].pulls, simulate(GAME, {"mine": Exp3}, horizon=300, trials=2)["mine"].pulls)


def test_no_algorithm_is_refused():
    with refused(ValueError, "algorithms", "none"):
        simulate(GAME, [], horizon=5)


def test_an_unknown_algorithm_suggests_a_near_one():
    with refused(UnknownNameError, "algorithm", "'DP-EXP3-Lab'", "DP-EXP3-Lap"):
        simulate(GAME, ["DP-EXP3-Lab"], horizon=5)


def test_an_unknown_result_suggests_a_near_one():
    simulation = simulate(GAME, ["EXP3", "Uniform"], horizon=5)
    with refused(KeyError, "Uniform"):
        simulation["Unifrom"]
    assert simulation["exp3"] is simulation["EXP3"]
    assert "EXP3" in simulation and "UCB" not in simulation


@pytest.mark.parametrize("wrong", [3, Exp3, Exp3(), None])
def test_what_is_no_algorithm_is_refused(wrong):
    with refused(TypeError, "name", "Algorithm", "{'name': MyAgent}"):
        simulate(GAME, [wrong], horizon=5)


@pytest.mark.parametrize("argument", ["horizon", "trials", "jobs"])
@pytest.mark.parametrize("wrong", [0, -1, 1.5, "3", True])
def test_sizes_must_be_integers_of_at_least_1(argument, wrong):
    with refused(ValueError, argument, "integer", 1, wrong):
        simulate(GAME, "EXP3", **{"horizon": 5, argument: wrong})


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [("seed", -1), ("seed", 0.5), ("first_trial", -1), ("first_trial", 0.5), ("first_trial", None)],
)
def test_numbers_must_be_integers_of_at_least_0(argument, wrong):
    with refused(ValueError, argument, "integer", 0, wrong):
        simulate(GAME, "EXP3", horizon=5, **{argument: wrong})


def test_integers_of_numpy_are_integers():
    simulation = simulate(GAME, "EXP3", horizon=np.int64(5), trials=np.int32(2), seed=np.uint8(1), jobs=np.int64(1))
    assert simulation.horizon == 5 and simulation["EXP3"].external_regret.shape == (2, 5)


def test_a_function_makes_the_environment_and_its_horizon_stands():
    simulation = simulate(lambda: BanditEnv(Stochastic(6, 77)), ["EXP3"], trials=2)
    assert isinstance(simulation, Simulation)
    assert (simulation.horizon, simulation.n_arms) == (77, 6)
    same = simulate(GAME, ["EXP3"], horizon=77, trials=2, env_kwargs={"n_arms": 6})
    assert np.array_equal(simulation["EXP3"].external_regret, same["EXP3"].external_regret)


@pytest.mark.parametrize("given", [{"horizon": 5}, {"env_kwargs": {"n_arms": 3}}])
def test_arguments_go_with_an_id_only(given):
    with refused(ValueError, "horizon", "env_kwargs", "id"):
        simulate(lambda: BanditEnv(Stochastic(6, 77)), ["EXP3"], **given)


def test_other_environments_are_refused():
    with refused(TypeError, "simulate", "DPBandit", "CartPole-v1"):
        simulate(lambda: gym.make("CartPole-v1"), ["EXP3"])


def test_the_default_horizon_is_the_environments():
    assert simulate("DPBandit-Trial-v0", "EXP3").horizon == 2139


def test_shapes_are_trials_by_checkpoints():
    simulation = simulate("DPBandit-Oblivious-v0", ["EXP3"], horizon=40, trials=3, checkpoints=[10, 20], seed=6)
    outcome = simulation["EXP3"]
    for field in ("external_regret", "policy_regret", "pseudo_regret", "collected", "switches"):
        assert getattr(outcome, field).shape == (3, 3)
    assert outcome.pulls.shape == (3, 4)
    assert outcome.pulls.sum(axis=1).tolist() == [40, 40, 40]
    assert (simulation.seed, simulation.n_arms, simulation.horizon) == (6, 4, 40)


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_counts_games_up_to_the_last(jobs):
    class Own(Uniform):
        def update(self, arm, observation):
            super().update(arm, observation)

    calls = []
    algorithms = {"one": make_algorithm("EXP3"), "two": make_algorithm("Uniform"), "own": Own}
    simulate(GAME, algorithms, horizon=20, trials=3, jobs=jobs, progress=lambda *call: calls.append(call))
    # Two algorithms go together in lanes, all trials at once; then the one that is played. Workers end in any order.
    steps = np.diff([0, *(done for done, _ in calls)]).tolist()
    assert (steps if jobs == 1 else sorted(steps, reverse=True)) == [6, 1, 1, 1]
    assert {total for _, total in calls} == {9}


def test_an_algorithm_that_does_not_fit_the_game_says_so():
    with refused(ValueError, "batch_size", "horizon", 5, 19):
        simulate(GAME, [make_algorithm("EXP3-tau", batch_size=19)], horizon=5)


def test_an_algorithm_is_filed_under_its_name():
    assert list(simulate(GAME, [Algorithm("mine", Uniform)], horizon=5)) == ["mine"]


def test_what_makes_no_environment_is_refused():
    with refused(WrongTypeError, "env_id", "OrderEnforcing"):
        simulate(gym.make(GAME), ["EXP3"])


def test_a_horizon_is_given_once():
    with refused(ValueError, "horizon", 50, 100):
        simulate(GAME, ["EXP3"], horizon=50, env_kwargs={"horizon": 100})


@pytest.mark.parametrize("target", [1, 1.0, "1,1e-6", (1.0,), (1.0, 0.0, 0.0)])
def test_a_guarantee_to_compare_at_is_a_pair(target):
    with refused(WrongTypeError, "at_guarantee", "pair", repr(target)):
        simulate("DPBandit-Stochastic-v0", ["DP-IMED"], horizon=10, at_guarantee=target)
