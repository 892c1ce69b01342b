"""A finished run is shown anew and grows by more names; a killed one ends with the same bytes."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dp_bandit_envs import compare, load
from dp_bandit_envs.files import locked
from dp_bandit_envs.plots.plot_style import as_bytes
from tests.tools.refusals import missing

WORDS = ["run", "Stochastic", "Switching", "UCB", "DP-SE", "--epsilon", "1,2", "--horizon", 40, "--trials", 4]


@pytest.fixture
def finished(tmp_path):
    return compare(["Stochastic", "Switching"], ["UCB", "DP-SE"], epsilon=[1, 2], horizon=40, trials=4).save(
        tmp_path / "mine"
    )


def test_table_and_figure_are_those_of_the_comparison(dp_bandit, finished, tmp_path):
    before = {path.name: path.read_bytes() for path in finished.iterdir()}
    options = "--measure switches --against epsilon --band quantiles --y-scale log"
    code, out, err = dp_bandit("show", "mine", *options.split())
    assert (code, err) == (0, "") and "Switches after the last round: median" in out and "figure-shown.png" in out
    figure = load(finished).plot("epsilon", measure="switches", band="quantiles", y_scale="log")
    assert (finished / "figure-shown.png").read_bytes() == as_bytes(figure, "png")
    assert {path.name: path.read_bytes() for path in finished.iterdir() if path.name in before} == before
    for entry in load(finished):
        assert entry.name in out and f" {np.median(entry.values('switches')[:, -1]):,.1f} (" in out


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_the_figure_goes_where_it_is_wanted_without_a_band(dp_bandit, finished, tmp_path, kind):
    code, out, _ = dp_bandit("show", "mine", "--band", "none", "--out", f"regret.{kind}")
    assert code == 0 and f"See regret.{kind}." in out and not (finished / "figure-shown.png").exists()
    assert (tmp_path / f"regret.{kind}").read_bytes() == as_bytes(load(finished).plot(band=None), kind)


@pytest.mark.parametrize(
    ("file", "format", "wide"), [("a.tex", "latex", True), ("a.csv", "csv", False), ("a.md", "markdown", True)]
)
def test_the_table_is_written_in_the_format_of_its_ending(dp_bandit, finished, tmp_path, file, format, wide):
    assert dp_bandit("show", "mine", "--measure", "switches", "--out", file)[0] == 0
    written = (tmp_path / file).read_bytes().decode()
    assert written == load(finished).table(format, measure="switches", wide=wide) + "\n"


def test_what_is_not_for_a_folder_is_refused_in_a_sentence(dp_bandit, finished, tmp_path):
    (tmp_path / "EXP3").mkdir()
    for words, parts in {
        "show mine --horizon 5": ("--horizon", "show counters", "'mine'"),
        "show mine --measure regret": ("measure", "external_regret", "'regret'"),
        "show mine --measure pseudo_regret": ("pseudo_regret", "Switching", "external_regret"),
        "show mine --band wide": ("band", "quantiles", "'wide'"),
        "show mine --against time": ("against", "epsilon", "'time'"),
        "show mine --against horizon": ("horizon", "several"),
        "show mine --y-scale square": ("scale", "log", "'square'"),
        "show mine --out table.tex --band ci": ("--band", "figure", "table.tex"),
        "show mine --out plot.jpg": ("--out", ".pdf", "'plot.jpg'"),
        "show ./EXP3": ("EXP3", "configuration.json"),
        "show mine/results.npz": ("configuration.json",),
    }.items():
        code, _, err = dp_bandit(*words.split())
        assert code == 2 and "Traceback" not in err, words
        assert not missing(" ".join(err.split()), *parts), (words, err)
    code, out, _ = dp_bandit("show", "EXP3")
    assert code == 0 and out.startswith("EXP3: algorithm")


def test_a_folder_that_cannot_be_written_says_where_else(dp_bandit, finished, monkeypatch):
    from dp_bandit_envs.cli import show_commands

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(show_commands, "write_whole", refuse)
    code, out, err = dp_bandit("show", "mine")
    assert code == 2 and "Permission denied" in err and "--out" in err and "DP-SE" in out


@pytest.mark.thorough
def test_a_run_with_more_names_goes_on_in_the_same_folder(dp_bandit, tmp_path):
    first = ["run", "Stochastic", "UCB", "DP-SE", "--epsilon", 1, "--horizon", 40, "--trials", 3]
    assert dp_bandit(*first)[0] == 0
    (folder,) = (tmp_path / "results").iterdir()
    code, out, _ = dp_bandit(*WORDS)
    assert code == 0 and [path.name for path in (tmp_path / "results").iterdir()] == [folder.name]
    # Of 6 results with 4 games of 40 rounds, two had three games each.
    assert "720 rounds in" in out
    assert [(entry.name, entry.trials) for entry in load(folder)][:2] == [("UCB", 4), ("DP-SE (epsilon=1)", 4)]
    code, out, _ = dp_bandit(*WORDS)
    assert code == 0 and "Nothing was played again" in out and len(list((tmp_path / "results").iterdir())) == 1
    # Another seed, and fewer names than are there, are runs of their own.
    for more in (["--seed", 1], []):
        names = ["run", "Stochastic", "UCB", "--horizon", 40, "--trials", 3] if not more else [*first, *more]
        assert dp_bandit(*names)[0] == 0
    assert len(list((tmp_path / "results").iterdir())) == 3


def test_a_run_that_grows_to_something_else_or_is_at_work_is_left_alone(dp_bandit, tmp_path):
    from dp_bandit_envs.experiments.store import find_growing

    first = ["run", "Stochastic", "UCB", "--horizon", 40, "--trials", 3]
    dp_bandit(*first)
    (folder,) = (tmp_path / "results").iterdir()
    (folder / "growth").mkdir()
    (folder / "growth" / "configuration.json").write_text("{}", encoding="utf-8")
    wanted = compare("Stochastic", ["UCB", "EXP3"], horizon=40, trials=3).configuration
    assert find_growing(tmp_path / "results", wanted) is None
    (folder / "growth" / "configuration.json").unlink()
    assert find_growing(tmp_path / "results", wanted) == folder
    with locked(folder / ".lock"):
        assert find_growing(tmp_path / "results", wanted) is None
        assert find_growing(tmp_path / "results", load(folder).configuration) == folder
    (folder / "results.npz").write_bytes(b"")
    assert find_growing(tmp_path / "results", wanted) is None


def test_a_sweep_is_typed_as_one_name(dp_bandit, tmp_path):
    words = ["run", "Stochastic", "EXP3:exploration_rate=[.01,.03,.1]", "--horizon", 40, "--trials", 2, "--out", "mine"]
    code, out, _ = dp_bandit(*words)
    names = [f"EXP3 (exploration_rate={rate})" for rate in (0.01, 0.03, 0.1)]
    assert code == 0 and all(name in out for name in names)
    assert load(tmp_path / "mine").algorithms == names


GAMES = ["run", "Stochastic", "Switching", "EXP3", "Uniform", "--trials", "40", "--horizon", "16", "--out", "out"]
# Runs the command, and sends itself SIGKILL when half of a file with a certain name is on the disk.
KILLED = """
import os, signal, sys
from dp_bandit_envs import files

last, *sys.argv = sys.argv[1:]
open_new = files.open_new

def killed(path, mode=0o666):
    file = open_new(path, mode)
    if last.rpartition("/")[2] in path.name:
        file.write(bytes(100))
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    return file

files.open_new = killed
from dp_bandit_envs.cli import main
main()
"""


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("last", ["chunks/switching-000032.npz", pytest.param("figure.svg", marks=pytest.mark.slow)])
def test_a_killed_run_ends_with_the_same_bytes(last, dp_bandit, tmp_path):
    code, _, err = dp_bandit(*GAMES)
    assert (code, err) == (0, "")
    whole = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    shutil.move(tmp_path / "out", tmp_path / "whole")
    killed = subprocess.run([sys.executable, "-c", KILLED, last, "dp-bandit", *GAMES], cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "out" / Path(last)).exists()
    code, _, err = dp_bandit(*GAMES, "--jobs", 2)
    assert (code, err) == (0, "")
    for name in ("results.npz", "summary.csv", "figure.png", "figure.svg", "configuration.json"):
        assert (tmp_path / "out" / name).read_bytes() == whole[name], name
    # The report differs in the words of the command, which has one more option.
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert report.replace(" --jobs 2", "") == whole["report.md"].decode()
