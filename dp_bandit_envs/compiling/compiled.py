"""Compiles an algorithm's plain functions with Numba and caches the machine code until its source changes.

Numba's own cache does not notice an edit in another file, so it would silently play an old version of an algorithm.
Here the key of an entry is a fingerprint of the function and of everything it calls.
"""

import contextlib
import functools
import hashlib
import inspect
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numba
from numba.core import config
from numba.core.errors import NumbaError
from numba.extending import overload_method

from dp_bandit_envs import arithmetic, draws
from dp_bandit_envs.compiling import intrinsics
from dp_bandit_envs.compiling.fingerprint import add, fingerprint, global_names
from dp_bandit_envs.compiling.inlining import ForInlining
from dp_bandit_envs.compiling.machine_code import MachineCode, MissingCodeError

Options = tuple[tuple[str, Any], ...]
PACKAGE = "dp_bandit_envs"
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
LEAN: dict[str, Any] = {**OPTIONS, "_nrt": False}
"""Without Numba's runtime, code does not count references to arrays, which takes most of the time if a state has many
arrays; but it cannot allocate arrays either."""

INLINED: dict[str, Any] = {"pipeline_class": ForInlining, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""For the functions that a loop calls. A real call passes the state's arrays one by one, which took half of EXP3's
time. LLVM inlines them: Numba's own `inline="always"` copies a function once for each of its blocks, which took most
of the compiling."""

CALLED = frozenset({draws.standard_gamma})
"""Functions without arrays that are so long that LLVM decides about them: two of them inlined took a third of the time
of compiling Thompson sampling."""

WITHIN: dict[str, Any] = {"pipeline_class": ForInlining, "forceinline": True, "error_model": "numpy", "_nrt": False}
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
    if all(map(is_ours, _reached(function, parts, set()))):
        return Compiled(function, parts)
    objects: list[Any] = []
    digest = hashlib.sha256()
    add(function, parts, digest, {}, objects)
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
        self.foreign = sorted({part.__name__ for part in _reached(function, replacements, set()) if not is_ours(part)})
        """The functions that it calls from outside of this package, by name."""
        self._dispatcher = self._with(LEAN)
        self._lean = True

    def __call__(self, *arguments: Any) -> Any:
        """Call the function; the first call for each signature compiles it or loads it from disk."""
        if not self._lean:
            return self._dispatcher(*arguments)
        try:
            return self._dispatcher(*arguments)
        except (NumbaError, MissingCodeError):
            # Raised while compiling or loading, so nothing has run yet.
            allocating = self._with(OPTIONS)
            returned = allocating(*arguments)
            self._dispatcher, self._lean = allocating, False
            return returned

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


def is_ours(function: Callable[..., Any]) -> bool:
    """Return whether a function is of this package."""
    return f"{function.__module__}.".startswith(f"{PACKAGE}.")


@functools.lru_cache(maxsize=1024)
def _compiled(function: Callable[..., Any], options: Options) -> Callable[..., Any]:
    inline = {**INLINED, "forceinline": function not in CALLED}
    return numba.njit(**inline, **dict(options))(clone(function, {}, options))  # type: ignore[no-any-return]


def clone(
    function: Callable[..., Any], replacements: Mapping[str, Callable[..., Any]], options: Options
) -> FunctionType:
    """Return a copy of a plain function whose calls go to compiled functions."""
    assert isinstance(function, FunctionType)
    namespace = dict(function.__globals__)
    for name in global_names(function.__code__):
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
    for name in global_names(function.__code__):
        value = replacements.get(name, function.__globals__.get(name))
        if isinstance(value, FunctionType) and value not in reached:
            _reached(value, {}, reached)
    return reached


def _give_method(name: str, formula: Callable[..., Any]) -> None:
    """Let streams in machine code have a method that is a formula of `draws`."""
    copy = clone(formula, {}, tuple(LEAN.items()))

    def method(*arguments: Any, **named: Any) -> Callable[..., Any]:
        return copy

    # By which Numba finds the names and the defaults of the call.
    method.__signature__ = inspect.signature(copy)  # type: ignore[attr-defined]
    overload_method(intrinsics.StreamType, name, jit_options=WITHIN)(method)  # type: ignore[call-arg]


def _random(rng):  # type: ignore[no-untyped-def]
    return intrinsics.next_double(rng)


for _name, _formula in {**draws.FORMULAS, "random": _random}.items():
    _give_method(_name, _formula)
