"""Each lab has all its parts, and its notebook runs as a program, up to the question and after it."""

import ast
import importlib
import subprocess
import sys
import types
from pathlib import Path

import pytest

from dp_bandit_envs.course.checking import Verdict
from dp_bandit_envs.course.notebooks import LABS

FOLDER = Path(__file__).parents[2] / "examples" / "labs"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.py") if path.name != "__init__.py")
NAMES = [lab.file.removesuffix(".py") for lab in LABS]


def test_the_list_and_the_folder_have_the_same_labs():
    assert sorted([*(lab.file for lab in LABS), "all_labs.py"]) == NOTEBOOKS


@pytest.mark.parametrize("name", NAMES)
def test_a_lab_has_a_solution_and_a_page_for_the_teacher(name):
    assert ast.get_docstring(ast.parse((FOLDER / "solutions" / f"{name}.py").read_text(encoding="utf-8")))
    page = (FOLDER / "teacher" / f"{name}.md").read_text(encoding="utf-8")
    assert "minutes" in page and "false alarm" in page.lower()


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_asks_first_and_shows_an_answer(name):
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert "mo.stop(" in source and 'id="answer"' in source and "What you have seen" in source


def run_as(mode, monkeypatch, name):
    """Return the outputs of a lab without a prediction, shown in a mode of marimo, and its texts."""
    marimo = pytest.importorskip("marimo")
    monkeypatch.setattr(marimo, "app_meta", lambda: types.SimpleNamespace(mode=mode))
    outputs, found = importlib.import_module(f"dp_bandit_envs.labs.{name}").app.run()
    return [*outputs, *found.values()], "\n".join(each.text for each in outputs if hasattr(each, "text"))


@pytest.mark.parametrize("name", NAMES)
def test_a_read_only_page_asks_for_no_answers(name, monkeypatch):
    shown, text = run_as("run", monkeypatch, name)
    assert not any(isinstance(each, Verdict) for each in shown)
    assert "Task" not in text and "Press the first button" not in text
    assert f"dp-bandit lab {name.replace('_', '-')}" in text


@pytest.mark.parametrize("name", NAMES)
def test_a_page_with_tasks_says_how_to_stop_a_loop(name, monkeypatch):
    _, text = run_as("edit", monkeypatch, name)
    assert "Task" in text and "marimo's stop button" in text


def test_marimo_finds_no_fault_in_the_notebooks():
    pytest.importorskip("marimo")
    command = [sys.executable, "-m", "marimo", "check", "--strict", *(FOLDER / name for name in NOTEBOOKS)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
