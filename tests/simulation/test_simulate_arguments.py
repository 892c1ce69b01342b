"""What `simulate` takes, gives back, refuses, and keeps: only games that are named by text and numbers alone."""

import itertools
import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Exp3, Ledger, compare, make_algorithm, play, register_adversary, register_algorithm, simulate
from dp_bandit_envs.adversaries import Replay, Stochastic
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import UnknownNameError, WrongTypeError
from dp_bandit_envs.simulation import Simulation, simulation
from dp_bandit_envs.simulation.simulation import MOST_KEPT, is_plain, spaced
from tests.tools.refusals import refused

GAME = "DPBandit-Stochastic-v0"


def of_one():
    return BanditEnv(Stochastic(6, 77))


def refusals():
    """Yield what is given in place of, or beside, one round of EXP3, the error, and what it names."""
    for argument in ("horizon", "trials", "jobs"):
        for wrong in (0, -1, 1.5, "3", True):
            yield {argument: wrong}, ValueError, (argument, "integer", 1, wrong)
    for argument, wrong in (*itertools.product(("seed", "first_trial"), (-1, 0.5)), ("first_trial", None)):
        yield {argument: wrong}, ValueError, (argument, "integer", 0, wrong)
    for wrong in (0, -3, 1.5, "10", True, float("nan")):
        yield {"checkpoints": [wrong]}, ValueError, ("checkpoint", 1, wrong)
    yield {"checkpoints": [2, 6]}, ValueError, ("checkpoints", "horizon", 5, 6)
    for wrong in (0, -1):
        yield {"checkpoints": wrong}, ValueError, ("checkpoints", 1, wrong)
    yield {"checkpoints": "cubic"}, ValueError, ("checkpoints", "'linear'", "'log'", "'cubic'")
    for wrong, shown in ((3, "an int"), (Exp3(), "Give Exp3 itself"), (None, "a NoneType")):
        yield {"algorithms": [wrong]}, TypeError, ("name", "Algorithm", shown)
    yield {"at_guarantee": (1.0, 0.0)}, WrongTypeError, ("at_guarantee", "True", "a tuple")
    yield {"at_guarantee": True}, ValueError, ("epsilon", "at_guarantee")
    yield {"epsilon": [0.5, 1]}, WrongTypeError, ("epsilon", [0.5, 1], "compare")
    for argument, wrong in (("epsilon", 1), ("delta", 1e-6)):
        yield {argument: wrong}, ValueError, (argument, "EXP3")
    yield {"epsilon": 1, "algorithms": "DP-IMED:epsilon=2"}, ValueError, ("epsilon", "DP-IMED:epsilon=2")
    yield {"progress": True}, TypeError, ("progress", "True", "compare")
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
        with refused(error, *words):
            simulate(**{name: value for name, value in given.items() if (name, value) != ("horizon", None)})


def test_a_mapping_names_algorithms_and_agents():
    results = simulate(
        GAME, {"base": make_algorithm("EXP3"), "class": Exp3, "made": lambda: Exp3()}, horizon=50, trials=2
    )
    assert list(results) == ["base", "class", "made"] and len(results) == 3
    alone = simulate(GAME, ["EXP3"], horizon=50, trials=2)["EXP3"]
    assert np.array_equal(results["base"].external_regret, alone.external_regret)
    for name in ("class", "made"):
        mine = simulate(GAME, Algorithm(name, Exp3), horizon=50, trials=2)[name]
        assert np.array_equal(results[name].external_regret, mine.external_regret)
    for one, name in (("EXP3", "EXP3"), (make_algorithm("Uniform"), "Uniform"), (Algorithm("mine", Uniform), "mine")):
        assert list(simulate(GAME, one, horizon=5)) == [name]


def test_results_are_found_by_exact_name_first_then_in_any_case_and_else_a_near_one_is_named():
    results = simulate(GAME, {"mine": Exp3, "MINE": Uniform}, horizon=300, trials=2)
    assert list(results) == ["mine", "MINE"]
    assert not np.array_equal(results["mine"].pulls, results["MINE"].pulls)
    assert np.array_equal(results["mine"].pulls, simulate(GAME, {"mine": Exp3}, horizon=300, trials=2)["mine"].pulls)
    results = simulate(GAME, ["EXP3", "Uniform"], horizon=5)
    with refused(KeyError, "Uniform"):
        results["Unifrom"]
    assert results["exp3"] is results["EXP3"]
    assert "EXP3" in results and "UCB" not in results


def test_a_function_makes_the_environment_and_its_horizon_stands():
    results = simulate(of_one, ["EXP3"], trials=2)
    assert isinstance(results, Simulation)
    assert (results.horizon, results.n_arms) == (77, 6)
    same = simulate(GAME, ["EXP3"], horizon=77, trials=2, env_kwargs={"n_arms": 6})
    assert np.array_equal(results["EXP3"].external_regret, same["EXP3"].external_regret)
    assert simulate("DPBandit-Trial-v0", "EXP3").horizon == 2139


@pytest.mark.thorough
def test_shapes_are_trials_by_checkpoints():
    sizes = {"horizon": np.int64(40), "trials": np.int32(3), "seed": np.uint8(6), "jobs": np.int64(1)}
    results = simulate("DPBandit-Oblivious-v0", ["EXP3"], checkpoints=[10, 20], **sizes)
    outcome = results["EXP3"]
    for field in ("external_regret", "policy_regret", "pseudo_regret", "collected", "switches"):
        assert getattr(outcome, field).shape == (3, 3)
    assert outcome.pulls.shape == (3, 4)
    assert outcome.pulls.sum(axis=1).tolist() == [40, 40, 40]
    assert (results.seed, results.n_arms, results.horizon) == (6, 4, 40)


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
        results = simulate(GAME, "Uniform", horizon=200, checkpoints=given)
        assert results.checkpoints.tolist() == expected
        assert results["Uniform"].external_regret.shape == (1, len(expected))


# ---- games that are kept
@pytest.fixture
def made(monkeypatch):
    """The arguments of every setup that is made."""
    calls = []
    make = simulation._make_setup
    monkeypatch.setattr(simulation, "_make_setup", lambda *arguments: calls.append(arguments) or make(*arguments))
    return calls


FORTY = {"horizon": 40, "checkpoints": 4}


def test_the_second_call_makes_nothing_whatever_its_seed_and_trials(made):
    for seed in range(3):
        for trials in (1, 4):
            results = simulate("Stochastic", ["UCB", "DP-UCB"], seed=seed, trials=trials, **FORTY)
            one = play("Stochastic", "DP-UCB", seed=seed, trial=trials - 1, horizon=40)
            assert results["DP-UCB"].external_regret[-1, -1] == one.external_regret[-1]
            assert results.seed == seed
    assert len(made) == 1


OTHERS = [{"horizon": 41}, {"checkpoints": 5}, {"n_arms": 3}, {"epsilon": 1.0}]
OTHERS += [{"env_kwargs": {"means": [0.2, mean]}} for mean in (0.8, 0.9)]


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_other_arguments_are_another_game(made, other):
    simulate("Stochastic", "DP-UCB", **FORTY)
    there = simulate("Stochastic", "DP-UCB", **{**FORTY, **other})
    assert len(made) == 2
    simulation._kept_setups.clear()
    again = simulate("Stochastic", "DP-UCB", **{**FORTY, **other})
    np.testing.assert_array_equal(there["DP-UCB"].collected, again["DP-UCB"].collected)


def test_what_a_user_writes_into_results_changes_no_later_ones():
    first = simulate("Stochastic", "EXP3", **FORTY)
    first.checkpoints[:] = 1
    assert simulate("Stochastic", "EXP3", **FORTY).checkpoints.tolist() == [10, 20, 30, 40]


@pytest.mark.parametrize(
    ("environment", "algorithm"),
    [
        pytest.param(Stochastic(means=[0.2, 0.8], horizon=40), "EXP3", id="an adversary"),
        pytest.param("Stochastic", Exp3, id="a class"),
        pytest.param("Stochastic", Algorithm("EXP3", Exp3), id="an algorithm"),
        pytest.param("Trial", "EXP3", id="real data"),
        pytest.param("Replay", "EXP3", id="a made-up table, of which a warning tells"),
        pytest.param(("Replay", {"gains": [[0.0, 1.0]] * 40}), "EXP3", id="a table"),
        pytest.param("Graph:graph=cycle,n_arms=4", "EXP3", id="text that may name a file"),
        pytest.param("Stochastic:n_arms=100_000,horizon=4", "EXP3", id="a large game"),
    ],
)
def test_only_names_and_numbers_of_small_games_are_kept(environment, algorithm):
    simulate(environment, algorithm, checkpoints=4)
    assert not simulation._kept_setups


def test_data_with_a_ledger_are_counted_for_each_call():
    ledger = Ledger(epsilon=3.0)
    for games in (1, 2, 3):
        simulate(Replay(np.full((20, 2), 0.5), ledger=ledger), "DP-KLUCB", seed=None)
        assert ledger.spent.epsilon == pytest.approx(games, rel=1e-6) and not simulation._kept_setups


def test_what_is_registered_again_is_played_anew():
    class Coins(Stochastic):
        def __init__(self, horizon=40):
            super().__init__(means=[0.0, 1.0], horizon=horizon)

    id_ = register_adversary("KeptCoins", Coins)
    first = simulate(id_, "UCB", checkpoints=4)["UCB"]
    assert not simulation._kept_setups
    Coins.__init__ = lambda self, horizon=40: Stochastic.__init__(self, means=[1.0, 0.0], horizon=horizon)
    second = simulate(id_, "UCB", checkpoints=4)["UCB"]
    assert first.pulls[0].tolist() == second.pulls[0].tolist()[::-1] != second.pulls[0].tolist()


def test_no_algorithm_of_a_user_and_no_comparison_is_kept():
    register_algorithm("Kept-EXP3", lambda: Algorithm("Kept-EXP3", Exp3))
    simulate("Stochastic", ["EXP3", "Kept-EXP3"], **FORTY)
    compare("Stochastic", "EXP3", trials=2, horizon=40, progress=False)
    assert not simulation._kept_setups


def test_true_is_not_one():
    simulate("Stochastic", "EXP3", horizon=1)
    with refused(ValueError, "horizon", 1, True):
        simulate("Stochastic", "EXP3", horizon=True)


def test_the_oldest_goes(made):
    for horizon in range(40, 40 + MOST_KEPT + 1):
        simulate("Stochastic", "EXP3", horizon=horizon)
    assert len(simulation._kept_setups) == MOST_KEPT
    simulate("Stochastic", "EXP3", horizon=40)
    assert len(made) == MOST_KEPT + 2


def test_plain_arguments():
    for value in (("a", 1, [0.5, None]), {"means": [0.1, 0.9]}):
        assert is_plain(value)
    for value in ({"means": [0.1] * 65}, np.float64(0.5), 10**5000, np.zeros(2), [{"a": math}]):
        assert not is_plain(value)
