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
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, ClassVar, Final, NamedTuple

from dp_bandit_envs.checks import installed
from dp_bandit_envs.compiling.functions import bind, called_functions, fingerprint, frozen, is_builtin

COMPILER = "dp-bandit compiler"
"""The name of the compiling thread."""
IsCancelled = Callable[[], bool]
"""Returns whether the work should end."""


def not_cancelled() -> bool:
    """Return False."""
    return False


def do_nothing() -> None:
    """Do nothing."""


def run_in_thread(
    compile_parts: Callable[[IsCancelled], object], while_waiting: Callable[[], object] = do_nothing
) -> None:
    """Compile in another thread and wait for it; an error there is raised here.

    Python runs signal handlers in the main thread only. If that thread compiled, Ctrl-C would be raised in an LLVM
    callback, which cannot propagate it, and be lost. With another thread the wait ends at once, and the current
    function finishes compiling in the background. During the import of a module, we compile in this thread: Numba
    imports the module of each function that it compiles, so another thread would deadlock with the import.

    Args:
        compile_parts: Compiles.
        while_waiting: Called before, and ten times a second.
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
    while_waiting()
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)  # on Windows, Ctrl-C does not end a wait without a limit
            while_waiting()
    finally:
        stop.set()
    if failure:
        raise failure[0]


_log = logging.getLogger("dp_bandit_envs")
_said: set[str] = set()


def say_once(kind: str, line: str) -> None:
    """Write a line, unless this process has already written a line of this kind."""
    if kind not in _said:
        _said.add(kind)
        _log.warning(line)


QUIET: Final = 2.0
"""Seconds before a command announces compiling, so that quick compilations stay silent."""
LOOP: Final = 3000
"""Bytes of Python's code that take as long to compile as a loop without its functions.

Measured with ten algorithms, which took .7 to 4 s: each took .6 to 1.7 times the estimate from this and earlier ones.
"""


class CompilingTeller:
    """Tells what is compiled, once the command takes more than `QUIET` seconds.

    Args:
        tell: Takes a line, or "" when nothing is compiled any more.
    """

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell, self._began, self._last = tell, time.monotonic(), ""

    def say(self, line: str) -> None:
        """Tell a line, unless it is told already or the command is quick so far."""
        if line != self._last and time.monotonic() - self._began >= QUIET:
            self._last = line
            self._tell(line)

    def end(self) -> None:
        """Tell that nothing is compiled any more."""
        self._tell("")


_tellers: list[CompilingTeller] = []


def _log_line(line: str) -> None:
    if line:
        _log.warning(line)


@contextlib.contextmanager
def says_compiling(tell: Callable[[str], object] | None = None) -> Iterator[None]:
    """Tell in this block what is compiled; what is loaded from disk is not announced.

    Args:
        tell: Takes a line, or "" when nothing is compiled any more; by default it is logged as a warning.
    """
    teller = CompilingTeller(tell or _log_line)
    _tellers.append(teller)
    try:
        yield
    finally:
        _tellers.remove(teller)


class CompileJob(NamedTuple):
    """What is compiled for one algorithm.

    Attributes:
        name: The algorithm.
        loops: Its loops.
        compile: Compiles them.
        is_kept: Whether their machine code is kept on disk.
    """

    name: str
    loops: "Sequence[CompiledFunction]"
    compile: Callable[[IsCancelled], object]
    is_kept: bool = True


class CompileTimes:
    """How long compiling takes in this process, by the bytes of Python's code that were compiled."""

    def __init__(self) -> None:
        self._seconds = self._size = 0.0
        self._compiled = set[CodeType]()

    def estimate(self, job: CompileJob) -> float | None:
        """Return the seconds that a job will take; None if nothing has been compiled yet."""
        return self._seconds / self._size * self._new(job)[0] if self._size else None

    def add(self, job: CompileJob, seconds: float) -> None:
        """Learn how long a job took."""
        size, codes = self._new(job)
        self._seconds, self._size = self._seconds + seconds, self._size + size
        self._compiled |= codes

    def _new(self, job: CompileJob) -> tuple[int, set[CodeType]]:
        """Return the size of a job's code that is not compiled yet."""
        codes = {function.__code__ for loop in job.loops for function in loop.functions} - self._compiled
        return LOOP * len(job.loops) + sum(len(code.co_code) for code in codes), codes


_times = CompileTimes()


def compile_in_turn(jobs: Sequence[CompileJob]) -> None:
    """Compile some algorithms, one after the other, and tell which one of how many, and about how long it takes."""
    teller = _tellers[-1] if _tellers else CompilingTeller(lambda line: None)
    for number, job in enumerate(jobs, 1):
        seconds = _times.estimate(job)
        where = "once on this machine" if job.is_kept else "once in each process"
        about = where if seconds is None or not job.is_kept else f"about {max(1, round(seconds))} s"
        count = f"{number} of {len(jobs)}: " if len(jobs) > 1 else ""
        began = time.monotonic()
        run_in_thread(job.compile, functools.partial(teller.say, f"compiling {count}{job.name} ({about})"))
        _times.add(job, time.monotonic() - began)
    if jobs:
        teller.end()


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
    """Raise if this thread may only load."""
    if getattr(_this_thread, "only_loads", False):
        raise MissingCodeError


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
    """Numba's options against unused entry points, whose compilation takes time."""

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

    @property
    def functions(self) -> list[FunctionType]:
        """The function and all plain functions that it calls."""
        return list(called_functions(self._function))

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
