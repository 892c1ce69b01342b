"""The attributes of adversaries: those of another game, and what is among them."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

MOST_DEEP: Final = 3
"""How deep lists and dictionaries are searched."""
NEW_GAME: Final = -1
"""A key of the memo of copies, where no id is: they begin a new game before they are played."""


def of_another_game(attributes: Mapping[str, Any], memo: dict[int, Any]) -> dict[str, Any]:
    """Return copies of attributes that have nothing in common with them that a game can change.

    Arrays that are read-only are shared, and for a new game what cannot be copied, such as an open file.

    Args:
        attributes: The attributes.
        memo: What replaces an object wherever it occurs, by its identity, as for `copy.deepcopy`; added to.
    """
    for array in among(attributes.values(), np.ndarray):
        if not array.flags.writeable:
            memo[id(array)] = array
    copies = {}
    for name, value in attributes.items():
        try:
            copies[name] = copy.deepcopy(value, memo)
        except Exception:
            # In the middle of a game, such as a generator, sharing it would move the original.
            if NEW_GAME not in memo:
                raise
            copies[name] = value
    return copies


def among(values: Any, kind: type[Any] | tuple[type[Any], ...], depth: int = MOST_DEEP) -> Iterator[Any]:
    """Yield the objects of a class (or of several) among some values, and in the containers among them."""
    for value in values:
        if isinstance(value, kind):
            yield value
        elif depth and isinstance(value, (list, tuple, set, frozenset, dict)):
            yield from among(value.values() if isinstance(value, dict) else value, kind, depth - 1)
