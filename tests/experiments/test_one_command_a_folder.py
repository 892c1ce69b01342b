"""One command at a time works in a results folder, by the system's lock; one that was killed is in nobody's way."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from dp_bandit_envs import compare, files as durable, load
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, GameSpec
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.experiments.experiment import Experiment
from dp_bandit_envs.experiments.running import run
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.files import locked
from tests.tools.processes import POSIX, files
from tests.tools.refusals import refused

EXPERIMENT = Experiment("one", (GameSpec("a", "A", "DPBandit-Stochastic-v0"),), (AlgorithmSpec("Uniform"),), 20, 40)
HOLDER = """
import pathlib, sys
from dp_bandit_envs.files import locked
sys.stdin.readline()
try:
    with locked(pathlib.Path(sys.argv[1])):
        print("has it", flush=True)
        sys.stdin.readline()
except BlockingIOError:
    print("refused", flush=True)
    sys.stdin.readline()
"""


def go(path, **given):
    return run(EXPERIMENT, ResultsFolder(path, EXPERIMENT.configuration()), **given)


def holder(path):
    """Start a process that takes the lock once it has a line, and prints whether it has it."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], **pipes)
    process.stdin.write("\n")
    process.stdin.flush()
    return process


@pytest.fixture
def held(tmp_path):
    """A process that has the lock of the folder `out`, where a run has not begun."""
    ResultsFolder(tmp_path / "out", EXPERIMENT.configuration())
    process = holder(tmp_path / "out" / ".lock")
    assert process.stdout.readline() == "has it\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_command_is_refused_by_name_until_the_first_ends(held, tmp_path):
    machine = os.uname().nodename if POSIX else ""
    with refused(ResultsError, str(tmp_path / "out"), f"process {held.pid} on {machine}", "--jobs", "docs/cluster.md"):
        go(tmp_path / "out")
    held.communicate("\n")
    go(tmp_path / "out")
    assert set(files(tmp_path / "out")) == {"configuration.json", "results.npz"}


@pytest.mark.skipif(not POSIX, reason="sends SIGKILL")
def test_a_killed_command_is_in_nobodys_way(held, tmp_path):
    held.send_signal(signal.SIGKILL)
    held.wait()
    assert (tmp_path / "out" / ".lock").exists()
    go(tmp_path / "out")
    assert set(files(tmp_path / "out")) == {"configuration.json", "results.npz"}


def test_a_command_is_refused_from_the_first_chunk_to_the_last(tmp_path):
    go(tmp_path / "whole")
    refusals = []

    def second(title, rounds):
        with refused(ResultsError, f"process {os.getpid()}"):
            go(tmp_path / "out")
        refusals.append(rounds)

    go(tmp_path / "out", progress=second)
    assert sum(refusals) == EXPERIMENT.rounds and len(refusals) > 1
    assert files(tmp_path / "out") == files(tmp_path / "whole")


@pytest.mark.thorough
def test_a_finished_folder_needs_no_lock(tmp_path):
    first = compare("Stochastic", "Uniform", horizon=20, trials=3, folder=tmp_path / "out")
    with locked(tmp_path / "out" / ".lock"):
        assert load(tmp_path / "out").table() == first.table()
        again = compare("Stochastic", "Uniform", horizon=20, trials=3, folder=tmp_path / "out")
    assert again.table() == first.table()


@pytest.mark.thorough
def test_of_many_processes_one_gets_the_lock(tmp_path):
    processes = [holder(tmp_path / "lock") for _ in range(4)]
    answers = [process.stdout.readline() for process in processes]
    for process in processes:
        process.communicate("\n")
    assert sorted(answers) == ["has it\n", *["refused\n"] * 3]


def test_an_interrupted_command_leaves_no_lock(tmp_path):
    def interrupt(title, rounds):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(tmp_path / "out", progress=interrupt)
    assert not (tmp_path / "out" / ".lock").exists()


def test_a_lock_that_was_removed_after_it_was_opened_is_not_the_lock(tmp_path, monkeypatch):
    """Its owner removes it and lets go; whoever has opened it before must not believe that he has the new one."""
    real, opened = durable._lock, []

    def removed_before(descriptor):
        opened.append(descriptor)
        if len(opened) == 1:
            (tmp_path / "lock").unlink()
        real(descriptor)

    monkeypatch.setattr(durable, "_lock", removed_before)
    with locked(tmp_path / "lock"):
        assert len(opened) == 2
        with pytest.raises(BlockingIOError, match=f"process {os.getpid()}"), locked(tmp_path / "lock"):
            pass


def test_a_disk_without_locks_says_so_and_is_used(tmp_path, monkeypatch):
    def none(descriptor):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(durable, "_lock", none)
    with pytest.warns(UserWarning, match="no locks .*start one only"):
        go(tmp_path / "out")
    assert set(files(tmp_path / "out")) == {"configuration.json", "results.npz"}
