"""A payoff function pays the same played, compiled, on a graph and behind privacy wrappers; and fails the same."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import LaplaceClipRescale, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import GainTable, MemoryBounded, Stochastic, overfished, stay
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv, GraphVectorEnv
from dp_bandit_envs.errors import BoundaryError, PayoffRangeError
from dp_bandit_envs.simulation import engines as engines_module
from dp_bandit_envs.wrappers import HybridSums, MiniBatchAverage, vector
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


@pytest.mark.thorough
@pytest.mark.slow_cases(
    "helped-1-True-algorithms4",
    "overfished-1-False-algorithms1",
    "repeated-3-True-algorithms5",
    "weighted-0-True-algorithms3",
    "weighted-4-True-algorithms2",
)
@pytest.mark.parametrize(
    ("payoff", "memory", "observe_charge", "algorithms"),
    [
        (stay, 2, True, ["DP-EXP3-Lap"]),
        (overfished, 1, False, ["EXP3", "UCB"]),
        (functions.weighted, 4, True, ["EXP3-tau"]),
        (functions.weighted, 0, True, ["EXP3"]),
        (functions.helped, 1, True, ["UCB"]),
        (functions.repeated, 3, True, ["EXP3"]),
    ],
    ids=names,
)
def test_played_and_compiled_games_are_the_same(monkeypatch, payoff, memory, observe_charge, algorithms):
    monkeypatch.setattr(engines_module, "ROUNDS_AT_ONCE", 100)

    def make_env():
        coins = Stochastic(3, HORIZON, means=(0.7, 0.5, 0.4))
        return gym.make(ID, payoff=payoff, memory=memory, gains=coins, observe_charge=observe_charge)

    assert_same(make_env, algorithms)


@pytest.mark.thorough
@pytest.mark.slow_cases("overfished-False-algorithms2", "weighted-True-algorithms0")
@pytest.mark.parametrize(
    ("payoff", "observe_charge", "algorithms"),
    [
        (functions.weighted, True, ["EXP3-SET"]),
        (overfished, True, ["UCB-N"]),
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


def test_sensitivity_and_guarantee_are_those_of_the_game_without_memory():
    for wrapping in (
        lambda env: MiniBatchAverage(LaplaceClipRescale(env, epsilon=2.0), batch_size=7),
        lambda env: HybridSums(env, epsilon=1.0),
    ):
        plain = wrapping(gym.make("DPBandit-Stochastic-v0", horizon=50))
        paid = wrapping(gym.make(ID, gains=Stochastic(4, 50), memory=3, payoff=functions.weighted))
        assert (paid.sensitivity, paid.guarantee) == (plain.sensitivity, plain.guarantee)


@pytest.mark.thorough
def test_what_cannot_be_compiled_is_played_and_the_reason_says_so():
    """And pays as the function that does the same and can be compiled; other checkpoints change nothing."""
    given = {"memory": 2, "horizon": HORIZON}
    every, few, played = (
        simulate(ID, ["EXP3"], checkpoints=rounds, env_kwargs={**given, "payoff": payoff})["EXP3"]
        for payoff, rounds in (
            (functions.weighted, range(1, HORIZON + 1)),
            (functions.weighted, [10, 200, HORIZON]),
            (functions.interpreted, range(1, HORIZON + 1)),
        )
    )
    assert (every.engine, played.engine) == ("compiled", "play")
    assert "interpreted, the payoff function of MemoryBounded (payoff_functions.py, line " in played.reason
    for curve in CURVES:
        assert np.array_equal(getattr(every, curve), getattr(played, curve))
        assert np.array_equal(getattr(few, curve), getattr(every, curve)[:, [9, 199, HORIZON - 1]])


@pytest.mark.thorough
@pytest.mark.slow_cases("too_much")
@pytest.mark.parametrize("payoff", [functions.too_much, functions.only_constant_play_is_too_much], ids=names)
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


@pytest.mark.thorough
@pytest.mark.slow_cases("writes_gains-ValueError-read-only")
@pytest.mark.parametrize(
    ("payoff", "error", "match"),
    [
        (functions.writes_gains, ValueError, "read-only"),
        (functions.writes_arms, ValueError, "read-only"),
        (functions.beyond_the_arms, IndexError, None),
    ],
    ids=names,
)
def test_a_function_cannot_write_to_its_arguments_or_read_beyond_the_arms(payoff, error, match):
    """All algorithms of a trial share the gains: what writes does not compile, and when it is played it is refused."""
    arguments = {"payoff": payoff, "memory": 1, "horizon": 50}
    with pytest.raises(error, match=match):
        play(gym.make(ID, **arguments), Exp3())
    with pytest.raises(error, match=match):
        simulate(ID, ["EXP3"], env_kwargs=arguments)
