"""Writes an object's class and parameters as text that is the same in every process."""

import functools
import hashlib
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

PACKAGE = "dp_bandit_envs."


def written_value(value: Any) -> str:
    """Return text that differs for objects with different parameters.

    Numbers, strings, arrays and collections of them are written in full, functions and classes by name, and other
    objects by class and attributes. Objects that hide their values (in C code, say) are written by class only.
    """
    return _written(value, ())


def name_of(kind: Any) -> str:
    """Return the name of a class or function, without its module if it is this package's."""
    own = f"{kind.__module__}.".startswith(PACKAGE)
    return kind.__qualname__ if own else f"{kind.__module__}.{kind.__qualname__}"


def _written(value: Any, inside: tuple[int, ...]) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    if id(value) in inside:
        return "..."
    inside = (*inside, id(value))
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array({value.dtype.str}, {value.shape}, {content})"
    if isinstance(value, Mapping):
        pairs = sorted((_written(key, inside), _written(one, inside)) for key, one in value.items())
        return "{" + ", ".join(f"{key}: {one}" for key, one in pairs) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(_written(one, inside) for one in value)) + "}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}(" + ", ".join(_written(one, inside) for one in value) + ")"
    if isinstance(value, functools.partial):
        return f"partial{_written((value.func, value.args, value.keywords), inside)}"
    if isinstance(value, MethodType):
        return f"{_written(value.__self__, inside)}.{value.__func__.__name__}"
    if isinstance(value, (type, FunctionType, BuiltinFunctionType)):
        return name_of(value)
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(value, name)]
    attributes = {name: getattr(value, name) for name in slots} | getattr(value, "__dict__", {})
    return f"{name_of(type(value))}{_written(attributes, inside)}"
