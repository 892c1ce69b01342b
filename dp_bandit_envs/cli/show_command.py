"""Prints what `dp-bandit show NAME` says about an environment, algorithm, agent, wrapper or counter."""

import importlib
import inspect
import math
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import gymnasium as gym
from rich.console import Console

from dp_bandit_envs import agents, checks, wrappers
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm, make_algorithm
from dp_bandit_envs.cli.plain_text import plain
from dp_bandit_envs.comparison.asking import algorithm_of, imported, loaded, short_name
from dp_bandit_envs.decisions import DECISION_SETS
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import GAMES, IDS
from dp_bandit_envs.privacy.counters import COUNTERS, make_counter
from dp_bandit_envs.privacy.guarantee import CONVENTION, level_of
from dp_bandit_envs.privacy.mechanisms import MECHANISMS

N_ARMS, HORIZON = 4, 2**18
WIDTH = 80
MEANS = (0.9, 0.6)
"""The means for which bounds of stochastic algorithms are shown."""
DIFFERS = "Differs from the source in:"
BASES = ("PrivacyBoundary", "ProjectToSet", "FunctionalAgent")
"""Names of base classes."""


class Declared(NamedTuple):
    """A docstring in two parts: the description, and the differences from the source ("" if none are declared)."""

    what: str
    differs: str


def environments() -> dict[str, Any]:
    """Return the class of each registered id."""
    found = {}
    for id_ in IDS:
        module, _, name = str(gym.spec(id_).entry_point).partition(":")
        found[id_] = getattr(importlib.import_module(module), name)
    return found


def _exported(module: Any) -> dict[str, Any]:
    return {name: getattr(module, name) for name in sorted(set(module.__all__) - set(BASES))}


KINDS: dict[str, Callable[[], Mapping[str, Any]]] = {
    "environment": environments,
    "algorithm": lambda: ALGORITHMS,
    "agent": lambda: _exported(agents),
    "wrapper": lambda: _exported(wrappers),
    "counter": lambda: COUNTERS,
}
"""All named things, by kind."""


def show_name(console: Console, name: str) -> None:
    """Print everything about a name; for each kind, if several things share the name."""
    found = named(name)
    for index, (kind, known, thing) in enumerate(found):
        text = about(kind, known, thing)
        console.print(("\n" if index else "") + text, markup=False, highlight=False)


def named(name: str) -> list[tuple[str, str, Any]]:
    """Return kind, name and thing of every match for `name`: exact matches, or else matches that ignore case.

    Raises:
        UnknownNameError: If nothing has this name; the message suggests similar names.
    """
    if ":" in name and name.partition(":")[0] not in {*ALGORITHMS, *IDS}:
        return [_importable(name)]
    every = [(kind, known, thing) for kind, things in KINDS.items() for known, thing in things().items()]
    spellings = {spelling: None for kind, known, _ in every for spelling in {known, short_name(known)}}
    wanted = checks.known_name("name", name, spellings).lower()
    found = [each for each in every if wanted in (each[1].lower(), short_name(each[1]).lower())]
    exact = [each for each in found if name in (each[1], short_name(each[1]))]
    return exact or found


def _importable(text: str) -> tuple[str, str, Any]:
    """Return kind, name and thing of `module:Name`.

    Raises:
        ValueError: If the module does not have it, or it is nothing to play.
    """
    module, _, name = text.partition(":")
    loaded(module)
    if name in GAMES:
        return "environment", name, environments()[name]
    own = imported(text)
    if own is None or own.given:
        raise ValueError(f"show takes a name without parameters, such as mine:Name; received {text!r}.")
    name, found = own.name, own.thing
    if found is None:
        return "algorithm", name, ALGORITHMS[name]
    if isinstance(found, type):
        return "environment" if issubclass(found, Adversary) else "agent", name, found
    one = algorithm_of(found)
    if one.maker is None:
        raise ValueError(f"{name} must be an algorithm, an agent or an adversary; received {text!r}.")
    return "algorithm", name, found


def about(kind: str, name: str, thing: Any) -> str:
    """Return everything known about a thing."""
    what, differs = declared(thing)
    lines = [f"{name}: {kind}", "", _reflowed(what), "", "Parameters", *parameters_of(thing, kind)]
    facts: dict[str, str] = {}
    if kind == "algorithm":
        facts = _of_algorithm(make_algorithm(name) if name in ALGORITHMS else made_without_arguments(thing))
        facts |= {"Differs from the source in": differs} if differs else {}
    elif kind == "wrapper":
        facts["Guarantee"] = _of_wrapper(name, thing)
    elif kind == "counter":
        facts["Guarantee"] = f"epsilon = 1, T = 1,000: {make_counter(name, epsilon=1.0, horizon=1000).guarantee}"
    if differs and kind != "algorithm":
        facts["Differs from the source in"] = differs
    for title, text in facts.items():
        lines += ["", title, *(_wrapped(line, "  ") for line in text.splitlines())]
    return "\n".join(lines)


def _reflowed(text: str) -> str:
    """Return a docstring with its plain paragraphs wrapped to 80 columns; formulas and lists are unchanged."""
    blocks = text.split("\n\n")
    # A heading is a line of its own.
    blocks = [part for block in blocks for part in (block.split("\n", 1) if block.startswith("## ") else [block])]
    plain = [not block.startswith((" ", "..")) and "\n " not in block for block in blocks]
    return "\n\n".join(_wrapped(block) if ours else block for block, ours in zip(blocks, plain, strict=True))


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


def declared(thing: Any) -> Declared:
    """Return the two parts of a docstring."""
    what, _, differs = plain(inspect.getdoc(thing) or "").partition(DIFFERS)
    differs, _, rest = differs.partition("\n\n")
    return Declared((what.rstrip() + ("\n\n" + rest if rest else "")).strip(), " ".join(differs.split()))


def parameters_of(thing: Any, kind: str) -> list[str]:
    """Return a line for each parameter, with its default."""
    lines = []
    if isinstance(thing, Algorithm):
        return ["  none"]
    for key, one in inspect.signature(thing).parameters.items():
        if key in ("label", "env", "rng") or one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
            continue
        lines.append(f"  {key}" + ("" if one.default is one.empty else f" = {one.default!r}"))
    return lines or ["  none"]


def first_line(thing: Any) -> str:
    """Return the first line of a docstring."""
    return plain(inspect.getdoc(thing) or "").split("\n", 1)[0]


def made_without_arguments(thing: Any) -> Algorithm:
    """Return the algorithm that an object is, or that a function makes: at epsilon 1, if it has no default."""
    one = algorithm_of(thing)
    assert one.maker is not None
    needed = {key for key, each in one.takes.items() if each.default is each.empty}
    return one.maker(**{key: 1.0 if key == "epsilon" else 1e-6 for key in needed & {"epsilon", "delta"}})


def _of_algorithm(algorithm: Algorithm) -> dict[str, str]:
    size = {"n_arms": N_ARMS, "horizon": HORIZON}
    holds, claimed = algorithm.guarantee(**size), algorithm.paper_guarantee(**size)
    at = f"K = {N_ARMS}, T = {HORIZON:,}"
    external = algorithm.regret_bound(**size)
    pseudo = algorithm.pseudo_regret_bound(means=MEANS, horizon=HORIZON)
    bounds = [
        f"{kind}: {bound:,.1f} at most"
        for kind, bound in (
            (f"external regret against an oblivious adversary, {at}", external),
            (f"pseudo-regret with means {MEANS[0]:g} and {MEANS[1]:g}, T = {HORIZON:,}", pseudo),
        )
        if bound < math.inf
    ]
    paper = f"the paper's figure: epsilon = {claimed.epsilon:.6g}" + (
        f", delta = {claimed.delta:.3g}" if claimed.delta else ""
    )
    games = _games_of(algorithm)
    return {
        **({"Games": games} if games else {}),
        "Guarantee": f"with the defaults, {at}: {level_of(holds)} ({CONVENTION})"
        + ("" if holds.model == "none" else f"\n{holds.scope()}")
        + ("" if holds == claimed else f"\n{paper}"),
        "It covers": holds.covers,
        "Layer by layer": "\n".join(holds.steps),
        "Regret bound": "\n".join(bounds) or "none with explicit constants is known",
        "Source": algorithm.reference,
    }


def _games_of(algorithm: Algorithm) -> str:
    """Return which games an algorithm is for, one kind a line; nothing if it is for all games with arms."""
    lines = []
    if algorithm.make_agent is not None and algorithm.feedback == "full":
        lines.append("only those that reveal all gains: DPBandit-Experts-v0, or DPBandit-Graph-v0 with graph=complete")
    elif algorithm.make_agent is not None and algorithm.make_point_agent is not None:
        lines.append("all with arms")
    if algorithm.make_point_agent is not None:
        sets = ", ".join(f"DPBandit-{name.capitalize()}-v0" for name in algorithm.decision_sets or DECISION_SETS)
        lines.append(f"points, with feedback='{'bandit' if algorithm.feedback == 'payoff' else 'full'}': {sets}")
    return "\n".join(lines)


def _of_wrapper(name: str, thing: Any) -> str:
    arguments = MECHANISMS[name].example
    env = thing(BanditEnv(Stochastic(N_ARMS, HORIZON)), **arguments)
    shown = ", ".join(f"{key} = {value}" for key, value in arguments.items())
    return f"{shown}{': ' if shown else ''}{env.guarantee}"
