"""`dp-bandit grade`: the commands of its page, and what it refuses before anything runs."""

import re
import shlex

from tests.course.test_grading import lab
from tests.tools.pages import PAGES, lines
from tests.tools.refusals import missing


def test_the_page_of_grading_can_be_followed(dp_bandit, tmp_path):
    """Its commands grade a file with its free answers."""
    (code,) = re.findall(r"`(written_down = .*)`", PAGES["docs/grading.md"])
    cell = f"\n\n@app.cell\ndef _():\n    {code}\n    return\n"
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "anna-price_of_privacy.py").write_text(lab() + cell, encoding="utf-8")
    commands = lines("docs/grading.md", "dp-bandit ")
    assert len(commands) == 2
    for line, folder in zip(commands, ("grades", "grades/monday"), strict=True):
        code, out, err = dp_bandit(*shlex.split(line)[1:], "--jobs", 1)
        assert (code, err) == (0, "")
        assert missing(out, "no sandbox", "anna-price_of_privacy.py: 2 of 2", f"{folder}/index.html") == []
        assert ("--secret" in out) == (folder == "grades")
        answers = (tmp_path / folder / "answers.csv").read_text(encoding="utf-8")
        assert "it doubles when epsilon is halved" in answers and "anna,anna-price_of_privacy.py" in answers


def test_what_it_refuses_before_anything_runs(dp_bandit, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    for words, said in (
        (("nowhere",), ["FOLDER", "nowhere"]),
        (("empty",), ["FOLDER", "no file"]),
        (("full", "--out", "full"), ["full", "thesis.txt", "--out"]),
        (("full", "--seconds", 0), ["--seconds", "0"]),
        (("full", "--memory", 1), ["--memory", "64"]),
    ):
        code, _, err = dp_bandit("grade", *words)
        assert code == 2 and missing(err, *said) == []
        assert not (tmp_path / "grades").exists()


def test_a_teacher_is_told_where_the_solutions_are(dp_bandit):
    code, out, err = dp_bandit("list", "labs")
    assert (code, err) == (0, "")
    assert missing(out, "examples/labs/teacher", "solutions", "in the repository") == []
