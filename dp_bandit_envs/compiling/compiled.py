"""Compiles an algorithm's plain functions with Numba and caches the machine code until its source changes.

Numba's own cache does not notice an edit in another file, so it would silently play an old version of an algorithm.
Here the key of an entry is a fingerprint of the function and of everything it calls.
"""

import contextlib
import dis
import functools
import hashlib
import inspect
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core import config
from numba.core.errors import NumbaError
from numba.extending import intrinsic, overload_method

from dp_bandit_envs import arithmetic, draws
from dp_bandit_envs.byte_code import written_out
from dp_bandit_envs.compiling import intrinsics
from dp_bandit_envs.compiling.machine_code import MachineCode

_AN_INTRINSIC = intrinsic(lambda typing_context: None)
Options = tuple[tuple[str, Any], ...]
PACKAGE = "dp_bandit_envs"
COMPILER = ("numba", "llvmlite")
"""Packages that enter a fingerprint only through Numba's version, as their modules' contents change at run time."""
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
LEAN: dict[str, Any] = {**OPTIONS, "_nrt": False}
"""Without Numba's runtime, code does not count references to arrays, which takes most of the time if a state has many
arrays; but it cannot allocate arrays either."""

INLINED: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""For the functions that a loop calls. A real call passes the state's arrays one by one, which took half of EXP3's
time. LLVM inlines them: Numba's own `inline="always"` copies a function once for each of its blocks, which took most
of the compiling."""
WITHIN: dict[str, Any] = {"forceinline": True, "error_model": "numpy", "_nrt": False}
"""For the methods of streams."""

BITS = {arithmetic.power_of_two: intrinsics.power_of_two, arithmetic.parted: intrinsics.parted}
"""The functions that need the bits of a double, with what replaces them in machine code."""

MOST_SHARED = 256
"""The number of compiled functions of other people's that are kept for equal ones."""
_shared: "OrderedDict[bytes, tuple[Compiled, list[Any]]]" = OrderedDict()
"""By content, the last used last; with the objects that the content names by identity, so that they stay alive."""
_sharing = threading.Lock()


def compile_with(function: Callable[..., Any], replacements: Mapping[str, Callable[..., Any]]) -> "Compiled":
    """Compile `function` with some of the functions it calls replaced.

    Args:
        function: A plain function; it runs without the interpreter's lock once compiled.
        replacements: Plain functions to which global names in it are rebound.

    Returns:
        The compiled function. Its machine code is cached on disk if all parts belong to this package. If not, equal
        functions get the same compiled one: those of a notebook are unpickled again for each simulation in a worker.
    """
    parts = dict(replacements)
    if all(map(_is_ours, _reached(function, parts, set()))):
        return Compiled(function, parts)
    objects: list[Any] = []
    digest = hashlib.sha256()
    _digest(function, parts, digest, {}, objects)
    with _sharing:
        key = digest.digest()
        compiled, objects = _shared.pop(key) if key in _shared else (Compiled(function, parts), objects)
        _shared[key] = compiled, objects
        if len(_shared) > MOST_SHARED:
            _shared.popitem(last=False)
    return compiled


def switched_off() -> bool:
    """Return whether NUMBA_DISABLE_JIT is set."""
    return bool(config.DISABLE_JIT)  # type: ignore[attr-defined]


class Compiled:
    """A function that is compiled at its first call, without Numba's runtime if it allocates no arrays."""

    def __init__(self, function: Callable[..., Any], replacements: dict[str, Callable[..., Any]]) -> None:
        self._function = function
        self._replacements = replacements
        self.foreign = sorted({part.__name__ for part in _reached(function, replacements, set()) if not _is_ours(part)})
        """The functions that it calls from outside of this package, by name."""
        self._dispatcher = self._with(LEAN)
        self._lean = True

    def __call__(self, *arguments: Any) -> Any:
        """Call the function; the first call for each signature compiles it or loads it from disk."""
        if not self._lean:
            return self._dispatcher(*arguments)
        try:
            return self._dispatcher(*arguments)
        except NumbaError:
            # Raised while compiling, so nothing has run yet.
            self._dispatcher, self._lean = self._with(OPTIONS), False
            return self._dispatcher(*arguments)

    @property
    def kept_on_disk(self) -> bool:
        """Whether its machine code is cached for other processes."""
        return isinstance(self._dispatcher._cache, MachineCode)

    def _with(self, options: dict[str, Any]) -> Any:
        ours = not self.foreign
        if not ours:
            # A third party's function must not read outside of its arrays, and divides as Python does.
            options = {**options, "boundscheck": True, "error_model": "python"}
        copy = clone(self._function, self._replacements, tuple(options.items()))
        dispatcher = numba.njit(**options)(copy)
        if ours:
            key = fingerprint(self._function, self._replacements) + ("" if options is OPTIONS else "-lean")
            # Without a folder to write to, as in a read-only container, every process compiles for itself.
            with contextlib.suppress(RuntimeError, OSError):
                dispatcher._cache = MachineCode(copy, key)
        return dispatcher


def _is_ours(function: Callable[..., Any]) -> bool:
    return f"{function.__module__}.".startswith(f"{PACKAGE}.")


def fingerprint(function: Callable[..., Any], replacements: Mapping[str, Callable[..., Any]] | None = None) -> str:
    """Return a digest of a function's code, of the constants it uses and of all plain functions it calls."""
    digest = hashlib.sha256(f"{numba.__version__} {_beneath()}".encode())
    _digest(function, dict(replacements or {}), digest, {})
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


@functools.lru_cache(maxsize=1024)
def _compiled(function: Callable[..., Any], options: Options) -> Callable[..., Any]:
    return numba.njit(**INLINED, **dict(options))(clone(function, {}, options))  # type: ignore[no-any-return]


def clone(
    function: Callable[..., Any], replacements: Mapping[str, Callable[..., Any]], options: Options
) -> FunctionType:
    """Return a copy of a plain function whose calls go to compiled functions."""
    assert isinstance(function, FunctionType)
    namespace = dict(function.__globals__)
    for name in _global_names(function.__code__):
        value = replacements.get(name, namespace.get(name))
        if isinstance(value, FunctionType):
            namespace[name] = BITS.get(value) or _compiled(value, options)
        elif name in replacements:
            namespace[name] = value
    copy = FunctionType(function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__)
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    return copy


def _reached(
    function: Callable[..., Any], replacements: Mapping[str, Callable[..., Any]], reached: set[Callable[..., Any]]
) -> set[Callable[..., Any]]:
    """Return the function and all plain functions that it calls, directly or not."""
    reached.add(function)
    assert isinstance(function, FunctionType)
    for name in _global_names(function.__code__):
        value = replacements.get(name, function.__globals__.get(name))
        if isinstance(value, FunctionType) and value not in reached:
            _reached(value, {}, reached)
    return reached


def _names(code: CodeType) -> list[str]:
    """Return all names in a function: of globals and of attributes."""
    nested = [name for const in code.co_consts if isinstance(const, CodeType) for name in _names(const)]
    return sorted({*code.co_names, *nested})


def _global_names(code: CodeType) -> list[str]:
    """Return the names of globals in a function; an attribute may have the name of some function by chance."""
    own = {one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    nested = [name for const in code.co_consts if isinstance(const, CodeType) for name in _global_names(const)]
    return sorted({*own, *nested})


def _digest(
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
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    for value in (function.__defaults__, function.__kwdefaults__, *cells):
        _digest_value("", value, code, digest, seen, objects)
    for name in _global_names(code):
        value = replacements.get(name, function.__globals__.get(name))
        _digest_value(name, value, code, digest, seen, objects)


def _digest_value(
    name: str, value: Any, code: CodeType, digest: Any, seen: dict[Any, int], objects: list[Any] | None
) -> None:
    """Add a value that Numba freezes into machine code; of a module, only the attributes that the code uses."""
    digest.update(name.encode())
    if isinstance(value, FunctionType):
        _digest(value, {}, digest, seen, objects)
    elif isinstance(value, type(_AN_INTRINSIC)):
        _digest(value._defn, {}, digest, seen, objects)
    elif isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in COMPILER:
        for attribute in _names(code):
            if hasattr(value, attribute) and not isinstance(getattr(value, attribute), ModuleType):
                full = f"{value.__name__}.{attribute}"
                _digest_value(full, getattr(value, attribute), code, digest, seen, objects)
    elif isinstance(value, (np.ndarray, np.generic)):
        digest.update(f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    elif objects is not None and isinstance(value, (tuple, dict)):
        for part in (*value, *(value.values() if isinstance(value, dict) else ())):
            _digest_value(f"{len(value)} ", part, code, digest, seen, objects)
    elif isinstance(value, type) and objects is None:
        digest.update(f"{value.__name__}{getattr(value, '_fields', ())!r}".encode())
    elif isinstance(value, (bool, int, float, complex, str, bytes, tuple, dict, type(None))):
        digest.update(repr(value).encode())
    elif objects is not None:
        digest.update(f"{id(value)} ".encode())
        objects.append(value)


def _give_method(name: str, formula: FunctionType) -> None:
    """Let streams in machine code have a method that is a formula of `draws`."""
    copy = clone(formula, {}, tuple(LEAN.items()))

    def method(*arguments: Any, **named: Any) -> Callable[..., Any]:
        return copy

    # By which Numba finds the names and the defaults of the call.
    method.__signature__ = inspect.signature(copy)  # type: ignore[attr-defined]
    overload_method(intrinsics.StreamType, name, jit_options=WITHIN)(method)


def _random(rng):  # type: ignore[no-untyped-def]
    return intrinsics.next_double(rng)


for _name, _formula in {**draws.FORMULAS, "random": _random}.items():
    _give_method(_name, _formula)
