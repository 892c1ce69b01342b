"""`Comparison.report` writes what `dp-bandit run` writes."""

import pickle
import sys

import numpy as np
import pytest

from dp_bandit_envs import compare, load
from dp_bandit_envs.agents import Exp3
from tests.tools.refusals import refused


@pytest.fixture(scope="module")
def compared():
    words = (["Stochastic:means=[.9,.5]", "Switching"], ["EXP3", "DP-SE"])
    return compare(*words, epsilon=[1, 2], horizon=30, trials=7)


@pytest.mark.thorough
def test_the_files_are_those_of_the_command_line(tmp_path, monkeypatch):
    """But for the line with the command, and the word for it."""
    from dp_bandit_envs.cli import main

    monkeypatch.chdir(tmp_path)
    words = "run Stochastic:means=[.9,.5] Switching EXP3 DP-SE --epsilon 1,2 --horizon 30 --trials 7 --out there"
    monkeypatch.setattr(sys, "argv", ["dp-bandit", *words.split()])
    main()
    words = (["Stochastic:means=[.9,.5]", "Switching"], ["EXP3", "DP-SE"])
    compared = compare(*words, epsilon=[1, 2], horizon=30, trials=7, folder="here")
    report = compared.report("here")
    there = {path.name: path.read_bytes() for path in (tmp_path / "there").iterdir()}
    here = {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir()}
    one, other = (files.pop("report.md").decode().splitlines() for files in (here, there))
    assert here == there
    assert report.text.splitlines() == one
    assert [line for line in one[1:] if "same call" not in line] == [
        line for line in other[3:] if "same command" not in line
    ]


def test_mean_and_error_come_first_in_a_report(compared):
    (head,) = [line for line in compared.report().text.splitlines() if "mean ± s.e." in line]
    columns = [cell.strip() for cell in head.strip("|").split("|")]
    first = columns.index("trials") + 1
    assert columns[first : first + 3] == ["mean ± s.e.", "median / 99 % quantile", "median of means"]
    assert columns.index("median of means") < columns.index("Gini's mean difference below / above")


def test_a_selection_is_reported_alone_and_without_a_folder_nothing_is_written(compared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = compared.select(algorithm="DP-SE", environment="Switching").report()
    assert not list(tmp_path.iterdir()) and report.folder is None
    assert "DP-SE (epsilon=2)" in report.text and "EXP3" not in report.text and "Stochastic" not in report.text
    assert report.numbers["switching/DP-SE (epsilon=1)"]["trials"] == 7
    assert report.notes[0].text == "epsilon = 1 and 2 go to DP-SE."


@pytest.mark.thorough
def test_gains_that_changed_on_the_disk_are_not_read_again(tmp_path):
    np.save(tmp_path / "gains.npy", np.tile([0.25, 0.75], (20, 1)))
    compared = compare(str(tmp_path / "gains.npy"), ["EXP3", "Uniform"], trials=2, seed=1)
    (tmp_path / "gains.npy").unlink()
    report = compared.select(algorithm="EXP3").report(tmp_path / "out")
    assert report.is_written and "The noise can be subtracted." in report.text and "NOT private" in report.text
    assert load(tmp_path / "out")[0].horizon == 20


def test_what_cannot_be_pickled_plays_and_a_copy_and_what_is_loaded_report_the_same(tmp_path):
    compared = compare(["Stochastic", "Switching"], {"mine": lambda: Exp3(), "DP": "DP-SE"}, horizon=20, trials=2)
    copy = pickle.loads(pickle.dumps(compared))
    stored = load(compared.save(tmp_path / "mine"))
    for other in (copy, stored):
        assert other.table() == compared.table()
        assert other.report().text == compared.report().text and other.report().numbers == compared.report().numbers


def test_wrong_words_are_refused_before_anything_is_written(compared, tmp_path):
    for given, words in (
        ({"measure": "regret"}, ("measure", "external_regret")),
        ({"measure": "pseudo_regret"}, ("pseudo_regret", "Switching")),
        ({"band": "wide"}, ("band", "quantiles")),
        ({"against": "arms"}, ("arms",)),
        ({"y_scale": "square"}, ("scale", "log")),
    ):
        with refused(ValueError, *words):
            compared.report(tmp_path / "out", **given)
        assert not (tmp_path / "out").exists()
