"""Processes in one results folder share its chunks, and nobody waits for a process that is gone."""

import dataclasses
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from dp_bandit_envs import durable_files
from dp_bandit_envs.durable_files import NODE, claim
from dp_bandit_envs.runs import running
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment, GameSpec
from dp_bandit_envs.runs.running import chunks_of, run
from dp_bandit_envs.runs.store import ResultsFolder
from tests.tools.folders import files

EXPERIMENT = Experiment(
    "shared",
    (GameSpec("a", "A", "DPBandit-Stochastic-v0"), GameSpec("b", "B", "DPBandit-Switching-v0", {"n_arms": 3})),
    (AlgorithmSpec("EXP3"), AlgorithmSpec("Uniform")),
    horizon=40,
    trials=30,
)
GONE, RUNNING = 2**22 + 1, os.getppid()
"""Above the largest process id of Linux, and one that runs."""


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(running, "CHUNK", 5)


def go(path, experiment=EXPERIMENT, **given):
    return run(experiment, ResultsFolder(path, experiment.configuration()), **given)


def written(path, node, process):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{node:08x}-{process}")


def test_a_claim_is_held_by_one_process(tmp_path):
    assert claim(tmp_path / "x.claim")
    assert (tmp_path / "x.claim").read_text() == f"{NODE:08x}-{os.getpid()}"
    assert claim(tmp_path / "x.claim")  # its own


@pytest.mark.parametrize(
    ("node", "process", "free"),
    [(NODE, RUNNING, False), (NODE, GONE, True), (NODE ^ 1, GONE, False)],
    ids=["of a process that runs", "of one that is gone", "of another machine"],
)
def test_a_claim_of_a_process_that_is_gone_is_taken_over(node, process, free, tmp_path):
    written(tmp_path / "x.claim", node, process)
    assert claim(tmp_path / "x.claim") is free
    owner = (NODE, os.getpid()) if free else (node, process)
    assert (tmp_path / "x.claim").read_text() == "{:08x}-{}".format(*owner)


@pytest.mark.parametrize("content", [b"", b"\x00\x00", b"nonsense", b"\xff\xfe"])
def test_a_damaged_claim_is_nobodys(content, tmp_path):
    (tmp_path / "x.claim").write_bytes(content)
    assert claim(tmp_path / "x.claim")


def test_of_many_threads_of_processes_one_gets_a_new_claim(tmp_path):
    """Twenty processes claim at once."""
    code = (
        "import sys, pathlib; from dp_bandit_envs.durable_files import claim; sys.stdin.readline();"
        "print(claim(pathlib.Path('x.claim')), flush=True); sys.stdin.readline()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": tmp_path}
    processes = [subprocess.Popen([sys.executable, "-c", code], **pipes) for _ in range(8)]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [process.stdout.readline().strip() for process in processes]
    for process in processes:
        process.communicate("\n")
    assert sorted(answers) == ["False"] * 7 + ["True"]


def test_what_another_process_plays_comes_last(tmp_path):
    """Another process claims the first three chunks, and saves one of them before we are there."""
    whole = go(tmp_path / "whole") and files(tmp_path / "whole")
    folder = ResultsFolder(tmp_path / "out", EXPERIMENT.configuration())
    chunks = [chunk for panel in EXPERIMENT.panels for chunk in chunks_of(EXPERIMENT, panel)]
    for chunk in chunks[:3]:
        written(folder.path / f"{chunk.name}.claim", NODE, RUNNING)
    queue = running._Queue(EXPERIMENT, folder, None, lambda prepared: prepared)
    assert queue.left == 60
    order = [chunk for task in queue.tasks() for chunk in task.owner]
    assert order == [*chunks[3:], *chunks[:3]]
    queue.release()
    played = []
    go(tmp_path / "out", progress=lambda title, rounds: played.append((title, rounds)))
    assert sum(rounds for _, rounds in played) == EXPERIMENT.rounds
    assert files(tmp_path / "out") == whole


def test_two_runs_share_the_chunks(tmp_path, monkeypatch):
    """Side by side, each with a process id of its own: only what is claimed at the end is played twice."""
    whole = go(tmp_path / "whole") and files(tmp_path / "whole")
    own = threading.local()
    monkeypatch.setattr(durable_files.os, "getpid", lambda: own.process)
    monkeypatch.setattr(durable_files, "_is_running", lambda process: True)
    both, played, failures = threading.Barrier(2), {1: 0, 2: 0}, []

    def side(number):
        own.process = number
        first = True

        def progress(title, rounds):
            nonlocal first
            if title is not None:
                played[number] += rounds
            if first:
                first = False
                both.wait(60)

        try:
            go(tmp_path / "out", progress=progress)
        except BaseException as error:
            failures.append(error)
            both.abort()

    threads = [threading.Thread(target=side, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert files(tmp_path / "out") == whole
    # Two chunks each may be played twice: those under way when nothing unclaimed was left.
    assert EXPERIMENT.rounds <= sum(played.values()) <= EXPERIMENT.rounds + 2 * 5 * 2 * 40
    assert min(played.values()) >= 5 * 2 * 40


def test_an_interrupted_run_leaves_no_claim(tmp_path):
    def interrupt(title, rounds):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(tmp_path / "out", progress=interrupt)
    assert not list((tmp_path / "out").rglob("*.claim"))


def test_all_panels_are_one_queue(tmp_path, monkeypatch):
    """While the last chunk of a panel is played, the next panel has begun."""
    taken, saved = [], []
    real = running.spread

    def spread(tasks, *given, **more):
        def watched():
            for task in tasks:
                taken.append((task.owner[0].panel.key, len(saved)))
                yield task

        for result in real(watched(), *given, **more):
            yield result
            saved.append(result[1])

    monkeypatch.setattr(running, "spread", spread)
    go(tmp_path / "out", jobs=2)
    assert next(done for panel, done in taken if panel == "b") < 30


def sizes(trials, horizon):
    """Return the trials of each task, by panel."""
    experiment = dataclasses.replace(EXPERIMENT, trials=trials, horizon=horizon)
    made = [chunk for panel in experiment.panels for chunk in chunks_of(experiment, panel)]
    found = {}
    for together in running.joined_to_one_task(experiment, made):
        found.setdefault(together[0].panel.key, []).append(together[-1].end - together[0].first_trial)
    return found


def test_chunks_of_short_games_are_one_task(monkeypatch):
    assert sizes(23, 40) == {"a": [23], "b": [23]}
    monkeypatch.setattr(running, "MOST_CHUNKS", 2)
    assert sizes(23, 40) == {"a": [10, 10, 3], "b": [10, 10, 3]}


def test_a_task_of_several_chunks_has_so_many_rounds_at_most(monkeypatch):
    monkeypatch.setattr(running, "TASK_ROUNDS", 15 * 2 * 40)
    assert sizes(23, 40) == {"a": [15, 8], "b": [15, 8]}
    assert sizes(23, 41) == {"a": [10, 13], "b": [10, 13]}


def test_chunks_of_a_task_are_saved_each_when_it_is_complete(tmp_path, monkeypatch):
    """Also in whatever order its trials come, some of two chunks or three together."""
    folder = ResultsFolder(tmp_path / "out", EXPERIMENT.configuration())
    queue = running._Queue(EXPERIMENT, folder, None, lambda prepared: prepared)
    task = next(queue.tasks())
    assert len(task.owner) == 6 and task.trials == range(30)
    found = []
    for trials in (range(18, 25), range(6, 18), range(6)):
        queue.put(task.owner, trials, task.work.run_all(trials))
        found.append([chunk.first_trial for chunk in task.owner if folder.has(chunk.name)])
    assert found == [[20], [10, 15, 20], [0, 5, 10, 15, 20]]
    queue.release()
    whole = task.work.run_all(task.trials)
    for chunk in task.owner[:5]:
        saved = chunk.load(folder)
        for name, column in whole.items():
            own = column.external_regret[chunk.first_trial : chunk.end]
            assert np.array_equal(saved[f"{name}/external_regret"], own)
