"""Notices that two environments play with one adversary, whose game is then that of neither."""

import weakref
from typing import Any

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.errors import StepOutsideGameError

_last: "weakref.WeakValueDictionary[int, Any]" = weakref.WeakValueDictionary()
"""The environment that began a game last, by the id of its adversary."""


def note_beginning(env: Any) -> None:
    """Note that an environment begins a game with its `adversary`."""
    _last[id(env.adversary)] = env


def check_own_game(env: Any) -> None:
    """Raise if another environment has begun a game with the same adversary since.

    Raises:
        StepOutsideGameError: If so.
    """
    adversary: Adversary = env.adversary
    other = _last.get(id(adversary), env)
    if other is not env and other.adversary is adversary:
        raise StepOutsideGameError(
            f"an environment must have an adversary of its own; another one has begun a game with this"
            f" {type(adversary).__name__} since. Give each a copy, as in BanditEnv(copy.copy(adversary)), and reset."
        )
