"""Each lab has all its parts and runs as a program: before the prediction, solved, read-only, and exported."""

import ast
import functools
import importlib
import json
import logging
import math
import re
import subprocess
import sys
import types
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.checks import installed
from dp_bandit_envs.compiling import compiled
from dp_bandit_envs.course.checking import TaskVerdict
from dp_bandit_envs.course.lab_attacker import order
from dp_bandit_envs.course.lab_counters import BY_WORDS, errors
from dp_bandit_envs.course.lab_experts import BETTER, ROUNDS, TREE, over_hedge, play_all, played
from dp_bandit_envs.course.notebooks import LABS, cells_of, find, unless_compiling, you_said
from dp_bandit_envs.privacy.counters import make_counter
from tests.docs.test_generated_pages import lab_pages
from tests.test_light_install import BROWSER, light

FOLDER = Path(__file__).parents[2] / "examples" / "labs"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.py") if path.name != "__init__.py")
NAMES = [lab.file.removesuffix(".py") for lab in LABS]
SOLVED = {
    "counters": ["node_scale", "private_sums"],
    "what_an_attacker_sees": ["epsilon_bound"],
    "graph_feedback": ["noise_factor", "clique_cover"],
    "experts": ["noise_scale", "probabilities"],
    "hiv_trial": ["epsilon_of_a_round", "decisions"],
}
"""Labs that are run with their solutions, and what these define."""


def run(name, mode=None, **defined):
    """Return the verdicts and the text of a lab's cells, with some of its names defined here, shown in a mode."""
    marimo = pytest.importorskip("marimo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_HORIZON", "1024")
        if mode:
            patch.setattr(marimo, "app_meta", lambda: types.SimpleNamespace(mode=mode))
        outputs, found = importlib.import_module(f"dp_bandit_envs.labs.{name}").app.run(defs=defined)
    verdicts = [each for each in (*outputs, *found.values()) if isinstance(each, TaskVerdict)]
    return verdicts, "\n".join(each.text for each in outputs if hasattr(each, "text"))


@functools.cache
def solved(name):
    """Return the same of a lab after the prediction, with its solutions."""
    solutions = importlib.import_module(f"dp_bandit_envs.labs.solutions.{name}")
    defined = {task: getattr(solutions, task) for task in SOLVED[name]}
    if name == "what_an_attacker_sees":
        defined |= {"your_numbers": (1, 2, 3), "accused": "".join(order(number)[0] for number in (1, 2, 3))}
    return run(name, guess=types.SimpleNamespace(value="a guess"), **defined)


@functools.cache
def unsolved(name):
    """Return the same of a lab as a student opens it."""
    return run(name, "edit")


def test_the_list_and_the_folder_have_the_same_labs():
    assert sorted([*(lab.file for lab in LABS), "all_labs.py"]) == NOTEBOOKS


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_a_read_only_page_asks_for_no_answers(name):
    verdicts, text = run(name, "run")
    assert verdicts == []
    assert "Task" not in text and "Press the first button" not in text
    assert f"dp-bandit lab {name.replace('_', '-')}" in text


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_the_answer_waits_for_a_guess_and_tasks_for_a_solution(name):
    verdicts, text = unsolved(name)
    assert [each.passed for each in verdicts] == [False] * len(verdicts)
    assert len(verdicts) == (0 if name.startswith("your_own") else 2 + (name == "what_is_a_bandit"))
    assert '<p id="answer">' not in text or name in ("price_of_privacy", "what_is_a_bandit")
    assert "Task" in text and "marimo's stop button" in text


@pytest.mark.thorough
@pytest.mark.slow_cases("experts", "graph_feedback")
@pytest.mark.parametrize("name", SOLVED)
def test_solutions_pass_in_the_notebook(name):
    verdicts, text = solved(name)
    assert len(verdicts) == 2 and all(verdicts)
    assert "You said <em>a guess</em>" in text
    assert '<p id="answer">' in text


def calls(source, name):
    """Return the calls of a function in a notebook."""
    return [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and name in ast.unparse(node.func)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_lab_has_its_parts_and_every_prediction_is_judged_by_what_was_measured(name):
    """It asks first, shows an answer, and has a solution and a page for the teacher.

    The options of a question are those that `you_said` knows, each with a condition on numbers of the lab.
    """
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    asked = [ast.literal_eval(call.args[0]) for call in calls(source, "mo.ui.radio")]
    judged = [call.args[1] for call in calls(source, "you_said")]
    assert asked and asked == [[key.value for key in options.keys] for options in judged]
    assert all({type(node) for node in ast.walk(each)} & {ast.Name} for options in judged for each in options.values)
    assert "mo.stop(" in source and 'id="answer"' in source and "What you have seen" in source
    assert ast.get_docstring(ast.parse((FOLDER / "solutions" / f"{name}.py").read_text(encoding="utf-8")))
    page = (FOLDER / "teacher" / f"{name}.md").read_text(encoding="utf-8")
    assert "minutes" in page and "false alarm" in page.lower()


@pytest.mark.thorough
def test_a_prediction_is_called_right_or_wrong_in_a_word():
    options = {"twice": False, "half": True}
    assert you_said("half", options) == "You said *half*: **right**."
    assert you_said("twice", options) == "You said *twice*: **wrong**; right is *half*."
    assert you_said("twice", {"twice": False}) == "You said *twice*: **wrong**."
    _, text = run("counters", guess=types.SimpleNamespace(value="about 3 times"))
    assert "You said <em>about 3 times</em>: <strong>right</strong>. With a tree it grows" in text
    assert "You said <em>a guess</em>: <strong>wrong</strong>; right is <em>about 3 times</em>" in solved("counters")[1]


@pytest.mark.thorough
def test_marimo_finds_no_fault_in_the_notebooks():
    pytest.importorskip("marimo")
    command = [sys.executable, "-m", "marimo", "check", "--strict", *(FOLDER / name for name in NOTEBOOKS)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.thorough
def test_what_lab_4_says_of_the_largest_errors():
    on_items, of_tree = (
        np.array([errors(BY_WORDS[words], 4095, 1.0, stream) for stream in range(21)])
        for words in ("noise on every item", "binary tree")
    )
    largest = [np.abs(off).max(axis=1) for off in (on_items, of_tree)]
    assert (largest[1] > largest[0]).all()
    assert np.median(largest, axis=1) == pytest.approx([96, 176], rel=0.02)
    assert ((of_tree**2).mean(axis=1) < (on_items**2).mean(axis=1)).sum() == 13
    assert [np.abs(np.diff(off)).mean() for off in (on_items, of_tree)] == pytest.approx([1, 17], rel=0.03)
    _, answer = solved("counters")
    assert "noise on every item 90.5 (the errors of this stream have a root mean square of 50.7; the largest" in answer
    assert "binary tree 58.8 (the errors of this stream have a root mean square of 37.6; the largest" in answer


def test_joint_noise_of_13_gains_is_less_than_half_of_independent_laplace_noise():
    """By the variance E[R^2] / 3 with R ~ Gamma(14, 1), and 2 13^2 with a scale of 13 for each."""
    assert math.sqrt(14 * 15 / 3) < math.sqrt(2) * 13 / 2


@pytest.mark.slow
def test_the_table_of_noise_follows_from_the_lab_on_counters():
    """A binary tree over 2^m rounds has m + 1 levels, and the sum after 2^m - 1 rounds m nodes; ten times that noise.

    With joint noise one of ten gains has the variance 44 b^2 in a node: E[R^2] / 3 with R ~ Gamma(11, b), in a cube.
    """
    _, text = solved("experts")
    row = re.compile(r"<td[^>]*>([\d,]+)</td>(\s*<td[^>]*>[\d,]+</td>){5}")
    rows = {found.group(1): found.group(0) for found in row.finditer(text)}
    for power in (10, 12, 14, 16, 20, 24):
        horizon = 2**power
        counter = make_counter("k-ary", horizon=horizon, epsilon=1.0)
        wide = math.sqrt(max(counter.variance(t) for t in counter.peaks(horizon) if t))
        expected = [math.sqrt(2 * power) * (power + 1) * 10, 10 * wide, math.sqrt(44 / 2) * wide]
        expected += [math.sqrt(2 * horizon) * 10, math.sqrt(horizon * math.log(10) / 2)]
        assert re.findall(r">([\d,]+)<", rows[f"{horizon:,}"])[1:] == [f"{each:,.0f}" for each in expected]
    assert "2.8 times less noise" in text and "another 2.1 times less" in text
    assert "your learner has a mean regret of" in text  # a right step of Hedge plays private games


@pytest.mark.thorough
def test_the_worked_agent_has_not_yet_less_regret_than_the_private_reference():
    _, text = unsolved("your_own_agent")
    found = re.search(
        r"The worked agent has a mean regret of ([\d,]+) in 200 games, greedy (\d+), and .*, (\d+)\. It", text
    )
    assert [float(each.replace(",", "")) for each in found.groups()] == pytest.approx([922, 431, 61], rel=0.01)


@pytest.mark.thorough
def test_an_adversary_is_checked_and_ranked_when_the_buttons_are_pressed():
    pressed = types.SimpleNamespace(value=True)
    _, text = run("your_own_adversary", check_now=pressed, rank_now=pressed)
    assert "It wins 0 of 40 leagues" in text and "proven for every game" in text and "<strong>yours</strong>" in text


@pytest.mark.slow
def test_what_lab_7_and_its_teacher_say_of_the_games():
    """A mean of 20 games has a standard error of about .06 of Hedge's regret, and .1 to .15 in the longest games."""

    def over(power, epsilon, trials):
        games = play_all(2**power, epsilon, trials)
        return [over_hedge(games, name) for name in (TREE, BETTER, ROUNDS)]

    assert over(16, 1.0, 20) == pytest.approx([3.4, 1.5, 4.2], abs=0.25)
    assert over(10, 1.0, 256) == pytest.approx([3.8, 3.1, 3.9], abs=0.25)
    assert over(12, 1.0, 64)[0] == pytest.approx(3.9, abs=0.25)
    at_14 = {epsilon: over(14, epsilon, 20) for epsilon in (0.1, 1.0, 2.0, 5.0, 10.0)}
    assert [each[1] for each in at_14.values()] == pytest.approx([4.0, 2.2, 1.5, 1.0, 1.0], abs=0.25)
    assert [each[0] for each in at_14.values()] == pytest.approx([4.1, 3.8, 3.5, 2.4, 1.6], abs=0.25)
    assert [at_14[0.1][2], at_14[2.0][2], at_14[10.0][2]] == pytest.approx([4.2, 3.8, 2.9], abs=0.25)
    learners = ["Hedge", make_algorithm("AS-FTRL", epsilon=1.0, counter="binary", label=TREE)]
    assert over_hedge(played(learners, 2**20, 20, seed=7), TREE) == pytest.approx(2.3, abs=0.4)
    assert over_hedge(played(learners, 2**22, 12, seed=7), TREE) == pytest.approx(1.6, abs=0.4)


def test_the_count_of_games_has_those_of_the_prediction_and_the_budget_refuses_the_fourth():
    """100 games at epsilon = 1 and 100 at 5 for the prediction, then 100 at 1 for the sliders."""
    _, text = solved("hiv_trial")
    assert "has run the trial 300 times for you" in text and "epsilon would be 700 for a patient" in text
    assert "played; spent so far: epsilon = 7.5 for a patient" in text
    _, text = unsolved("hiv_trial")
    assert text.count("spent so far") == 3
    assert text.count("refused: ") == 1


@pytest.mark.thorough
def test_the_cell_with_the_agent_is_saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pressed, free = types.SimpleNamespace(value=True), types.SimpleNamespace(value=False)
    buttons = {"check_now": free, "save_now": pressed, "file_name": types.SimpleNamespace(value="mine")}
    _, text = run("your_own_agent", guess=types.SimpleNamespace(value="a guess"), **buttons)
    assert "<b>Saved.</b>" in text
    assert "dp-bandit run Stochastic mine:MyAgent EXP3" in text
    saved = (tmp_path / "submissions" / "mine.py").read_text(encoding="utf-8")
    assert "class MyAgent(FunctionalAgent):" in saved
    assert "app.cell" not in saved


@pytest.mark.slow
def test_an_agent_gets_its_own_line_in_the_suite():
    pressed, guessed = types.SimpleNamespace(value=True), types.SimpleNamespace(value="a guess")
    _, text = run("your_own_agent", guess=guessed, score_now=pressed)
    assert "&gt; MyAgent" in text or "> MyAgent" in text


def test_a_spinner_says_what_is_compiled_and_the_log_says_the_rest(caplog, monkeypatch):
    monkeypatch.setattr(compiled, "_said", set())
    logger = logging.getLogger("dp_bandit_envs")
    with caplog.at_level("WARNING", logger="dp_bandit_envs"):
        logger.addFilter(unless_compiling)
        try:
            logger.warning("compiling 2 of 3: UCB (about 3 s)")
            logger.warning("the rest")
        finally:
            logger.removeFilter(unless_compiling)
    assert caplog.messages == ["the rest"]


needs_marimo = pytest.mark.skipif(not installed("marimo"), reason="there is no marimo: pip install -e '.[labs]'")
IN_PYODIDE = {"numpy", "matplotlib", "cloudpickle", "typing_extensions"}
"""What we need of Pyodide's own packages."""
PURE = {"gymnasium", "farama_notifications"}
"""Wheels of pure Python, which a browser takes from PyPI."""
PLAYED = """
Refuse.missing.remove("matplotlib")
from dp_bandit_envs.labs.counters import app
outputs, _ = app.run(defs={"guess": type("Guess", (), {"value": "a guess"})})
print("answer" in "".join(each.text for each in outputs if hasattr(each, "text")))
print(sorted(set(Refuse.missing) & set(sys.modules)))
"""


def source_of(name):
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def exported(kind, source, folder):
    """Export a lab's text as a user does, and return the file's text."""
    (folder / "lab.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "marimo", "-q", "export", kind, "lab.py", "-o", "exported"]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return (folder / "exported").read_text(encoding="utf-8")


def alone(code):
    """Return code without spaces and comments: an export indents texts and imports anew."""
    return re.sub(r"\s|\\n", "", ast.unparse(ast.parse(code)))


@pytest.mark.parametrize("name", [lab.file.removesuffix(".py") for lab in LABS])
def test_cells_are_those_of_the_file(name):
    source = source_of(name)
    written = [each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)]
    for function, cell in zip(written, cells_of(source), strict=True):
        code = [ast.unparse(part) for part in function.body if not isinstance(part, ast.Return)]
        assert [ast.unparse(part) for part in ast.parse(cell).body] == code


@needs_marimo
def test_a_notebook_of_jupyters_has_the_cells_of_the_lab(tmp_path):
    """Texts alone become Markdown; cells may stand in another order."""
    source = source_of("counters")
    cells = json.loads(exported("ipynb", source, tmp_path))["cells"]
    code = sorted(alone("".join(each["source"])) for each in cells if each["cell_type"] == "code")
    assert code == sorted(alone(each) for each in cells_of(source) if not each.startswith("mo.md(r"))
    assert any("".join(each["source"]).startswith("# Counters") for each in cells if each["cell_type"] == "markdown")


@pytest.mark.parametrize("name", [lab.name for lab in LABS])
def test_a_page_to_read_has_its_predictions_made_and_no_checks(name):
    source, read = source_of(find(name).file.removesuffix(".py")), lab_pages.to_read(find(name))
    ast.parse(read)
    assert read.count("mo.ui.radio(value=") == source.count("mo.ui.radio(") >= 1
    assert "import judged" not in read and read.count("def judged(") == 1
    assert f"`dp-bandit lab {name}` opens the lab" in read and "](../docs/" in read


@needs_marimo
@pytest.mark.thorough
def test_the_page_of_a_lab(tmp_path, monkeypatch):
    """Its answer and pictures are there, and no box says that something is missing."""
    page = lab_pages.page(find("counters"))
    assert "You said" in page and "Worst standard deviation up to T = 4,095" in page and "data:image/png" in page
    assert "a check says here what is wrong" in page and 'class=\\"verdict' not in page


@needs_marimo
@pytest.mark.slow
@pytest.mark.parametrize("name", [lab.name for lab in LABS])
def test_every_lab_becomes_a_page(name, tmp_path, monkeypatch):
    """As a user exports it, before the prediction; and as the site has it."""
    monkeypatch.setenv("LAB_HORIZON", "1024")
    lab = find(name)
    plain = exported("html", source_of(lab.file.removesuffix(".py")), tmp_path)
    page = lab_pages.page(lab)
    assert "marimo-radio" in plain and "You said" in page and 'class=\\"verdict' not in page
    # A cell may wait for another one, and none fails.
    assert set(re.findall('"ename": *"(.*?)"', plain + page)) <= {"ancestor-stopped"}


@needs_marimo
@pytest.mark.thorough
def test_a_lab_plays_without_a_compiler_as_in_a_browser():
    assert light(BROWSER + PLAYED)[0] == ["True", "[]"]


def test_the_wheel_needs_only_what_a_browser_can_load():
    needed = map(Requirement, [*metadata.requires("dp-bandit-envs"), *metadata.requires("gymnasium")])
    names = {each.name for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})}
    assert {name.lower().replace("-", "_") for name in names} - {"dp_bandit_envs"} <= IN_PYODIDE | PURE
