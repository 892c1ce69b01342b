"""What `simulate` takes, gives back and refuses, and the rounds at which results are written down."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, make_algorithm, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import UnknownNameError, WrongTypeError
from dp_bandit_envs.simulation import Simulation
from dp_bandit_envs.simulation.simulation import spaced
from tests.tools.refusals import refused

GAME = "DPBandit-Stochastic-v0"


def of_one():
    return BanditEnv(Stochastic(6, 77))


def refusals():
    """Yield what is given in place of, or beside, one round of EXP3, the error, and what it names."""
    for argument in ("horizon", "trials", "jobs"):
        for wrong in (0, -1, 1.5, "3", True):
            yield {argument: wrong}, ValueError, (argument, "integer", 1, wrong)
    for argument, wrong in (
        ("seed", -1),
        ("seed", 0.5),
        ("first_trial", -1),
        ("first_trial", 0.5),
        ("first_trial", None),
    ):
        yield {argument: wrong}, ValueError, (argument, "integer", 0, wrong)
    for wrong in (0, -3, 1.5, "10", True, float("nan")):
        yield {"checkpoints": [wrong]}, ValueError, ("checkpoint", 1, wrong)
    yield {"checkpoints": [2, 6]}, ValueError, ("checkpoints", "horizon", 5, 6)
    yield {"checkpoints": 0}, ValueError, ("checkpoints", 1, 0)
    yield {"checkpoints": -1}, ValueError, ("checkpoints", 1, -1)
    yield {"checkpoints": "cubic"}, ValueError, ("checkpoints", "'linear'", "'log'", "'cubic'")
    for wrong, shown in ((3, "an int"), (Exp3(), "Give Exp3 itself"), (None, "a NoneType")):
        yield {"algorithms": [wrong]}, TypeError, ("name", "Algorithm", shown)
    yield {"at_guarantee": (1.0, 0.0)}, WrongTypeError, ("at_guarantee", "True", "a tuple")
    yield {"at_guarantee": True}, ValueError, ("epsilon", "at_guarantee")
    yield {"epsilon": [0.5, 1]}, WrongTypeError, ("epsilon", [0.5, 1], "compare")
    yield {"epsilon": 1}, ValueError, ("epsilon", "EXP3")
    yield {"delta": 1e-6}, ValueError, ("delta", "EXP3")
    yield {"epsilon": 1, "algorithms": "DP-IMED:epsilon=2"}, ValueError, ("epsilon", "DP-IMED:epsilon=2")
    yield {"env_kwargs": [3]}, WrongTypeError, ("env_kwargs", "dict", "a list")
    twice = "make_algorithm(..., label='another name')"
    yield {"algorithms": ["EXP3", "exp3"]}, ValueError, ("algorithms", "'EXP3'", twice)
    yield {"algorithms": []}, ValueError, ("algorithms", "none")
    yield {"algorithms": ["DP-EXP3-Lab"]}, UnknownNameError, ("algorithm", "'DP-EXP3-Lab'", "DP-EXP3-Lap")
    too_long = [make_algorithm("EXP3-tau", batch_size=19)]
    yield {"algorithms": too_long}, ValueError, ("batch_size", "horizon", 5, 19)
    yield {"env_kwargs": {"horizon": 100}}, ValueError, ("horizon", 5, "once")
    yield {"environment": of_one}, ValueError, ("horizon", "id")
    yield {"environment": of_one, "horizon": None, "env_kwargs": {"n_arms": 3}}, ValueError, ("n_arms", "id")
    cart_pole = {"environment": lambda: gym.make("CartPole-v1"), "horizon": None}
    yield cart_pole, TypeError, ("simulate", "DPBandit", "CartPole-v1")


def test_wrong_arguments_are_refused_by_name():
    for given, error, words in refusals():
        given = {"environment": GAME, "algorithms": ["EXP3"], "horizon": 5, **given}
        if given["horizon"] is None:
            del given["horizon"]
        with refused(error, *words):
            simulate(**given)


def test_a_mapping_names_algorithms_and_agents():
    simulation = simulate(
        GAME, {"base": make_algorithm("EXP3"), "class": Exp3, "made": lambda: Exp3()}, horizon=50, trials=2
    )
    assert list(simulation) == ["base", "class", "made"] and len(simulation) == 3
    alone = simulate(GAME, ["EXP3"], horizon=50, trials=2)["EXP3"]
    assert np.array_equal(simulation["base"].external_regret, alone.external_regret)
    for name in ("class", "made"):
        mine = simulate(GAME, Algorithm(name, Exp3), horizon=50, trials=2)[name]
        assert np.array_equal(simulation[name].external_regret, mine.external_regret)
    for one, name in (("EXP3", "EXP3"), (make_algorithm("Uniform"), "Uniform"), (Algorithm("mine", Uniform), "mine")):
        assert list(simulate(GAME, one, horizon=5)) == [name]


def test_results_are_found_by_exact_name_first_then_in_any_case_and_else_a_near_one_is_named():
    simulation = simulate(GAME, {"mine": Exp3, "MINE": Uniform}, horizon=300, trials=2)
    assert list(simulation) == ["mine", "MINE"]
    assert not np.array_equal(simulation["mine"].pulls, simulation["MINE"].pulls)
    assert np.array_equal(simulation["mine"].pulls, simulate(GAME, {"mine": Exp3}, horizon=300, trials=2)["mine"].pulls)
    simulation = simulate(GAME, ["EXP3", "Uniform"], horizon=5)
    with refused(KeyError, "Uniform"):
        simulation["Unifrom"]
    assert simulation["exp3"] is simulation["EXP3"]
    assert "EXP3" in simulation and "UCB" not in simulation


def test_a_function_makes_the_environment_and_its_horizon_stands():
    simulation = simulate(of_one, ["EXP3"], trials=2)
    assert isinstance(simulation, Simulation)
    assert (simulation.horizon, simulation.n_arms) == (77, 6)
    same = simulate(GAME, ["EXP3"], horizon=77, trials=2, env_kwargs={"n_arms": 6})
    assert np.array_equal(simulation["EXP3"].external_regret, same["EXP3"].external_regret)
    assert simulate("DPBandit-Trial-v0", "EXP3").horizon == 2139


@pytest.mark.thorough
def test_shapes_are_trials_by_checkpoints():
    sizes = {"horizon": np.int64(40), "trials": np.int32(3), "seed": np.uint8(6), "jobs": np.int64(1)}
    simulation = simulate("DPBandit-Oblivious-v0", ["EXP3"], checkpoints=[10, 20], **sizes)
    outcome = simulation["EXP3"]
    for field in ("external_regret", "policy_regret", "pseudo_regret", "collected", "switches"):
        assert getattr(outcome, field).shape == (3, 3)
    assert outcome.pulls.shape == (3, 4)
    assert outcome.pulls.sum(axis=1).tolist() == [40, 40, 40]
    assert (simulation.seed, simulation.n_arms, simulation.horizon) == (6, 4, 40)


def test_spaced_rounds():
    assert spaced(1000, 4).tolist() == [250, 500, 750, 1000]
    # Floors of 10/3 and 20/3, then the horizon itself; short games have every round.
    assert spaced(10, 3).tolist() == [3, 6, 10]
    assert spaced(5, 100).tolist() == [1, 2, 3, 4, 5]
    assert spaced(1000, 4, "log").tolist() == [1, 10, 100, 1000]
    # 99 steps over 6 decades; rounding to integers moves a ratio by less than 1 in 1,000 from round 4,000 on.
    ratios = np.diff(np.log(spaced(10**6, 100, "log")[60:]))
    assert ratios == pytest.approx(6 * np.log(10) / 99, abs=1e-3)
    for horizon in (1, 2, 3, 99, 100, 101, 2139, 2**18):
        for spacing in ("linear", "log"):
            rounds = spaced(horizon, 100, spacing)
            assert rounds[0] >= 1 and rounds[-1] == horizon and len(rounds) <= 100, (horizon, spacing)
            assert np.all(np.diff(rounds) > 0), (horizon, spacing)


def test_checkpoints_have_many_forms_and_are_sorted_made_unique_and_completed():
    for given, expected in (
        *((given, [*range(2, 201, 2)]) for given in (None, "linear")),
        *((given, [50, 100, 150, 200]) for given in (4, np.int64(4))),
        *[([30, 10, 10], [10, 30, 200]), ((7, 9), [7, 9, 200]), (range(100, 201, 100), [100, 200]), ([], [200])],
        *[(np.array([3, 5]), [3, 5, 200]), ("log", spaced(200, 100, "log").tolist())],
    ):
        simulation = simulate(GAME, "Uniform", horizon=200, checkpoints=given)
        assert simulation.checkpoints.tolist() == expected
        assert simulation["Uniform"].external_regret.shape == (1, len(expected))
