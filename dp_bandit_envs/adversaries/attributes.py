"""The attributes of adversaries: those of another game, and what is among them."""

import contextlib
import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

MOST_DEEP = 3
"""How deep lists and dictionaries are searched."""


def of_another_game(attributes: Mapping[str, Any], memo: dict[int, Any]) -> dict[str, Any]:
    """Return copies of attributes that have nothing in common with them that a game can change.

    Arrays that are read-only are shared, and so is what cannot be copied, such as an open file.

    Args:
        attributes: The attributes.
        memo: What replaces an object wherever it occurs, by its identity, as for `copy.deepcopy`; added to.
    """
    for value in attributes.values():
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            memo[id(value)] = value
    copies = {}
    for name, value in attributes.items():
        copies[name] = value
        with contextlib.suppress(Exception):
            copies[name] = copy.deepcopy(value, memo)
    return copies


def among(values: Any, kind: type[Any], depth: int = MOST_DEEP) -> Iterator[Any]:
    """Yield the objects of a class among some values, and in lists, tuples, sets and dictionaries among them."""
    for value in values:
        if isinstance(value, kind):
            yield value
        elif depth and isinstance(value, (list, tuple, set, frozenset, dict)):
            yield from among(value.values() if isinstance(value, dict) else value, kind, depth - 1)
