"""`dp-bandit grade`: the commands of its page, what it refuses before anything runs, and checks in other graders."""

import doctest
import re
import shlex

import pytest

from tests.course.test_grading import lab
from tests.tools.pages import PAGES, blocks, lines
from tests.tools.refusals import missing


@pytest.mark.thorough
def test_the_page_of_grading_can_be_followed(dp_bandit, tmp_path):
    """Its commands grade a file with its free answers."""
    (code,) = re.findall(r"`(written_down = .*)`", PAGES["docs/grading.md"])
    cell = f"\n\n@app.cell\ndef _():\n    {code}\n    return\n"
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "anna-price_of_privacy.py").write_text(lab() + cell, encoding="utf-8")
    (tmp_path / "submissions" / "ben.ipynb").write_text("{}", encoding="utf-8")
    commands = lines("docs/grading.md", "dp-bandit ")
    assert len(commands) == 2
    for line, folder in zip(commands, ("grades", "grades/monday"), strict=True):
        code, out, err = dp_bandit(*shlex.split(line)[1:], "--jobs", 1)
        assert (code, err) == (0, "")
        words = ["no sandbox", "anna-price_of_privacy.py: 2 of 2", "ben.ipynb: not graded: not a .py file"]
        assert missing(out, *words, f"{folder}/grades.csv", f"{folder}/answers.csv") == []
        assert ("--secret" in out) == (folder == "grades")
        answers = (tmp_path / folder / "answers.csv").read_text(encoding="utf-8")
        assert "anna,anna-price_of_privacy.py,it doubles when epsilon is halved" in answers


def test_what_it_refuses_before_anything_runs(dp_bandit, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "anna.py").write_text("x = 1")
    for words, said in (
        (("nowhere",), ["FOLDER", "nowhere"]),
        (("empty",), ["FOLDER", "no file"]),
        (("full", "--out", "full/anna.py"), ["--out", "anna.py"]),
        (("full", "--seconds", 0), ["seconds", "0"]),
        (("full", "--jobs", -1), ["jobs", "-1"]),
    ):
        code, _, err = dp_bandit("grade", *words)
        assert code == 2 and missing(err, *said) == []
        assert not (tmp_path / "grades").exists()


@pytest.mark.parametrize(("answer", "is_right"), [("1 / (n * epsilon)", True), ("1 / epsilon", False)])
def test_the_lines_for_nbgrader_and_otter_judge_an_answer(answer, is_right):
    _, cell, file = blocks("docs/grading.md", "python")
    names = {"noise_scale": eval(f"lambda n, epsilon: {answer}")}
    try:
        exec(cell, dict(names))
        said = ""
    except AssertionError as error:
        said = str(error)
    assert said == (
        "" if is_right else "That is enough noise for one gain. How far can one of n gains move their average?"
    )
    otter = {}
    exec(file, otter)
    (case,) = otter["test"]["suites"][0]["cases"]
    examples = doctest.DocTestParser().get_doctest(case["code"], names, "task_1", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(examples, out=lambda _: None).failed == (not is_right)


def test_a_teacher_is_told_where_the_solutions_are(dp_bandit):
    code, out, err = dp_bandit("list", "labs")
    assert (code, err) == (0, "")
    assert missing(out, "examples/labs/teacher", "solutions", "in the repository") == []
