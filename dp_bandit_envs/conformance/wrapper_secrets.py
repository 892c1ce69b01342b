"""Checks that a wrapper leaks nothing private through attributes, errors, gains out of range or copies."""

import copy
import math
import pickle
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.conformance.rules import must_not_fail, require
from dp_bandit_envs.conformance.trial_games import games_of
from dp_bandit_envs.conformance.wrapper_games import Wrap, arms_of, wrapped
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.protocols import Environment, FloatArray

PLANTED: Final = 0.1234567891
DIGITS: Final = "1234567"
"""Digits of the planted gain that repr, str.format and NumPy's printing all show."""
BELOW: Final = ("adversary", "external_regret", "cumulative_gains", "collected", "on_block", "_rows", "planted", "env")
"""Attributes of a game (some planted for the test) that only an evaluator may read."""


class _Failing(BanditEnv):
    """A game whose error contains a gain in its message, arguments, note and cause."""

    fails_in = "step"

    def reset(self, **options: Any) -> Any:
        """Fail in `reset`, if so configured."""
        if self.fails_in == "reset":
            self._fail(PLANTED)
        return super().reset(**options)

    def step(self, action: Any) -> Any:
        """Fail in the third round, if so configured."""
        result: tuple[Any, ...] = super().step(action)
        if self.fails_in == "step" and result[4] == {"round": 3}:
            self._fail(float(self._rows[2][int(action)]))
        return result

    def _fail(self, gain: float) -> None:
        error = ValueError(f"the gain {gain} is wrong", gain)
        error.add_note(f"gain {gain}")
        raise error from KeyError(gain)


class _FailingInReset(_Failing):
    fails_in = "reset"


class _OutOfRange(BanditEnv):
    """A game with gains outside [0, 1], for which noise is not calibrated."""

    added: float = 1.0

    def step(self, action: Any) -> Any:
        """Add to the gain in the second round."""
        result = super().step(action)
        if result[4] == {"round": 2}:
            result[0]["gain"][action] += self.added
        return result


class _TooLow(_OutOfRange):
    added = -1.0


class _NotANumber(_OutOfRange):
    added = math.nan


def check_secrets(wrap: Wrap, table: FloatArray) -> None:
    """Require that nothing private leaks in other ways than through the observation."""
    planted, arms = np.full_like(table, PLANTED), arms_of(*table.shape)
    _check_attributes(wrap, planted)
    for game in (_Failing, _FailingInReset):
        error, frames = failure(wrapped(wrap, game(GainTable(planted))), arms)
        rule = "an error from below must be replaced by one that contains nothing of it"
        require(error is not None, "an error from below must end the game", "a game that went on", "Do not swallow it.")
        for place, text in (("text, notes or causes", everything_in(error)), ("frames", frames)):
            way_out = "Raise a BoundaryError outside of the except clause, or inherit PrivacyBoundary."
            require(DIGITS not in text, rule, f"a private gain in its {place}", way_out)
    for outside in (_OutOfRange, _TooLow, _NotANumber):
        error, frames = failure(wrapped(wrap, outside(GainTable(planted))), arms)
        rule = "gains outside [0, 1] and NaN must be refused, because noise is not calibrated for them"
        require(
            error is not None, rule, "a game that went on", "Check them before they are used; write it so NaN fails."
        )
        hidden = DIGITS not in everything_in(error) + frames
        require(hidden, "an error must not show the gain that it refuses", "a private gain in it", "Leave it out.")
    _check_copies(wrap, table)


def _check_attributes(wrap: Wrap, table: FloatArray) -> None:
    game: Any = games_of(table)
    game.planted = PLANTED
    env: Any = wrapped(wrap, game)
    env.reset(seed=1)
    env.step(0)
    for name in BELOW:
        try:
            found = env.get_wrapper_attr(name)
        except AttributeError:
            found = None
        reached = found is not None or env.has_wrapper_attr(name)
        require(
            not reached,
            "attributes of what is below must not be reachable through get_wrapper_attr",
            f"{name!r} of the game",
            "End the search at the wrapper, or inherit PrivacyBoundary.",
        )
        if name != "env":
            require(not hasattr(env, name), "a wrapper must not have attributes of the game", repr(name), "Remove it.")
    below = game.np_random
    require(env.np_random is not below, "np_random must be the wrapper's own", "the game's", "Its seed is the gains'.")
    for what, text in (("repr", repr(env)), ("str", str(env)), ("spec", repr(env.spec))):
        require(DIGITS not in text, f"the {what} of a wrapper must show nothing private", "a gain", "Leave it out.")


def failure(env: Environment, plays: Sequence[Any]) -> tuple[BaseException | None, str]:
    """Return the error of a game and the local variables of its traceback's frames, except this one."""
    try:
        env.reset(seed=1)
        for play in plays:
            if env.step(play)[2]:
                return None, ""
    except Exception as error:
        passed = error.__traceback__.tb_next if error.__traceback__ else None
        shown = traceback.TracebackException(type(error), error, passed, capture_locals=True)
        return error, "".join(shown.format(chain=False))
    return None, ""


def everything_in(error: BaseException | None) -> str:
    """Return the text of an error: message, arguments, notes, causes and contexts."""
    if error is None:
        return ""
    parts = [str(error), repr(error), *map(repr, error.args), *getattr(error, "__notes__", [])]
    return "\n".join([*parts, everything_in(error.__cause__), everything_in(error.__context__)])


def _check_copies(wrap: Wrap, table: FloatArray) -> None:
    ways: dict[str, Callable[[Any], Any]] = {
        "copy.copy": copy.copy,
        "copy.deepcopy": copy.deepcopy,
        "pickle": pickle.dumps,
    }
    env: Any = wrapped(wrap, games_of(table))
    env.reset(seed=1)
    with must_not_fail("a step", "It comes after reset."):
        env.step(0)
    for name, make in ways.items():
        try:
            make(env)
        except Exception:
            continue
        require(
            False,
            f"{name} of a game that has begun must be refused: two releases with one draw of noise tell gains apart",
            "a copy",
            "Raise a TypeError in __reduce_ex__ after the first reset, or inherit PrivacyBoundary.",
        )
