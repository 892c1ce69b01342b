"""Compiles in a thread of its own, so that Ctrl-C works meanwhile; without importing Numba."""

import sys
import threading
from collections.abc import Callable

COMPILER = "dp-bandit compiler"
"""The name of the compiling thread."""
Stopped = Callable[[], bool]
"""Returns whether the work should end."""


def never() -> bool:
    """Return False."""
    return False


def in_background(compile_parts: Callable[[Stopped], object]) -> None:
    """Compile in another thread and wait for it; an error there is raised here.

    Python runs signal handlers in the main thread only. If that thread compiled, Ctrl-C would be raised in one of
    LLVM's callbacks, which cannot propagate it, and be lost. Here the wait ends at once, and the current function is
    compiled to its end in the background.

    While a module is being imported, everything is compiled in this thread: Numba imports the module of each function
    that it compiles, and another thread would wait for an import that waits for it.
    """
    if _importing():
        compile_parts(never)
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


def _importing() -> bool:
    specs = [getattr(module, "__spec__", None) for module in list(sys.modules.values())]
    return any(getattr(spec, "_initializing", False) for spec in specs)
