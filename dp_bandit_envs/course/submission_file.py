"""Lab 9: saves the cell with a student's agent as a file that `dp-bandit tournament` plays."""

import ast
import linecache
import os
import re
import shlex
import textwrap
from pathlib import Path
from typing import Any, Final, TypeGuard

import gymnasium as gym

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.course.checking import WrongAnswer, failure, graded
from dp_bandit_envs.course.verdict import Verdict
from dp_bandit_envs.simulation import play

FIRST_LINE: Final = "# An agent for `dp-bandit tournament`, saved by lab 9; edit it there or here."
HEADER: Final = f"""\
{FIRST_LINE}
import math
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.arithmetic import exp, log


"""
NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")


def save_submission(agent_class: Any, name: str, folder: str | os.PathLike[str] = "submissions") -> Verdict:
    """Save the cell in which an agent is defined as `folder/name.py`, if the file can play on its own.

    A file saved before under this name is replaced; any other file is left alone. The rate of false alarms is 0.

    Args:
        agent_class: A class that inherits `FunctionalAgent`; all that it needs is in its cell.
        name: The file's name without `.py`: letters, digits and _, at most 40.
        folder: Where to; it is made if it is not there.
    """
    return saved(agent_class, name, folder)._replace(word="Saved")


@graded
def saved(agent_class: Any, name: str, folder: str | os.PathLike[str]) -> str:
    """Save the cell and return how to play its file, or raise `WrongAnswer`."""
    if not (isinstance(agent_class, type) and issubclass(agent_class, FunctionalAgent)):
        raise WrongAnswer("Give the agent's class, one that inherits FunctionalAgent.")
    if not NAME.fullmatch(name):
        raise WrongAnswer("The name has to begin with a letter and be made of at most 40 letters, digits and _.")
    text = HEADER + cell_source(agent_class) + "\n"
    check_alone(text, agent_class.__name__)
    # Absolute: a lab works in its own folder, and the student's terminal is elsewhere.
    path = Path(folder).resolve() / f"{name}.py"
    try:
        if path.exists() and not path.read_text(encoding="utf-8").startswith(FIRST_LINE):
            raise WrongAnswer(f"{path} is there already, and this lab did not write it. Take another name.")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WrongAnswer(f"{path} cannot be written: {error.strerror}.") from None
    return f"The file is {path}. Play it with: dp-bandit tournament {shlex.quote(str(path.parent))} --epsilon 1"


def cell_source(agent_class: type[FunctionalAgent]) -> str:
    """Return the code of the cell in which an agent's `select` is written, as it stands in the notebook.

    Raises:
        WrongAnswer: If it cannot be found, or the class is written in another cell.
    """
    code = agent_class.functions.select.__code__
    text = "".join(linecache.getlines(code.co_filename))
    if not text:
        raise WrongAnswer("The code of your agent cannot be found; run its cell again.")
    # Marimo keeps a file for each cell; where the notebook runs as a program, a cell is a function in its file.
    for node in ast.parse(text).body:
        if is_cell(node) and node.lineno <= code.co_firstlineno <= (node.end_lineno or 0):
            body = [part for part in node.body if not isinstance(part, ast.Return)]
            lines = text.splitlines()[body[0].lineno - 1 - decorators(body[0]) : body[-1].end_lineno]
            text = textwrap.dedent("\n".join(lines))
    if agent_class.__name__ not in {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)}:
        raise WrongAnswer(f"The class {agent_class.__name__} and its select have to be in the same cell.")
    return text.strip()


def is_cell(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    """Return whether a statement is a function with a decorator of marimo, such as `@app.cell`."""
    return isinstance(node, ast.FunctionDef) and any("app.cell" in ast.unparse(one) for one in node.decorator_list)


def decorators(node: ast.stmt) -> int:
    """Return how many lines before its `def` or `class` a statement begins."""
    first = getattr(node, "decorator_list", None)
    return node.lineno - first[0].lineno if first else 0


def check_alone(text: str, class_name: str) -> None:
    """Raise `WrongAnswer` unless an agent's file plays a short game without the notebook."""
    names: dict[str, Any] = {"__name__": "submission"}
    try:
        exec(compile(text, "submission.py", "exec"), names)
        play(gym.make("DPBandit-Stochastic-v0", horizon=60), names[class_name](), seed=0)
    except NameError as error:
        raise WrongAnswer(f"Alone the file stops: {error}. All that the agent needs has to be in its cell.") from None
    except Exception as error:
        raise WrongAnswer(f"Alone the file stops with {failure(error)}.") from None
