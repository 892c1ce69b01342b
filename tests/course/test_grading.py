"""Submitted labs get the verdicts of our checks, whatever is in their files, and the others are graded all the same."""

import ast
import csv
import importlib
import inspect
import os
import re
import sys
import textwrap
import time

import pytest

from dp_bandit_envs.course.checking import TaskVerdict
from dp_bandit_envs.course.grading import LONG_LABS, Grade, grade, table_of_grades, tasks_of, write
from dp_bandit_envs.course.lab_attacker import order
from dp_bandit_envs.course.notebooks import LABS, cells_of, find
from tests.labs.test_notebooks import FOLDER
from tests.tools.odd_files import UNSOLVED, put_odd_files

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
    "forks.py": (lab("        import os; getattr(os, 'fork', int)()\n" + RIGHT), [True, True], []),
    "imports.py": (
        lab("        return 1 / (n * epsilon)\n    import nothing_of_this_name", RELEASE),
        [False, False],
        ["imports nothing_of_this_name, which is not installed"],
    ),
    "own_numpy.py": (lab(release=NOISY + "\n    import numpy as np"), [True, True], []),
    "raises.py": (lab(release="        return gains.nothing"), [True, False], ["", "AttributeError", "gains.nothing"]),
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
    "right (2).py": (lab(release=NOISY + "  # mine"), [True, True], []),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("submitted")
    for name, (text, _, _) in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {one.file: one for one in grade(folder, "a sentence", jobs=2)}


@pytest.mark.thorough
@pytest.mark.parametrize("name", FILES)
def test_a_submission_gets_its_verdicts(name, graded):
    _, passed, words = FILES[name]
    verdicts = list(graded[name].verdicts.values())
    assert [verdict.passed for verdict in verdicts] == passed, verdicts
    for verdict, part in zip(verdicts, words, strict=False):
        assert part in verdict.says
    assert (graded[name].lab, graded[name].remark) == ("price-of-privacy", "")


@pytest.mark.thorough
def test_what_never_ends_is_ended_and_the_next_task_is_graded(tmp_path):
    (tmp_path / "anna.py").write_text(lab("        while True: pass", "        return gains.nothing"), encoding="utf-8")
    (found,) = grade(tmp_path, "x", seconds=8.0)
    first, second = (verdict.says for verdict in found.verdicts.values())
    assert first == "Not graded: gave no answer in 8 s by the clock." and "AttributeError" in second
    assert found.points == 0


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
def test_an_interrupt_ends_what_is_at_work(tmp_path):
    """The first grade is of a file that is not run; then comes Ctrl-C."""
    writes = f"        open({str(tmp_path / 'process')!r}, 'w').write(str(__import__('os').getpid()))"
    text = lab(f"{writes}\n        while True: pass", RELEASE)
    (tmp_path / "labs").mkdir()
    (tmp_path / "labs" / "anna.py").write_text(text, encoding="utf-8")
    (tmp_path / "labs" / "other.py").write_text("x = 1", encoding="utf-8")

    def interrupt(_):
        while not (tmp_path / "process").exists() or not (tmp_path / "process").read_text():
            time.sleep(0.05)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(tmp_path / "labs", "x", jobs=2, progress=interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "process").read_text()), 0)


@pytest.mark.thorough
def test_cases_are_hidden_in_the_secret(tmp_path):
    """A table of the cases that stand in the check fails at a drawn one, which the words name."""
    (tmp_path / "known.py").write_text(lab(TABLE_OF_CASES, RELEASE), encoding="utf-8")
    says = [next(iter(grade(tmp_path, secret)[0].verdicts.values())).says for secret in ("one", "one", "another")]
    assert says[0] == says[1] != says[2] and "Right in some cases, but not in others: for (" in says[0]


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="devices, and names that are no letters")
def test_every_odd_file_gets_a_line(tmp_path):
    remarks = put_odd_files(tmp_path / "odd", (FOLDER / "what_is_a_bandit.py").read_bytes())
    grades = grade(tmp_path / "odd", "x", jobs=2)
    assert {one.file: one.remark for one in grades} == remarks
    for one in grades:
        assert {verdict.says for verdict in one.verdicts.values()} == (set() if one.remark else UNSOLVED), one
    write(tmp_path / "grades", grades)
    with (tmp_path / "grades" / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    # Each is a student's own file.
    assert sorted(row["files"].removeprefix("'") for row in rows) == sorted(remarks)
    assert {"ann", "ann--lab"} <= {row["student"] for row in rows}


def with_solutions(name):
    """Return a copy of a lab, as marimo writes it, whose stubs are its solutions."""
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    solutions = ast.parse((FOLDER / "solutions" / f"{name}.py").read_text(encoding="utf-8"))
    given = {node.name: node for node in solutions.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    given |= {node.targets[0].id: node for node in solutions.body if isinstance(node, ast.Assign)}
    imports = [node for node in solutions.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    if name == "what_an_attacker_sees":
        chosen = f"your_numbers = (1, 2, 3)\naccused = {''.join(order(number)[0] for number in (1, 2, 3))!r}"
        given |= {node.targets[0].id: node for node in ast.parse(chosen).body}
    for cell in cells_of(text):
        names = {*sum(re.findall(r"^(?:def|class) (\w+)|^(\w+) =", cell, re.MULTILINE), ())} & set(given)
        if names:
            own = [*imports, *([given[name] for name in names] if len(given) <= 3 else given.values())]
            code = textwrap.indent("\n".join(map(ast.unparse, own)), "    ")
            old = textwrap.indent(cell, "    ").replace("\n    \n", "\n\n")
            assert text.count(old) == 1
            text = text.replace(old, code)
    return text


BREAKS = {
    "what-is-a-bandit": {
        ("my_answer = 1", "my_answer = 4"): "That is what the player got. What would the best arm have paid?",
        ("axis=0).max()", "axis=1).max()"): "With gains [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [1.0, 0.0, 0.25]] and arms"
        " [1, 1, 2] you have 0.25; work it out by hand.",
        ("math.log(t) / n", "math.log(n) / n"): "The logarithm is of all rounds played, not of this arm's own.",
    },
    "price-of-privacy": {
        ("1 / (n * epsilon)", "1 / epsilon"): "That is enough noise for one gain. How far can one of n gains move their"
        " average?",
        ("return float(np.mean", "return float(np.median"): "With the gains [0.0, 1.0, 1.0, 0.5] at epsilon = 1, the"
        " noise depends on the gains: from equal rngs, other gains get other noise. Then its size gives the gains away;"
        " it may depend on n and epsilon only.",
    },
    "switching-costs": {
        ("** (1 / 3)", "** (1 / 2)"): "The power is wrong: one term grows as the root of the batch size.",
    },
    "counters": {
        ("horizon.bit_length() / epsilon", "horizon / epsilon"): "This pays for T nodes for each item. An item is in"
        " one node of each level only.",
        ("nodes[:level] = 0.0", "pass"): "With every draw 0, the sum after item 2 of 31 is 1, not 0.75.",
    },
    "what-an-attacker-sees": {
        ("(1 - confidence) / 2", "(1 - confidence)"): "Each of your two bounds holds with the confidence, but both"
        " together do not: split the failure probability.",
        ("accused = ", "accused = [] and "): "Write three letters as text, such as 'ABA'; this is a list ([]).",
    },
    "graph-feedback": {
        ("axis=1).max()", "axis=0).max()"): "You count by how many arms one arm is revealed. Which gains change"
        " together if one round's data change?",
    },
    "experts": {
        ("n_experts / epsilon", "1 / epsilon"): "That is enough for one published gain. How far can all gains of a"
        " round move together if it changes?",
        ("(sums - sums.max())", "(sums.max() - sums)"): "For sums [1.0, 2.0, 4.0] and rate 0.3 the expert with the"
        " smallest sum is the likeliest. Sums are gains: more is better.",
    },
    "hiv-trial": {
        ("min(patients)", "max(patients)"): "You have looked at the treatment with the most patients. Whose records are"
        " used up first, and begin again?",
        ("'A': True", "'A': False"): "1 of 7 is wrong. One question for one of them: what is published, how often a"
        " patient serves, and who knows the noise?",
    },
    "your-own-agent": {
        ("value > highest", "value < highest"): "It wins 0 of 40 leagues; its mean regret is 2,970, that of greedy 432"
        " and that of chance 3,020. It takes 33 leagues. That is hardly better than chance: does select use what update"
        " has stored?",
    },
    "your-own-adversary": {
        (
            "1] = 1.0",
            "1] = 0.5",
        ): "It wins 0 of 40 leagues; DP-KLUCB loses 74.8 ± 1.1 to the best fixed arm on average,"
        " and 269.4 ± 10.2 in the hardest game of lab 1 (means ± standard errors). It"
        " takes 33 leagues. It learns your game as if arms were coins."
        " What does it believe after many rounds of the same, and when does it look again?"
    },
}
"""Mistakes in the solutions, and the words about them."""
SOME_LABS = [find("price-of-privacy"), find("what-an-attacker-sees")]


@pytest.mark.thorough
@pytest.mark.parametrize("labs", [SOME_LABS, pytest.param(LABS, marks=pytest.mark.slow)], ids=["two labs", "all"])
def test_solutions_are_right_and_broken_ones_get_the_words_about_the_mistake(tmp_path, labs):
    for one in labs:
        text = with_solutions(one.file.removesuffix(".py"))
        (tmp_path / f"right-{one.file}").write_text(text, encoding="utf-8")
        for old, new in BREAKS[one.name]:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / f"wrong-{one.file}").write_text(text, encoding="utf-8")
    grades = grade(tmp_path, "hidden", jobs=2)
    assert {one.student for one in grades} == {"right", "wrong"}
    for one in grades:
        wrong = [verdict.says for verdict in one.verdicts.values() if not verdict]
        assert one.verdicts and wrong == (list(BREAKS[one.lab].values()) if one.student == "wrong" else []), one
    for row in table_of_grades(grades)[1:]:
        solved = sum(len(tasks_of(one)) for one in labs) if row[0] == "right" else row[1]
        assert row[1] == solved == sum(points or 0 for points in row[2:12] if points != "")


@pytest.mark.parametrize("name", LONG_LABS)
def test_a_long_check_may_take_longer_than_in_the_notebook(name):
    """Lab 10's check of gains that are drawn one by one takes three minutes, and several are at work at a time."""
    (seconds,) = re.findall(r"judged\(.*, seconds=(\d+)\)", (FOLDER / find(name).file).read_text(encoding="utf-8"))
    assert 2 * int(seconds) <= LONG_LABS[name] * inspect.signature(grade).parameters["seconds"].default


def test_every_check_of_a_lab_draws_cases_or_has_none_to_learn():
    """Six rounds, seven decisions and a number of one's own are the task itself."""
    tasks = [task for one in LABS for task in tasks_of(one)]
    assert len(tasks) >= 18
    for task in tasks:
        drawn = inspect.signature(getattr(importlib.import_module(task.module), task.check)).parameters
        assert ("seed" in drawn) != (task.check in {"check_six_rounds", "check_publishing", "check_accused"})


@pytest.mark.thorough
def test_free_answers_are_read_without_running_them(tmp_path):
    written = ('{"prediction": "=twice", 1: "it doubles", 2: "", "x": ["=1"]}', "{1: 'it ' + 1 / 0}")
    for student, answers in zip(("anna", "ben"), written, strict=True):
        cell = CELL.format(f"    written_down = {answers}")
        (tmp_path / f"{student}.py").write_text(lab(release=RELEASE) + cell, encoding="utf-8")
    write(tmp_path / "out", grade(tmp_path, "x"))
    rows = list(csv.reader((tmp_path / "out" / "answers.csv").read_text(encoding="utf-8").splitlines()))
    assert rows == [
        ["lab", "number", "student", "file", "answer"],
        ["price-of-privacy", "1", "anna", "anna.py", "it doubles"],
        ["price-of-privacy", "all", "ben", "ben.py", written[1]],
        ["price-of-privacy", "prediction", "anna", "anna.py", "'=twice"],
        ["price-of-privacy", "x", "anna", "anna.py", "['=1']"],
    ]


def a_grade(student, file, *passed, lab="price-of-privacy", **more):
    verdicts = {f"Task {number}": TaskVerdict(right, f"{file} {number}") for number, right in enumerate(passed, 1)}
    return Grade(student, file, lab if verdicts else "", verdicts, **more)


def test_a_student_has_one_row_over_all_labs(tmp_path):
    grades = [
        a_grade("anna", "anna-1.py", True, False),
        a_grade("Anna", "anna-2.py", True, True),
        a_grade("anna", "anna-3.py", True, lab="switching-costs"),
        a_grade("anna", "anna.ipynb", remark="not a .py file"),
        a_grade("=ben", "=ben.py", False, True),
    ]
    write(tmp_path, grades)
    write(tmp_path, grades)  # in the place of those of before
    with (tmp_path / "grades.csv").open(encoding="utf-8", newline="") as file:
        anna, ben = csv.DictReader(file)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv", "grades.csv"]
    assert anna["student"] == "anna" and anna["points (of 18)"] == "3" and anna["price-of-privacy (of 2)"] == "2"
    assert anna["switching-costs (of 1)"] == "1" and anna["counters (of 2)"] == "" and anna["not solved"] == ""
    assert anna["remarks"] == "anna.ipynb: not graded: not a .py file" and ben["remarks"] == ""
    assert anna["files"] == "anna-1.py | anna-2.py | anna-3.py | anna.ipynb"
    assert ben["student"] == "'=ben" and ben["not solved"] == "price-of-privacy, Task 1: =ben.py 1"
