"""The labs on experts, the HIV trial and own agents run from top to bottom, with the solutions and without."""

import importlib
import types

import pytest

from dp_bandit_envs.course.verdict import Verdict

TASKS = {"experts": ["noise_scale", "probabilities"], "hiv_trial": ["epsilon_of_a_round", "decisions"]}
GUESS = {"guess": types.SimpleNamespace(value="a guess")}


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setenv("LAB_HORIZON", "1024")


def run(name, **defined):
    """Return the verdicts and the texts of a lab's cells, with some of its names defined here."""
    lab = importlib.import_module(f"dp_bandit_envs.labs.{name}")
    outputs, found = lab.app.run(defs=defined)
    verdicts = [each for each in (*outputs, *found.values()) if isinstance(each, Verdict)]
    return verdicts, "\n".join(each.text for each in outputs if hasattr(each, "text"))


@pytest.mark.parametrize("name", TASKS)
def test_solutions_pass_in_the_notebook(name):
    solutions = importlib.import_module(f"dp_bandit_envs.labs.solutions.{name}")
    verdicts, text = run(name, **GUESS, **{task: getattr(solutions, task) for task in TASKS[name]})
    assert len(verdicts) == 2
    assert all(verdicts)
    assert "You said <em>a guess</em>" in text
    assert '<p id="answer">' in text


def test_a_right_step_of_hedge_plays_private_games():
    solutions = importlib.import_module("dp_bandit_envs.labs.solutions.experts")
    _, text = run("experts", **{task: getattr(solutions, task) for task in TASKS["experts"]})
    assert "your learner has a mean regret of" in text


@pytest.mark.parametrize("name", [*TASKS, "your_own_agent"])
def test_the_answer_waits_for_a_guess_and_tasks_for_a_solution(name):
    verdicts, text = run(name)
    assert [each.passed for each in verdicts] == [False] * len(TASKS.get(name, []))
    assert '<p id="answer">' not in text


def test_the_budget_refuses_the_fourth_game():
    _, text = run("hiv_trial")
    assert text.count("spent so far") == 3
    assert text.count("refused: ") == 1


def test_the_cell_with_the_agent_is_saved_for_the_tournament(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pressed, free = types.SimpleNamespace(value=True), types.SimpleNamespace(value=False)
    buttons = {"check_now": free, "save_now": pressed, "file_name": types.SimpleNamespace(value="mine")}
    _, text = run("your_own_agent", **buttons, read_only=True)
    assert "Saved as" not in text and not (tmp_path / "submissions").exists()
    buttons["read_only"] = False
    _, text = run("your_own_agent", **GUESS, **buttons)
    assert "Saved as submissions" in text
    saved = (tmp_path / "submissions" / "mine.py").read_text(encoding="utf-8")
    assert "class MyAgent(FunctionalAgent):" in saved
    assert "app.cell" not in saved
