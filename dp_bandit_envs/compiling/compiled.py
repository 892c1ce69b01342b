"""Compiles an algorithm's plain functions with Numba and caches the machine code until its source changes.

Numba's own cache does not notice an edit in another file, so it would silently play an old version of an algorithm.
Here the key of an entry is a fingerprint of the function and of everything it calls. Numba, which may be missing, is
loaded when a function is compiled, not with this module.
"""

import contextlib
import functools
import importlib
import logging
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from dp_bandit_envs.checks import installed
from dp_bandit_envs.compiling.functions import bind, called_functions, fingerprint, frozen, is_builtin

COMPILER = "dp-bandit compiler"
"""The name of the compiling thread."""
IsCancelled = Callable[[], bool]
"""Returns whether the work should end."""


def not_cancelled() -> bool:
    """Return False."""
    return False


def run_in_thread(compile_parts: Callable[[IsCancelled], object]) -> None:
    """Compile in another thread and wait for it; an error there is raised here.

    Python runs signal handlers in the main thread only. If that thread compiled, Ctrl-C would be raised in an LLVM
    callback, which cannot propagate it, and be lost. With another thread the wait ends at once, and the current
    function finishes compiling in the background. During the import of a module, we compile in this thread: Numba
    imports the module of each function that it compiles, so another thread would deadlock with the import.
    """
    specs = [getattr(module, "__spec__", None) for module in list(sys.modules.values())]
    if any(getattr(spec, "_initializing", False) for spec in specs):
        compile_parts(not_cancelled)
        return
    stop = threading.Event()
    failure: list[BaseException] = []

    def work() -> None:
        try:
            compile_parts(stop.is_set)
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=work, name=COMPILER)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)  # on Windows, Ctrl-C does not end a wait without a limit
    finally:
        stop.set()
    if failure:
        raise failure[0]


MOST_NAMES = 3
_log = logging.getLogger("dp_bandit_envs")
_said: set[str] = set()
_waiting: list[Sequence[str]] = []


def say_once(kind: str, line: str) -> None:
    """Write a line, unless this process has already written a line of this kind."""
    if kind not in _said:
        _said.add(kind)
        _log.warning(line)


def say_compiling(names: Sequence[str], *, kept: bool) -> None:
    """Print that algorithms are being compiled.

    Args:
        names: Their names.
        kept: Whether their machine code is cached on disk.
    """
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    once = "once on this machine" if kept else f"once in each process that plays {'it' if len(names) == 1 else 'them'}"
    for_each = "" if len(names) == 1 else " each"
    say_once("compiling", f"compiling {', '.join(names[:MOST_NAMES])}{more}: some seconds{for_each}, {once}")


@contextlib.contextmanager
def says_compiling(names: Sequence[str]) -> Iterator[None]:
    """Print it if a function is compiled in this block, in any thread; loading from disk is silent."""
    _waiting.append(names)
    try:
        yield
    finally:
        _waiting.remove(names)


_this_thread = threading.local()


class MissingCodeError(Exception):
    """Raised instead of compiling a function whose machine code is not on disk."""


def loads_from_disk(compile_parts: Callable[[IsCancelled], object]) -> bool:
    """Load machine code in another thread if all of it is on disk; return whether it is.

    Functions that are never cached are compiled anyway.
    """

    def load(is_cancelled: IsCancelled) -> None:
        _this_thread.only_loads = True
        try:
            compile_parts(is_cancelled)
        finally:
            _this_thread.only_loads = False

    try:
        run_in_thread(load)
    except MissingCodeError:
        return False
    return True


def _about_to_compile() -> None:
    """Announce a compilation if someone waits for it; raise if this thread may only load."""
    if getattr(_this_thread, "only_loads", False):
        raise MissingCodeError
    if _waiting and _waiting[-1]:
        say_compiling(_waiting[-1], kept=True)


FAST = "pip install 'dp-bandit-envs[fast]'"
"""What installs Numba."""


def why_not_compiled() -> str:
    """Return why this process cannot compile; empty if Numba is installed and not switched off."""
    if why_no_numba():
        return why_no_numba()
    from numba.core import config

    return "NUMBA_DISABLE_JIT is set" if vars(config)["DISABLE_JIT"] else ""


@functools.cache
def why_no_numba() -> str:
    """Return why Numba is missing, and how to install it; empty if it is installed."""
    if not installed("numba"):
        return f"numba, which compiles, is not installed: {FAST}"
    try:
        # Not in this thread: Ctrl-C would leave half of Numba, which a second import does not mend.
        run_in_thread(_load)
    except ImportError as error:  # as of a Numba that is older than NumPy
        return f"numba, which compiles, cannot be imported ({error}): {FAST}"
    return ""


def _load(is_cancelled: IsCancelled) -> None:
    importlib.import_module("numba")
    importlib.import_module("dp_bandit_envs.compiling.numba_functions")


class CompiledFunction:
    """A function that is compiled at its first call, without Numba's runtime if it allocates no arrays.

    It runs without the interpreter's lock, with the values that its parts had when it was created. Its machine code is
    cached on disk if all parts belong to this package.

    Args:
        function: A plain function.
        replacements: Plain functions or constants for global names in it, as in `bind`.
    """

    _without: ClassVar = {"no_cfunc_wrapper": True}
    """Numba's options for the ways to call it that nobody uses: compiling them takes time."""

    def __init__(self, function: Callable[..., Any], replacements: Mapping[str, Any]) -> None:
        # Compiled at the first call for each signature, perhaps after what somebody else's function uses has changed.
        self._function = frozen(bind(function, replacements))
        foreign: list[Callable[..., Any]] = [part for part in called_functions(self._function) if not is_builtin(part)]
        self.foreign = sorted(foreign, key=lambda part: (part.__name__, part.__qualname__))
        """The functions that it calls from outside of this package."""
        self._lean = True

    def __call__(self, *arguments: Any) -> Any:
        """Call the function; the first call for each signature compiles it or loads it from disk."""
        if not self._lean:
            return self._dispatcher(*arguments)
        from numba.core.errors import NumbaError

        try:
            return self._dispatcher(*arguments)
        except (NumbaError, MissingCodeError):
            # Raised while compiling or loading, so nothing has run yet.
            allocating = self._made(lean=False)
            returned = allocating(*arguments)
            self._dispatcher, self._lean = allocating, False
            return returned

    @property
    def ready(self) -> bool:
        """Whether it has been compiled or loaded here."""
        return "_dispatcher" in vars(self) and bool(self._dispatcher.signatures)

    @functools.cached_property
    def _dispatcher(self) -> Any:
        return self._made(lean=True)

    def _compiler(self) -> type:
        from dp_bandit_envs.compiling.numba_functions import QuickCompiler

        return QuickCompiler

    def _made(self, *, lean: bool) -> Any:
        import numba

        from dp_bandit_envs.compiling.numba_functions import LEAN, OPTIONS, MachineCode, clone

        options = LEAN if lean else OPTIONS
        ours = not self.foreign
        if not ours:
            # A third party's function must not read outside of its arrays, and divides as Python does.
            options = {**options, "boundscheck": True, "error_model": "python"}
        copy = clone(self._function, tuple(options.items()))
        key = fingerprint(self._function) + ("-lean" if lean else "") if ours else ""
        # Machine code from disk is found by its name, which Numba numbers by process: by content no two are alike.
        copy.__qualname__ += f"_{key[:12]}"
        dispatcher = numba.njit(**options, pipeline_class=self._compiler())(copy)
        dispatcher.targetoptions |= self._without
        if ours:
            # Without a folder to write to, as in a read-only container, every process compiles for itself.
            with contextlib.suppress(RuntimeError, OSError):
                dispatcher._cache = MachineCode(copy, key, _about_to_compile)
        return dispatcher


class AddressedFunction(CompiledFunction):
    """A loop over lanes that machine code calls by address; it compiles faster without a Python entry point.

    It must not return a value or allocate arrays.
    """

    _without: ClassVar = {**CompiledFunction._without, "no_cpython_wrapper": True}

    def _compiler(self) -> type:
        from dp_bandit_envs.compiling.numba_functions import ForLanes

        return ForLanes

    def __call__(self, *arguments: Any) -> Any:
        """Raise: it cannot be called from Python."""
        raise TypeError(f"{self._function.__name__} is called by machine code only; use address.")

    def address(self, *arguments: Any) -> int:
        """Compile for these argument types, or load from disk; return the address for `functions.call_at`."""
        from numba import typeof, types

        result = self._dispatcher.get_compile_result(types.none(*map(typeof, arguments)))
        return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))
