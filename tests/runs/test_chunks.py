"""The chunks of an experiment: one queue for all panels, short ones in one task, each saved when it is complete."""

import dataclasses

import numpy as np
import pytest

from dp_bandit_envs.runs import running
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment, GameSpec
from dp_bandit_envs.runs.running import chunks_of, joined_to_one_task, run
from dp_bandit_envs.runs.store import ResultsFolder

EXPERIMENT = Experiment(
    "shared",
    (GameSpec("a", "A", "DPBandit-Stochastic-v0"), GameSpec("b", "B", "DPBandit-Switching-v0", {"n_arms": 3})),
    (AlgorithmSpec("EXP3"), AlgorithmSpec("Uniform")),
    horizon=40,
    trials=30,
)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(running, "CHUNK", 5)


def go(path, experiment=EXPERIMENT, **given):
    return run(experiment, ResultsFolder(path, experiment.configuration()), **given)


def sizes(trials, horizon):
    """Return the trials of each task, by panel."""
    experiment = dataclasses.replace(EXPERIMENT, trials=trials, horizon=horizon)
    made = [chunk for panel in experiment.panels for chunk in chunks_of(experiment, panel)]
    found = {}
    for together in joined_to_one_task(experiment, made):
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
    whole = task.work.run_all(task.trials)
    for chunk in task.owner[:5]:
        saved = chunk.load(folder)
        for name, column in whole.items():
            own = column.external_regret[chunk.first_trial : chunk.end]
            assert np.array_equal(saved[f"{name}/external_regret"], own)
