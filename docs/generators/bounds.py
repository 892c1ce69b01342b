"""The regret bounds of an algorithm's page: their numbers in the game measured, and where each is proven."""

import functools
import importlib
import math
import re
import sys
from collections.abc import Callable
from typing import Any

from dp_bandit_envs.algorithms import Algorithm
from generators import docstrings
from generators.settings import COINS, HORIZON

THEORY = "dp_bandit_envs.theory."
HELPERS = ("clip_bound", "optimistic_bound")
NO_BOUND = "None with explicit constants is known here."


def bound(algorithm: Algorithm, env: Any) -> str:
    """Return the regret bounds in the game measured, each with the function that works it out and its docstring."""
    values, means = env.get_wrapper_attr("values"), COINS.arguments["means"]
    width = float(getattr(values, "high", 1.0) - getattr(values, "low", 0.0))
    measures = [("regret in the first game below", width, lambda: algorithm.regret_bound_in(env))]
    if algorithm.make_agent is not None:
        measure = "pseudo-regret with means .8, .5, .5 and .5"
        work_out = functools.partial(algorithm.pseudo_regret_bound, means=means, horizon=HORIZON)
        measures.append((measure, max(means) - min(means), work_out))
    sentences = []
    for measure, most, work_out in measures:
        value, functions = traced(work_out)
        if math.isfinite(value) and functions:
            said = f"Expected {measure}, T = {HORIZON:,}: at most {value:,.0f}"
            if value >= HORIZON * most * (1 - 1e-9):
                said += ", which no regret exceeds: in so short a game the bound says nothing"
            sentences.append(f"{said}. {proof_of(functions[0])}")
    return "\n\n".join(sentences) or NO_BOUND


def traced(work_out: Callable[[], float]) -> tuple[float, list[Any]]:
    """Return a bound, and the functions of `dp_bandit_envs.theory` that worked it out, the outermost first."""
    names: dict[tuple[str, str], None] = {}

    def look(frame: Any, event: str, _: Any) -> None:
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if event == "call" and module.startswith(THEORY) and name.endswith("_bound") and name not in HELPERS:
            names[module, name] = None

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        value = work_out()
    finally:
        sys.setprofile(before)
    functions = [getattr(importlib.import_module(module), name, None) for module, name in names if name[0] != "_"]
    return value, [one for one in functions if one is not None]


def proof_of(function: Any) -> str:
    """Return what the docstring of a bound says: its formula, its proof or its source."""
    said = [one for one in docstrings.paragraphs(function) if not re.match(r"(Args|Raises):", one)]
    quoted = "\n".join(f"> {line}".rstrip() for line in docstrings.markdown(said).splitlines())
    where = f"{function.__module__.removeprefix('dp_bandit_envs.')}.{function.__name__}"
    return f"It is worked out by `{where}`, whose docstring has the proof or its source:\n\n{quoted}"
