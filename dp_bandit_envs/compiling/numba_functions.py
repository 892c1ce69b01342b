# mypy: disable-error-code="no-untyped-call, attr-defined"
"""Makes Numba's functions of plain ones; loading this module loads Numba."""

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numba
from llvmlite import binding
from numba.core import config
from numba.extending import overload_method

from dp_bandit_envs import arithmetic, draws
from dp_bandit_envs.compiling import built_in, intrinsics
from dp_bandit_envs.compiling.fingerprint import global_names, is_ours
from dp_bandit_envs.compiling.inlining import ForInlining
from dp_bandit_envs.compiling.whole_numbers import only_calls, whole

Options = tuple[tuple[str, Any], ...]
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

BUILT_IN: dict[Any, Any] = {
    arithmetic.power_of_two: intrinsics.power_of_two,
    arithmetic.parted: intrinsics.parted,
    built_in.stream_at: intrinsics.stream_at,
    built_in.put_back: intrinsics.put_back,
    built_in.read_only: intrinsics.read_only,
    built_in.call_at: intrinsics.call_at,
}
"""The functions that need the bits of a double or addresses, with what replaces them in machine code."""

# Loops over arms are written out only if the result has at most so many instructions; Hedge has 8 exponentials.
binding.set_option("dp-bandit-envs", "--unroll-threshold=600")


def switched_off() -> bool:
    """Return whether NUMBA_DISABLE_JIT is set."""
    return bool(config.DISABLE_JIT)


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
            namespace[name] = BUILT_IN.get(value) or _compiled(value, options)
        elif name in replacements:
            namespace[name] = value
    if not is_ours(function) and only_calls(function.__code__, "int") and namespace.get("int", int) is int:
        namespace["int"] = _compiled(whole, options)
    copy = FunctionType(function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__)
    copy.__qualname__ = function.__qualname__
    # Numba imports a function's module; of those that another process has sent, it must not run the file.
    known = is_ours(function) or function.__module__ in sys.modules
    copy.__module__ = function.__module__ if known else None  # type: ignore[assignment]
    return copy


def _give_method(name: str, formula: Callable[..., Any]) -> None:
    """Let streams in machine code have a method that is a formula of `draws`."""
    copy = clone(formula, {}, tuple(LEAN.items()))

    def method(*arguments: Any, **named: Any) -> Callable[..., Any]:
        return copy

    # By which Numba finds the names and the defaults of the call.
    method.__signature__ = inspect.signature(copy)
    overload_method(intrinsics.StreamType, name, jit_options=WITHIN)(method)  # type: ignore[call-arg]


def _random(rng):  # type: ignore[no-untyped-def]
    return intrinsics.next_double(rng)


def _signed_uniform(rng):  # type: ignore[no-untyped-def]
    return intrinsics.next_signed(rng)


for _name, _formula in {**draws.FORMULAS, "random": _random, "signed_uniform": _signed_uniform}.items():
    _give_method(_name, _formula)
