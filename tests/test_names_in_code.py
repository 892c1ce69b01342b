"""Names in the code: fillers are rare, a class is a noun of the field, and its name means one thing in the package."""

import ast
import functools
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
WRAPPERS = ("dp_bandit_envs.wrappers", "dp_bandit_envs.privacy.mechanisms")
"""A mechanism, its wrapper and its vector form share a name on purpose."""
PARTICIPLES = ("ed", "ing", "own", "awn", "ayed", "eld", "ent", "ept", "een", "ade")
NOUNS = {"Event", "Agent", "Component", "Exponent", "String", "Spec", "Need", "Seed", "Shade", "Grade", "Unknown"}
"""Last words of names that end like participles and are nouns."""
OF_THE_FIELD = {"Discounted", "MemoryBounded", "Restarted", "RewardRange", "Shifting"}
"""Games and agents whose names in the literature are participles."""


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


@pytest.mark.parametrize("name", MOST_BOUND)
def test_a_filler_is_rarely_bound(name):
    assert bound_names()[name] <= MOST_BOUND[name]


def test_fillers_together_are_rarely_bound():
    assert sum(bound_names()[name] for name in FILLERS) <= MOST_FILLERS


def test_a_class_name_means_one_thing_in_the_package():
    twice = {name: homes for name, homes in classes().items() if len(homes) > 1 and name not in SHARED_NAMES}
    assert not {name: homes for name, homes in twice.items() if not all(home.startswith(WRAPPERS) for home in homes)}


def words_of(name):
    """Return the words of a name in capitals and small letters."""
    words = []
    for letter in name.lstrip("_"):
        if letter.isupper() or not words:
            words.append("")
        words[-1] += letter
    return words


def test_no_class_is_a_participle():
    """`Played` says what happened, not what it is."""
    wrong = [name for name in classes() if words_of(name)[-1] not in NOUNS and name not in OF_THE_FIELD]
    assert [name for name in wrong if name.endswith(PARTICIPLES)] == []
