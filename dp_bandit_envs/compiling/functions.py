"""Plain functions that are compiled: what they reach, what their machine code depends on, and placeholders in them."""

import contextlib
import ctypes
import dis
import functools
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np

from dp_bandit_envs import draws


def streams_at(addresses: tuple[int, ...]) -> Any:
    """Return the random streams whose first words are at these addresses."""
    raise NotImplementedError


def plain_tuple(value: Any) -> Any:
    """Return nested NamedTuples as plain tuples."""
    raise NotImplementedError


def call_at(address: int, arguments: tuple[Any, ...]) -> None:
    """Call the machine code at an address (`Compiled.address`) that was compiled for arguments of these types."""
    raise NotImplementedError


def stream_address(rng: np.random.Generator) -> int:
    """Return the address of the four words of a generator's SFC64, which does not change during its life."""
    bits = rng.bit_generator
    if not isinstance(bits, np.random.SFC64):
        raise TypeError(f"compiled games need streams of SFC64; received one of {type(bits).__name__}.")
    # The only way to it that makes no object each time: `bits.ctypes` looks up the functions, too.
    interface = _capsule_pointer()(bits.capsule, b"BitGenerator")
    return int(ctypes.c_void_p.from_address(interface).value or 0)


@functools.cache
def _capsule_pointer() -> Any:
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return get(("PyCapsule_GetPointer", ctypes.pythonapi))


PACKAGE = "dp_bandit_envs"
COMPILER = ("numba", "llvmlite")
"""Packages that enter a fingerprint only through Numba's version, as their modules' contents change at run time."""


def fingerprint(function: Callable[..., Any], replacements: Mapping[str, Callable[..., Any]] | None = None) -> str:
    """Return a digest of a function's code, of the constants it uses and of all plain functions it calls."""
    import numba

    digest = hashlib.sha256(f"{numba.__version__} {_beneath()}".encode())
    add(function, dict(replacements or {}), digest, {})
    return digest.hexdigest()


@functools.cache
def _beneath() -> str:
    """Return a digest of what functions reach without naming it: the methods of streams, and this package's types."""
    digest = hashlib.sha256()
    for name, formula in draws.FORMULAS.items():
        _digest_value(name, formula, formula.__code__, digest, {}, None)
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def all_names(code: CodeType) -> list[str]:
    """Return all names in a function: of globals and of attributes."""
    nested = [name for const in code.co_consts if isinstance(const, CodeType) for name in all_names(const)]
    return sorted({*code.co_names, *nested})


@functools.lru_cache(maxsize=4096)
def global_names(code: CodeType) -> tuple[str, ...]:
    """Return the names of globals in a function; an attribute may have the name of some function by chance."""
    own = {one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    nested = [name for const in code.co_consts if isinstance(const, CodeType) for name in global_names(const)]
    return tuple(sorted({*own, *nested}))


def add(
    function: Callable[..., Any],
    replacements: dict[str, Any],
    digest: Any,
    seen: dict[Any, int],
    objects: list[Any] | None = None,
) -> None:
    """Add a function's code and what it uses.

    Args:
        function: A plain function.
        replacements: Plain functions to which global names in it are rebound.
        digest: What to add to.
        seen: The functions that were added, in order.
        objects: If given, values that cannot be written out are added by identity and put into this list.
    """
    assert isinstance(function, FunctionType)
    if function in seen:
        digest.update(f"{seen[function]} ".encode())
        return
    seen[function] = len(seen)
    code = function.__code__
    digest.update(written_out(code).encode())
    cells = []
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # it has no value yet
            cells.append(cell.cell_contents)
    for value in (function.__defaults__, function.__kwdefaults__, *cells):
        _digest_value("", value, code, digest, seen, objects)
    for name in global_names(code):
        value = replacements.get(name, function.__globals__.get(name))
        _digest_value(name, value, code, digest, seen, objects)


def _digest_value(
    name: str, value: Any, code: CodeType, digest: Any, seen: dict[Any, int], objects: list[Any] | None
) -> None:
    """Add a value that Numba freezes into machine code; of a module, only the attributes that the code uses."""
    digest.update(name.encode())
    if isinstance(value, FunctionType):
        add(value, {}, digest, seen, objects)
    elif type(value).__module__.startswith("numba.") and hasattr(value, "_defn"):  # an intrinsic
        add(value._defn, {}, digest, seen, objects)
    elif isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in COMPILER:
        for attribute in all_names(code):
            part = getattr(value, attribute, None)
            # Of a module in a module as well, such as package.settings.RATE; but not of what a module imports.
            if hasattr(value, attribute) and (not isinstance(part, ModuleType) or _is_within(part, value)):
                _digest_value(f"{value.__name__}.{attribute}", part, code, digest, seen, objects)
    elif isinstance(value, (np.ndarray, np.generic)):
        digest.update(f"{value.dtype!r}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    elif objects is not None and isinstance(value, (tuple, dict)):
        # Two NamedTuples may hold the same numbers by other names.
        digest.update(f"{type(value).__name__}{getattr(value, '_fields', ())!r} ".encode())
        for part in (*value, *(value.values() if isinstance(value, dict) else ())):
            _digest_value(f"{len(value)} ", part, code, digest, seen, objects)
    elif isinstance(value, type) and objects is None:
        digest.update(f"{value.__name__}{getattr(value, '_fields', ())!r}".encode())
    elif isinstance(value, (bool, int, float, complex, str, bytes, tuple, dict, type(None))):
        digest.update(repr(value).encode())
    elif objects is not None:
        digest.update(f"{id(value)} ".encode())
        objects.append(value)


def _is_within(module: ModuleType, package: ModuleType) -> bool:
    return module.__name__.startswith(f"{package.__name__}.")


def is_ours(function: Callable[..., Any] | type[Any]) -> bool:
    """Return whether a function or class is of this package."""
    return f"{function.__module__}.".startswith(f"{PACKAGE}.")


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


def written_out(code: CodeType) -> str:
    """Return instructions, constants, names, arguments and handlers as text, without file names and line numbers."""
    constants = [_constant(const) for const in code.co_consts]
    arguments = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return repr((code.co_code, code.co_exceptiontable, constants, code.co_names, code.co_varnames, arguments))


def _constant(const: object) -> str:
    if isinstance(const, CodeType):
        return written_out(const)
    # The order of a set differs from process to process.
    return repr(sorted(map(repr, const))) if isinstance(const, frozenset) else repr(const)
