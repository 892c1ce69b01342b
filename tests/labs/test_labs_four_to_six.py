"""The labs on counters, attackers and graphs run from top to bottom, with the solutions and without."""

import importlib
import math
import types

import numpy as np
import pytest

from dp_bandit_envs.course.checking import Verdict
from dp_bandit_envs.course.lab_attacker import order
from dp_bandit_envs.course.lab_counters import BY_WORDS, errors

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
    _, texts = run("counters")
    answer = next(text for text in texts if '<p id="answer">' in text)
    assert "noise on every item 90.5 (the errors of this stream have a root mean square of 50.7; the largest" in answer
    assert "binary tree 58.8 (the errors of this stream have a root mean square of 37.6; the largest" in answer


def test_joint_noise_of_13_gains_is_less_than_half_of_independent_laplace_noise():
    """By the variance E[R^2] / 3 with R ~ Gamma(14, 1), and 2 13^2 with a scale of 13 for each."""
    assert math.sqrt(14 * 15 / 3) < math.sqrt(2) * 13 / 2
