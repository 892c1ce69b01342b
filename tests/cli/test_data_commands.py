"""Files of data on the command line: the page can be followed, and its lines for a messy file are right."""

import shlex
from collections import Counter

import numpy as np
import pytest

from dp_bandit_envs.adversaries import Replay
from tests.tools.pages import blocks, lines, run


@pytest.mark.thorough
def test_a_file_is_played_and_counted_as_the_page_says(dp_bandit):
    """The lines for a shell play the file that the Python of the page has written."""
    run(*blocks("docs/real-data.md", "python"))
    written = lines("docs/real-data.md")
    for number, line in enumerate(written):
        words = shlex.split(line)[1:]
        size = ["--trials", "2", "--horizon", "600", "--jobs", "1", "--out", f"results-{number}"]
        code, out, err = dp_bandit(*words, *(size if words[0] == "run" else []))
        assert (code, err) == (0, ""), line
    assert len(written) == 6 and written[-1].endswith("budget.ledger") and "2 games" in out


def test_the_pages_lines_of_pandas_get_the_records_of_the_old_cleaning(tmp_path, monkeypatch):
    """595 of 600, with the gains that `dp-bandit data` found in the same file, and the counts that guarantees need."""
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    run(*(code for code in blocks("docs/real-data.md", "python") if "trial.csv" in code))
    records = np.genfromtxt("clean.csv", delimiter=",", names=True)
    assert Counter(records["arm"].tolist()) == {0: 198, 1: 188, 2: 209}
    of_person = sorted(Counter(records["person"].tolist()).values())
    assert (len(of_person), of_person[-1], of_person[len(of_person) // 2]) == (227, 8, 2)
    use = Replay("clean.csv", persons="person").data_use
    assert (use.record, use.person) == (4, 27)
    assert round(records["gain"].sum(), 9) == 339.105
