"""A results folder belongs to one configuration; everything else is refused and left as it was."""

import dataclasses
import io
import os
import zipfile

import numpy as np
import pytest

import dp_bandit_envs
from dp_bandit_envs import compare, load
from dp_bandit_envs.adversaries import Replay
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, GameSpec
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.experiments.experiment import Experiment
from dp_bandit_envs.experiments.running import run
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.simulation.provenance import made_by
from tests.tools.processes import files
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


def test_a_foreign_folder_is_refused_and_untouched(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    before = snapshot(tmp_path)
    with refused(ResultsError, str(tmp_path)):
        folder_for(tmp_path)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    ("name", "alone"),
    [("film.mp4.partial", True), (".letter.4194305.partial", False), ("below/film.4194305.partial", True)],
)
def test_half_finished_files_of_others_in_a_foreign_folder_are_untouched(name, alone, tmp_path):
    """Other programs use that ending too, for downloads for example; a mistyped --out must not cost anyone a file."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("half-finished", encoding="utf-8")
    if not alone:
        (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    before = snapshot(tmp_path)
    with refused(ResultsError, str(tmp_path)):
        folder_for(tmp_path)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff\xfe\x00\x80"])
def test_a_configuration_that_is_not_ours_is_refused(content, tmp_path):
    (tmp_path / "configuration.json").write_bytes(content)
    before = snapshot(tmp_path)
    with refused(ResultsError, str(tmp_path)):
        folder_for(tmp_path)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", [".DS_Store", "lost+found", ".nfs00000000013"])
def test_what_a_system_puts_into_an_empty_folder_is_nothing(name, tmp_path):
    (tmp_path / name).touch()
    folder_for(tmp_path)
    assert (tmp_path / name).exists() and (tmp_path / "configuration.json").exists()


def test_an_empty_folder_and_folders_above_are_fine(tmp_path):
    folder_for(tmp_path / "deep" / "er")
    (tmp_path / "empty").mkdir()
    folder_for(tmp_path / "empty")
    assert (tmp_path / "empty" / "configuration.json").exists()


@pytest.mark.parametrize("was_there", [False, True])
def test_a_new_folder_goes_again_where_an_error_comes_before_any_result(was_there, tmp_path):
    if was_there:
        (tmp_path / "out").mkdir()
    folder = folder_for(tmp_path / "out")
    with refused(KeyError), folder.locked():
        raise KeyError
    assert [path.name for path in tmp_path.rglob("*")] == ["out"] * was_there


@pytest.mark.parametrize("file", ["results.npz", "notes.txt"])
def test_a_folder_with_something_in_it_stays_at_an_error(file, tmp_path):
    folder = folder_for(tmp_path)
    (tmp_path / file).touch()
    with refused(KeyError), folder.locked():
        raise KeyError
    assert {path.name for path in tmp_path.iterdir()} == {file, "configuration.json"}


def test_a_folder_of_an_earlier_command_stays_at_an_error(tmp_path):
    folder_for(tmp_path)
    with refused(KeyError), folder_for(tmp_path).locked():
        raise KeyError
    assert (tmp_path / "configuration.json").exists()


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
