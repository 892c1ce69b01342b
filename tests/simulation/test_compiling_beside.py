"""Loops are compiled in processes beside this one: all are on disk in the end, and nothing is left of the processes."""

import dataclasses
import json
import os
import subprocess
import sys
import time

import cloudpickle
import numpy as np
import pytest

from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.compiling.compiled import Compiled, MissingCodeError, never, only_from_disk
from dp_bandit_envs.compiling.numba_functions import MachineCode
from dp_bandit_envs.simulation import compiling_beside
from dp_bandit_envs.simulation.compiling_beside import compile_all, may_be_sent, missing_in, processes
from dp_bandit_envs.simulation.prepared import prepare
from dp_bandit_envs.simulation.totals import all_in_range

NAMES = ["EXP3", "EXP3-tau", "Uniform", "DP-EXP3-Lap"]
PROGRAM = f"""
import json, sys
import dp_bandit_envs.simulation.compiling_beside as beside
from dp_bandit_envs import simulate
from dp_bandit_envs.compiling.numba_functions import MachineCode

if sys.argv[1] == "broken":
    sys.executable = "/does/not/exist"
beside.cpu_count = lambda: 2
saved, save = [], MachineCode.save_overload
def counted(self, sig, data):
    saved.append(sig)
    save(self, sig, data)
MachineCode.save_overload = counted
outcomes = simulate("DPBandit-Stochastic-v0", {NAMES!r}, horizon=50, trials=2)
found = [[one.engine, one.collected.tolist()] for one in outcomes.values()]
print(json.dumps([found, len(saved)]))
"""


@pytest.mark.parametrize("way", ["two processes", "broken"])
def test_a_program_from_standard_input_compiles_beside(tmp_path, way):
    """It has no `__main__` guard: a process that ran it again would start processes of its own, without end."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-", way], input=PROGRAM, env=environment, capture_output=True, text=True, check=True
    )
    found, compiled_there = json.loads(run.stdout)
    outcomes = prepared().tasks(range(2))[0].work.run_all(range(2))
    assert found == [["compiled", [columns[name].collected.tolist() for columns in outcomes]] for name in NAMES]
    on_disk = len(list(tmp_path.rglob("*.nbc")))
    # Of four loops, three of which are dealt out, the process beside takes one.
    assert on_disk - compiled_there == (1 if way == "two processes" else 0)
    (line,) = run.stderr.splitlines()
    assert line.startswith("compiling EXP3, EXP3-tau, Uniform and 1 more: ")


def prepared(names=NAMES, **options):
    options = {"horizon": 50, "seed": 0, "checkpoints": None, "env_kwargs": None, **options}
    return prepare("DPBandit-Stochastic-v0", names, **options)


def work_of(**options):
    (work,) = prepared(**options).works
    return work


@pytest.fixture
def nothing_on_disk(monkeypatch):
    """Let two cores see no machine code on disk."""
    monkeypatch.setattr(compiling_beside, "cpu_count", lambda: 2)
    monkeypatch.setattr(compiling_beside, "missing_in", lambda work: list(work.plans))


def test_what_is_compiled_is_not_missing():
    work = work_of()
    work.compile(never)
    assert missing_in(work) == []


def test_only_what_is_on_disk_is_loaded_without_compiling(monkeypatch):
    numbers = np.array([0.5, 2.0])
    compiled = Compiled(all_in_range, {})
    with monkeypatch.context() as patch, only_from_disk():
        patch.setattr(MachineCode, "_loaded", lambda *_: None)
        with pytest.raises(MissingCodeError):
            compiled(numbers)
    assert not compiled(numbers)
    with only_from_disk():
        assert not Compiled(all_in_range, {})(numbers)
        # Somebody else's function is never on disk.
        assert Compiled(square, {})(3.0) == 9.0


def square(x):
    return x * x


def test_the_seed_stays_here(monkeypatch):
    """Noise could be subtracted with it; and the process needs none."""
    sent = []

    class Started:
        def __init__(self, command, stdin, **options):
            sent.append(cloudpickle.load(stdin))

    monkeypatch.setattr(subprocess, "Popen", Started)
    work = work_of(seed=None)
    assert work.seed != 0
    assert work.terms.secret
    compiling_beside.start(work)
    assert sent[0].seed == 0
    assert not sent[0].terms.secret


def test_real_data_are_not_sent():
    class Real(Stochastic):
        is_real = True

    work = work_of()
    assert may_be_sent(work)
    assert not may_be_sent(dataclasses.replace(work, adversary=Real(horizon=50)))


def test_processes_are_gone_however_it_ends():
    running = []
    with pytest.raises(KeyboardInterrupt), processes([work_of(), work_of()]) as started:
        running += started
        assert len(running) == 2
        raise KeyboardInterrupt
    assert all(process.returncode is not None for process in running)


def test_a_stop_ends_the_wait(nothing_on_disk, monkeypatch):
    """A process that would never end is ended."""
    started = []

    def forever(work):
        started.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"]))
        return started[-1]

    monkeypatch.setattr(compiling_beside, "start", forever)
    since = time.monotonic()
    compile_all(work_of(), lambda: time.monotonic() > since + 3)
    assert len(started) == 1
    assert started[0].returncode != 0


def test_few_loops_or_one_core_start_no_process(nothing_on_disk, monkeypatch):
    monkeypatch.setattr(compiling_beside, "start", None)
    compile_all(work_of(names=NAMES[:2]), never)
    monkeypatch.setattr(compiling_beside, "cpu_count", lambda: 1)
    compile_all(work_of(), never)
