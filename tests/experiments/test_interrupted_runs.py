"""Whatever stops an experiment, and wherever: the same command goes on and ends with the same bytes."""

import os
from pathlib import Path

import numpy as np
import pytest

from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.experiments import experiment as experiment_module
from dp_bandit_envs.experiments.experiment import Contestant, Experiment, Panel, Results, run
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.experiments.summary import summary_csv

EXPERIMENT = Experiment(
    "small",
    (Panel("a", "A", "DPBandit-Stochastic-v0"), Panel("b", "B", "DPBandit-Switching-v0", {"n_arms": 3})),
    (Contestant("EXP3"), Contestant("EXP3-tau", {"batch_size": 4}, "tau 4")),
    horizon=40,
    trials=7,
)
CHUNKS = ["a-000000", "a-000003", "a-000006", "b-000000", "b-000003", "b-000006"]


class PowerCut(BaseException):
    """Nothing in the program may catch this."""


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(experiment_module, "CHUNK", 3)


def go(path, **given):
    return run(EXPERIMENT, ResultsFolder(path, EXPERIMENT.configuration()), **given)


def files(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.fixture
def whole(tmp_path):
    """The files of a run that nothing interrupted."""
    go(tmp_path / "whole")
    return files(tmp_path / "whole")


def test_a_run_leaves_its_results_and_its_configuration(whole, tmp_path):
    assert set(whole) == {"configuration.json", "results.npz"}
    assert not (tmp_path / "whole" / "chunks").exists()


def test_every_number_is_that_of_simulate(tmp_path):
    """Chunks are put together in the order of trials."""
    results = go(tmp_path / "whole")
    player = Contestant("EXP3-tau", {"batch_size": 4}, "tau 4").make()
    simulation = experiment_module.simulate(
        "DPBandit-Switching-v0", [player], horizon=40, trials=7, env_kwargs={"n_arms": 3}
    )
    outcome = simulation["tau 4"]
    for measure in ("external_regret", "policy_regret", "collected", "switches", "pulls"):
        assert np.array_equal(results.arrays[f"b/tau 4/{measure}"], getattr(outcome, measure))
    assert "b/tau 4/pseudo_regret" not in results.arrays
    assert results.arrays["a/tau 4/pseudo_regret"].shape == (7, 40)
    assert np.array_equal(results.rounds("b"), simulation.checkpoints)
    assert results.names == ["EXP3", "tau 4"]


def interrupted_at(step, when, monkeypatch):
    """Cut the power before or after the n-th file takes its name; return whether there were so many files."""
    replace, count = Path.replace, 0

    def cut(file, target):
        nonlocal count
        count += 1
        if count == step and when == "before":
            raise PowerCut
        replace(file, target)
        if count == step:
            raise PowerCut

    monkeypatch.setattr(Path, "replace", cut)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", range(1, 9))
def test_a_power_cut_at_any_file_changes_nothing(step, when, whole, tmp_path, monkeypatch):
    """The configuration, six chunks, and the results: eight files that can be there, half there, or not there."""
    with monkeypatch.context() as context:
        interrupted_at(step, when, context)
        with pytest.raises(PowerCut):
            go(tmp_path / "cut")
    results = go(tmp_path / "cut")
    assert files(tmp_path / "cut")["results.npz"] == whole["results.npz"]
    assert files(tmp_path / "cut")["configuration.json"] == whole["configuration.json"]
    assert summary_csv(results) == summary_csv(go(tmp_path / "whole"))


def test_there_are_no_more_than_these_eight_files(tmp_path, monkeypatch):
    interrupted_at(9, "before", monkeypatch)
    go(tmp_path / "cut")


def test_a_cut_while_the_chunks_are_removed_changes_nothing(whole, tmp_path, monkeypatch):
    unlink, count = Path.unlink, 0

    def cut(file, **given):
        nonlocal count
        count += file.suffix == ".npz"
        if count == 3:
            raise PowerCut
        unlink(file, **given)

    with monkeypatch.context() as context:
        context.setattr(Path, "unlink", cut)
        with pytest.raises(PowerCut):
            go(tmp_path / "cut")
    go(tmp_path / "cut")
    assert files(tmp_path / "cut")["results.npz"] == whole["results.npz"]


@pytest.mark.parametrize("step", [3, 8])
def test_a_killed_write_leaves_no_litter_behind(step, whole, tmp_path, monkeypatch):
    """The half-written file of a process that is gone serves nobody; the next run must clear it away."""
    with monkeypatch.context() as context:
        interrupted_at(step, "before", context)
        context.setattr(os, "getpid", lambda: 2**22 + 1)  # no process has it now
        with pytest.raises(PowerCut):
            go(tmp_path / "cut")
    assert list((tmp_path / "cut").rglob("*.partial"))
    go(tmp_path / "cut")
    assert files(tmp_path / "cut") == whole


def test_a_finished_folder_stays_as_it_is(whole, tmp_path):
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "whole").rglob("*")}
    results = go(tmp_path / "whole")
    assert isinstance(results, Results)
    assert files(tmp_path / "whole") == whole
    after = {file: file.stat().st_mtime_ns for file in (tmp_path / "whole").rglob("*")}
    assert after == before


@pytest.mark.parametrize("stop_after", [1, 4, 12])
def test_ctrl_c_keeps_every_finished_chunk(stop_after, whole, tmp_path):
    """From the progress callback, which the main thread calls; afterwards only the rest is played."""
    calls = []

    def interrupt(title, rounds):
        calls.append((title, rounds))
        if len(calls) == stop_after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(tmp_path / "cut", progress=interrupt)
    saved = sorted(file.stem for file in (tmp_path / "cut" / "chunks").iterdir())
    # One call for each trial of a chunk: 3 + 3 + 1 in a panel.
    done = {1: 0, 4: 1, 12: 4}[stop_after]
    assert saved == CHUNKS[:done]
    calls.clear()
    go(tmp_path / "cut", progress=lambda title, rounds: calls.append((title, rounds)))
    trials = [3, 3, 1, 3, 3, 1]
    assert [call for call in calls if call[0] == "saved"] == [("saved", 2 * 40 * trials[i]) for i in range(done)]
    played = sum(rounds for title, rounds in calls if title != "saved")
    assert played == 2 * 40 * sum(trials[done:])
    assert files(tmp_path / "cut") == whole


@pytest.mark.parametrize("jobs", [2, 4])
def test_the_number_of_cores_may_change_on_the_way(jobs, whole, tmp_path):
    def interrupt(title, rounds):
        if title == "B":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(tmp_path / "cut", jobs=jobs, progress=interrupt)
    go(tmp_path / "cut", jobs=1)
    assert files(tmp_path / "cut") == whole


def unfinished(path):
    """Make a folder with the chunks of the first panel."""

    def interrupt(title, rounds):
        if title == "B":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(path, progress=interrupt)
    return path / "chunks" / "a-000003.npz"


def npz_of(**arrays):
    import io

    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


DAMAGE = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "one byte short": lambda data: data[:-1],
    "zeros, as after a power cut": lambda data: bytes(len(data)),
    "text": lambda data: b"not an archive at all",
    "pickle": lambda data: b"\x80\x04K\x01.",
    "a flipped byte in the middle": lambda data: data[:900] + bytes([data[900] ^ 255]) + data[901:],
    "another number of trials": lambda data: npz_of(
        **{"checkpoints": np.arange(1, 41), "EXP3/external_regret": np.zeros((2, 40))}
    ),
    "nothing in it": lambda data: npz_of(),
    "an algorithm missing": lambda data: npz_of(
        **{"checkpoints": np.arange(1, 41), "EXP3/external_regret": np.zeros((3, 40))}
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_chunk_is_named_and_nothing_is_lost(damage, whole, tmp_path):
    chunk = unfinished(tmp_path / "cut")
    chunk.write_bytes(DAMAGE[damage](chunk.read_bytes()))
    before = files(tmp_path / "cut")
    with pytest.raises(ResultsError) as error:
        go(tmp_path / "cut")
    assert str(error.value).startswith(str(chunk)), error.value
    assert "elete it and run" in str(error.value)
    kept = files(tmp_path / "cut")
    assert {name: kept[name] for name in before} == before
    chunk.unlink()
    go(tmp_path / "cut")
    assert files(tmp_path / "cut") == whole


def test_whatever_byte_of_a_chunk_is_damaged_it_is_noticed_or_harmless(tmp_path):
    """Every byte of a small archive in turn: either an error that names the file, or the very same numbers."""
    folder = ResultsFolder(tmp_path / "folder", {})
    rng = np.random.default_rng(0)
    arrays = {"checkpoints": np.arange(5), "x/regret": rng.random((2, 5))}
    folder.save("chunks/one", arrays)
    file = tmp_path / "folder" / "chunks" / "one.npz"
    data = file.read_bytes()
    noticed = 0
    for place in range(len(data)):
        for flip in (1, 255):
            file.write_bytes(data[:place] + bytes([data[place] ^ flip]) + data[place + 1 :])
            try:
                loaded = folder.load("chunks/one")
            except ResultsError as error:
                assert "one.npz: a saved file of results must be whole; this one is damaged" in str(error)
                noticed += 1
            else:
                assert loaded is not None and list(loaded) == list(arrays), place
                assert all(np.array_equal(loaded[key], arrays[key]) for key in arrays), place
    assert noticed > len(data)


def test_damaged_results_are_named_too(whole, tmp_path):
    file = tmp_path / "whole" / "results.npz"
    file.write_bytes(whole["results.npz"][:1000])
    with pytest.raises(ResultsError, match=r"results.npz: a saved file of results must be whole; this one is damaged"):
        go(tmp_path / "whole")
    file.unlink()
    go(tmp_path / "whole")
    assert files(tmp_path / "whole")["results.npz"] == whole["results.npz"]


def test_a_full_disk_loses_nothing(whole, tmp_path, monkeypatch):
    sync, count = os.fsync, 0

    def full(descriptor):
        nonlocal count
        count += 1
        # Configuration and folder, then twice a chunk: the third chunk does not fit.
        if count == 7:
            raise OSError(28, "No space left on device")
        sync(descriptor)

    with monkeypatch.context() as context:
        context.setattr(os, "fsync", full)
        with pytest.raises(
            ResultsError, match=r"a-000006.npz: could not be written; No space left on device. What was"
        ):
            go(tmp_path / "cut")
    assert sorted(file.name for file in (tmp_path / "cut" / "chunks").iterdir()) == ["a-000000.npz", "a-000003.npz"]
    go(tmp_path / "cut")
    assert files(tmp_path / "cut") == whole
