"""The labs on experts, the HIV trial and own agents run from top to bottom, with the solutions and without."""

import importlib
import logging
import math
import re
import types

import pytest

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.compiling import compiled
from dp_bandit_envs.course.checking import Verdict
from dp_bandit_envs.course.lab_experts import BETTER, ROUNDS, TREE, over_hedge, play_all, played
from dp_bandit_envs.course.notebooks import unless_compiling
from dp_bandit_envs.privacy.counters import make_counter

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


def test_the_table_of_noise_follows_from_the_lab_on_counters():
    """A binary tree over 2^m rounds has m + 1 levels, and the sum after 2^m - 1 rounds m nodes; ten times that noise.

    With joint noise one of ten gains has the variance 44 b^2 in a node: E[R^2] / 3 with R ~ Gamma(11, b), in a cube.
    """
    _, text = run("experts", **GUESS)
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


def test_a_right_step_of_hedge_plays_private_games():
    solutions = importlib.import_module("dp_bandit_envs.labs.solutions.experts")
    _, text = run("experts", **{task: getattr(solutions, task) for task in TASKS["experts"]})
    assert "your learner has a mean regret of" in text


@pytest.mark.parametrize("name", [*TASKS, "your_own_agent"])
def test_the_answer_waits_for_a_guess_and_tasks_for_a_solution(name):
    verdicts, text = run(name)
    assert [each.passed for each in verdicts] == [False] * len(TASKS.get(name, []))
    assert '<p id="answer">' not in text


def test_the_count_of_games_has_those_of_the_prediction():
    """100 games at epsilon = 1 and 100 at 5 for the prediction, then 100 at 1 for the sliders."""
    _, text = run("hiv_trial", **GUESS)
    assert "has run the trial 300 times for you" in text and "epsilon would be 700 for a patient" in text
    assert "played; spent so far: epsilon = 7.5 for a patient" in text


def test_the_budget_refuses_the_fourth_game():
    _, text = run("hiv_trial")
    assert text.count("spent so far") == 3
    assert text.count("refused: ") == 1


def test_the_cell_with_the_agent_is_saved_for_the_tournament(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pressed, free = types.SimpleNamespace(value=True), types.SimpleNamespace(value=False)
    buttons = {"check_now": free, "save_now": pressed, "file_name": types.SimpleNamespace(value="mine")}
    _, text = run("your_own_agent", **GUESS, **buttons)
    assert "<b>Saved.</b>" in text
    assert f"dp-bandit tournament {tmp_path / 'submissions'} --epsilon 1" in text
    saved = (tmp_path / "submissions" / "mine.py").read_text(encoding="utf-8")
    assert "class MyAgent(FunctionalAgent):" in saved
    assert "app.cell" not in saved


def test_a_spinner_says_what_is_compiled_and_the_log_says_the_rest(caplog, monkeypatch):
    monkeypatch.setattr(compiled, "_said", set())
    logger = logging.getLogger("dp_bandit_envs")
    with caplog.at_level("WARNING", logger="dp_bandit_envs"):
        logger.addFilter(unless_compiling)
        try:
            compiled.say_compiling(["UCB"], kept=True)
            logger.warning("the rest")
        finally:
            logger.removeFilter(unless_compiling)
    assert caplog.messages == ["the rest"]
