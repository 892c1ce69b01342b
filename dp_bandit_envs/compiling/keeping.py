"""Keeps what is made of this package's functions; other people's may use other values at the next call.

In a notebook a global, a default or an array changes while the function that uses it stays the same object. So what is
made of such a function is never looked up by the function itself, and what is compiled is a copy with today's values.
"""

import contextlib
import functools
from collections.abc import Callable, Mapping
from types import CellType, FunctionType
from typing import Any, TypeVar

import numpy as np

from dp_bandit_envs.compiling.fingerprint import global_names, is_ours

Made = TypeVar("Made")


def kept(make: Callable[..., Made]) -> Callable[..., Made]:
    """Let a function of plain functions return the same again for the same ones, if all that they call is ours."""
    once = functools.lru_cache(maxsize=256)(make)

    @functools.wraps(make)
    def made(*parts: Any, **named: Any) -> Made:
        return (once if all(map(calls_only_ours, (*parts, *named.values()))) else make)(*parts, **named)

    return made


@functools.lru_cache(maxsize=4096)
def calls_only_ours(function: Callable[..., Any]) -> bool:
    """Return whether a plain function and all plain functions that it calls are this package's; it stays so."""
    return all(map(is_ours, reached(function, {}, set())))


def reached(
    function: Callable[..., Any], replacements: Mapping[str, Callable[..., Any]], found: set[Callable[..., Any]]
) -> set[Callable[..., Any]]:
    """Return the function and all plain functions that it calls, directly or not."""
    found.add(function)
    assert isinstance(function, FunctionType)
    for name in global_names(function.__code__):
        value = replacements.get(name, function.__globals__.get(name))
        if isinstance(value, FunctionType) and value not in found:
            reached(value, {}, found)
    return found


def as_it_is_now(function: Callable[..., Any], replacements: Mapping[str, Callable[..., Any]]) -> FunctionType:
    """Return a copy of a plain function, and of what it calls that is not ours, with the values that they use now.

    Args:
        function: A plain function.
        replacements: Plain functions to which global names in it are rebound.
    """
    return _copied(function, replacements, {})


def _copied(function: Any, replacements: Mapping[str, Any], copies: dict[Any, FunctionType]) -> FunctionType:
    if function in copies:
        return copies[function]
    # Changed below, but known at once: functions may call each other.
    namespace = dict(function.__globals__)
    cells = tuple(CellType() for _ in function.__closure__ or ())
    copy = FunctionType(function.__code__, namespace, function.__name__, None, cells or None)
    copies[function] = copy
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    copy.__defaults__, copy.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    for cell, old in zip(cells, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # it has no value yet
            cell.cell_contents = _value(old.cell_contents, copies)
    for name in global_names(function.__code__):
        if name in replacements or name in namespace:
            namespace[name] = _value(replacements.get(name, namespace.get(name)), copies)
    return copy


def _value(value: Any, copies: dict[Any, FunctionType]) -> Any:
    if isinstance(value, FunctionType):
        return value if calls_only_ours(value) else _copied(value, {}, copies)
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, tuple) and value:
        parts = [_value(part, copies) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value
