"""Small simulations without machine code on disk are played; the games are the same, and compiled in the end."""

import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, compare, simulate
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.experiments import running
from dp_bandit_envs.simulation import engines as engines_module
from dp_bandit_envs.simulation.engines import (
    ALWAYS_COMPILE,
    MOST_ROUNDS,
    ROUNDS_TO_BEGIN,
    LaneEngine,
    ScalarEngine,
    always_compiled,
)

GAME = {"environment": "DPBandit-Stochastic-v0", "algorithms": ["EXP3"], "seed": 5}
PROGRAM = f"""
import json
from dp_bandit_envs import simulate
for horizon, trials in ((400, 2), (400, 4), ({MOST_ROUNDS}, 1), (400, 1)):
    outcome = simulate(**{GAME!r}, horizon=horizon, trials=trials)["EXP3"]
    print(json.dumps([outcome.engine, bool(outcome.reason), outcome.collected.tolist(), outcome.pulls.tolist()]))
"""


@pytest.mark.thorough
def test_a_new_machine_plays_small_simulations_and_compiles_a_large_one(tmp_path):
    """Played, played with trials that lanes would carry, too large to be played, and small, but compiled by now."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), ALWAYS_COMPILE: "never"}
    run = subprocess.run(
        [sys.executable, "-"], input=PROGRAM, env=environment, capture_output=True, text=True, check=True
    )
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert [engine for engine, *_ in found] == ["play", "play", "compiled", "compiled"]
    assert [reason for _, reason, *_ in found] == [True, True, False, False]
    for (horizon, trials), (_, _, collected, pulls) in zip(((400, 2), (400, 4)), found[:2], strict=True):
        here = simulate(**GAME, horizon=horizon, trials=trials)["EXP3"]
        assert here.engine == ("compiled" if trials == 2 else "lanes")
        assert here.collected.tolist() == collected
        assert here.pulls.tolist() == pulls


def nothing_is_ready(monkeypatch):
    """Let small simulations be played, as in a process that has compiled and played nothing."""
    for engine in (ScalarEngine, LaneEngine):
        monkeypatch.setattr(engine, "ready", False)
    nothing_was_played(monkeypatch)


def nothing_was_played(monkeypatch):
    """Let small simulations be played, as in a process that has played nothing."""
    monkeypatch.delenv(ALWAYS_COMPILE, raising=False)
    monkeypatch.setattr(engines_module, "_played", type(engines_module._played)())


def engines(monkeypatch, missing, times=1, **options):
    """Return the engine of each of some simulations of 400 rounds, where the code of these algorithms is missing."""
    nothing_is_ready(monkeypatch)
    missing = set(missing)
    load = "loads_from_disk"
    monkeypatch.setattr(engines_module, load, lambda compile_parts: missing.isdisjoint(compile_parts.__self__.games))
    game = {**GAME, "algorithms": ["EXP3", "Uniform"], "horizon": 400, **options}
    outcomes = [simulate(**game) for _ in range(times)]
    for outcome in outcomes[1:]:
        assert np.array_equal(outcome["EXP3"].collected, outcomes[0]["EXP3"].collected)
    return [tuple(one.engine for one in outcome.values()) for outcome in outcomes]


def test_algorithms_with_code_stay_compiled(monkeypatch):
    assert engines(monkeypatch, ["EXP3"]) == [("play", "compiled")]
    assert engines(monkeypatch, ["EXP3", "Uniform"]) == [("play", "play")]


@pytest.mark.thorough
def test_an_algorithm_is_played_for_so_many_rounds_in_all(monkeypatch):
    """As with a slider: each simulation is small, but one compiles soon."""
    often = MOST_ROUNDS // (400 + ROUNDS_TO_BEGIN)
    found = engines(monkeypatch, ["EXP3", "Uniform"], often + 2)
    assert found == [("play", "play")] * often + [("compiled", "compiled")] * 2


def test_what_is_not_small_is_compiled(monkeypatch):
    assert engines(monkeypatch, ["EXP3"], horizon=MOST_ROUNDS) == [("compiled", "compiled")]
    assert engines(monkeypatch, ["EXP3"], trials=100) == [("lanes", "lanes")]
    assert engines(monkeypatch, ["EXP3"], jobs=2, trials=2) == [("play", "compiled")]
    assert engines(monkeypatch, ["EXP3"], jobs=2, trials=100) == [("lanes", "lanes")]
    with always_compiled():
        assert engines(monkeypatch, ["EXP3"]) == [("compiled", "compiled")]
    assert engines(monkeypatch, ["EXP3"]) == [("play", "compiled")]


NEW = itertools.count()


def own_agent():
    """Return EXP3 with functions that no test has compiled: those of equal content are compiled once."""
    number = next(NEW)

    def select(state, rng):
        return int(rng.random() * len(state.weights)) if number >= 0 else 0

    class Own(Exp3):
        """EXP3 with arms at random."""

        functions = Functions(select, Exp3.functions.update)

    return Own


@pytest.mark.thorough
@pytest.mark.parametrize("jobs", [1, 2])
def test_few_rounds_of_an_agent_of_ones_own_are_not_compiled(jobs, monkeypatch):
    """It would be compiled only to learn whether it can be; once it is compiled, it stays so."""
    nothing_was_played(monkeypatch)  # and these functions are new, so that no machine code is ready
    given = {"environment": GAME["environment"], "algorithms": {"own": own_agent()}, "jobs": jobs}
    found = [simulate(**given, horizon=horizon)["own"] for horizon in (300, MOST_ROUNDS, 300)]
    assert [one.engine for one in found] == ["play", "compiled", "compiled"]
    assert "few rounds" in found[0].reason
    assert np.array_equal(found[0].collected, found[2].collected)


@pytest.mark.thorough
@pytest.mark.slow_cases("horizons1-None-1")
@pytest.mark.parametrize(
    ("horizons", "plays", "jobs"),
    [([300], True, 2), ([300, MOST_ROUNDS], None, 1), ([300, MOST_ROUNDS], None, 2), ([MOST_ROUNDS], False, 2)],
)
def test_so_are_small_runs_in_folders_and_on_the_command_line(horizons, plays, jobs, monkeypatch, tmp_path):
    """With several jobs no game is played apart from larger ones."""
    nothing_is_ready(monkeypatch)
    monkeypatch.setattr(engines_module, "loads_from_disk", lambda compile_parts: False)
    real, played = running.run_tasks, []

    def run_tasks(tasks, jobs, **where):
        tasks = list(tasks)
        played.append((jobs, {type(task.engine).__name__ for task in tasks}))
        return real(tasks, jobs, **where)

    monkeypatch.setattr(running, "run_tasks", run_tasks)
    own = Algorithm("Own", own_agent())
    compare("Stochastic", ["EXP3", own], horizon=horizons, trials=2, jobs=jobs, folder=tmp_path / "out")
    both = {"PythonEngine", "ScalarEngine"}
    if plays is None:
        assert played == [(1, both)] if jobs == 1 else played == [(2, {"ScalarEngine"})]
    else:
        assert played == [(1, {"PythonEngine"}) if plays else (jobs, {"ScalarEngine"})]
