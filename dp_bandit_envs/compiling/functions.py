"""Plain functions for compilation: the functions they call, the dependencies of machine code, and placeholders."""

import contextlib
import ctypes
import dataclasses
import dis
import functools
import hashlib
import importlib.util
import inspect
import itertools
import pkgutil
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs import draws


def stream_at(address: int) -> Any:
    """Return a copy of the random stream whose first word is at an address."""
    raise NotImplementedError


def put_back(address: int, stream: Any) -> None:
    """Write the copy of a stream back to its address."""
    raise NotImplementedError


def read_only(array: Any) -> Any:
    """Return the same array, marked read-only: a function that writes to it does not compile."""
    raise NotImplementedError


def call_at(address: int, arguments: tuple[Any, ...]) -> None:
    """Call the machine code at an address (`CompiledFunction.address`), compiled for arguments of these types."""
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
GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
DRAWING = ("random", "numpy.random")
"""Modules whose functions draw from a generator of the process."""


def is_builtin(function: Callable[..., Any] | type[Any]) -> bool:
    """Return whether a function or class is of this package."""
    return f"{function.__module__}.".startswith(f"{PACKAGE}.")


def bind(function: Callable[..., Any], parts: Mapping[str, Any], *, missing_ok: bool = False) -> Callable[..., Any]:
    """Return a copy of a function with global names rebound, in it and in the functions of this package that it calls.

    A closure would do the same in ordinary Python, but the simulator could not compile it. The same arguments give the
    same copy, so that it is compiled once; except for users' functions, whose globals may have changed.

    Args:
        function: A plain function, which does not call itself.
        parts: The new values of the names: functions (used unchanged) or constants. If no name is used, the function
            itself is returned.
        missing_ok: Whether a function may lack some of the names, for example a counter's that draws in another way.

    Raises:
        NameError: If a name is not a global of the function or of a called function in which names are rebound.
    """
    unknown = set() if missing_ok else parts.keys() - function.__globals__.keys()
    if unknown and (unknown := unknown - _globals_below(function)):
        raise NameError(
            f"names to rebind must be globals of {function.__name__} or of what it calls; received {sorted(unknown)}."
        )
    return _rebind(function, tuple(sorted(parts.items(), key=lambda part: part[0])))  # type: ignore[no-any-return]


def _globals_below(function: Any) -> set[str]:
    """Return the globals of a function and of all called functions in which `bind` rebinds names."""
    called = (_rebound_too(function, name) for name in global_names(function.__code__))
    return set(function.__globals__).union(*(_globals_below(callee) for callee in called if callee is not None))


def _rebound_too(function: Any, name: str) -> FunctionType | None:
    """Return a global's function if `bind` rebinds names in it as well."""
    callee = function.__globals__.get(name)
    plain = isinstance(callee, FunctionType) and (is_builtin(callee) or callee.__module__ == function.__module__)
    return callee if plain else None


def _rebind(function: Any, parts: tuple[tuple[str, Any], ...]) -> Any:
    return _kept(function, parts) if is_builtin(function) else _bound(function, parts)


def _bound(function: Any, parts: tuple[tuple[str, Any], ...]) -> Any:
    named, bindings = dict(parts), {}
    for name in global_names(function.__code__):
        if name in named:
            bindings[name] = named[name]
        elif callee := _rebound_too(function, name):
            bindings[name] = _rebind(callee, parts)
    bindings = {name: part for name, part in bindings.items() if part is not function.__globals__.get(name)}
    if not bindings:
        return function
    namespace = {**function.__globals__, **bindings}
    copy = FunctionType(function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__, copy.__module__ = function.__kwdefaults__, function.__module__
    described = [
        (name, getattr(part, "__module__", ""), getattr(part, "__qualname__", part)) for name, part in bindings.items()
    ]
    # Short, because LLVM fails on long names; the same in every process, because cached machine code is found by name.
    digest = hashlib.sha256(f"{function.__qualname__} {sorted(described)}".encode()).hexdigest()[:12]
    copy.__qualname__ = f"{function.__name__}_{digest}"
    return copy


_kept = functools.lru_cache(maxsize=4096)(_bound)


class Use(NamedTuple):
    """A value that a function uses: its name there, the value and the line."""

    name: str
    value: Any
    line: int


def called_functions(function: Callable[..., Any]) -> dict[FunctionType, tuple[Use, ...]]:
    """Return the function and all plain functions that it calls, also indirectly, each with the values it uses."""
    assert isinstance(function, FunctionType)
    used: dict[FunctionType, tuple[Use, ...]] = {}
    waiting = [function]
    for callee in waiting:
        if callee not in used:
            used[callee] = tuple(uses(callee))
            # Not attributes of modules: of those Numba compiles only what it knows itself.
            called = (_plain(use.value) for use in used[callee] if "." not in use.name)
            waiting += [plain for plain in called if plain is not None]
    return used


def _plain(value: Any) -> FunctionType | None:
    """Return the plain function behind a value (unwrapping Numba's), or None; excludes Numba's own functions."""
    if type(value).__module__.startswith("numba."):
        value = getattr(value, "py_func", None) or getattr(value, "_defn", None)
    ours = isinstance(value, FunctionType) and str(value.__module__).partition(".")[0] not in COMPILER
    return value if ours else None


def uses(function: FunctionType) -> Iterator[Use]:
    """Yield the values of defaults, globals, closure variables and attributes of modules."""
    code, names = function.__code__, dict(function.__globals__)
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield Use("default", value, code.co_firstlineno)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # it has no value yet
            names[name] = cell.cell_contents
    for dotted, line in _loads(code):
        root, *attributes = dotted.split(".")
        if root in names:
            yield from followed(root, names[root], attributes, line, code)


def followed(name: str, value: Any, attributes: list[str], line: int, code: CodeType) -> Iterator[Use]:
    """Yield the values of a value's attributes; for a module, also of the names that the code uses."""
    while attributes and isinstance(value, ModuleType):
        name, value = f"{name}.{attributes[0]}", getattr(value, attributes[0], None)
        attributes = attributes[1:]
    yield Use(name, value, line)
    if isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in COMPILER:
        # In a variable perhaps: then each attribute that the function names may be of this module.
        for attribute in sorted({*all_names(code)} & {*dir(value)}):
            part = getattr(value, attribute, None)
            if not isinstance(part, ModuleType) or part.__name__.startswith(f"{value.__name__}."):
                yield from followed(f"{name}.{attribute}", part, [], line, code)


@functools.lru_cache(maxsize=4096)
def _loads(code: CodeType) -> tuple[tuple[str, int], ...]:
    """Return the names that a function loads, with attributes of attributes as "np.random.normal", and their lines."""
    lines: dict[str, int] = {}
    dotted, line = "", code.co_firstlineno
    for step in dis.get_instructions(code):
        if step.opname == "EXTENDED_ARG":
            continue
        if dotted and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            dotted += f".{step.argval}"
            continue
        if dotted:
            lines.setdefault(dotted, line)
        dotted = step.argval if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF") else ""
        line = (step.positions and step.positions.lineno) or line
    for const in code.co_consts:
        if isinstance(const, CodeType):
            lines |= {dotted: line for dotted, line in _loads(const) if dotted not in lines}
    return tuple(lines.items())


@functools.lru_cache(maxsize=4096)
def global_names(code: CodeType) -> tuple[str, ...]:
    """Return the names of globals in a function; an attribute may have the name of some function by chance."""
    roots = {dotted.partition(".")[0] for dotted, _ in _loads(code)}
    return tuple(sorted(roots.difference(code.co_freevars, code.co_cellvars)))


def all_names(code: CodeType) -> list[str]:
    """Return all names in a function: of globals and of attributes."""
    nested = [name for const in code.co_consts if isinstance(const, CodeType) for name in all_names(const)]
    return sorted({*code.co_names, *nested})


def fingerprint(function: Callable[..., Any]) -> str:
    """Return a digest of all dependencies of a function's machine code, the same in every process.

    These are its byte code, its constants, all plain functions it calls, Numba's version, and this folder's code,
    without docstrings.
    """
    import numba

    return hashlib.sha256(f"{numba.__version__} {_beneath()} {content(function)}".encode()).hexdigest()


@functools.cache
def _beneath() -> str:
    """Return a digest of implicit dependencies: the methods of streams, and types of this folder."""
    parts = [content(formula) for _, formula in sorted(draws.FORMULAS.items())]
    for module in sorted(pkgutil.iter_modules([str(Path(__file__).parent)]), key=lambda module: module.name):
        loader = importlib.util.find_spec(f"{__package__}.{module.name}").loader  # type: ignore[union-attr]
        # Byte code, which does not contain comments.
        parts.append(code_text(loader.get_code(f"{__package__}.{module.name}")))  # type: ignore[union-attr]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def content(function: Callable[..., Any], objects: list[Any] | None = None) -> str:
    """Return the code of a function and of all plain functions that it calls, and the values they use, as text.

    Args:
        function: A plain function.
        objects: If given, classes and other objects without a text form are identified by identity and appended to this
            list; the functions' file positions, used in messages, are then included too.
    """
    used = called_functions(function)
    places = [(one.__qualname__, one.__code__.co_filename, one.__code__.co_firstlineno) for one in used]
    numbers = {one: place for place, one in enumerate(used)}
    return "\n".join(
        " ".join((code_text(one.__code__), *(f"{use.name}={_written(use.value, numbers, objects)}" for use in uses)))
        for one, uses in used.items()
    ) + ("" if objects is None else repr(places))


def _written(value: Any, numbers: Mapping[FunctionType, int], objects: list[Any] | None) -> str:
    plain = _plain(value)
    if plain is not None:
        return f"function {numbers.get(plain, plain.__qualname__)}"
    if isinstance(value, (np.ndarray, np.generic)):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array {value.dtype!r}{value.shape} {digest}"
    if isinstance(value, (tuple, dict)):
        # Two NamedTuples may hold the same numbers by other names.
        parts = [*value, *(value.values() if isinstance(value, dict) else ())]
        kind = f"{type(value).__name__}{getattr(value, '_fields', ())!r}"
        return f"{kind}({', '.join(_written(part, numbers, objects) for part in parts)})"
    if isinstance(value, (set, frozenset)):
        return repr(sorted(map(repr, value)))  # their order differs from process to process
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return repr(value)
    if objects is not None and not isinstance(value, ModuleType):
        objects.append(value)
        return f"object {id(value)}"
    description = f"{getattr(value, '__name__', '')}{getattr(value, '_fields', ())!r}"
    if not isinstance(value, (ModuleType, type)) and " at 0x" not in repr(value):
        description = repr(value)  # of Numba's types and the like; others tell an address, and modules their place
    return f"{type(value).__name__} {description}"


@dataclasses.dataclass(frozen=True)
class _Now:
    """A function with its current content; compares by content."""

    content: str
    function: FunctionType = dataclasses.field(compare=False)
    objects: list[Any] = dataclasses.field(compare=False)
    """What the content names by identity, so that it stays alive."""


def frozen(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a copy of a function and of the users' functions that it calls, with their current values.

    In a notebook a global, a default or an array can change while the function that uses it stays the same object.
    Equal content gives the same copy, which can serve as a key. A function that calls only this package's functions is
    returned itself.
    """
    if calls_only_builtin(function):
        return function
    assert isinstance(function, FunctionType)
    objects: list[Any] = []
    return _copied(_Now(content(function, objects), function, objects))


@functools.lru_cache(maxsize=4096)
def calls_only_builtin(function: Callable[..., Any]) -> bool:
    """Return whether a plain function and all plain functions that it calls are this package's (cached)."""
    return is_builtin(function) and all(map(is_builtin, called_functions(function)))


@functools.lru_cache(maxsize=256)
def _copied(now: _Now) -> FunctionType:
    copies: dict[FunctionType, FunctionType] = {}
    for callee in called_functions(now.function):
        if not calls_only_builtin(callee):
            cells = tuple(CellType() for _ in callee.__closure__ or ()) or None
            copies[callee] = FunctionType(callee.__code__, dict(callee.__globals__), callee.__name__, None, cells)
            copies[callee].__qualname__, copies[callee].__module__ = callee.__qualname__, callee.__module__
    for callee, copy in copies.items():
        copy.__defaults__ = _value(callee.__defaults__, copies)
        keywords = callee.__kwdefaults__ or {}
        copy.__kwdefaults__ = {name: _value(default, copies) for name, default in keywords.items()} or None
        for cell, old in zip(copy.__closure__ or (), callee.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # it has no value yet
                cell.cell_contents = _value(old.cell_contents, copies)
        for name in set(global_names(callee.__code__)) & set(copy.__globals__):
            copy.__globals__[name] = _value(copy.__globals__[name], copies)
    return copies[now.function]


def _value(value: Any, copies: Mapping[FunctionType, FunctionType]) -> Any:
    if isinstance(value, FunctionType):
        return copies.get(value, value)
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, tuple) and value:
        parts = [_value(part, copies) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def uses_other_randomness(functions: Iterable[Callable[..., Any]], owners: Mapping[Any, str]) -> str | None:
    """Return a sentence that names the function and line that draw from a generator other than `rng`, or None.

    Numba replaces the global generators of `numpy.random` and `random` by its own, so equal calls would give different
    games.

    Args:
        functions: Plain functions.
        owners: Suffixes for the names of some of them, such as " of MyAgent".
    """
    for function in functions:
        for use in uses(function):  # type: ignore[arg-type]
            if _is_random(use.value):
                place = f"{PurePath(function.__code__.co_filename).name}, line {use.line}"
                return (
                    f"{function.__name__}{owner_of(function, owners)} ({place}) uses {use.name}, so that its games"
                    " could not be repeated if it were compiled. Draw from rng, such as rng.random()"
                )
    return None


def owner_of(function: Callable[..., Any], owners: Mapping[Any, str]) -> str:
    """Return the suffix for a function's name, found by its code, which copies share."""
    return {getattr(one, "__code__", one): words for one, words in owners.items()}.get(function.__code__, "")


def _is_random(value: Any) -> bool:
    """Whether a value is a generator, or a function or a module that draws from one."""
    if isinstance(value, ModuleType):
        return value.__name__ in DRAWING
    if type(value).__module__.startswith("numba."):
        plain = _plain(value)
        return plain is not None and any(
            _is_random(use.value) for uses in called_functions(plain).values() for use in uses
        )
    module = getattr(value, "__module__", None) if callable(value) else None
    return (
        isinstance(value, GENERATORS) or isinstance(getattr(value, "__self__", None), GENERATORS) or module in DRAWING
    )


def code_text(code: CodeType) -> str:
    """Return instructions, constants, names, arguments and handlers as text, without docstrings, files and lines."""
    docstring = _docstring_index(code)
    constants = [_constant(None if index == docstring else const) for index, const in enumerate(code.co_consts)]
    arguments = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return repr((code.co_code, code.co_exceptiontable, constants, code.co_names, code.co_varnames, arguments))


def _docstring_index(code: CodeType) -> int | None:
    """Return which constant is a docstring and nothing else: a function's first, or what is stored as `__doc__`."""
    steps = list(zip(code.co_code[::2], code.co_code[1::2], strict=True))
    loads = [constant for operation, constant in steps if operation in dis.hasconst]
    if code.co_flags & inspect.CO_OPTIMIZED:  # of a function
        return 0 if isinstance(next(iter(code.co_consts), None), str) and 0 not in loads else None
    store = (dis.opmap["STORE_NAME"], (*code.co_names, "__doc__").index("__doc__"))
    index = next((constant for (_, constant), after in itertools.pairwise(steps) if after == store), None)
    return index if index is not None and loads.count(index) == 1 else None


def _constant(const: object) -> str:
    if isinstance(const, CodeType):
        return code_text(const)
    # The order of a set differs from process to process.
    return repr(sorted(map(repr, const))) if isinstance(const, frozenset) else repr(const)
