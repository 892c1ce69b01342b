"""Games side by side are those one at a time, and those of `play`, to the last bit, in blocks of any length."""

import functools
import math
from types import FunctionType

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Exp3, LaplaceClipRescale, make_algorithm, play
from dp_bandit_envs.adversaries import MemoryBounded, Replay, Stochastic
from dp_bandit_envs.agents import Hedge, Ucb, Uniform
from dp_bandit_envs.agents.exp3 import MOST_AHEAD
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.simulation import engines, lanes
from dp_bandit_envs.simulation.compiled_game import make_compiled_game
from dp_bandit_envs.simulation.lanes import LANES, LaneSupport, supports
from dp_bandit_envs.simulation.results import TrialResults
from dp_bandit_envs.wrappers import ExactSums, MiniBatchAverage, RandomizedResponse
from tests.simulation.test_play_equals_simulate import ORDERS, LastBit
from tests.tools.lane_games import Ends, assert_same_columns, assert_same_ends, one_at_a_time, side_by_side

SEED = 20170208
# Prime: no batch ends with it.
HORIZON = 701


def bandits(epsilon=1.0):
    """Return algorithms in whose games something happens within some hundred rounds."""
    return [
        make_algorithm("EXP3"),
        make_algorithm("EXP3", exploration_rate=1.0, label="rate 1"),
        make_algorithm("DP-EXP3-Lap", epsilon=epsilon),
        make_algorithm("DP-Lambda-Lap", epsilon=epsilon, base="Uniform"),
        make_algorithm("EXP3-tau", batch_size=7),
        make_algorithm("UCB"),
        Algorithm("UCB on noisy bits", lambda: Ucb(exploration=0.5, log_factor=3), lambda env: bits(env, epsilon)),
        Algorithm(
            "pairs at rate 1", lambda: Exp3(exploration_rate=1.0), lambda env: MiniBatchAverage(env, batch_size=2)
        ),
        make_algorithm("Batched-Lap-EXP3", epsilon=epsilon),
        make_algorithm("Uniform"),
    ]


def experts(epsilon=1.0):
    """Return algorithms for games that reveal all gains."""
    return [
        make_algorithm("Hedge"),
        make_algorithm("DP-Hedge", epsilon=epsilon),
        # Its scores move by 50 every ten rounds or so, and then all weights are taken afresh.
        Algorithm("fast Hedge", lambda: Hedge(learning_rate=5.0), ExactSums),
        Algorithm("noisy Hedge", lambda: Hedge(learning_rate=2.0), lambda env: ExactSums(noisy(env, epsilon))),
        Algorithm("batched Hedge", Hedge, lambda env: ExactSums(MiniBatchAverage(env, batch_size=5))),
        *bandits(epsilon)[-2:],
    ]


def noisy(env, epsilon):
    return LaplaceClipRescale(env, epsilon=epsilon)


def bits(env, epsilon):
    return ExactSums(RandomizedResponse(MiniBatchAverage(env, batch_size=3), epsilon=epsilon))


def assert_same_three_ways(make, algorithms, trials=range(3)):
    """Compare at every round, so that equal curves leave no room for other arms; return the lanes' games."""
    env = make()
    for algorithm in algorithms:
        assert supports(make_compiled_game(algorithm, env)), algorithm.name
    every_round = np.arange(1, env.unwrapped.horizon + 1)
    found = side_by_side(env, algorithms, SEED, trials, every_round)
    assert_same_ends(found, one_at_a_time(env, algorithms, SEED, trials, every_round))
    for columns, trial in zip(found.columns, trials, strict=True):
        for algorithm in algorithms:
            game = play(make(), algorithm, seed=SEED, trial=trial)
            assert_same_columns(columns[algorithm.name], trial_results(game))
    return found


def trial_results(game):
    """Return the column of a game of `play`; the pulls of all arms but those at the end are in the pseudo-regret."""
    pulls = np.bincount(game.arms, minlength=game.n_plays)
    return TrialResults(
        game.external_regret, game.policy_regret, game.pseudo_regret, game.collected, game.switches, pulls
    )


def made(name, horizon=HORIZON, **options):
    return functools.partial(gym.make, f"DPBandit-{name}-v0", horizon=horizon, **options)


GAMES = {
    **{
        name: made(name, n_arms=4)
        for name in ("Deterministic", "Stochastic", "FullyOblivious", "Oblivious", "Switching", "MemoryBounded")
    },
    "Switching, charge hidden": made("Switching", n_arms=4, observe_charge=False),
    "memory 0": made("MemoryBounded", n_arms=4, memory=0, observe_charge=False),
    "memory 1": made("MemoryBounded", n_arms=4, memory=1, observe_charge=False),
    "memory 3": made("MemoryBounded", n_arms=4, memory=3),
    "memory around coins": lambda: BanditEnv(MemoryBounded(memory=2, gains=Stochastic(4, HORIZON))),
    # Adversaries without a function of a round.
    "Trial": made("Trial"),
    "Linear": made("Linear", n_arms=4),
    "Replay": made("Replay", gains=np.random.default_rng(1).random((HORIZON, 4))),
    "memory around a table": lambda: BanditEnv(MemoryBounded(gains=Replay(np.eye(4)[np.arange(HORIZON) % 4]))),
}
FULL_INFORMATION = {
    "Experts": made("Experts", n_arms=4),
    "Experts with a charge": made("Experts", gains="Switching", n_arms=4),
    "Experts with a hidden charge": made("Experts", gains="Switching", n_arms=4, observe_charge=False),
}


FULL = ("Stochastic", "Switching, charge hidden", "Trial")
"""Games in which all algorithms play: coins, gains with a memory, and a table; in the others those of `SOME` do."""
SOME = ("DP-EXP3-Lap", "EXP3-tau", "UCB on noisy bits")


def reference(game, name, place=0):
    """Return what the weights of EXP3 or Hedge are relative to; it moves when all of them are taken afresh."""
    return np.frombuffer(game[name]["state[2]"])[place]


@pytest.mark.thorough
@pytest.mark.parametrize("game", GAMES)
def test_lanes_one_at_a_time_and_play_are_the_same_games(game):
    chosen = [one for one in bandits() if game in FULL or one.name in SOME]
    found = assert_same_three_ways(GAMES[game], chosen)
    if game == "Stochastic":  # or it would say nothing of `tidy`
        assert all(reference(one, "rate 1") >= MOST_AHEAD for one in found.games)


@pytest.mark.slow
@pytest.mark.parametrize("game", [game for game in GAMES if game not in FULL])
def test_they_are_for_every_other_algorithm(game):
    assert_same_three_ways(GAMES[game], [one for one in bandits() if one.name not in SOME])


@pytest.mark.thorough
@pytest.mark.parametrize("game", FULL_INFORMATION)
def test_they_are_where_all_gains_are_revealed(game):
    some = ("DP-Hedge", "batched Hedge", *(("fast Hedge",) if game == "Experts" else ()))
    chosen = [one for one in experts() if one.name in some]
    found = assert_same_three_ways(FULL_INFORMATION[game], chosen)
    if game == "Experts":  # its sums are taken afresh
        assert all(reference(one, "fast Hedge", 1) > 100 for one in found.games)


@pytest.mark.thorough
@pytest.mark.slow_cases("16")
@pytest.mark.parametrize("n_arms", [2, pytest.param(8, marks=pytest.mark.slow), 16])
def test_they_are_with_few_and_many_arms(n_arms):
    chosen = [one for one in bandits() if one.name in ("pairs at rate 1", "UCB")]
    found = assert_same_three_ways(made("FullyOblivious", n_arms=n_arms), chosen)
    # All arms are played, and each again; of two arms, weights are rescaled after 32 batches.
    assert all(columns["UCB"].pulls.min() > 1 for columns in found.columns)
    assert n_arms > 2 or all(reference(one, "pairs at rate 1") >= MOST_AHEAD for one in found.games)


@pytest.mark.thorough
def test_what_an_agent_is_told_is_equal_to_the_last_bit(monkeypatch):
    """This agent's state is numbers, which every update replaces; lanes take it here only."""
    own = [FunctionType(one.__code__, one.__globals__, one.__name__) for one in LastBit.functions[:2]]
    for function in own:  # copies, as what is known of a function is kept
        function.__module__ = Exp3.functions.update.__module__
    monkeypatch.setattr(LastBit, "functions", Functions(*own))
    monkeypatch.setattr(lanes, "AGENTS", {LastBit: LaneSupport(LastBit.functions)})
    for game in ("Switching", "Replay"):
        assert_same_three_ways(GAMES[game], [Algorithm("last bit", LastBit, ORDERS["batch around Laplace"])])


@pytest.mark.thorough
def test_wrappers_in_another_order_are_the_same_games():
    """Noise that is clipped, around batches; all other orders are slow."""
    order = "Laplace around batch, clipped"
    assert_same_three_ways(made("Switching", 331), [Algorithm(order, Exp3, ORDERS[order])])


BLOCK_HORIZON = 331
CHECKPOINTS = [1, 6, 7, 8, 64, 224, 330, BLOCK_HORIZON]
PLAYERS = [make_algorithm("DP-EXP3-Lap"), make_algorithm("EXP3-tau", batch_size=7), make_algorithm("UCB")]
DOORS = {"drawn": "Switching", "filled": "Trial"}


@pytest.fixture(scope="module", params=DOORS)
def env(request):
    return made(DOORS[request.param], BLOCK_HORIZON)()


@pytest.fixture(scope="module")
def alone(env):
    return one_at_a_time(env, PLAYERS, SEED, range(40), CHECKPOINTS)


def part_of(ends, trials):
    return Ends([ends.columns[trial] for trial in trials], [ends.games[trial] for trial in trials])


@pytest.mark.parametrize("trials", [range(1), range(16), range(17), range(5, 38), range(39, -1, -2)], ids=str)
def test_any_number_any_order_and_any_choice_of_trials(env, alone, trials):
    found = side_by_side(env, PLAYERS, SEED, trials, CHECKPOINTS)
    assert_same_ends(found, part_of(alone, trials))
    assert len({columns["DP-EXP3-Lap"].collected.tobytes() for columns in found.columns}) > 0.8 * len(trials)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rounds", "pieces"), [(0, 1), (1, 1), (7, 1), (100, 1), (BLOCK_HORIZON - 1, 1), (10**6, 1), (1, 3), (100, 1000)]
)
def test_pieces_and_calls_of_any_length(env, alone, rounds, pieces, monkeypatch):
    """Rounds in a piece, and pieces in a call: they cut batches, and end before, at and after checkpoints."""
    for name in ("LANE_NUMBERS", "LANE_NUMBERS_FILLED"):
        monkeypatch.setattr(engines, name, rounds * 4 * LANES)
    monkeypatch.setattr(engines, "LANE_ROUNDS", pieces * max(rounds, 1) * LANES * len(PLAYERS))
    assert_same_ends(side_by_side(env, PLAYERS, SEED, range(20), CHECKPOINTS), part_of(alone, range(20)))


def test_few_checkpoints_are_a_selection_from_all(env, alone):
    for checkpoints in ([BLOCK_HORIZON], [7, BLOCK_HORIZON]):
        found = side_by_side(env, PLAYERS, SEED, range(18), checkpoints)
        chosen = np.searchsorted(CHECKPOINTS, checkpoints)
        for trial, columns in enumerate(found.columns):
            for name, column in columns.items():
                whole = alone.columns[trial][name]
                fewer = [None if part is None else part[chosen] for part in whole[:5]]
                assert_same_columns(column, type(whole)(*fewer, whole.pulls), (trial, name))


def test_company_changes_nothing(env, alone):
    for players in (PLAYERS[:1], PLAYERS[::-1]):
        found = side_by_side(env, players, SEED, range(18), CHECKPOINTS)
        for columns, whole in zip(found.columns, alone.columns, strict=False):
            assert list(columns) == [player.name for player in players]
            for name, column in columns.items():
                assert_same_columns(column, whole[name], name)


@pytest.mark.thorough
@pytest.mark.slow_cases("Oblivious-2")
@pytest.mark.parametrize(("game", "place"), [("Stochastic", 0), ("FullyOblivious", 1), ("Oblivious", 2)])
def test_an_algorithm_that_draws_the_gains_itself(game, place):
    env = made(game, BLOCK_HORIZON)()
    arguments = env, PLAYERS[place : place + 1], SEED, range(18), CHECKPOINTS
    assert type(env.unwrapped.adversary) in lanes.DRAWN_ALONE
    assert_same_ends(side_by_side(*arguments), one_at_a_time(*arguments))


@pytest.mark.thorough
@pytest.mark.parametrize("horizon", [1, 2, 32, 33])
def test_the_shortest_games(horizon):
    env = gym.make("DPBandit-Stochastic-v0", horizon=horizon)
    players = [*map(make_algorithm, ("EXP3", "UCB")), make_algorithm("Batched-Lap-EXP3", batch_size=min(horizon, 2))]
    arguments = env, players, SEED, range(17), range(1, horizon + 1)
    assert_same_ends(side_by_side(*arguments), one_at_a_time(*arguments))


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_wrappers_in_every_order_are_the_same_games(order):
    players = [Algorithm(order, agent, ORDERS[order]) for agent in (Exp3, Uniform)]
    for player in players:
        assert_same_three_ways(made("Stochastic", 331), [player], range(5, 25))
        assert_same_three_ways(made("MemoryBounded", 331, memory=2, observe_charge=False), [player])
        assert_same_three_ways(made("Experts", 331, n_arms=3), [player])


@pytest.mark.slow
@pytest.mark.parametrize("n_arms", range(2, 9))
@pytest.mark.parametrize("name", ["Deterministic", "Stochastic", "FullyOblivious", "Oblivious", "Switching", "Experts"])
def test_every_number_of_arms_and_much_and_little_noise(name, n_arms):
    for epsilon in (0.1, 1.0, math.inf):
        algorithms = experts(epsilon) if name == "Experts" else bandits(epsilon)
        assert_same_three_ways(made(name, 3001, n_arms=n_arms), algorithms, range(4, 24))
