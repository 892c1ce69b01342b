"""A game that is named by text and numbers alone is made once: nothing that could change since is ever kept."""

import math

import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, Ledger, compare, play, register_adversary, register_algorithm, simulate
from dp_bandit_envs.adversaries import Replay, Stochastic
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.envs.registration import GAMES
from dp_bandit_envs.simulation import simulation
from dp_bandit_envs.simulation.simulation import MOST_KEPT, is_plain


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(simulation, "_kept_setups", {})
    monkeypatch.setenv("DP_BANDIT_ENVS_COMPILE", "always")


@pytest.fixture
def made(monkeypatch):
    """The arguments of every setup that is made."""
    calls = []
    make = simulation._make_setup
    monkeypatch.setattr(simulation, "_make_setup", lambda *arguments: calls.append(arguments) or make(*arguments))
    return calls


GAME = {"horizon": 40, "checkpoints": 4}


def test_the_second_call_makes_nothing_whatever_its_seed_and_trials(made):
    for seed in range(3):
        for trials in (1, 4):
            results = simulate("Stochastic", ["UCB", "DP-UCB"], seed=seed, trials=trials, **GAME)
            one = play("Stochastic", "DP-UCB", seed=seed, trial=trials - 1, horizon=40)
            assert results["DP-UCB"].external_regret[-1, -1] == one.external_regret[-1]
            assert results.seed == seed
    assert len(made) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"horizon": 41},
        {"checkpoints": 5},
        {"n_arms": 3},
        {"epsilon": 1.0},
        {"env_kwargs": {"means": [0.2, 0.8]}},
        {"env_kwargs": {"means": [0.2, 0.9]}},
    ],
    ids=str,
)
def test_other_arguments_are_another_game(made, other):
    simulate("Stochastic", "DP-UCB", **GAME)
    there = simulate("Stochastic", "DP-UCB", **{**GAME, **other})
    assert len(made) == 2
    simulation._kept_setups.clear()
    again = simulate("Stochastic", "DP-UCB", **{**GAME, **other})
    np.testing.assert_array_equal(there["DP-UCB"].collected, again["DP-UCB"].collected)


def test_what_a_user_writes_into_results_changes_no_later_ones():
    first = simulate("Stochastic", "EXP3", **GAME)
    first.checkpoints[:] = 1
    assert simulate("Stochastic", "EXP3", **GAME).checkpoints.tolist() == [10, 20, 30, 40]


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
    ],
)
def test_only_names_and_numbers_are_kept(environment, algorithm):
    simulate(environment, algorithm, checkpoints=4)
    assert not simulation._kept_setups


def test_data_with_a_ledger_are_counted_for_each_call():
    ledger = Ledger(epsilon=3.0)
    for games in (1, 2, 3):
        simulate(Replay(np.full((20, 2), 0.5), ledger=ledger), "DP-KLUCB", seed=None)
        assert ledger.spent.epsilon == pytest.approx(games, rel=1e-6)
    assert not simulation._kept_setups


def test_what_is_registered_again_is_played_anew():
    class Coins(Stochastic):
        def __init__(self, horizon=40):
            super().__init__(means=[0.0, 1.0], horizon=horizon)

    id_ = register_adversary("KeptCoins", Coins)
    try:
        first = simulate(id_, "UCB", checkpoints=4)["UCB"]
        assert not simulation._kept_setups
        Coins.__init__ = lambda self, horizon=40: Stochastic.__init__(self, means=[1.0, 0.0], horizon=horizon)
        second = simulate(id_, "UCB", checkpoints=4)["UCB"]
        assert first.pulls[0].tolist() == second.pulls[0].tolist()[::-1] != second.pulls[0].tolist()
    finally:
        del GAMES[id_]


def test_an_algorithm_of_a_user_is_not_kept():
    register_algorithm("Kept-EXP3", lambda: Algorithm("Kept-EXP3", Exp3))
    try:
        simulate("Stochastic", ["EXP3", "Kept-EXP3"], **GAME)
        assert not simulation._kept_setups
    finally:
        del ALGORITHMS["Kept-EXP3"]


def test_the_oldest_goes(made):
    for horizon in range(40, 40 + MOST_KEPT + 1):
        simulate("Stochastic", "EXP3", horizon=horizon)
    assert len(simulation._kept_setups) == MOST_KEPT
    simulate("Stochastic", "EXP3", horizon=40)
    assert len(made) == MOST_KEPT + 2


def test_a_large_game_is_not_kept():
    simulate("Stochastic", "EXP3", n_arms=100_000, horizon=1)
    assert not simulation._kept_setups


def test_true_is_not_one(made):
    simulate("Stochastic", "EXP3", horizon=1)
    with pytest.raises(ValueError, match="horizon must be an integer of at least 1; received True"):
        simulate("Stochastic", "EXP3", horizon=True)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (("a", 1, [0.5, None]), True),
        ({"means": [0.1, 0.9]}, True),
        ({"means": [0.1] * 65}, False),
        (np.float64(0.5), False),
        (10**5000, False),
        (np.zeros(2), False),
        ([{"a": math}], False),
    ],
    ids=range(7),
)
def test_plain_arguments(value, plain):
    assert is_plain(value) == plain


def test_a_comparison_keeps_nothing():
    compare("Stochastic", "EXP3", trials=2, horizon=40, progress=False)
    assert not simulation._kept_setups
