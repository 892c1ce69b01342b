"""Names in the code: fillers are rare, a class is a noun of the field, and its name means one thing in the package."""

import ast
import functools
import re
from collections import Counter

import pytest

from tests.test_layers import MODULES

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FILLERS = ("place", "each", "part", "own", "known", "given", "shown", "made")
MOST_BOUND = {"one": 30, "found": 60, "value": 217, "item": 64, "entry": 78, "obj": 60, "thing": 71, "elem": 60}
"""How often a name is assigned, looped over or an argument, outside of comprehensions."""
MOST_FILLERS = 250

SHARED_NAMES = {"State"}
"""The state of an agent, an adversary or a mechanism, in its own file."""
FORMS = {f"dp_bandit_envs.{room}" for room in ("privacy.mechanisms", "wrappers", "wrappers.vector")}
"""A mechanism, its wrapper and its vector form share a name on purpose."""
PARTICIPLES = {
    "Drawn",
    "Found",
    "Given",
    "Held",
    "Kept",
    "Known",
    "Made",
    "Own",
    "Seen",
    "Shown",
    "Spent",
    "Taken",
    "Told",
}
"""Participles that do not end in -ed or -ing."""
NOUNS = {"Imed", "Need", "Ranking", "Sampling", "Seed", "Speed", "Spending", "String", "Warning"}
"""Nouns that do; Imed is an algorithm."""
PUBLIC_GAMES = {"Alternating", "Leaning", "MemoryBounded", "Shifting"}


def syntax():
    return {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in MODULES.items()}


@functools.cache
def bound_names():
    """Return how often each name is bound outside of comprehensions."""
    counts = Counter()
    for tree in syntax().values():
        count(tree, counts)
    return counts


def count(node, counts):
    if isinstance(node, COMPREHENSIONS):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        counts[node.id] += 1
    elif isinstance(node, ast.arg):
        counts[node.arg] += 1
    for child in ast.iter_child_nodes(node):
        count(child, counts)


@functools.cache
def classes():
    """Return the modules of each class, by its name."""
    homes = {}
    for module, tree in syntax().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module)
    return homes


@pytest.mark.thorough
def test_fillers_are_rarely_bound():
    counts = bound_names()
    assert {name: counts[name] for name, most in MOST_BOUND.items() if counts[name] > most} == {}
    assert sum(counts[name] for name in FILLERS) <= MOST_FILLERS


@pytest.mark.thorough
def test_a_class_name_means_one_thing_in_the_package_and_is_no_participle():
    twice = {name: homes for name, homes in classes().items() if len(homes) > 1 and name not in SHARED_NAMES}
    rooms = {name: [home.rpartition(".")[0] for home in homes] for name, homes in twice.items()}
    assert not {name: twice[name] for name in twice if len(FORMS & {*rooms[name]}) < len(rooms[name])}
    # `Played` says what happened, not what it is.
    last_words = {name: re.findall("[A-Z][a-z]*|$", name)[-2:][0] for name in classes().keys() - PUBLIC_GAMES}
    wrong = {name for name, word in last_words.items() if word.endswith(("ed", "ing")) or word in PARTICIPLES}
    assert not {name: classes()[name] for name in wrong if last_words[name] not in NOUNS}
