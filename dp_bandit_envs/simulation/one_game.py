"""Keeps an environment, its adversary and an agent to one game at a time, whatever threads there are."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from dp_bandit_envs.errors import StepOutsideGameError
from dp_bandit_envs.seeding import FORKS

_playing: dict[tuple[int, int], Any] = {}
"""What is in a game, by its id, and by the number of forks: a fork plays on with none of its parent's."""
_changing = threading.Lock()


@contextlib.contextmanager
def in_one_game(*parts: Any) -> Iterator[None]:
    """Note that these objects are in a game within this `with` statement.

    Raises:
        StepOutsideGameError: If one of them is in another game.
    """
    own = {(FORKS[0], id(part)): part for part in parts}
    with _changing:
        taken = next((part for key, part in own.items() if key in _playing), None)
        if taken is not None:
            raise StepOutsideGameError(
                f"an environment, its adversary and an agent play one game at a time; this {type(taken).__name__} is in"
                " another one. Make new ones for each game: a function that is given must return a new object at each"
                " call. Or play the games one after the other."
            )
        _playing.update(own)
    try:
        yield
    finally:
        with _changing:
            for key in own:
                _playing.pop(key, None)
