"""A payoff function pays the same played, compiled, on a graph and behind privacy wrappers; and fails the same."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import HybridSums, LaplaceClipRescale, MiniBatchAverage, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import GainTable, MemoryBounded, Stochastic, overfished, stay
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv, GraphVectorEnv
from dp_bandit_envs.errors import BoundaryError, PayoffRangeError
from dp_bandit_envs.simulation import trials as trials_module
from dp_bandit_envs.wrappers import vector
from tests.tools import payoff_functions as functions

ID = "DPBandit-MemoryBounded-v0"
HORIZON = 331  # prime
CURVES = ("external_regret", "policy_regret", "collected", "switches")


def names(payoff):
    return getattr(payoff, "__name__", None)


def assert_same(make_env, algorithms, *, trials=2, engine="compiled"):
    """Compare at every round, so that equal curves leave no room for other arms."""
    every_round = range(1, make_env().unwrapped.horizon + 1)
    simulation = simulate(make_env, algorithms, trials=trials, seed=7, checkpoints=every_round)
    for name, outcome in simulation.items():
        assert outcome.engine == engine, outcome.reason
        for trial in range(trials):
            game = play(make_env(), make_algorithm(name), seed=7, trial=trial)
            for curve in CURVES:
                assert np.array_equal(getattr(outcome, curve)[trial], getattr(game, curve)), (name, curve)
            assert np.array_equal(outcome.pulls[trial], np.bincount(game.arms, minlength=len(outcome.pulls[trial])))
    return simulation


@pytest.mark.parametrize(
    ("payoff", "memory", "observe_charge", "algorithms"),
    [
        (stay, 2, True, ["DP-EXP3-Lap", "UCB"]),
        (overfished, 1, False, ["EXP3", "UCB"]),
        (functions.weighted, 4, True, ["EXP3-tau"]),
        pytest.param(functions.late, 1, True, ["EXP3"], marks=pytest.mark.slow),
        pytest.param(functions.weighted, 0, True, ["EXP3"], marks=pytest.mark.slow),
        pytest.param(functions.helped, 1, True, ["UCB"], marks=pytest.mark.slow),
        pytest.param(functions.repeated, 3, True, ["EXP3"], marks=pytest.mark.slow),
    ],
    ids=names,
)
def test_played_and_compiled_games_are_the_same(monkeypatch, payoff, memory, observe_charge, algorithms):
    monkeypatch.setattr(trials_module, "ROUNDS_AT_ONCE", 100)

    def make_env():
        coins = Stochastic(3, HORIZON, means=(0.7, 0.5, 0.4))
        return gym.make(ID, payoff=payoff, memory=memory, gains=coins, observe_charge=observe_charge)

    assert_same(make_env, algorithms)


@pytest.mark.parametrize(
    ("payoff", "observe_charge", "algorithms"),
    [
        (functions.weighted, True, ["EXP3-SET"]),
        (overfished, True, ["UCB-N", "DP-EXP3-Lap"]),
        (overfished, False, ["EXP3-SET"]),
    ],
    ids=names,
)
def test_on_a_graph_too(payoff, observe_charge, algorithms):
    def make_env():
        gains = MemoryBounded(memory=2, gains=Stochastic(5, HORIZON), payoff=payoff)
        return gym.make("DPBandit-Graph-v0", graph="cycle", gains=gains, observe_charge=observe_charge)

    assert_same(make_env, algorithms)


def test_neighbours_show_what_they_would_have_paid_by_hand():
    rows = np.array([[0.5, 0.25, 1.0], [0.75, 0.5, 0.25]])

    def gains():
        return MemoryBounded(memory=1, gains=GainTable(rows), payoff=overfished)

    env, envs = GraphEnv("complete", gains=gains()), GraphVectorEnv(2, "complete", gains=gains())
    for one in (env, envs):
        one.reset(seed=0)
    # Round 1 takes each arm's own past: only arm 0 finds the water overfished. Round 2 comes after arm 0.
    assert env.step(0)[0]["gain"].tolist() == [0.5 / 4, 0.25, 1.0]
    assert env.step(1)[0]["gain"].tolist() == [0.75 / 4, 0.5 / 4, 0.25 / 4]
    assert envs.step(np.array([0, 1]))[0]["gain"].tolist() == [[0.125, 0.25, 1.0]] * 2
    assert envs.step(np.array([1, 1]))[0]["gain"].tolist() == [[0.1875, 0.125, 0.0625], [0.75, 0.5, 0.25]]
    assert env.sensitivity == envs.sensitivity == 3


@pytest.mark.parametrize(
    "wrapping",
    [
        lambda env: LaplaceClipRescale(env, epsilon=1.0),
        lambda env: MiniBatchAverage(LaplaceClipRescale(env, epsilon=2.0), batch_size=7),
        lambda env: HybridSums(env, epsilon=1.0),
    ],
)
def test_sensitivity_and_guarantee_are_those_of_the_game_without_memory(wrapping):
    plain = wrapping(gym.make("DPBandit-Stochastic-v0", horizon=50))
    paid = wrapping(gym.make(ID, gains=Stochastic(4, 50), memory=3, payoff=functions.weighted))
    assert (paid.sensitivity, paid.guarantee) == (plain.sensitivity, plain.guarantee)


def test_regrets_do_not_depend_on_the_checkpoints():
    arguments = {"payoff": functions.weighted, "memory": 2, "horizon": HORIZON}
    full = simulate(ID, ["EXP3"], checkpoints=range(1, HORIZON + 1), env_kwargs=arguments)["EXP3"]
    few = simulate(ID, ["EXP3"], checkpoints=[10, 200, HORIZON], env_kwargs=arguments)["EXP3"]
    for curve in CURVES:
        assert np.array_equal(getattr(few, curve), getattr(full, curve)[:, [9, 199, HORIZON - 1]])


def test_two_jobs_give_the_games_of_one():
    arguments = {"payoff": functions.weighted, "memory": 2, "horizon": HORIZON}
    one, two = (simulate(ID, ["EXP3"], trials=4, jobs=jobs, env_kwargs=arguments)["EXP3"] for jobs in (1, 2))
    for curve in CURVES:
        assert np.array_equal(getattr(one, curve), getattr(two, curve))


def test_what_cannot_be_compiled_is_played_and_the_reason_says_so():
    """And pays as the function that does the same and can be compiled."""
    outcomes = []
    for payoff in (functions.weighted, functions.interpreted):
        arguments = {"payoff": payoff, "memory": 2, "horizon": HORIZON}
        outcomes.append(simulate(ID, ["EXP3"], env_kwargs=arguments)["EXP3"])
    compiled, played = outcomes
    assert (compiled.engine, played.engine) == ("compiled", "play")
    assert "interpreted, the payoff function of MemoryBounded (payoff_functions.py, line " in played.reason
    for curve in CURVES:
        assert np.array_equal(getattr(compiled, curve), getattr(played, curve))


@pytest.mark.parametrize(
    "payoff",
    [
        functions.too_much,
        functions.negative,
        functions.not_a_number,
        functions.nothing,
        functions.only_constant_play_is_too_much,
    ],
    ids=names,
)
def test_wrong_payoffs_are_refused_by_every_engine_and_withheld_by_a_boundary(payoff):
    def make_env():
        return BanditEnv(MemoryBounded(3, 50, payoff=payoff, memory=1))

    for name in ("EXP3", "DP-EXP3-Lap"):  # who made the game sees the error, which names no number
        with pytest.raises(PayoffRangeError, match="withheld"):
            play(make_env(), make_algorithm(name))
    with pytest.raises(PayoffRangeError, match="withheld"):
        simulate(make_env, ["EXP3"])
    with pytest.raises(BoundaryError, match="withheld") as caught:
        play(LaplaceClipRescale(make_env(), epsilon=1.0), Exp3())
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    envs = vector.LaplaceClipRescale(gym.make_vec(ID, num_envs=2, n_arms=3, horizon=50, payoff=payoff), epsilon=1.0)
    envs.reset(seed=0)
    with pytest.raises(BoundaryError, match="withheld"):
        for _ in range(50):
            envs.step(np.array([0, 1]))


def test_a_compiled_function_must_not_read_beyond_the_arms():
    arguments = {"payoff": functions.beyond_the_arms, "memory": 1, "horizon": 50}
    with pytest.raises(IndexError):
        simulate(ID, ["EXP3"], env_kwargs=arguments)


def writes_gains(gains, arms, t):
    gains[0] = 0.0
    return 0.5


def writes_arms(gains, arms, t):
    arms[0] = 0
    return 0.5


@pytest.mark.parametrize("payoff", [writes_gains, writes_arms], ids=names)
def test_a_compiled_function_cannot_write_to_its_arguments(payoff):
    """All algorithms of a trial share the gains. It does not compile, and when it is played, writing is refused."""
    with pytest.raises(ValueError, match="read-only"):
        simulate(ID, ["EXP3"], env_kwargs={"payoff": payoff, "memory": 1, "horizon": 50})
