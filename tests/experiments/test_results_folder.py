"""Folders of results: what is read, refused and never overwritten, and that one command at a time works in each."""

import dataclasses
import errno
import io
import json
import os
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import dp_bandit_envs
from dp_bandit_envs import Comparison, compare, files as durable, load
from dp_bandit_envs.adversaries import Replay
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, GameSpec
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.experiments.experiment import Experiment
from dp_bandit_envs.experiments.running import run
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.files import locked
from dp_bandit_envs.simulation.provenance import made_by
from tests.tools.processes import POSIX, files
from tests.tools.refusals import refused

EXPERIMENT = Experiment("one", (GameSpec("a", "A", "DPBandit-Stochastic-v0"),), (AlgorithmSpec("EXP3"),), 20, 2)


def snapshot(path):
    return {str(file.relative_to(path)): "a folder" for file in path.rglob("*") if file.is_dir()} | files(path)


def folder_for(path, experiment=EXPERIMENT):
    return ResultsFolder(path, experiment.configuration())


CHANGES = {
    "name": {"name": "two"},
    "horizon": {"horizon": 21},
    "trials": {"trials": 3},
    "seed": {"seed": 1},
    "checkpoints": {"checkpoints": "log"},
    "games": {"games": (GameSpec("a", "A", "DPBandit-Stochastic-v0", {"n_arms": 5}),)},
    "algorithms": {"algorithms": (AlgorithmSpec("EXP3", {"exploration_rate": 0.1}),)},
}


@pytest.mark.parametrize(("key", "finished"), [*((key, False) for key in CHANGES), ("seed", True)])
def test_a_folder_of_another_configuration_is_refused_and_untouched(key, finished, tmp_path):
    folder = folder_for(tmp_path / "out")
    if finished:
        run(EXPERIMENT, folder)
    before = snapshot(tmp_path)
    with refused(ResultsError, "configuration", key):
        folder_for(tmp_path / "out", dataclasses.replace(EXPERIMENT, **CHANGES[key]))
    assert snapshot(tmp_path) == before


@pytest.mark.thorough
def test_another_version_of_the_package_is_another_configuration(tmp_path, monkeypatch):
    folder_for(tmp_path / "out")
    monkeypatch.setattr(dp_bandit_envs, "__version__", "0.0.9")
    made_by.cache_clear()
    try:
        with refused(ResultsError, "version"):
            folder_for(tmp_path / "out")
    finally:
        made_by.cache_clear()


WORK = {"thesis.tex": b"years of work"}
FOREIGN = {
    "work": WORK,
    # Other programs use that ending too, for downloads for example; a mistyped --out must not cost anyone a file.
    "a download": {"film.mp4.partial": b"half-finished"},
    "a half-finished file like ours": {".letter.4194305.partial": b"half-finished", **WORK},
    "a download below": {"below/film.4194305.partial": b"half-finished"},
    **{f"a configuration of {content}": {"configuration.json": content} for content in (b"", b"[]", b"\xff\xfe")},
}


@pytest.mark.thorough_cases("work")
@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_folder_is_refused_and_untouched(content, tmp_path):
    for name, data in content.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    before = snapshot(tmp_path)
    with refused(ResultsError, str(tmp_path)):
        folder_for(tmp_path)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", ["", ".DS_Store", "lost+found", ".nfs00000000013"])
def test_an_empty_folder_and_what_a_system_puts_into_it_is_nothing(name, tmp_path):
    folder = tmp_path / "deep"
    if name:
        folder.mkdir()
        (folder / name).touch()
    folder_for(folder)
    assert (folder / name).exists() and (folder / "configuration.json").exists()


@pytest.mark.parametrize("was_there", [False, True])
def test_a_new_folder_goes_again_where_an_error_comes_before_any_result(was_there, tmp_path):
    if was_there:
        (tmp_path / "out").mkdir()
    with refused(KeyError), folder_for(tmp_path / "out").locked():
        raise KeyError
    assert [path.name for path in tmp_path.rglob("*")] == ["out"] * was_there


@pytest.mark.parametrize("content", [["results.npz"], ["notes.txt"], []], ids=["results", "notes", "earlier"])
def test_a_folder_with_something_in_it_stays_at_an_error(content, tmp_path):
    folder = folder_for(tmp_path)
    for file in content:
        (tmp_path / file).touch()
    with refused(KeyError), (folder if content else folder_for(tmp_path)).locked():
        raise KeyError
    assert {path.name for path in tmp_path.iterdir()} == {*content, "configuration.json"}


@pytest.mark.parametrize("below", ["", "out"])
def test_a_path_that_cannot_be_a_folder_is_refused(below, tmp_path):
    """Root may write anywhere, so the folder is below a regular file, or is one."""
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(ResultsError, match=r"the results folder must be writable; .*Choose another"):
        folder_for(file / below)
    assert file.read_text(encoding="utf-8") == "mine"


def test_arrays_come_back_as_they_were(tmp_path):
    folder = folder_for(tmp_path / "out")
    arrays = {"a/b c/d": np.array([[1.5, np.nan]]), "checkpoints": np.array([1, 2**40])}
    folder.save("x", ((key, [array]) for key, array in arrays.items()))
    loaded = folder.load("x")
    assert list(loaded) == list(arrays)
    assert all(key in loaded for key in arrays) and "a" not in loaded and loaded._kept == {}  # without reading one
    for key, array in arrays.items():
        assert loaded[key].dtype == array.dtype and np.array_equal(loaded[key], array, equal_nan=key != "checkpoints")
    assert folder.load("y") is None


def test_other_numbers_in_an_archive_are_noticed(tmp_path):
    """A whole archive in which one array was replaced, with all that belongs to the file as before."""
    folder = folder_for(tmp_path / "out")
    archives = []
    for number in (1.0, 2.0):
        folder.save("x", [("a", [np.full((2, 3), number)])])
        archives.append((tmp_path / "out" / "x.npz").read_bytes())
    first, second = (zipfile.ZipFile(io.BytesIO(content)) for content in archives)
    with zipfile.ZipFile(tmp_path / "out" / "x.npz", "w") as mixed:
        mixed.writestr("a.npy", second.read("a.npy"))
        mixed.writestr("manifest.json", first.read("manifest.json"))
        mixed.comment = first.comment
    with refused(ResultsError, "x.npz", "damaged"):
        folder.load("x")["a"]


@pytest.mark.parametrize("failure", [PermissionError(13, "Permission denied"), MemoryError()], ids=["closed", "memory"])
def test_an_archive_that_cannot_be_read_just_now_is_not_called_damaged(failure, tmp_path, monkeypatch):
    """Whoever deletes it, as for a damaged one, loses results that are intact."""
    folder = ResultsFolder(tmp_path / "run", {"seed": 1})
    folder.save("results", [("a", [np.arange(3.0)])])
    archive = folder.load("results")

    def fails(*_, **__):
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(zipfile.ZipFile, "read" if isinstance(failure, MemoryError) else "__init__", fails)
        with pytest.raises(ResultsError) as found:
            archive["a"]
    assert "must be readable" in str(found.value) and "elete" not in str(found.value)
    np.testing.assert_array_equal(archive["a"], np.arange(3.0))


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_real_results_are_not_put_where_others_read(tmp_path):
    """A folder that was made before the run, by `mkdir`, kept its permissions, and results were open to everybody."""
    real = compare(Replay(np.full((20, 2), 0.5)), "UCB", trials=2, seed=0, progress=False)
    folder = tmp_path / "mine"
    folder.mkdir()
    folder.chmod(0o755)
    with refused(ResultsError, "mine", "chmod 700"):
        real.save(folder)
    assert not list(folder.iterdir())
    folder.chmod(0o700)
    assert len(load(real.save(folder))) == 1
    folder.chmod(0o750)  # its owner shares it
    assert real.save(folder) == folder
    several = {"name": "x", "experiments": {"one": real.configuration}}
    assert ResultsFolder(tmp_path / "several", several).path.stat().st_mode & 0o777 == 0o700


# ---- finished folders
SMALL = {"horizon": 30, "trials": 7}


@pytest.fixture(scope="module")
def compared():
    return compare(["Stochastic:means=[.9,.5]", "Switching"], ["EXP3", "DP-SE"], epsilon=[1, 2], **SMALL)


@pytest.fixture
def saved(compared, tmp_path):
    return compared.save(tmp_path / "mine")


def same(one, other):
    return len(one) == len(other) and all(
        np.array_equal(a.values(measure), b.values(measure))
        and (a.title, a.name, a.level) == (b.title, b.name, b.level)
        for a, b in zip(one, other, strict=True)
        for measure in ("external_regret", "collected")
    )


def as_before_growth(configuration):
    """Return what the first version wrote, which described less and could not grow."""
    new = ("source", "trials", "parameters", "calibrated", "paper", "all_games", "bounds")
    games = [
        {**game, "results": [{key: one[key] for key in one if key not in new} for one in game["results"]]}
        for game in configuration["described"]
    ]
    games = [{key: game[key] for key in game if key != "source"} for game in games]
    more = {"format": 3, "trials": 7, "horizon": 30, "panels": [], "contestants": [], "described": games}
    return {**configuration, **more}


@pytest.mark.thorough
def test_a_finished_folder_of_before_growth_loads_and_reports_and_does_not_grow(compared, tmp_path):
    Comparison(compared.entries, as_before_growth(compared.configuration)).save(tmp_path / "old")
    old = load(tmp_path / "old")
    assert same(old, compared) and old.table() == compared.table()
    assert "none known" in old.report().text and old.report().numbers == compared.report().numbers
    with refused(ResultsError, "format: 3 there, 4 here"):
        compare("Switching", "EXP3", **SMALL, folder=tmp_path / "old")
    with refused(ResultsError, "format"):
        old + compared
    with refused(ResultsError, "format: 3 there, 3 here", "neither grows nor joins"):
        old + old.select(algorithm=old.algorithms[0])
    assert old + old is old


@pytest.mark.thorough
def test_what_is_saved_is_loaded(compared, saved):
    loaded = load(saved)
    assert same(loaded, compared) and loaded.table() == compared.table()
    assert loaded.made_by["version"] == dp_bandit_envs.__version__ and loaded.seed == 0


@pytest.mark.thorough
def test_another_process_loads_without_the_code_that_made_it(saved):
    code = f"from dp_bandit_envs import load; print(load({str(saved)!r}).made_by['code'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == load(saved).made_by["code"]


def test_a_selection_can_be_saved(compared, tmp_path):
    chosen = compared.select(environment="Switching", epsilon=2)
    assert same(load(chosen.save(tmp_path / "part")), chosen)


def test_a_folder_by_other_code_is_loaded_and_says_so(saved):
    """The version is part of what the digests cover, so both files are changed as an older version wrote them."""
    import hashlib

    file = saved / "configuration.json"
    text = file.read_text(encoding="utf-8").replace('"version": "0.1.0"', '"version": "0.0.7"')
    file.write_text(text, encoding="utf-8")
    with zipfile.ZipFile(saved / "results.npz") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(parts.pop("manifest.json"))
    manifest["origin"]["configuration"] = hashlib.sha256(text.encode()).hexdigest()
    written = json.dumps(manifest).encode()
    with zipfile.ZipFile(saved / "results.npz", "w") as archive:
        for name, content in {**parts, "manifest.json": written}.items():
            archive.writestr(name, content)
        archive.comment = hashlib.sha256(written).hexdigest().encode()
    assert load(saved).made_by["version"] == "0.0.7"


def test_a_changed_guarantee_is_refused(saved):
    """A guarantee that is edited by hand no longer belongs to the numbers."""
    file = saved / "configuration.json"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"epsilon": 2.0', '"epsilon": 1.0'), encoding="utf-8")
    with refused(ResultsError, "results.npz"):
        load(saved)


def test_other_folders_are_refused_by_name(saved, tmp_path):
    with refused(ResultsError, str(tmp_path / "nothing"), "configuration.json"):
        load(tmp_path / "nothing")
    configuration = json.loads((saved / "configuration.json").read_text(encoding="utf-8"))
    old = tmp_path / "old"
    old.mkdir()
    del configuration["described"]
    (old / "configuration.json").write_text(json.dumps(configuration), encoding="utf-8")
    with refused(ResultsError, str(old), "damaged"):
        load(old)
    (old / "configuration.json").write_text("{", encoding="utf-8")
    with refused(ResultsError, str(old), "damaged"):
        load(old)
    (old / "configuration.json").write_text(json.dumps({"experiments": {"a": {}, "b": {}}}), encoding="utf-8")
    with refused(ResultsError, str(old / "a"), str(old / "b")):
        load(old)
    (saved / "results.npz").unlink()
    with refused(ResultsError, str(saved), "finished"):
        load(saved)
    np.savez(saved / "results.npz", anything=np.zeros(2))
    with refused(ResultsError, str(saved), "damaged"):
        load(saved)


def test_xarray_reads_the_numbers_of_the_old_dataset(compared):
    """The line of the changelog in place of `to_xarray`."""
    pytest.importorskip("xarray")
    index = ["environment", "algorithm", "asked_epsilon", "trial", "round"]
    read = compared.to_pandas().set_index(index).to_xarray()
    assert read.external_regret.dims == tuple(index)
    chosen = read.sel(environment="Switching", algorithm="DP-SE", asked_epsilon=2)
    (entry,) = compared.select(environment="Switching", algorithm="DP-SE", epsilon=2)
    assert np.array_equal(chosen.external_regret, entry.values("external_regret"))
    assert (chosen.epsilon == 2.0).all() and (chosen.delta == 0.0).all()
    # No means are known in Switching, and none are made up.
    assert np.isnan(read.sel(environment="Switching").pseudo_regret).all()


def test_pandas_gets_a_row_for_each_number(compared):
    pytest.importorskip("pandas")
    frame = compared.to_pandas()
    assert len(frame) == sum(entry.values("collected").size for entry in compared)
    last = frame[(frame["round"] == 30) & (frame.environment == "Switching") & (frame.asked_epsilon == 2)]
    (entry,) = compared.select(environment="Switching", algorithm="DP-SE", epsilon=2)
    assert last.external_regret.tolist() == entry.values("external_regret")[:, -1].tolist()
    assert set(last.epsilon) == {2.0}


@pytest.mark.thorough
def test_two_saves_have_the_same_bytes(compared, tmp_path):
    one, other = compared.save(tmp_path / "one"), compared.save(tmp_path / "other")
    for file in one.iterdir():
        assert file.read_bytes() == (other / file.name).read_bytes(), file.name


@pytest.mark.thorough_cases("report")
@pytest.mark.parametrize("write", [Comparison.save, Comparison.report])
def test_finished_results_are_not_overwritten_by_others(write, tmp_path):
    """They could only grow to these: `save` replaced results.npz beside a configuration of before."""
    there = compare("Stochastic", "UCB", horizon=20, trials=2, progress=False)
    folder = there.save(tmp_path / "mine")
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    for other in (
        compare("Stochastic", "Uniform", horizon=20, trials=2, progress=False),
        compare("Stochastic", "UCB", horizon=20, trials=3, progress=False),
    ):
        with refused(ResultsError, "mine", "other finished results"):
            write(other, folder)
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == files
    fewer = compare("Stochastic", "UCB", horizon=20, trials=1, progress=False)
    write(fewer, folder)
    assert same(load(folder), there)


@pytest.mark.thorough_cases("report")
@pytest.mark.parametrize("write", ["save", "report"])
def test_games_of_one_secret_seed_do_not_replace_those_of_another(tmp_path, write):
    gains = np.random.default_rng(1).random((50, 2))
    first, second = (compare(gains, "DP-EXP3-Lap", epsilon=1, trials=2, seed=None, progress=False) for _ in range(2))
    folder = tmp_path / "results"
    getattr(first, write)(folder)
    before = (folder / "results.npz").read_bytes()
    with refused(ResultsError, "secret seed", "another folder"):
        getattr(second, write)(folder)
    assert (folder / "results.npz").read_bytes() == before
    getattr(first, write)(folder)
    assert np.array_equal(load(folder)[0].values("external_regret"), first[0].values("external_regret"))


# ---- one command at a time
ONE = Experiment("one", (GameSpec("a", "A", "DPBandit-Stochastic-v0"),), (AlgorithmSpec("Uniform"),), 20, 40)
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
    return run(ONE, ResultsFolder(path, ONE.configuration()), **given)


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
    ResultsFolder(tmp_path / "out", ONE.configuration())
    process = holder(tmp_path / "out" / ".lock")
    assert process.stdout.readline() == "has it\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.thorough
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
    assert sum(refusals) == ONE.rounds and len(refusals) > 1
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
