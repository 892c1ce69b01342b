"""Puts an algorithm's wrappers around an environment, and says what they must be if they are none."""

import inspect
from collections.abc import Callable
from typing import Any

import gymnasium as gym

from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.protocols import Environment


def unchanged(env: Environment) -> Environment:
    """Return the environment without wrappers."""
    return env


def check_wrapping(wrapping: Any) -> None:
    """Raise a TypeError unless `wrapping` can be called with an environment and nothing else."""
    if not callable(wrapping):
        raise _wrong(f"a {type(wrapping).__name__}")
    try:
        signature = inspect.signature(wrapping)
    except (TypeError, ValueError):  # some callables of other languages have none
        return
    try:
        signature.bind(None)
    except TypeError as error:
        name = getattr(wrapping, "__name__", type(wrapping).__name__)
        raise _wrong(f"{name}, which cannot be called with env alone ({error})") from None


def wrapped(wrapping: Callable[[Environment], Environment], env: Environment) -> Environment:
    """Return the environment in its wrappers, or raise a TypeError if `wrapping` returns something else."""
    inside: Any = wrapping(env)
    if not isinstance(inside, gym.Env):
        raise _wrong(f"one that returned {'None' if inside is None else f'a {type(inside).__name__}'}")
    return inside


def _wrong(received: str) -> WrongTypeError:
    return WrongTypeError(
        "wrapping must be a function env -> wrapped env, such as lambda env: LaplaceClipRescale(env, epsilon=1.0);"
        f" received {received}."
    )
