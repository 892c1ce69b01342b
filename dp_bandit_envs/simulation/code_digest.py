"""Digests of other people's code with all values that it uses: closures, defaults, globals, parts of modules.

A run may only be continued by what began it. Code alone does not show that: `lambda: Agent(temperature)` is the same
code at every temperature.
"""

import contextlib
import functools
import hashlib
import sys
import sysconfig
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

import dp_bandit_envs
from dp_bandit_envs.byte_code import written_out
from dp_bandit_envs.compiling.fingerprint import global_names
from dp_bandit_envs.written_values import written_value

INSTALLED: Final = tuple(
    str(Path(sysconfig.get_paths()[name]).resolve()) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
"""Folders of Python's own and of installed modules, which count by their names."""
WRITTEN: Final = (type(None), bool, int, float, complex, str, bytes, np.generic, set, frozenset, BuiltinFunctionType)
"""What is written out as it is."""


def code_digest(thing: Any) -> str:
    """Return a digest of a class, a function, or a `functools.partial`, and of what it uses."""
    digest = hashlib.sha256()
    _add(thing, digest, {})
    return digest.hexdigest()


def is_users(module: str) -> bool:
    """Return whether a module is neither this package's, nor Python's, nor an installed one."""
    if f"{module}.".startswith(f"{dp_bandit_envs.__name__}."):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:  # a notebook, or built in
        return module not in sys.builtin_module_names
    return not str(Path(file).resolve()).startswith(INSTALLED)


def _add(thing: Any, digest: Any, seen: dict[int, Any]) -> None:
    if isinstance(thing, functools.partial):
        for part in (thing.func, *thing.args, *(value for _, value in sorted(thing.keywords.items()))):
            _add(part, digest, seen)
    elif isinstance(thing, MethodType):
        _add(thing.__func__, digest, seen)
        _add(thing.__self__, digest, seen)
    elif isinstance(thing, (staticmethod, classmethod)):
        _add(thing.__func__, digest, seen)
    elif isinstance(thing, property):
        _add(thing.fget, digest, seen)
    elif isinstance(thing, (FunctionType, type, ModuleType)):
        name = thing.__name__ if isinstance(thing, ModuleType) else thing.__module__
        digest.update(f"{name} {getattr(thing, '__qualname__', '')} ".encode())
        if id(thing) not in seen and is_users(name):
            seen[id(thing)] = thing
            _add_file(name, digest)
            if isinstance(thing, FunctionType):
                _add_function(thing, digest, seen)
            elif isinstance(thing, type):
                _add_class(thing, digest, seen)
    elif isinstance(thing, (list, tuple, Mapping)):
        digest.update(f"{type(thing).__name__} {len(thing)} ".encode())
        for part in (*thing, *(thing.values() if isinstance(thing, Mapping) else ())):
            _add(part, digest, seen)
    elif hasattr(thing, "__array__") or isinstance(thing, (array, memoryview)):
        table = np.asarray(thing)
        digest.update(f"{table.dtype.str} {table.shape} ".encode())
        if table.dtype == object:
            _add(table.tolist(), digest, seen)
        else:
            digest.update(np.ascontiguousarray(table).tobytes())
    elif isinstance(thing, WRITTEN) or id(thing) in seen:
        digest.update(written_value(thing if isinstance(thing, WRITTEN) else type(thing)).encode())
    else:
        seen[id(thing)] = thing
        _add_object(thing, digest, seen)


def _add_object(thing: Any, digest: Any, seen: dict[int, Any]) -> None:
    """Add an object's class, its attributes and the functions in it, such as that of a cache or of a descriptor."""
    kind = type(thing)
    _add(kind, digest, seen)
    inner = getattr(thing, "__wrapped__", getattr(thing, "py_func", None))
    if isinstance(inner, FunctionType):  # of functools.cache or numba.njit, which keep results beside it
        _add(inner, digest, seen)
        return
    slots = [name for one in kind.__mro__ for name in getattr(one, "__slots__", ()) if hasattr(thing, name)]
    attributes: Any = {name: getattr(thing, name) for name in slots} | getattr(thing, "__dict__", {})
    reduces: Any = kind.__reduce__
    if not attributes or reduces is not object.__reduce__:
        # What is written in C may hide its values, such as a deque or a generator of random numbers; a lock has none.
        with contextlib.suppress(Exception):
            made = thing.__reduce_ex__(4)
            attributes = {"": [list(one) if isinstance(one, Iterator) else one for one in made], **attributes}
    for name, value in sorted(attributes.items()):
        digest.update(f"{name} ".encode())
        _add(value, digest, seen)


def _add_function(function: FunctionType, digest: Any, seen: dict[int, Any]) -> None:
    digest.update(written_out(function.__code__).encode())
    cells = []
    for cell in function.__closure__ or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    names = [name for name in global_names(function.__code__) if name in function.__globals__]
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), *cells):
        _add(value, digest, seen)
    for name in names:
        digest.update(f"{name} ".encode())
        _add(function.__globals__[name], digest, seen)


def _add_class(kind: type, digest: Any, seen: dict[int, Any]) -> None:
    for base in (*kind.__bases__, type(kind)):
        _add(base, digest, seen)
    for name, part in sorted(vars(kind).items()):
        if not name.startswith("__") or isinstance(part, FunctionType):
            digest.update(f"{name} ".encode())
            _add(part, digest, seen)


def _add_file(module: str, digest: Any) -> None:
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is not None and file.endswith(".py"):
        source = Path(file).read_bytes()
        digest.update(written_out(compile(source, module, "exec", optimize=2, dont_inherit=True)).encode())
