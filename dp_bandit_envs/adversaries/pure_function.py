"""Refuses functions that could keep state between calls."""

import dis
import math
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

WRITES = {
    "STORE_GLOBAL": "writes the global variable",
    "DELETE_GLOBAL": "deletes the global variable",
    "STORE_ATTR": "sets the attribute",
    "DELETE_ATTR": "deletes the attribute",
    "IMPORT_NAME": "imports",
}
"""Instructions that change something outside the function, or that reach objects which this check does not see."""
CONSTANT = (int, float, complex, str, bytes, type(None), np.generic, np.ufunc)
LIBRARIES = ("math", "cmath", "numpy")
"""Modules whose functions keep no state, except random numbers."""


def check_keeps_nothing(name: str, function: FunctionType) -> None:
    """Raise if `function` could keep state between calls.

    It may use numbers, text, tuples of them, read-only arrays, `math`, NumPy without its random numbers, and functions
    for which the same holds. This finds state kept by mistake; it is no sandbox for hostile code.

    Args:
        name: The argument's name, for the message.
        function: The function.

    Raises:
        ValueError: If it could; the message names what.
    """
    _check(name, function, set())


def _check(name: str, function: FunctionType, seen: set[Any]) -> None:
    if function in seen:
        return
    seen.add(function)
    code = function.__code__
    for one in _codes(code):
        for step in dis.get_instructions(one):
            if step.opname in WRITES:
                _refuse(name, function, f"{WRITES[step.opname]} {step.argval}")
            if step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval in code.co_freevars:
                _refuse(name, function, f"writes the variable {step.argval} of the enclosing function")
    names = [each for one in _codes(code) for each in one.co_names]
    reached = {each: function.__globals__[each] for each in names if each in function.__globals__}
    for variable, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            reached[variable] = cell.cell_contents
        except ValueError:
            _refuse(name, function, f"uses {variable}, which has no value yet")
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    reached.update({f"default {place + 1}": value for place, value in enumerate(defaults)})
    for each, value in reached.items():
        _check_value(name, function, each, value, names, seen)


def _check_value(name: str, function: FunctionType, each: str, value: Any, names: list[str], seen: set[Any]) -> None:
    value = getattr(value, "py_func", value)
    if isinstance(value, FunctionType) and not _of_library(value):
        _check(name, value, seen)
    elif isinstance(value, ModuleType):
        if value.__name__.partition(".")[0] in LIBRARIES:
            if "random" in f"{value.__name__}.{'.'.join(names)}".split("."):
                _refuse(name, function, "draws random numbers")
        elif value not in seen:
            seen.add(value)
            for attribute in names:
                if hasattr(value, attribute):
                    _check_value(name, function, f"{each}.{attribute}", getattr(value, attribute), names, seen)
    elif isinstance(value, tuple):
        for part in value:
            _check_value(name, function, each, part, names, seen)
    elif isinstance(value, np.ndarray):
        if value.flags.writeable or value.dtype.hasobject:
            _refuse(name, function, f"uses the array {each}, which can be written to (set its flags.writeable = False)")
    elif not (isinstance(value, CONSTANT) or _of_library(value)):
        _refuse(name, function, f"uses {each}, a {type(value).__name__}")


def _of_library(value: Any) -> bool:
    """Return whether `value` is a function of a library or a type of number."""
    if isinstance(value, BuiltinFunctionType):
        return value.__self__ is math or getattr(value, "__module__", None) in LIBRARIES
    library = str(getattr(value, "__module__", "")).partition(".")[0] in LIBRARIES
    return library and callable(value) and "random" not in str(value.__module__)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


def _refuse(name: str, function: FunctionType, why: str) -> None:
    raise ValueError(
        f"{name} must keep no state between rounds, because the guarantees require that a round's gains influence that"
        f" round only; {function.__name__} {why}. Use its arguments, and numbers or tuples instead."
    )
