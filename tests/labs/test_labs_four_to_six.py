"""The labs on counters, attackers and graphs run from top to bottom, with the solutions and without."""

import importlib
import types

import pytest

from dp_bandit_envs.course.suspects import order
from dp_bandit_envs.course.verdict import Verdict

TASKS = {
    "counters": ["node_scale", "private_sums"],
    "what_an_attacker_sees": ["epsilon_bound"],
    "graph_feedback": ["noise_factor", "clique_cover"],
}


def run(name, **defined):
    """Return the verdicts and the texts of a lab's cells, with some of its names defined here."""
    lab = importlib.import_module(f"dp_bandit_envs.labs.{name}")
    outputs, found = lab.app.run(defs={"guess": types.SimpleNamespace(value="a guess"), **defined})
    verdicts = [each for each in (*outputs, *found.values()) if isinstance(each, Verdict)]
    return verdicts, [each.text for each in outputs if hasattr(each, "text")]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setenv("LAB_HORIZON", "500")


@pytest.mark.parametrize("name", TASKS)
def test_solutions_pass_in_the_notebook(name):
    solutions = importlib.import_module(f"dp_bandit_envs.labs.solutions.{name}")
    defined = {task: getattr(solutions, task) for task in TASKS[name]}
    if name == "what_an_attacker_sees":
        defined["accused"] = order(1)[0]
    verdicts, texts = run(name, **defined)
    assert len(verdicts) >= 2
    assert all(verdicts)
    assert any("You said <em>a guess</em>" in text for text in texts)
    assert any('<p id="answer">' in text for text in texts)


def test_unsolved_tasks_are_not_passed():
    verdicts, _ = run("counters")
    assert [each.passed for each in verdicts] == [False, False]


def test_the_answer_waits_for_a_guess():
    _, texts = run("counters", guess=types.SimpleNamespace(value=None))
    assert not any('<p id="answer">' in text for text in texts)
