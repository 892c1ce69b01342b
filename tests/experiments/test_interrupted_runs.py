"""Whatever stops an experiment, and wherever: the same command goes on and ends with the same bytes."""

import dataclasses
import errno
import io
import os
import random
import shutil

import numpy as np
import pytest

from dp_bandit_envs import files as durable, load, simulate
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, GameSpec
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.experiments import running
from dp_bandit_envs.experiments.experiment import Experiment, Results
from dp_bandit_envs.experiments.running import run
from dp_bandit_envs.experiments.store import ResultsFolder
from tests.tools.processes import files
from tests.tools.refusals import refused

STEPS = ("fdopen", "fsync", "link", "mkdir", "open", "replace", "rmdir", "unlink")


class PowerCut(BaseException):
    """Nothing in the program may catch this."""


class FaultyDisk:
    """Stands for the module `os` in `durable`; counts every step and every write.

    Args:
        root: The folder whose files are watched.
        fail_at: The step that fails, from 1; None for none.
        error: What it raises; `PowerCut` also ends all later steps.
    """

    def __init__(self, root, fail_at=None, error=None):
        self.root, self.fail_at, self.error = root, fail_at, error
        self.steps = 0
        self.off = False
        # What is on the disk for sure: contents by inode, names by folder.
        self.synced_bytes, self.synced_names = {}, {root: {}}

    def __getattr__(self, name):
        real = getattr(os, name)
        if name not in STEPS:
            return real

        def step(*arguments, **keywords):
            self.step()
            result = real(*arguments, **keywords)
            if name == "fsync":
                self._remember(arguments[0])
            return CountedFile(result, self) if name == "fdopen" else result

        return step

    def step(self):
        self.steps += 1
        if self.off or self.steps == self.fail_at:
            self.off = self.error is PowerCut
            raise self.error if self.error is PowerCut else OSError(self.error, os.strerror(self.error))

    def _remember(self, descriptor):
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if os.path.isdir(path):
            self.synced_names[path] = {entry.name: entry.inode() for entry in os.scandir(path)}
        else:
            with open(path, "rb") as file:
                self.synced_bytes[os.fstat(descriptor).st_ino] = file.read()

    def after_the_power_cut(self, rng):
        """Turn the folder into what a disk may hold then: what was synced, and at random some of the rest."""
        now_bytes, now_names = {}, {}
        for folder, _, inside in os.walk(self.root):
            now_names[folder] = {entry.name: entry.inode() for entry in os.scandir(folder)}
            for name in inside:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    now_bytes[os.stat(path).st_ino] = file.read()
        folder_inode = {folder: os.stat(folder).st_ino for folder in now_names}
        shutil.rmtree(self.root)
        self._restore(self.root, now_names, now_bytes, {v: k for k, v in folder_inode.items()}, rng)

    def _restore(self, folder, now_names, now_bytes, folders, rng):
        os.mkdir(folder)
        synced, now = self.synced_names.get(folder, {}), now_names.get(folder, {})
        for name in sorted({**synced, **now}):
            # One of two equal ones, where it is synced.
            inode = rng.choice([synced.get(name), now.get(name)])
            if inode is None:
                continue
            path = os.path.join(folder, name)
            if inode in folders or path in self.synced_names:
                self._restore(path, now_names, now_bytes, folders, rng)
                continue
            before, after = self.synced_bytes.get(inode, b""), now_bytes.get(inode)
            if after is not None and after != before:
                before = rng.choice([before, after, after[: rng.randrange(len(after) + 1)], bytes(len(after))])
            with open(path, "wb") as file:
                file.write(before)


class CountedFile:
    """A file whose writes are steps, too."""

    def __init__(self, file, disk):
        self._file, self._disk = file, disk

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, data):
        self._disk.step()
        return self._file.write(data)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()


def randomness(*seed):
    """Return Python's own generator, which draws among objects."""
    return random.Random(repr(seed))


EXPERIMENT = Experiment(
    "small",
    (GameSpec("a", "A", "DPBandit-Stochastic-v0"), GameSpec("b", "B", "DPBandit-Switching-v0", {"n_arms": 3})),
    (AlgorithmSpec("EXP3"), AlgorithmSpec("EXP3-tau", {"batch_size": 4}, "tau 4")),
    horizon=40,
    trials=7,
)
CHUNKS = ["a-000000", "a-000003", "a-000006", "b-000000", "b-000003", "b-000006"]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(running, "CHUNK", 3)


FEW_STEPS = Experiment(
    "few", (GameSpec("a", "A", "DPBandit-Switching-v0"),), (AlgorithmSpec("Uniform"),), horizon=20, trials=5
)
"""Two chunks, the results and the configuration: what is tried at every step."""


def go(path, experiment=EXPERIMENT, **given):
    return run(experiment, ResultsFolder(path, experiment.configuration()), **given)


@pytest.fixture
def whole(tmp_path):
    """The files of a run that nothing interrupted."""
    go(tmp_path / "whole")
    return files(tmp_path / "whole")


@pytest.mark.thorough
def test_a_run_leaves_its_results_and_its_configuration(whole, tmp_path):
    assert set(whole) == {"configuration.json", "results.npz"}
    assert not (tmp_path / "whole" / "chunks").exists()


def test_every_number_is_that_of_simulate(tmp_path):
    """Chunks are put together in the order of trials."""
    results = go(tmp_path / "whole")
    player = AlgorithmSpec("EXP3-tau", {"batch_size": 4}, "tau 4").build()
    simulation = simulate("DPBandit-Switching-v0", [player], horizon=40, trials=7, env_kwargs={"n_arms": 3})
    outcome = simulation["tau 4"]
    for measure in ("external_regret", "policy_regret", "collected", "switches", "pulls"):
        assert np.array_equal(results.arrays[f"b/tau 4/{measure}"], getattr(outcome, measure))
    assert "b/tau 4/pseudo_regret" not in results.arrays
    assert results.arrays["a/tau 4/pseudo_regret"].shape == (7, 40)
    assert np.array_equal(results.rounds("b"), simulation.checkpoints)
    assert results.names == ["EXP3", "tau 4"]


@pytest.fixture
def few(tmp_path):
    """The files of a run of few steps that nothing interrupted."""
    go(tmp_path / "few", FEW_STEPS)
    return files(tmp_path / "few")


def steps_of_a_run(tmp_path, monkeypatch):
    """Return how many steps an uninterrupted run takes on the disk."""
    with monkeypatch.context() as context:
        disk = FaultyDisk(str(tmp_path / "counted"))
        context.setattr(durable, "os", disk)
        go(tmp_path / "counted", FEW_STEPS)
    return disk.steps


def run_into(error, step, path, monkeypatch, experiment=FEW_STEPS):
    """Run with a fault at a step, as a process that is gone afterwards; return the disk and what was raised."""
    disk = FaultyDisk(str(path), step, error)
    with monkeypatch.context() as context:
        context.setattr(os, "getpid", lambda: 2**22 + 1)
        context.setattr(durable, "os", disk)
        try:
            go(path, experiment)
        except (PowerCut, ResultsError) as raised:
            return disk, raised
    return disk, None


def lose_power_at(step, seed, few, tmp_path, monkeypatch):
    """Lose the power and what was not synced, run again, and compare."""
    path = tmp_path / f"cut-{step}-{seed}"
    disk, raised = run_into(PowerCut, step, path, monkeypatch)
    assert isinstance(raised, PowerCut)
    if path.exists():
        disk.after_the_power_cut(randomness(step, seed))
    go(path, FEW_STEPS)
    assert but_for_the_lock(path) == few, step


def but_for_the_lock(path):
    """A lock's file that a power cut brought back, or that could not be removed, is nobody's; nothing looks at it."""
    return {name: digest for name, digest in files(path).items() if name != ".lock"}


def fail_at(step, few, tmp_path, monkeypatch):
    """Let a step fail once; it is named, or did not matter, and running again ends with the same bytes."""
    for error in (errno.ENOSPC, errno.EIO):
        path = tmp_path / f"failed-{step}-{error}"
        _, raised = run_into(error, step, path, monkeypatch)
        assert raised is None or os.strerror(error) in str(raised), raised
        go(path, FEW_STEPS)
        assert but_for_the_lock(path) == few, step


EVERY_STEP = [pytest.param(1, seed, marks=pytest.mark.slow) for seed in range(5)]


@pytest.mark.thorough
@pytest.mark.parametrize(("every", "seed"), [(10, 0), *EVERY_STEP])
def test_a_power_cut_loses_unsynced_writes_and_nothing_else(every, seed, few, tmp_path, monkeypatch):
    for step in range(1, steps_of_a_run(tmp_path, monkeypatch) + 1, every):
        lose_power_at(step, seed, few, tmp_path, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_a_failing_disk_is_named_and_loses_nothing(every, few, tmp_path, monkeypatch):
    for step in range(1, steps_of_a_run(tmp_path, monkeypatch) + 1, every):
        fail_at(step, few, tmp_path, monkeypatch)


GROWN = dataclasses.replace(FEW_STEPS, algorithms=(AlgorithmSpec("EXP3"), AlgorithmSpec("Uniform")), trials=7)
"""More of what is few."""


@pytest.fixture
def grown(tmp_path):
    """The files of a run of all of it at once."""
    go(tmp_path / "grown", GROWN)
    return files(tmp_path / "grown")


def steps_of_growth(tmp_path, monkeypatch):
    path = tmp_path / "counted"
    go(path, FEW_STEPS)
    with monkeypatch.context() as context:
        disk = FaultyDisk(str(path))
        context.setattr(durable, "os", disk)
        go(path, GROWN)
    return disk.steps


@pytest.mark.slow_cases("28-7")
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("error", "every"),
    [
        (PowerCut, 7),
        (errno.ENOSPC, 7),
        pytest.param(PowerCut, 1, marks=pytest.mark.slow),
        pytest.param(errno.ENOSPC, 1, marks=pytest.mark.slow),
    ],
)
def test_growth_that_is_stopped_anywhere_leaves_what_was_finished_or_all_of_it(
    error, every, few, grown, tmp_path, monkeypatch
):
    """Never more games of some algorithms than of others; and the same call ends with the bytes of a single run."""
    both = {7 * len(GROWN.algorithms), 5 * len(FEW_STEPS.algorithms)}
    for step in range(1, steps_of_growth(tmp_path, monkeypatch) + 1, every):
        path = tmp_path / f"stopped-{step}"
        shutil.copytree(tmp_path / "few", path)
        _, raised = run_into(error, step, path, monkeypatch, GROWN)
        assert raised is None or isinstance(raised, (PowerCut, ResultsError))
        assert sum(entry.trials for entry in load(path)) in both, step
        assert go(path, FEW_STEPS).regret("a", "Uniform").shape[0] == 5
        go(path, GROWN)
        assert but_for_the_lock(path) == grown, step


def test_the_faulty_disk_sees_what_is_not_synced(few, tmp_path, monkeypatch):
    """The instrument itself: without syncing, a power cut would leave files that are damaged or missing."""
    monkeypatch.setattr(FaultyDisk, "_remember", lambda disk, descriptor: None)
    last = steps_of_a_run(tmp_path, monkeypatch)
    path = tmp_path / "cut"
    disk, _ = run_into(PowerCut, last, path, monkeypatch)
    disk.after_the_power_cut(randomness(0))
    assert files(path) != few


def test_a_killed_write_leaves_no_litter_behind(few, tmp_path, monkeypatch):
    """The half-written file of a process that is gone serves nobody; the next run must clear it away."""
    steps = steps_of_a_run(tmp_path, monkeypatch)
    left = 0
    for step in (8, steps // 2, steps - 20):
        path = tmp_path / f"cut-{step}"
        run_into(PowerCut, step, path, monkeypatch)
        left += len(list(path.rglob("*.partial")))
        go(path, FEW_STEPS)
        assert files(path) == few
    assert left


def test_a_finished_folder_stays_as_it_is(whole, tmp_path):
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "whole").rglob("*")}
    results = go(tmp_path / "whole")
    assert isinstance(results, Results)
    assert files(tmp_path / "whole") == whole
    after = {file: file.stat().st_mtime_ns for file in (tmp_path / "whole").rglob("*")}
    assert after == before


@pytest.mark.thorough
@pytest.mark.parametrize("stop_after", [1, 3, 6])
def test_ctrl_c_keeps_every_finished_chunk(stop_after, whole, tmp_path):
    """From the progress callback, which the main thread calls; afterwards only the rest is played."""
    calls = []

    def interrupt(title, rounds):
        calls.append((title, rounds))
        if len(calls) == stop_after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(tmp_path / "cut", progress=interrupt)
    saved = sorted(file.stem for file in (tmp_path / "cut").glob("chunks/*"))
    # One call for each chunk, before it is saved.
    done = stop_after - 1
    assert saved == CHUNKS[:done]
    calls.clear()
    go(tmp_path / "cut", progress=lambda title, rounds: calls.append((title, rounds)))
    trials = [3, 3, 1, 3, 3, 1]
    assert [call for call in calls if call[0] is None] == [(None, 2 * 40 * trials[i]) for i in range(done)]
    played = sum(rounds for title, rounds in calls if title is not None)
    assert played == 2 * 40 * sum(trials[done:])
    assert files(tmp_path / "cut") == whole


def unfinished(path, **given):
    """Make a folder with the chunks of the first panel."""

    def interrupt(title, rounds):
        if title == "B":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(path, progress=interrupt, **given)
    return path / "chunks" / "a-000003.npz"


@pytest.mark.thorough
def test_the_number_of_cores_may_change_on_the_way(whole, tmp_path):
    unfinished(tmp_path / "cut", jobs=2)
    go(tmp_path / "cut", jobs=1)
    assert files(tmp_path / "cut") == whole


def npz_of(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


DAMAGE = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "zeros, as after a power cut": lambda data: bytes(len(data)),
    "pickle": lambda data: b"\x80\x04K\x01.",
    "another number of trials": lambda data: npz_of(
        **{"checkpoints": np.arange(1, 41), "EXP3/external_regret": np.zeros((2, 40))}
    ),
    "an algorithm missing": lambda data: npz_of(
        **{"checkpoints": np.arange(1, 41), "EXP3/external_regret": np.zeros((3, 40))}
    ),
}


@pytest.mark.thorough
@pytest.mark.slow_cases("an algorithm missing", "cut short")
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_chunk_is_named_and_nothing_is_lost(damage, whole, tmp_path):
    chunk = unfinished(tmp_path / "cut")
    chunk.write_bytes(DAMAGE[damage](chunk.read_bytes()))
    before = files(tmp_path / "cut")
    with pytest.raises(ResultsError) as error:
        go(tmp_path / "cut")
    assert str(error.value).startswith(str(chunk)), error.value
    kept = files(tmp_path / "cut")
    assert {name: kept[name] for name in before} == before
    chunk.unlink()
    go(tmp_path / "cut")
    assert files(tmp_path / "cut") == whole


@pytest.mark.thorough
@pytest.mark.parametrize(
    "flips", [(255,), pytest.param([1 << bit for bit in range(8)], marks=pytest.mark.slow)], ids=["byte", "bit"]
)
def test_whatever_byte_of_a_chunk_is_damaged_it_is_noticed_or_harmless(flips, tmp_path):
    """Every byte of a small archive in turn: either an error that names the file, or the very same numbers."""
    folder = ResultsFolder(tmp_path / "folder", {})
    rng = np.random.default_rng(0)
    arrays = {"checkpoints": np.arange(5), "x/regret": rng.random((2, 5))}
    folder.save("chunks/one", ((key, [array]) for key, array in arrays.items()))
    file = tmp_path / "folder" / "chunks" / "one.npz"
    data = file.read_bytes()
    noticed = 0
    for place in range(len(data)):
        for flip in flips:
            file.write_bytes(data[:place] + bytes([data[place] ^ flip]) + data[place + 1 :])
            try:
                loaded = dict(folder.load("chunks/one"))
            except ResultsError as error:
                assert str(error).startswith(str(file))
                noticed += 1
            else:
                assert list(loaded) == list(arrays), place
                assert all(np.array_equal(loaded[key], arrays[key]) for key in arrays), place
    assert noticed > 0.5 * len(data) * len(flips)


def test_damaged_results_are_named_too(whole, tmp_path):
    file = tmp_path / "whole" / "results.npz"
    file.write_bytes(file.read_bytes()[:1000])
    with refused(ResultsError, "results.npz"):
        go(tmp_path / "whole")
    file.unlink()
    go(tmp_path / "whole")
    assert files(tmp_path / "whole")["results.npz"] == whole["results.npz"]
