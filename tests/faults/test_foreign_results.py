"""A results folder never takes the numbers of another run for its own: whatever is put into it is refused by name."""

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dp_bandit_envs import files as durable
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, GameSpec
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.experiments import running
from dp_bandit_envs.experiments.experiment import Experiment
from dp_bandit_envs.experiments.running import run
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.simulation.provenance import foreign_code, made_by
from tests.tools.processes import files
from tests.tools.refusals import refused

ROOT = Path(__file__).parents[2]
EXPERIMENT = Experiment("mine", (GameSpec("a", "A", "DPBandit-Stochastic-v0"),), (AlgorithmSpec("Uniform"),), 40, 6)
GAMES = {"a": 0.1, "b": 0.2}
OTHERS = {
    "seed": {"seed": 1},
    "horizon": {"horizon": 41},
    "number of trials": {"trials": 7},
    "means": {"games": (GameSpec("a", "A", "DPBandit-Stochastic-v0", {"means": [0.9, 0.1, 0.1, 0.1]}),)},
    "game": {"games": (GameSpec("a", "A", "DPBandit-Oblivious-v0"),)},
    "number of arms": {"games": (GameSpec("a", "A", "DPBandit-Stochastic-v0", {"n_arms": 9}),)},
    "algorithm of the same label": {"algorithms": (AlgorithmSpec("EXP3", {}, "Uniform"),)},
}


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(running, "CHUNK", 3)


def go(path, experiment=EXPERIMENT):
    return run(experiment, ResultsFolder(path, experiment.configuration()))


def unfinished(path, experiment=EXPERIMENT):
    """Run all chunks and do not join them; return the first one."""

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "_joined", stop)
        with pytest.raises(KeyboardInterrupt):
            go(path, experiment)
    return path / "chunks" / "a-000000.npz"


@pytest.mark.thorough
@pytest.mark.parametrize("file", ["chunks/a-000000.npz", "results.npz"])
@pytest.mark.parametrize("change", OTHERS)
def test_a_file_of_another_run_is_refused_by_name(change, file, tmp_path):
    play = unfinished if file.startswith("chunks") else go
    for folder, experiment in (("mine", EXPERIMENT), ("other", dataclasses.replace(EXPERIMENT, **OTHERS[change]))):
        play(tmp_path / folder, experiment)
    shutil.copy(tmp_path / "other" / file, tmp_path / "mine" / file)
    before = files(tmp_path)
    with refused(ResultsError, file.rpartition("/")[2], "configuration"):
        go(tmp_path / "mine")
    assert files(tmp_path) == before


def test_a_chunk_in_the_place_of_another_is_refused_by_name(tmp_path):
    """Otherwise its trials would count twice."""
    first = unfinished(tmp_path / "mine")
    shutil.copy(first.with_name("a-000003.npz"), first)
    with refused(ResultsError, "'chunks/a-000003'", "'chunks/a-000000'", "first_trial 3"):
        go(tmp_path / "mine")


def test_a_chunk_of_another_game_of_the_run_is_refused_by_name(tmp_path):
    first, other = (GameSpec(key, key, "DPBandit-Stochastic-v0", {"means": [0.9, low]}) for key, low in GAMES.items())
    chunk = unfinished(tmp_path / "mine", dataclasses.replace(EXPERIMENT, games=(first, other)))
    shutil.copy(chunk, chunk.with_name("b-000000.npz"))
    with refused(ResultsError, "b-000000.npz", "'chunks/a-000000'"):
        go(tmp_path / "mine", dataclasses.replace(EXPERIMENT, games=(first, other)))


def test_arrays_that_say_nothing_of_their_origin_are_refused(tmp_path):
    go(tmp_path / "mine")
    file = tmp_path / "mine" / "results.npz"
    arrays = {key: array for key, array in np.load(file).items() if key != "manifest.json"}
    np.savez_compressed(file, **arrays)
    with refused(ResultsError, "results.npz"):
        go(tmp_path / "mine")


def copied(folder, edit=None):
    """Copy the package into a folder, with an edit (file, old, new)."""
    package = folder / "dp_bandit_envs"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "dp_bandit_envs", package, ignore=ignored, dirs_exist_ok=True)
    for name in ("agents", "wrappers"):
        shutil.copytree(ROOT / name, package / name, ignore=ignored, dirs_exist_ok=True)
    if edit is not None:
        file, old, new = edit
        text = (package / file).read_text(encoding="utf-8")
        assert old in text
        (package / file).write_text(text.replace(old, new, 1), encoding="utf-8")


OTHER_RATE = ("agents/exp3.py", "share + gamma / len(", "share + 2.0 * gamma / len(")


def made_by_a_copy(folder, edit=None):
    """Return `made_by()` of a copy of the package, after an edit."""
    copied(folder, edit)
    program = "from dp_bandit_envs.simulation.provenance import made_by; print(made_by())"
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return eval(done.stdout)


@pytest.mark.thorough
def test_the_code_of_a_copy_is_the_same(tmp_path):
    """Wherever it is installed, and in whatever order a process has its sets."""
    assert made_by_a_copy(tmp_path) == made_by()


@pytest.mark.thorough
@pytest.mark.slow_cases("adversaries/oblivious.py", "agents/exp3.py")
@pytest.mark.parametrize(
    "edit",
    [
        OTHER_RATE,
        ("privacy/mechanisms/laplace_gains.py", "(width + 2.0 * state.bound)", "(width + 3.0 * state.bound)"),
        ("adversaries/oblivious.py", "= 200", "= 100"),
        ("data/actg175.csv", "1", "0"),
    ],
    ids=lambda edit: edit[0],
)
def test_an_edited_constant_is_other_code(edit, tmp_path):
    there, here = made_by_a_copy(tmp_path, edit), made_by()
    assert {key for key in here if here[key] != there[key]} == {"code"}


@pytest.mark.thorough
@pytest.mark.slow_cases("command line", "docstring")
@pytest.mark.parametrize(
    "edit",
    [
        ("agents/exp3.py", '"""', '"""Another docstring. '),
        ("agents/exp3.py", "\nclass ", "\n\n# A comment.\nclass "),
        ("cli/show_commands.py", "def ", "def another(): return 1\n\n\ndef "),
    ],
    ids=["docstring", "comment", "command line"],
)
def test_words_and_the_command_line_are_not(edit, tmp_path):
    assert made_by_a_copy(tmp_path, edit) == made_by()


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="makes links and a pipe")
def test_what_is_no_file_in_the_packages_folder_is_no_code(tmp_path):
    """A link to nowhere, a link in a circle and a pipe, which nobody could read to its end."""
    agents = tmp_path / "dp_bandit_envs" / "agents"
    agents.mkdir(parents=True)
    (agents / "gone.py").symlink_to(tmp_path / "nowhere")
    (agents / "round.py").symlink_to(agents / "round.py")
    os.mkfifo(agents / "pipe.py")
    assert made_by_a_copy(tmp_path) == made_by()


@pytest.mark.parametrize("finish", [go, unfinished], ids=["finished", "unfinished"])
def test_a_folder_made_by_other_code_is_refused_and_kept(finish, tmp_path, monkeypatch):
    finish(tmp_path / "mine")
    before = files(tmp_path)
    other = {**EXPERIMENT.configuration(), "made_by": {**made_by(), "code": "0" * 64}}
    with refused(ResultsError, "code"):
        ResultsFolder(tmp_path / "mine", other)
    assert files(tmp_path) == before


def test_data_that_change_while_they_are_played_change_nothing(tmp_path):
    """The experiment plays the bytes that it has hashed; a later one with other bytes is refused."""
    data = tmp_path / "gains.npy"
    panel = GameSpec("gains", "gains", "DPBandit-Replay-v0", {"gains": str(data)})
    replay = Experiment("replay", (panel,), (AlgorithmSpec("Uniform"),), None, 6)

    def changing(target):
        np.save(data, np.tile([0.1, 0.9], (30, 1)))
        return whole_file(target)

    whole_file = durable.whole_file
    np.save(data, np.tile([0.9, 0.1], (30, 1)))
    expected = go(tmp_path / "whole", replay).arrays["gains/Uniform/collected"]
    np.save(data, np.tile([0.9, 0.1], (30, 1)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(durable, "whole_file", changing)
        again = dataclasses.replace(replay)
        assert np.array_equal(go(tmp_path / "cut", again).arrays["gains/Uniform/collected"], expected)
    with refused(ResultsError, "data"):
        go(tmp_path / "cut", dataclasses.replace(replay))


def test_a_folder_that_can_be_read_only_is_looked_at_again(tmp_path, monkeypatch):
    """Root may write anywhere, so the file system's answer is staged."""
    expected = dict(go(tmp_path / "mine").arrays)

    def not_allowed(path, mode=0o666):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(durable, "open_new", not_allowed)
    monkeypatch.setattr(durable, "remove", lambda path: None)
    results = go(tmp_path / "mine")
    assert all(np.array_equal(results.arrays[key], expected[key]) for key in expected)
    folder = ResultsFolder(tmp_path / "mine", EXPERIMENT.configuration())
    assert folder.write_again("report.md", "text") is False
    with refused(ResultsError, "Permission denied"):
        folder.write("report.md", "text")


def test_the_code_of_a_foreign_adversary_counts_too():
    """It is no part of this package, and decides on the numbers as much."""
    ours = type(EXPERIMENT.make_game(EXPERIMENT.games[0]).adversary)
    assert foreign_code([ResultsFolder, ours]) == {}
    found = foreign_code([MonkeyPatchedAdversary, ours])
    assert list(found) == [f"{__name__}.MonkeyPatchedAdversary", f"module {__name__}"]


class MonkeyPatchedAdversary:
    """Has a file: this one."""
