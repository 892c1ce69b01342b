"""The page of each algorithm: rule, guarantee with its reason, bound, measured curve, differences, source."""

import importlib
import inspect
import math
import re
import sys
from collections.abc import Callable
from typing import Any

import gymnasium as gym

import dp_bandit_envs
from dp_bandit_envs import agents
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm, make_algorithm
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.levels import level_of
from generators import docstrings
from generators.cards import contents, picture
from generators.curve_picture import curve_picture
from generators.measured import TRIALS, lines_for, lines_of
from generators.settings import COINS, GAMES, HORIZON, SETTINGS, TWINS, can_be_calibrated, setting_of, takes

THEORY = "dp_bandit_envs.theory."
HELPERS = ("clip_bound", "optimistic_bound")
NO_BOUND = "None with explicit constants is known here."


def slug(name: str) -> str:
    """Return the page's name."""
    return name.lower()


def game_of(name: str) -> Any:
    """Return the first game in which the algorithm is measured."""
    game = GAMES[setting_of(name)][0]
    return gym.make(game.id, **game.arguments)


def agents_of(algorithm: Algorithm) -> list[type]:
    """Return the classes of the agents inside an algorithm."""
    makers = [one for one in (algorithm.make_agent, algorithm.make_point_agent) if one is not None]
    return list(dict.fromkeys(type(make()) for make in makers))


def link(kind: type) -> str:
    """Return a link to a class in the API."""
    name = kind.__name__
    if name in dp_bandit_envs.__all__:
        return f"{{py:obj}}`{name} <dp_bandit_envs.{name}>`"
    return f"{{py:obj}}`{name} <dp_bandit_envs.agents.{name}>`" if name in agents.__all__ else f"`{name}`"


def page(name: str, curve: str) -> str:
    """Return the page.

    Args:
        name: The algorithm.
        curve: Its measured curve, as SVG.
    """
    algorithm, parts = make_algorithm(name), docstrings.algorithm_parts(ALGORITHMS[name])
    env = game_of(name)
    holds = algorithm.guarantee_in(env)
    lines = [
        f"# {name}",
        parts.what,
        table(
            {
                "for": SETTINGS[setting_of(name)],
                "guarantee": "none"
                if holds.model == "none"
                else f"{level_of(holds, HORIZON)}, with its defaults in the game measured below",
                "privacy": model_of(holds),
                "source": docstrings.escaped(algorithm.reference),
            }
        ),
        "## Rule",
        parts.rule,
        *inside(algorithm),
        "## Guarantee",
        *guarantee(name, algorithm, holds, env, parts.reason),
        "## Regret bound",
        bound(algorithm, env),
        "## Measured",
        picture(curve, caption(name)),
    ]
    if parts.notes:
        lines += ["## What else to know", parts.notes]
    lines += ["## Differs from the source", parts.differs, "## Play it", f"```python\n{code(name)}\n```"]
    env.close()
    return "\n\n".join(lines) + "\n"


def table(rows: dict[str, str]) -> str:
    """Return a table of two columns without a head."""
    return "\n".join(["| | |", "| --- | --- |", *(f"| {key} | {value} |" for key, value in rows.items())])


def model_of(holds: PrivacyGuarantee) -> str:
    """Return who has to be trusted."""
    if holds.epsilon == 0:
        return "nobody's gains are used"
    return {
        "none": "none",
        "local": "local: noise before anything is stored",
        "central": "central: a trusted party sees the gains",
    }.get(holds.model, str(holds.model))


def inside(algorithm: Algorithm) -> list[str]:
    """Return what the docstrings of the agents inside say, with their formulas."""
    found = []
    for kind in agents_of(algorithm):
        found += [f"### The agent inside: {link(kind)}", docstrings.description(kind)]
    return found


def guarantee(name: str, algorithm: Algorithm, holds: PrivacyGuarantee, env: Any, reason: str) -> list[str]:
    """Return what is guaranteed, why, how it is declared, and what the paper claims if that differs."""
    lines = [reason]
    if holds.model == "none":
        return [*lines, 'It declares no guarantee, and says so: `guarantee_in(env).model` is `"none"`.']
    if holds.steps:
        lines.append("What it declares, layer by layer, with its defaults in the game measured below:")
        lines.append("\n".join(f"- {docstrings.prose(step)}" for step in holds.steps))
    lines.append(f"In numbers: {docstrings.prose(holds.numbers())} ({docstrings.prose(holds.scope())}).")
    declared = [f"`{one}`" for one in ("epsilon", "delta") if one in takes(name)]
    if can_be_calibrated(name):
        lines.append(
            f"{' and '.join(declared)} {'are' if len(declared) > 1 else 'is'} declared when it is made, as in"
            f' `make_algorithm("{name}", ...)`; what holds in a game is `guarantee_in(env)`, and'
            f' `calibrate("{name}", epsilon=..., n_arms=..., horizon=...)` finds the parameter for a guarantee.'
        )
    claimed = algorithm.paper_guarantee_in(env)
    if claimed != holds and claimed.model != "none":
        lines.append(
            f"The paper's figure for the same game is {docstrings.prose(claimed.numbers())}"
            f" ({docstrings.prose(claimed.theorem)}); where the two differ, the [errata](/ERRATA.md) say why."
        )
    return lines


def bound(algorithm: Algorithm, env: Any) -> str:
    """Return the regret bounds in the game measured, each with the function that works it out and its docstring."""
    found = []
    places = [("regret", lambda: algorithm.regret_bound_in(env))]
    if algorithm.make_agent is not None:
        means = COINS.arguments["means"]
        places.append(("pseudo-regret", lambda: algorithm.pseudo_regret_bound(means=means, horizon=HORIZON)))
    for kind, work_out in places:
        value, functions = traced(work_out)
        if math.isfinite(value) and functions:
            where = f"in the first game below, T = {HORIZON:,}"
            if kind == "pseudo-regret":
                where = f"with means .8, .5, .5 and .5, T = {HORIZON:,}"
            said = f"Expected {kind} {where}: at most {value:,.0f}"
            if value >= most(kind, env):
                said += ", which no regret exceeds: in so short a game the bound says nothing"
            found.append(f"{said}. {proof_of(functions[0])}")
    return "\n\n".join(found) or NO_BOUND


def most(kind: str, env: Any) -> float:
    """Return what no regret exceeds, from which a bound says something."""
    if kind == "pseudo-regret":
        means = COINS.arguments["means"]
        return HORIZON * (max(means) - min(means)) * (1 - 1e-9)
    values = env.get_wrapper_attr("values")
    return HORIZON * float(getattr(values, "high", 1.0) - getattr(values, "low", 0.0)) * (1 - 1e-9)


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
    found = [getattr(importlib.import_module(module), name, None) for module, name in names if name[0] != "_"]
    return value, [one for one in found if one is not None]


def proof_of(function: Any) -> str:
    """Return what the docstring of a bound says: its formula, its proof or its source."""
    said = [one for one in docstrings.paragraphs(function) if not re.match(r"(Args|Raises):", one)]
    words = docstrings.markdown(said)
    where = f"{function.__module__.removeprefix('dp_bandit_envs.')}.{function.__name__}"
    return f"It is worked out by `{where}`, whose docstring has the proof or its source:\n\n{quoted(words)}"


def quoted(text: str) -> str:
    """Return a text as a quotation in Markdown."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def caption(name: str) -> str:
    """Return what exactly was played."""
    games = GAMES[setting_of(name)]
    played = "; ".join(f"{game.id} with {words_of(game.arguments)}" for game in games)
    private = can_be_calibrated(name)
    how = ""
    if private:
        how = (
            " Private algorithms have the parameter at which their real guarantee is epsilon = 1 and 0.1, at the delta"
            " that their label says."
        )
    elif any(TWINS.get(one) == name and can_be_calibrated(one) for one in ALGORITHMS):
        how = " Private relatives beside it have the parameter at which their real guarantee is epsilon = 1."
    return f"Played: {played}; {TRIALS} games each, the same gains for all.{how}"


def words_of(arguments: dict[str, Any]) -> str:
    """Return arguments in Python."""
    return ", ".join(f"{key}={value!r}" for key, value in arguments.items())


def code(name: str) -> str:
    """Return code that plays it."""
    game = GAMES[setting_of(name)][0]
    lines = ["import gymnasium as gym", "import dp_bandit_envs", "from dp_bandit_envs import make_algorithm, play", ""]
    arguments = words_of(game.arguments | {"horizon": 1000}).replace("'", '"')
    lines.append(f'env = gym.make("{game.id}", {arguments})')
    parameters = inspect.signature(ALGORITHMS[name]).parameters
    with_epsilon = "epsilon" in parameters and parameters["epsilon"].default is not None
    made = f'make_algorithm("{name}"{", epsilon=1.0" if with_epsilon else ""})'
    lines += [f"algorithm = {made}", "print(algorithm.guarantee_in(env))"]
    lines.append("print(play(env, algorithm, seed=1).external_regret[-1])")
    return "\n".join(lines)


def curve_of(name: str) -> str:
    """Return the measured curve of an algorithm."""
    panels = [(game, lines_for(name, game, lines_of(game.title))) for game in GAMES[setting_of(name)]]
    return curve_picture(f"curve-{slug(name)}", panels)


def index(names: list[str]) -> str:
    """Return the page with all algorithms."""
    rows = []
    for name in names:
        algorithm = make_algorithm(name)
        env = game_of(name)
        holds = algorithm.guarantee_in(env)
        env.close()
        model = "none" if holds.model == "none" else f"{holds.model}, {level_of(holds, HORIZON)}"
        paper = docstrings.escaped(algorithm.reference)
        rows.append(f"| [{name}]({slug(name)}.md) | {SETTINGS[setting_of(name)]} | {model} | {paper} |")
    lines = [
        "# All algorithms",
        f"The guarantee is that of the defaults in the game measured on each page, T = {HORIZON:,}. Which to take is"
        " said under [algorithms](/docs/algorithms.md).",
        "\n".join(["| algorithm | for | guarantee | source |", "| --- | --- | --- | --- |", *rows]),
        contents([slug(name) for name in names]),
    ]
    return "\n\n".join(lines) + "\n"
