"""Submitted labs get the verdicts of our checks, whatever is in their files, and the others are graded all the same."""

import ast
import csv
import importlib
import inspect
import io
import json
import os
import re
import textwrap

import pytest

from dp_bandit_envs.course import grade_files
from dp_bandit_envs.course.exporting import ipynb
from dp_bandit_envs.course.grade_files import PAGE, RESULTS, TABLE, page_of, results_of, table_of, write
from dp_bandit_envs.course.grading import LONG_LABS, Grade, Graded, Grading, grade, originals
from dp_bandit_envs.course.lab_attacker import order
from dp_bandit_envs.course.notebooks import LABS, cells_of, find
from dp_bandit_envs.errors import ResultsError
from tests.labs.test_notebooks import FOLDER
from tests.tools.refusals import refused

LAB = (FOLDER / "price_of_privacy.py").read_text(encoding="utf-8")
SCALE = "        # n: number of gains, a whole number from 1. epsilon: greater than 0. Return one number.\n        ..."
RELEASE = "        # Return the average of the gains, with noise that makes it epsilon-private.\n        ..."
RIGHT = "        return 1 / (n * epsilon)"
NOISY = "        return np.mean(gains) + rng.laplace(scale=1 / (len(gains) * epsilon))"
CHECK = "    judged(check_noise_scale, lambda: noise_scale)\n"


def lab(scale=RIGHT, release=NOISY, **replaced):
    """Return a copy of lab 2 with these answers; that to the second task takes a second to judge."""
    assert LAB.count(SCALE) == LAB.count(RELEASE) == LAB.count(CHECK) == 1
    text = LAB.replace(SCALE, scale).replace(RELEASE, release)
    for old, new in replaced.values():
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def jupyter(*cells):
    """Return a notebook of Jupyter's with these cells of code."""
    written = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"cells": [*written, {"cell_type": "markdown", "source": ["I found 42."]}]})


IMPORT = "from dp_bandit_envs.course.lab_price import check_noise_scale, check_release\nimport numpy as np"
CELL = "\n\n@app.cell\ndef _():\n{}\n    return\n"
FIRST = f"""\
@app.cell
def _():
    # np and math are imported already; do not import them again.
    def noise_scale(n, epsilon):
{RIGHT}

    return (noise_scale,)
"""
KNOWN = {(1, 1.0): 1.0, (10, 1.0): 0.1, (1, 0.5): 2.0, (10, 0.1): 1.0, (7, 4.0): 1 / 28, (100, 2.0): 0.005}
TABLE_OF_CASES = f"        return {KNOWN}.get((n, epsilon), 1.0)"
FILES = {
    "right.py": (lab(), [True, True], ["1 / n", "right size and shape"]),
    "empty.py": (LAB, [False, False], ["no answer yet", "no answer yet"]),
    "wrong.py": (
        lab("        return 1 / epsilon", RELEASE),
        [False, False],
        ["How far can one of n gains", "no answer yet"],
    ),
    "leaves.py": (lab("        import os; os._exit(3)"), [False, True], ["exit code 3"]),
    "imports.py": (
        lab("        return 1 / (n * epsilon)\n    import nothing_of_this_name", RELEASE),
        [False, False],
        ["imports nothing_of_this_name, which is not installed"],
    ),
    "own_numpy.py": (lab(release=NOISY + "\n    import numpy as np"), [True, True], []),
    "math_then_numpy.py": (
        lab(
            "        return math.exp(-math.log(n * epsilon))",
            NOISY.replace("np.mean(gains)", "np.float64(gains.mean())"),
        ),
        [True, True],
        [],
    ),
    "raises.py": (lab(release="        return gains.nothing"), [True, False], ["", "AttributeError", "gains.nothing"]),
    "known.py": (lab(TABLE_OF_CASES, RELEASE), [False, False], ["Right in some cases, but not in others"]),
    "fooled.py": (
        lab("        return 5", RELEASE, check=(CHECK, "    check_noise_scale = lambda answer: 1 / 0\n" + CHECK)),
        [False, False],
        ["scale"],
    ),
    "twice.py": (
        lab(release=RELEASE) + CELL.format("    noise_scale = 1"),
        [False, False],
        ["noise_scale is defined in 2 cells"],
    ),
    "alone.py": (
        lab().replace(FIRST, "@app.function\ndef noise_scale(n, epsilon):\n    return 1 / (n * epsilon)\n"),
        [True, True],
        [],
    ),
    "unparsable.py": (
        lab(release=RELEASE).replace(
            FIRST, 'app._unparsable_cell(r"""\n    def noise_scale(n)\n        return 1\n""", name="_")\n'
        ),
        [False, False],
        ["The cell of noise_scale is no Python"],
    ),
    "jupyter.ipynb": (
        jupyter(
            IMPORT,
            "%matplotlib inline\ndef noise_scale(n, epsilon):\n    return 2",
            "def noise_scale(n, epsilon):\n    return (1 / (n * epsilon)\n        % 10**9)",
            "1 / 0",
            "def release(gains, epsilon, rng):\n    scale = noise_scale(len(gains), epsilon)\n"
            "    return np.mean(gains) + rng.laplace(scale=scale)",
        ),
        [True, True],
        [],
    ),
    "right (2).py": (lab(release=NOISY + "  # mine"), [True, True], []),
}
STRAYS = {
    "latin.py": (b'x = "\xe9"\n', "not in UTF-8"),
    "wide.py": ("x = 1\n".encode("utf-16"), "UTF-16"),
    "old.py": (LAB.replace("course.lab_price", "course.chapter_2").encode(), "another version"),
    "other.py": (b"print(1)\n", "no lab"),
    "broken.py": (b"def (\n", "no Python"),
    "broken.ipynb": (b"{", "cannot be read as a notebook"),
    "deep.py": (CELL.format(f"    x = {' + '.join('1' * 1500)}").encode(), "could not be graded: RecursionError"),
    "deep.ipynb": (jupyter(f"x = {' + '.join('1' * 1500)}").encode(), "could not be graded: RecursionError"),
    "notes.txt": (b"hello", "neither with .py nor with .ipynb"),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("submitted")
    for name, (text, _, _) in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, (content, _) in STRAYS.items():
        (folder / name).write_bytes(content)
    found = grade(folder, secret="a sentence", seconds=60.0, jobs=2)
    return {one.file: one for one in found.grades}


@pytest.mark.parametrize("name", FILES)
def test_a_submission_gets_its_verdicts(name, graded):
    _, passed, words = FILES[name]
    one = graded[name]
    assert [task.passed for task in one.tasks] == passed, one
    for task, part in zip(one.tasks, words, strict=False):
        assert part in task.says
    assert one.lab == "price-of-privacy"


@pytest.mark.parametrize("never", ["while True: pass", "import time; time.sleep(1000)"])
def test_what_never_ends_is_ended_and_the_next_task_is_graded(never, tmp_path):
    (tmp_path / "anna.py").write_text(lab(f"        {never}", "        return gains.nothing"), encoding="utf-8")
    (found,) = grade(tmp_path, seconds=2.0).grades
    first, second = (task.says for task in found.tasks)
    assert first.startswith("Not graded: ") and ("2 s of processor time" in first or "6 s by the clock" in first)
    assert "AttributeError" in second and found.points == 0


@pytest.mark.parametrize("name", STRAYS)
def test_a_file_that_cannot_be_graded_gets_a_line(name, graded):
    one = graded[name]
    assert (one.lab, one.tasks) == ("", ()) and STRAYS[name][1] in " ".join(one.remarks)


def with_solutions(name):
    """Return a copy of a lab, as marimo writes it, whose stubs are its solutions."""
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    solutions = ast.parse((FOLDER / "solutions" / f"{name}.py").read_text(encoding="utf-8"))
    given = {node.name: node for node in solutions.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    given |= {node.targets[0].id: node for node in solutions.body if isinstance(node, ast.Assign)}
    imports = [node for node in solutions.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    if name == "what_an_attacker_sees":
        given["accused"] = ast.parse(f"accused = {order(1)[0]!r}").body[0]
    for cell in cells_of(text):
        names = {*sum(re.findall(r"^(?:def|class) (\w+)|^(\w+) =", cell.code, re.MULTILINE), ())} & set(given)
        if names and not cell.hidden:
            own = [*imports, *([given[name] for name in names] if len(given) <= 3 else given.values())]
            code = textwrap.indent("\n".join(map(ast.unparse, own)), "    ")
            old = textwrap.indent(cell.code, "    ").replace("\n    \n", "\n\n")
            assert text.count(old) == 1
            text = text.replace(old, code)
    return text


@pytest.mark.parametrize(
    ("as_jupyter", "labs"),
    [(False, LABS), (True, LABS[:8]), (True, LABS[4:6])],
    ids=["marimo", "jupyter", "two labs"],
)
def test_solutions_of_every_lab_are_right(tmp_path, as_jupyter, labs):
    """Labs 9 and 10 compile and play thousands of games; they are graded as marimo's files alone."""
    for one in labs:
        name = one.file.removesuffix(".py")
        text = with_solutions(name)
        file = tmp_path / f"{name}.{'ipynb' if as_jupyter else 'py'}"
        file.write_text(ipynb(one, text) if as_jupyter else text, encoding="utf-8")
    for one in grade(tmp_path, secret="x", jobs=2, seconds=60.0).grades:
        assert one.tasks and all(task.passed for task in one.tasks) and not one.for_teacher, one


@pytest.mark.parametrize("name", LONG_LABS)
def test_a_long_check_may_take_as_long_as_in_the_notebook(name):
    """Lab 10's check of gains that are drawn one by one takes three minutes, and an answer is right in both or none."""
    (seconds,) = re.findall(r"judged\(.*, seconds=(\d+)\)", (FOLDER / find(name).file).read_text(encoding="utf-8"))
    assert int(seconds) == LONG_LABS[name] * inspect.signature(grade).parameters["seconds"].default


def test_two_files_of_a_student_and_equal_code_are_named(graded):
    assert graded["right.py"].student == graded["right (2).py"].student == "right"
    assert "right has other files of this lab: right (2).py" in graded["right.py"].remarks[0]
    assert "own_numpy.py" in graded["alone.py"].equal
    assert graded["wrong.py"].equal == graded["empty.py"].equal == ()


def test_notes_are_collected(graded):
    assert graded["jupyter.ipynb"].written == {"notes": "I found 42."}
    assert graded["right.py"].written == {}


def test_the_text_of_a_lab_in_jupyters_words_is_no_note(tmp_path):
    (tmp_path / "anna.ipynb").write_text(ipynb(find("price-of-privacy"), lab(release=RELEASE)), encoding="utf-8")
    (found,) = grade(tmp_path, secret="x").grades
    assert found.written == {} and found.points == 1


def test_answers_that_nobody_judges_are_read_without_running_them(tmp_path):
    cell = CELL.format('    written_down = {"prediction": "twice", 1: "it doubles", 2: ""}')
    for student in ("anna", "ben"):
        (tmp_path / student).mkdir()
        (tmp_path / student / "price_of_privacy.py").write_text(lab(release=RELEASE) + cell, encoding="utf-8")
    found = grade(tmp_path, secret="x").grades
    assert [one.student for one in found] == ["anna", "ben"]
    assert found[0].written == {"prediction": "twice", "1": "it doubles"}
    # The same code: for the teacher, and not for anna.
    assert "The same code as in ben/price_of_privacy.py" in found[0].for_teacher
    assert "ben" not in results_of(found[0])["output"] and results_of(found[0])["extra_data"]["same_code"]
    rows = list(csv.reader(io.StringIO(grade_files.answers_of(found))))
    assert [row[1:2] + row[3:] for row in rows[1:]] == [
        [key, name, f"{name}/price_of_privacy.py", answer]
        for key, answer in (("prediction", "twice"), ("1", "it doubles"))
        for name in ("anna", "ben")
    ]
    assert "how much does DP-KLUCB's regret grow" in rows[-1][2]


@pytest.mark.parametrize("one", originals(), ids=lambda one: one.lab.name)
def test_every_question_of_a_lab_has_a_place_for_its_answer(one):
    (given,) = re.findall(r"written_down = (.*)", (FOLDER / one.lab.file).read_text(encoding="utf-8"))
    assert len(one.questions) >= 4 and {*map(str, ast.literal_eval(given))} == {*one.questions}
    assert all(question.endswith(("?", ".", ")")) for question in one.questions.values())


def test_every_check_of_a_lab_draws_cases_or_has_none_to_learn():
    """Six rounds, seven decisions and a number of one's own are the task itself."""
    assert sum(len(one.tasks) for one in originals()) >= 17
    for task in (task for one in originals() for task in one.tasks):
        drawn = inspect.signature(getattr(importlib.import_module(task.module), task.check)).parameters
        assert ("seed" in drawn) != (task.check in {"check_six_rounds", "check_publishing", "check_accused"})


EVIL = "<script>alert(1)</script>"
SOME = Grading(
    (
        Grade(EVIL, f"{EVIL}.py", "price-of-privacy", (Graded("Task 1", True, EVIL), Graded("Task 2", False, "=1"))),
        Grade("=x", "x.py", "", remarks=(EVIL,)),
    ),
    "x",
)


def test_points_of_the_page_are_not_broken_letter_by_letter():
    """The second column shrinks to a letter on a telephone otherwise, as cells may be broken anywhere."""
    assert ".wide :is(th, td):nth-child(2) { white-space: nowrap; }" in grade_files.STYLE
    assert grade_files.STYLE in page_of(SOME)


def test_tables_and_page_show_names_as_they_are():
    page = page_of(SOME)
    assert "<script" not in page and page.index("no sandbox") < page.index("<h1>")
    rows = list(csv.reader(io.StringIO(table_of(SOME.grades))))
    assert len({len(row) for row in rows}) == 1
    assert not [cell for row in rows for cell in row if cell.startswith("=")]
    assert [row[4:6] for row in rows[1:]] == [["1", "1"], ["0", "1"], ["0", "0"]]


def test_a_result_has_the_shape_of_gradescope():
    found = json.loads(json.dumps(results_of(SOME.grades[0])))
    assert found["score"] == 1.0 and [test["max_score"] for test in found["tests"]] == [1.0, 1.0]
    assert {"name", "score", "max_score", "output", "visibility"} == set(found["tests"][0])


def test_grades_are_replaced_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    out = tmp_path / "grades"
    write(out, SOME)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    write(out, Grading(SOME.grades[:1], "x"))
    assert not (out / RESULTS / "x.py.json").exists() and (out / TABLE).exists()
    write(out, SOME)
    monkeypatch.setattr(os, "rename", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(OSError):
        write(out, Grading((), "x"))
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["grades"]
    (out / "my notes.txt").write_text("keep")
    with refused(ResultsError, "my notes.txt", "--out"):
        write(out, SOME)
    assert (out / PAGE).exists()
