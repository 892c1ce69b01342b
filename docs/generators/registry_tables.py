"""The tables in `docs/api.md` that are made from the registry: who plays what, and the source of each algorithm."""

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

import gymnasium as gym

from dp_bandit_envs.algorithms import algorithm_names, make_algorithm
from dp_bandit_envs.envs.registration import GAMES
from generators import docstrings
from generators.papers import in_markdown
from generators.settings import SETTINGS, setting_of

FEEDBACK = {
    "bandit": "the gain of the arm played",
    "graph": "also the gains of its neighbours in the graph",
    "full": "the gains of all arms",
    "payoff": "the payoff of the point played",
    "vector": "the gain vector",
}
"""The words for each kind of feedback."""
MADE_FOR = {"graph": "graph", "experts": "full", "experts and points": "full"}
"""The feedback in games of arms for which algorithms of a setting are made; otherwise `"bandit"`."""
POINTS = ("Ball", "Cube")
"""Environments with an argument `feedback`."""


class Game(NamedTuple):
    """An environment with one kind of feedback, the algorithms that can play it, and those with a guarantee there."""

    name: str
    feedback: str
    players: tuple[str, ...]
    private: frozenset[str]


@functools.cache
def games() -> tuple[Game, ...]:
    """Return all environments of the package, once for each kind of feedback that they can have."""
    rows = []
    for game in GAMES.values():
        if game.adversary is not None and not isinstance(game.adversary, str):
            continue  # registered by a program
        for arguments in [{"feedback": "bandit"}, {"feedback": "full"}] if game.name in POINTS else [{}]:
            env = gym.make(game.id, **arguments | ({"gains": [[0.0, 1.0]] * 10} if game.name == "Replay" else {}))
            makers = {name: make_algorithm(name) for name in algorithm_names()}
            players = {name: algorithm for name, algorithm in makers.items() if algorithm.refusal(env) is None}
            private = {name for name, algorithm in players.items() if algorithm.guarantee_in(env).model != "none"}
            rows.append(Game(game.name, _feedback(env), tuple(players), frozenset(private)))
            env.close()
    return tuple(rows)


def _feedback(env: gym.Env[Any, Any]) -> str:
    facts: Any = env.unwrapped
    if not isinstance(env.action_space, gym.spaces.Discrete):
        return "payoff" if facts.n_values == 1 else "vector"
    if "Graph" in str(env.spec and env.spec.id):
        return "graph"
    return "full" if make_algorithm("Hedge").refusal(env) is None else "bandit"


def feedback_of_environment(name: str) -> list[str]:
    """Return the kinds of feedback of an environment."""
    return list(dict.fromkeys(game.feedback for game in games() if game.name == name))


def feedback_of_algorithm(name: str) -> list[str]:
    """Return the kinds of feedback with which an algorithm can play."""
    return list(dict.fromkeys(game.feedback for game in games() if name in game.players))


def _cell(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def who_plays_what() -> str:
    """Return the section with environments, feedback and algorithms."""
    groups: dict[tuple[str, tuple[str, ...]], list[Game]] = {}
    for game in games():
        groups.setdefault((game.feedback, game.players), []).append(game)
    rows = []
    for feedback, players in sorted(groups, key=lambda group: list(FEEDBACK).index(group[0])):
        alike = groups[feedback, players]
        private = frozenset.intersection(*(game.private for game in alike))
        arms = feedback not in ("payoff", "vector")
        made_for = [name for name in players if not arms or MADE_FOR.get(setting_of(name), "bandit") == feedback]
        where, what = _cell(game.name for game in alike), FEEDBACK[feedback]
        for setting in dict.fromkeys(map(setting_of, made_for)):
            names = [name for name in made_for if setting_of(name) == setting]
            cells = [_cell(name for name in names if (name in private) is yes) for yes in (True, False)]
            rows.append(f"| {where} | {what} | {SETTINGS[setting]} | {cells[0]} | {cells[1]} |")
            where = what = ""
        others = len(players) - len(made_for)
        if others:
            rows.append(
                f"| | | made for other feedback | {others} more algorithms for arms, listed in the other rows | |"
            )
    introduction = (
        "The id of an [environment](environments.md) `X` is `DPBandit-X-v0`. A round reveals different gains in"
        " different environments ([feedback](glossary.md#feedback)). [Algorithms](algorithms.md) are grouped by their"
        " purpose. An algorithm raises an error in an environment where it is not listed."
    )
    head = [
        "| environments | a round reveals | algorithms for | with a guarantee | without |",
        "| --- | --- | --- | --- | --- |",
    ]
    return "\n".join(["## Which algorithm plays which environment", "", introduction, "", *head, *rows, ""])


def sources() -> str:
    """Return the section with the source of each algorithm; those of one source share a row."""
    groups: dict[str, list[str]] = {}
    for name in algorithm_names():
        groups.setdefault(docstrings.escaped(make_algorithm(name).reference), []).append(name)
    rows = [f"| {_cell(names)} | {reference} |" for reference, names in groups.items()]
    head = ["| algorithm | source |", "| --- | --- |"]
    return in_markdown("\n".join(["## Sources", "", *head, *rows, ""]))
