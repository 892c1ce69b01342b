# mypy: disable-error-code="no-untyped-call, attr-defined, call-arg"
"""Makes Numba's functions of plain ones, and caches their machine code on disk; loading this module loads Numba."""

import contextlib
import dis
import functools
import gc
import hashlib
import inspect
import operator
import os
import pickle
import re
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numba
from llvmlite import binding, ir
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.serialize import dumps
from numba.extending import overload_method

from dp_bandit_envs import draws
from dp_bandit_envs.compiling import functions, intrinsics
from dp_bandit_envs.compiling.functions import global_names, is_builtin


class _NoCode(JITCodeLibrary):
    """A module that other modules link unoptimised and optimise as their part; overrides Numba's methods."""

    def _optimize_functions(self, ll_module: Any) -> None:
        # As Numba does, but it makes a manager of passes for each function, also for those that are only declared.
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> Any:
        return _NoEnvironments(self._codegen)


class _NoEnvironments:
    """Numba's code generator for a module without code, which has no globals in memory either."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Ignore the environment."""


class _Flags(Flags):
    """Options of a function with a fast comparison: Numba compares each value for each call that it resolves."""

    _hash = hash(Flags())  # Numba's hash is of the options' names

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, _Flags) else super().__eq__(other)


class QuickCompiler(Compiler):
    """Numba's compiler, which takes a tenth less time than its own."""

    _lock, _depth, _thresholds = threading.Lock(), 0, (0, 0, 0)

    def __init__(self, *arguments: Any) -> None:
        *first, flags, local = arguments
        super().__init__(*first, _Flags(flags), local)

    def compile_extra(self, function: Any) -> Any:
        """Compile with rare garbage collections: Numba produces little garbage, and collections get slower."""
        own = QuickCompiler
        with own._lock:
            if not own._depth:
                own._thresholds = gc.get_threshold()
                gc.set_threshold(50_000, 20, 100)
            own._depth += 1
        try:
            return super().compile_extra(function)
        finally:
            with own._lock:
                own._depth -= 1
                if not own._depth:
                    gc.set_threshold(*own._thresholds)


class InliningCompiler(QuickCompiler):
    """Numba's compiler for functions that others inline."""

    def __init__(self, typing_context: Any, target_context: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing_context, target_context, _NoCode(target_context.codegen(), "inlined"), *rest)


class _FullVectors(JITCodeLibrary):
    """A module whose loops may use the widest vector registers; LLVM's tuning for Intel takes 256 bits of 512."""

    def add_ir_module(self, ir_module: Any) -> None:
        _, _, features = self.codegen.magic_tuple()
        doubles = 8 if "+avx512f" in features else 4 if "+avx2" in features else 0
        for function in ir_module.functions:
            # llvmlite's own `add` knows no attributes with values; other processors ignore this one.
            set.add(function.attributes, '"prefer-vector-width"="512"')
            if doubles:
                _use_vectors(function, doubles)
        super().add_ir_module(ir_module)


def _use_vectors(function: Any, doubles: int) -> None:
    """Make LLVM vectorise the innermost loops that call functions, regardless of its cost model.

    These are the loops over lanes. From 11 arms on the cost model often rejects vectors, although they take a half to a
    quarter of the time. Unlike `llvm.loop.vectorize.enable`, this gives no warning where vectors are impossible.
    """
    module, before, called = function.module, -1, -1
    # A block's name has its place in the byte code. The last block of a loop jumps back; of nested loops the inner one
    # ends first, and the outer one has begun before that.
    for start, block in sorted(((_place(block), block) for block in function.blocks), key=operator.itemgetter(0)):
        called = start if any(isinstance(step, ir.CallInstr) for step in block.instructions) else called
        heads = [_place(to) for to in block.terminator.operands if isinstance(to, ir.Block) and _place(to) < start]
        if heads and before < heads[0] <= called:
            loop = ir.MDValue(module, (), str(len(module.metadata)))
            width = ir.Constant(ir.IntType(32), doubles)
            loop.operands = (loop, module.add_metadata(["llvm.loop.vectorize.width", width]))
            block.terminator.set_metadata("llvm.loop", loop)
        before = start if heads else before


def _place(block: Any) -> int:
    return int(re.sub(r"\D.*", "", block.name[1:]) or 0)


class ForLanes(QuickCompiler):
    """Numba's compiler for loops over lanes."""

    def __init__(self, typing_context: Any, target_context: Any, library: Any, *rest: Any) -> None:
        own = _FullVectors(target_context.codegen(), "lanes")
        own.enable_object_caching()  # as Numba does for its own
        super().__init__(typing_context, target_context, own, *rest)


Options = tuple[tuple[str, Any], ...]
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
LEAN: dict[str, Any] = {**OPTIONS, "_nrt": False}
"""Without Numba's runtime, code does not count references to arrays, which takes most of the time if a state has many
arrays; but it cannot allocate arrays either."""

INLINED: dict[str, Any] = {
    "pipeline_class": InliningCompiler,
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""For the functions that a loop calls. A real call passes the state's arrays one by one, which took half of EXP3's
time. LLVM inlines them: Numba's own `inline="always"` copies a function once for each of its blocks, which took most
of the compiling."""

WITHIN: dict[str, Any] = {
    "pipeline_class": InliningCompiler,
    "forceinline": True,
    "error_model": "numpy",
    "_nrt": False,
}
"""For the methods of streams."""

BUILT_IN: dict[Any, Any] = {
    draws.power_of_two: intrinsics.power_of_two,
    draws.parted: intrinsics.parted,
    functions.stream_at: intrinsics.stream_at,
    functions.put_back: intrinsics.put_back,
    functions.read_only: intrinsics.read_only,
    functions.call_at: intrinsics.call_at,
}
"""The functions that need the bits of a double or addresses, with what replaces them in machine code."""

# Loops over arms are written out only if the result has at most so many instructions; Hedge has 8 exponentials.
binding.set_option("dp-bandit-envs", "--unroll-threshold=600")
# What vector registers leave over of ten arms also goes into shorter ones.
binding.set_option("dp-bandit-envs", "--epilogue-vectorization-minimum-VF=4")


@functools.lru_cache(maxsize=1024)
def _compiled(function: Callable[..., Any], options: Options) -> Callable[..., Any]:
    return numba.njit(**INLINED, **dict(options))(clone(function, options))  # type: ignore[no-any-return]


def clone(function: Callable[..., Any], options: Options) -> FunctionType:
    """Return a copy of a plain function whose calls go to compiled functions."""
    assert isinstance(function, FunctionType)
    namespace = dict(function.__globals__)
    for name in global_names(function.__code__):
        callee = namespace.get(name)
        if isinstance(callee, FunctionType):
            namespace[name] = BUILT_IN.get(callee) or _compiled(callee, options)
    if not is_builtin(function) and only_calls(function.__code__, "int") and namespace.get("int", int) is int:
        namespace["int"] = _compiled(whole, options)
    copy = FunctionType(function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__)
    copy.__qualname__ = function.__qualname__
    # Numba imports a function's module; of those that another process has sent, it must not run the file.
    importable = is_builtin(function) or function.__module__ in sys.modules
    copy.__module__ = function.__module__ if importable else None  # type: ignore[assignment]
    return copy


def _give_method(name: str, formula: Callable[..., Any]) -> None:
    """Give streams in machine code a method from a formula of `draws`."""
    copy = clone(formula, tuple(LEAN.items()))

    def method(*arguments: Any, **named: Any) -> Callable[..., Any]:
        return copy

    # By which Numba finds the names and the defaults of the call.
    method.__signature__ = inspect.signature(copy)
    overload_method(intrinsics.StreamType, name, jit_options=WITHIN)(method)


def _random(rng):  # type: ignore[no-untyped-def]
    return intrinsics.next_double(rng)


def _signed_uniform(rng):  # type: ignore[no-untyped-def]
    return intrinsics.next_signed(rng)


for _name, _formula in {**draws.FORMULAS, "random": _random, "signed_uniform": _signed_uniform}.items():
    _give_method(_name, _formula)


def whole(number: Any) -> Any:
    """Return `int(number)`, or raise if it is not finite."""
    if number != number:
        raise ValueError("cannot convert float NaN to integer")
    if number - number != 0:  # of integers it is 0
        raise OverflowError("cannot convert float infinity to integer")
    return int(number)


def only_calls(code: CodeType, name: str) -> bool:
    """Whether a function uses a global name only in calls: `int` is also used as an array type."""
    loads = [step for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL" and step.argval == name]
    nested = any(name in const.co_names for const in code.co_consts if isinstance(const, CodeType))
    return bool(loads) and not nested and all((step.arg or 0) & 1 for step in loads)


DIGEST_BYTES = hashlib.sha256().digest_size
DAY = 86_400.0
DAYS_UNUSED = 90
"""After so many days without use a file is removed, when another is written."""
OUR_FILES = re.compile(r"-[0-9a-f]{32}\.nbc(\.[0-9a-f]{32})?$")
"""The names of files of machine code, and of leftovers of killed processes."""


class MachineCode(FunctionCache):
    """One file for each fingerprint, signature and processor: a SHA-256 digest, followed by the code.

    Numba's own cache raises, or kills the process, when a file is damaged (by a power cut, a full disk, a flipped bit).
    It also numbers its entries, so if two processes compile at once, one can load the other's code. Each edit of a
    dependency makes a new file; unused files are removed.

    Args:
        function: The function; its module determines the folder, as in Numba.
        key: The fingerprint of everything that determines the machine code.
        before: Called before compiling a function without a file; its error, if any, is raised instead.

    Raises:
        RuntimeError, OSError: If no folder is writable.
    """

    def __init__(self, function: Callable[..., Any], key: str, before: Callable[[], None]) -> None:
        super().__init__(function)
        self._key, self._before = key, before

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function, or None without an intact file."""
        loaded = self._loaded(sig, target_context)
        if loaded is None:
            self._before()
        return loaded

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        try:
            file = self._file(sig, target_context.codegen())
            content = file.read_bytes()
            digest, code = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
            if hashlib.sha256(code).digest() != digest:
                return None
            loaded = self._impl.rebuild(target_context, pickle.loads(code))
        except Exception:
            # Compiling again is always right, whatever the reason.
            return None
        with contextlib.suppress(OSError):  # in a folder that is only read
            if time.time() > file.stat().st_mtime + DAY:
                os.utime(file)
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled function; if that fails, the next process compiles it again."""
        with contextlib.suppress(Exception):
            if not self._impl.check_cachable(data):
                return
            self._impl.locator.ensure_cache_path()
            code = dumps(self._impl.reduce(data))
            file = self._file(sig, data.codegen)
            partial = file.with_name(f"{file.name}.{uuid.uuid4().hex}")
            try:
                partial.write_bytes(hashlib.sha256(code).digest() + code)
                os.replace(partial, file)
            finally:
                partial.unlink(missing_ok=True)
            for other in file.parent.iterdir():
                if OUR_FILES.search(other.name) and time.time() > other.stat().st_mtime + DAYS_UNUSED * DAY:
                    other.unlink(missing_ok=True)

    def _file(self, sig: Any, codegen: Any) -> Path:
        entry = hashlib.sha256(repr((self._key, sig, codegen.magic_tuple())).encode()).hexdigest()
        return Path(self._cache_path) / f"{self._impl.filename_base}-{entry[:32]}.nbc"
