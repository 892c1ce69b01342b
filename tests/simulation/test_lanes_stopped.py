"""Lanes that are stopped, that threads and processes play, that are put together, and what they leave in memory."""

import pickle
import subprocess
import sys

import gymnasium as gym
import joblib
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, make_algorithm, simulate
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.simulation import engines
from dp_bandit_envs.simulation.engines import LaneEngine
from dp_bandit_envs.simulation.lanes import ROUND, LaneBlock
from dp_bandit_envs.simulation.results import StoppedEarlyError
from tests.simulation.test_results_do_not_depend_on import assert_equal
from tests.tools.lane_games import assert_same_columns, compiled_games_of
from tests.tools.refusals import refused

GAME, PLAYERS = "DPBandit-Switching-v0", ["EXP3", "DP-EXP3-Lap"]


def work(horizon=300, players=PLAYERS):
    env = gym.make(GAME, horizon=horizon)
    games = compiled_games_of(env, [*map(make_algorithm, players)], [horizon])
    return LaneEngine(env.unwrapped.adversary, games, 3, np.array([horizon]))


def test_work_stops_before_the_next_block_of_rounds(monkeypatch):
    monkeypatch.setattr(engines, "LANE_NUMBERS", 5 * 4 * 16)
    monkeypatch.setattr(engines, "LANE_ROUNDS", 10 * 2 * 16)
    played = []
    monkeypatch.setattr(LaneBlock, "check", lambda made: played.append(made.arguments.clocks[:, ROUND].tolist()))
    with pytest.raises(StoppedEarlyError):
        work().run(range(40), lambda: len(played) >= 7)
    # Seven calls of two pieces of five rounds, of the adversary and both algorithms; the other trials were not begun.
    assert played == [[10 * call] * 3 for call in range(1, 8)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_in_a_block_ends_everything_at_once(jobs, monkeypatch):
    """As Ctrl-C does when machine code returns; what was played before is counted."""
    monkeypatch.setattr(engines, "LANE_NUMBERS", 10 * 4 * 16)
    monkeypatch.setattr(engines, "LANE_ROUNDS", 1)
    done, blocks = [], []

    def progress(games, of):
        done.append(games)
        if games >= 2 * 20:
            raise KeyboardInterrupt

    real = LaneEngine._run
    monkeypatch.setattr(
        LaneEngine, "_run", lambda self, trials, stopped: blocks.append(trials) or real(self, trials, stopped)
    )
    with pytest.raises(KeyboardInterrupt):
        simulate(GAME, PLAYERS, horizon=20_000, trials=16 * 40, jobs=jobs, progress=progress)
    assert done == [32, 64]
    assert len(blocks) < 40


def test_progress_is_a_function_or_nothing():
    simulate(GAME, "Uniform", horizon=5, progress=False)
    with refused(TypeError, "progress", "True", "compare"):
        simulate(GAME, "Uniform", horizon=5, progress=True)


@pytest.mark.thorough
@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_counts_each_game_once(jobs):
    class Own(Uniform):
        def update(self, arm, observation):
            super().update(arm, observation)

    told = []
    players = [*PLAYERS, "DP-UCB", Algorithm("own", Own)]
    simulate(GAME, players, horizon=50, trials=21, jobs=jobs, progress=lambda *numbers: told.append(numbers))
    assert {of for _, of in told} == {84}
    done = [games for games, _ in told]
    steps = sorted(np.diff([0, *done]))
    assert steps[0] > 0 and done[-1] == 84
    # Two algorithms in lanes, 16 and 5 games at a time, one beside them, and one that is played.
    assert jobs > 1 or steps == [*[1] * 21, 10, 21, 32]


def test_threads_and_processes_play_the_same_games(monkeypatch):
    monkeypatch.setattr(engines, "LANE_NUMBERS", 64 * 4 * 16)
    given = {"horizon": 2000, "trials": 70, "seed": 5, "checkpoints": 4, "first_trial": 3}
    alone = simulate(GAME, [*PLAYERS, "EXP3-tau"], **given)
    assert {outcome.engine for outcome in alone.values()} == {"lanes"}
    assert_equal(alone, simulate(GAME, [*PLAYERS, "EXP3-tau"], jobs=4, **given))
    with joblib.parallel_config("loky"):
        assert_equal(alone, simulate(GAME, [*PLAYERS, "EXP3-tau"], jobs=2, **given))
    with joblib.parallel_config("threading"):
        assert_equal(alone, simulate(GAME, [*PLAYERS, "EXP3-tau"], jobs=2, **given))


def test_pickled_work_plays_the_same_games_before_and_after_it_has_played():
    """And nothing of one block is left in the next, nor in the adversary that was given."""
    mine = work()
    sent = [pickle.loads(pickle.dumps(mine))]
    found = mine.run(range(5))
    sent.append(pickle.loads(pickle.dumps(mine)))
    assert "seed" not in repr(mine)
    mine.run(range(7, 30))
    for other in [mine, *sent]:
        again = other.run(range(5))
        for name in found:
            assert_same_columns(found[name], again[name])


PROGRAM = """
import gc, resource, sys
from dp_bandit_envs import simulate

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def play(horizon, trials):
    found = simulate("DPBandit-Switching-v0", ["EXP3", "DP-EXP3-Lap"], horizon=horizon, trials=trials, checkpoints=2)
    assert found["EXP3"].engine == "lanes"
    return peak()

play(20_000, 32)
print(peak(), play(500_000, 32), play(20_000, 1024))
"""


@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss in kilobytes")
def test_memory_is_flat_in_rounds_and_trials():
    """The gains of 500,000 rounds would be a quarter of a gigabyte; of a game, some hundred bytes are kept."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    first, longer, more = map(int, done.stdout.split())
    assert longer - first < 2**22
    assert more - first < 2**22
