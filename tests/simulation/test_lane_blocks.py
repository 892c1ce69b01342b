"""Lanes of any number, in any order and company, in blocks of rounds of any length, play the same games."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.simulation import lanes
from dp_bandit_envs.simulation.lanes import LANES, LaneTrials
from tests.simulation.test_results_do_not_depend_on import assert_equal
from tests.tools.lane_games import Ends, assert_same_columns, assert_same_ends, one_at_a_time, plans_of, side_by_side

HORIZON, SEED = 331, 8
CHECKPOINTS = [1, 6, 7, 8, 64, 224, 330, HORIZON]
PLAYERS = [make_algorithm("DP-EXP3-Lap"), make_algorithm("EXP3-tau", batch_size=7), make_algorithm("UCB")]
GAMES = {"drawn": "DPBandit-Switching-v0", "filled": "DPBandit-Trial-v0"}


@pytest.fixture(scope="module", params=GAMES)
def env(request):
    return gym.make(GAMES[request.param], horizon=HORIZON)


@pytest.fixture(scope="module")
def alone(env):
    return one_at_a_time(env, PLAYERS, SEED, range(40), CHECKPOINTS)


def part_of(ends, trials):
    return Ends([ends.columns[trial] for trial in trials], [ends.games[trial] for trial in trials])


@pytest.mark.parametrize("number", [1, 2, 3, 15, 16, 17, 33])
def test_any_number_of_trials(env, alone, number):
    for first in (0, 5):
        trials = range(first, first + number)
        found = side_by_side(env, PLAYERS, SEED, trials, CHECKPOINTS)
        assert_same_ends(found, part_of(alone, trials))
    assert len({columns["DP-EXP3-Lap"].collected.tobytes() for columns in found.columns}) > 0.8 * number


@pytest.mark.parametrize("trials", [range(39, -1, -1), range(1, 40, 2), range(30, 5, -7), range(39, 40)], ids=str)
def test_any_order_and_any_choice_of_trials(env, alone, trials):
    assert_same_ends(side_by_side(env, PLAYERS, SEED, trials, CHECKPOINTS), part_of(alone, trials))


@pytest.mark.parametrize("pieces", [1, 3, 1000])
@pytest.mark.parametrize("rounds", [0, 1, 7, 64, 100, HORIZON - 1, HORIZON, 10**6])
def test_pieces_and_calls_of_any_length(env, alone, rounds, pieces, monkeypatch):
    """They cut batches, and end before, at and after checkpoints; the shortest is one round."""
    for name in ("NUMBERS_AT_ONCE", "NUMBERS_FILLED"):
        monkeypatch.setattr(lanes, name, rounds * 4 * LANES)
    monkeypatch.setattr(lanes, "ROUNDS_AT_ONCE", pieces * max(rounds, 1) * LANES * len(PLAYERS))
    trials = range(20)
    assert_same_ends(side_by_side(env, PLAYERS, SEED, trials, CHECKPOINTS), part_of(alone, trials))


def test_few_checkpoints_are_a_selection_from_all(env, alone):
    for checkpoints in ([HORIZON], [7, HORIZON]):
        found = side_by_side(env, PLAYERS, SEED, range(18), checkpoints)
        chosen = np.searchsorted(CHECKPOINTS, checkpoints)
        for trial, columns in enumerate(found.columns):
            for name, column in columns.items():
                whole = alone.columns[trial][name]
                fewer = [None if part is None else part[chosen] for part in whole[:-1]]
                assert_same_columns(column, type(whole)(*fewer, whole.pulls), (trial, name))


def test_company_changes_nothing(env, alone):
    for players in (PLAYERS[:1], PLAYERS[::-1]):
        found = side_by_side(env, players, SEED, range(18), CHECKPOINTS)
        for columns, whole in zip(found.columns, alone.columns, strict=False):
            assert list(columns) == [player.name for player in players]
            for name, column in columns.items():
                assert_same_columns(column, whole[name], name)


@pytest.mark.parametrize(
    ("game", "player"),
    [("Stochastic", PLAYERS[0]), ("FullyOblivious", PLAYERS[1]), ("Oblivious", PLAYERS[2])],
    ids=["Stochastic", "FullyOblivious", "Oblivious"],
)
def test_an_algorithm_that_draws_the_gains_itself(game, player):
    env = gym.make(f"DPBandit-{game}-v0", horizon=HORIZON)
    arguments = env, [player], SEED, range(18), CHECKPOINTS
    assert type(env.unwrapped.adversary) in lanes.DRAWN_ALONE
    assert_same_ends(side_by_side(*arguments), one_at_a_time(*arguments))


@pytest.mark.parametrize("horizon", [1, 2, 3, 31, 32, 33])
def test_the_shortest_games(horizon):
    env = gym.make("DPBandit-Stochastic-v0", horizon=horizon)
    players = [*map(make_algorithm, ("EXP3", "UCB")), make_algorithm("Batched-Lap-EXP3", batch_size=min(horizon, 2))]
    arguments = env, players, SEED, range(17), range(1, horizon + 1)
    assert_same_ends(side_by_side(*arguments), one_at_a_time(*arguments))


def test_work_that_was_played_plays_again(env):
    """Games of one block leave nothing behind in the next, nor in the adversary that was given."""
    work = LaneTrials(env.unwrapped.adversary, plans_of(env, PLAYERS, CHECKPOINTS), SEED, np.array(CHECKPOINTS))
    first, *_, again = (work.run_all(range(3)), work.run_all(range(7, 30)), work.run_all(range(3)))
    for name in first:
        assert_same_columns(first[name], again[name])


def test_simulations_of_some_trials_are_those_of_all():
    """The last two of nine trials are too few for lanes, so one engine continues what the other has begun."""
    names, given = ["EXP3", "DP-EXP3-Lap", "EXP3-tau", "UCB"], {"horizon": 200, "seed": 3}
    whole = simulate("DPBandit-Stochastic-v0", names, trials=40, **given)
    for first, trials in ((0, 9), (7, 2), (9, 17), (39, 1)):
        some = simulate("DPBandit-Stochastic-v0", names, trials=trials, first_trial=first, **given)
        assert_equal(whole, some, slice(first, first + trials))
        assert some["EXP3"].engine == some["UCB"].engine == ("lanes" if trials > 2 else "compiled")
