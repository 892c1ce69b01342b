"""Finds functions that draw from another generator than their `rng`, which machine code would seed by itself.

Numba has global generators of its own in place of those of `numpy.random` and `random`, so that equal calls would give
different games.
"""

import dis
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePath
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
MODULES = ("random", "numpy.random")


def draws_elsewhere(functions: Iterable[Callable[..., Any]], owners: Mapping[Any, str]) -> str | None:
    """Return in one sentence which function draws from another generator than `rng`, and where; None if none does.

    Args:
        functions: Plain functions.
        owners: What to write behind the names of some of them, such as " of MyAgent".
    """
    for function in functions:
        for name, line in _found(function, set()):
            place = f"{PurePath(function.__code__.co_filename).name}, line {line}"
            return (
                f"{function.__name__}{owners.get(function, '')} ({place}) uses {name}, so that its games could not be"
                " repeated if it were compiled. Draw from rng, such as rng.random()"
            )
    return None


def _found(function: Any, seen: set[Any]) -> Iterator[tuple[str, int]]:
    """Yield the names of other generators that a function uses, with the lines."""
    if not isinstance(function, FunctionType) or function in seen:
        return
    seen.add(function)
    first = function.__code__.co_firstlineno
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        if _is_random(value):
            yield getattr(value, "__name__", type(value).__name__), first
    known = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            known[name] = cell.cell_contents
        except ValueError:  # it has no value yet
            continue
    for name, value, line in _loaded(function.__code__, known):
        if _is_random(value):
            yield name, line
        # Of compiled functions of other people's; plain ones are looked at by themselves.
        for other, _ in _found(getattr(value, "py_func", None), seen):
            yield f"{other} in {name}", line


def _loaded(code: CodeType, known: Mapping[str, Any]) -> Iterator[tuple[str, Any, int]]:
    """Yield what a function loads: global names, and attributes of modules, as `np.random.normal`.

    A variable of its own stands for the module that was last put into it, as in `n = np; n.random.normal()`.
    """
    name, value, line = "", None, code.co_firstlineno
    own: dict[str, tuple[str, Any]] = {}
    for step in dis.get_instructions(code):
        line = step.positions.lineno if step.positions and step.positions.lineno else line
        stores, loads = _variables(step)
        if stores and isinstance(value, ModuleType):
            own |= dict.fromkeys(stores, (name, value))
        elif stores:
            own = {key: one for key, one in own.items() if key not in stores}
        if loads in own:
            name, value = own[loads]
        elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
            name, value = step.argval, known.get(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
            name, value = f"{name}.{step.argval}", getattr(value, step.argval, None)
        else:
            if value is not None:
                yield name, value, line
            name, value = "", None
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _loaded(const, {**known, **{key: one for key, (_, one) in own.items()}})


def _variables(step: dis.Instruction) -> tuple[tuple[str, ...], str]:
    """Return which of the function's own variables an instruction writes, and which it leaves on the stack."""
    names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
    if step.opname.startswith(("STORE_FAST_LOAD", "STORE_FAST_MAYBE_NULL_LOAD")):
        return names[:1], names[-1]
    if step.opname.startswith(("STORE_FAST", "STORE_DEREF")):
        return names, ""
    return (), names[-1] if step.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) else ""


def _is_random(value: Any) -> bool:
    """Whether a value is a generator, or a function or a module that draws from one."""
    if isinstance(value, ModuleType):
        return value.__name__ in MODULES
    owner = getattr(value, "__self__", None)
    module = getattr(value, "__module__", None) if callable(value) else None
    return isinstance(value, GENERATORS) or isinstance(owner, GENERATORS) or module in MODULES
