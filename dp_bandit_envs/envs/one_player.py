"""Notices that two environments play with one adversary, whose game is then that of neither."""

import itertools
import weakref

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.errors import StepOutsideGameError

_numbers = itertools.count()
_last: "dict[int, tuple[weakref.ref[Adversary], int]]" = {}
"""The number of the game that began last with an adversary, by its id; adversaries may be equal, or have no hash."""


def game_begun(adversary: Adversary) -> int:
    """Return a number for the game that begins with an adversary."""
    key, number = id(adversary), next(_numbers)
    _last[key] = weakref.ref(adversary, lambda gone: _forget(key, gone)), number
    return number


def _forget(key: int, gone: "weakref.ref[Adversary]") -> None:
    if key in _last and _last[key][0] is gone:
        del _last[key]


def check_own_game(adversary: Adversary, number: int) -> None:
    """Raise if another game has begun with an adversary since that of this number.

    Raises:
        StepOutsideGameError: If so. Copies of an adversary, as in a copy of an environment, have games of their own.
    """
    reference, last = _last.get(id(adversary), (None, number))
    if reference is not None and reference() is adversary and last != number:
        raise StepOutsideGameError(
            f"an environment must have an adversary of its own; another one has begun a game with this"
            f" {type(adversary).__name__} since. Give each a copy, as in BanditEnv(copy.copy(adversary)), and reset."
        )
