"""Runs many trials in parallel, in threads or processes, and stops at once on Ctrl-C."""

import functools
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

from joblib import Parallel, delayed
from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend

from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.carrying import Carried

COMPILER = "dp-bandit compiler"
"""The name of the compiling thread."""
LOCAL = (SequentialBackend, ThreadingBackend)


class Column(NamedTuple):
    """The results of one game at the checkpoints, each of shape `(checkpoints,)`, and `pulls` of `(n_arms,)`."""

    external_regret: FloatArray
    policy_regret: FloatArray
    pseudo_regret: FloatArray | None
    collected: FloatArray
    switches: IntArray
    pulls: IntArray


Stopped = Callable[[], bool]
"""Returns whether the work should end."""


class StoppedEarlyError(Exception):
    """Raised by a trial that was cancelled."""


def never() -> bool:
    """Return False."""
    return False


class Task(Protocol):
    """A function of the trial's number that can run in any thread or process."""

    def compile(self, stopped: Stopped) -> None:
        """Do the slow one-time work; end early after `stopped` returns True."""

    def run(self, trial: int, stopped: Stopped = never) -> dict[str, Column]:
        """Play one trial; raise `StoppedEarlyError` soon after `stopped` returns True."""


def spread(
    task: Task, numbers: Iterable[int], jobs: int, prefer: str, env_id: str | None = None
) -> Iterator[dict[str, Column]]:
    """Run trials in parallel and yield their results in order.

    Args:
        task: The task.
        numbers: The numbers of the trials.
        jobs: How many run in parallel.
        prefer: `"threads"` or `"processes"`; joblib's `parallel_config` takes precedence.
        env_id: The id that is played, if any; other processes must register it.
    """
    backend, _ = get_active_backend(prefer=prefer)
    local = isinstance(backend, LOCAL)
    if local:
        in_background(task.compile)
    if jobs == 1 and local:
        yield from map(task.run, numbers)
    elif prefer == "threads" and local:
        # joblib polls for results every 10 ms, half the time of a trial, so threads do without it.
        stop = threading.Event()
        pool = ThreadPoolExecutor(jobs)
        try:
            yield from pool.map(functools.partial(task.run, stopped=stop.is_set), numbers)
        finally:
            # Also after Ctrl-C: running trials end after their current block of rounds.
            stop.set()
            pool.shutdown(cancel_futures=True)
    else:
        parallel = Parallel(n_jobs=jobs, prefer=prefer, return_as="generator")
        here = local or prefer == "threads" or backend.effective_n_jobs(jobs) == 1
        run = task.run if here else Carried.of(task, env_id).run
        yield from parallel(delayed(run)(trial) for trial in numbers)


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
