"""Plays tasks (trials of an engine) in threads or by a joblib backend, and stops at once on Ctrl-C.

Tasks are cut by measured speed, so that each takes about as long and all workers end together. A backend that is not
joblib's own, such as dask's, may have workers on other machines: they do not get secret seeds, and must have the same
code.
"""

import functools
import itertools
import queue
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple

from dp_bandit_envs.checks import installed
from dp_bandit_envs.compiling.compiled import CompileJob, compile_in_turn, loads_from_disk, run_in_thread
from dp_bandit_envs.errors import ClusterError
from dp_bandit_envs.privacy.admission import Conditions, playing_under
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.ledger import Reservation
from dp_bandit_envs.seeding import FORKS
from dp_bandit_envs.simulation.pickling import PickledWork
from dp_bandit_envs.simulation.results import Engine, Keep, KeptResults, TaskResults, run_and_keep, run_task

SECONDS_IN_THREADS, SECONDS_ELSEWHERE = 0.1, 2.0
"""Seconds of a task: long enough that sending it costs little, short enough that an interruption loses little."""
SECONDS_A_WORKER = 0.02
"""What a task takes for each worker, if that is longer: some times what this process needs for a task."""
MOST_BYTES = 2**24
"""The most bytes of a task's results, as short games have many results."""
_pools: set[int] = set()
"""`FORKS` of the processes, up to this one, that have used joblib's workers."""


class TrialTerms(NamedTuple):
    """Privacy terms of trials: secret seed, guarantees, reservation; see `dp_bandit_envs.privacy.admission`.

    Attributes:
        secret: Whether the seed is secret.
        guarantees: The guarantee of each algorithm, if the data have a ledger.
        reservation: The games that the data's ledger, if any, has charged in advance for all trials.
    """

    secret: bool = False
    guarantees: tuple[PrivacyGuarantee, ...] = ()
    reservation: Reservation | None = None

    def of_games(self, players: Sequence[str]) -> AbstractContextManager[Conditions]:
        """Declare the conditions of the games of one trial; for games in Python, `play` declares the guarantee."""
        games = [[guarantee] for guarantee in self.guarantees]
        return playing_under(games, secret=self.secret, players=players, reservation=self.reservation)


class Task(NamedTuple):
    """An engine and a range of trials.

    Attributes:
        engine: The engine.
        trials: The numbers of the trials.
        env_id: The id of the game, if any; other processes must register it.
        owner: Returned with each result.
    """

    engine: Engine
    trials: range
    env_id: str | None = None
    owner: Any = None


Result = tuple[Any, range, Mapping[str, KeptResults]]
"""A task's owner, its trials, and their results by algorithm."""


def once_for_each_engine(make: Callable[[Task], Any]) -> Callable[[Task], Any]:
    """Return a function that calls `make` for the first task of each engine, and returns its result for the others."""
    results: dict[int, tuple[Engine, Any]] = {}

    def get(task: Task) -> Any:
        if id(task.engine) not in results:
            results[id(task.engine)] = (task.engine, make(task))
        return results[id(task.engine)][1]

    return get


class TaskSplitter(Iterator[Task]):
    """Yields tasks of about `seconds` each; of one trial until the engine's speed has been measured.

    Args:
        tasks: Tasks of any size; each is read when all previous tasks have been split.
        seconds: Intended duration of a task.
        left: The total number of trials.
        width: The number of tasks in parallel. When few trials are left, they are divided among as many tasks.
    """

    def __init__(self, tasks: Iterable[Task], seconds: float, left: int, width: int) -> None:
        self._tasks = iter(tasks)
        self._seconds, self._left, self.width = seconds, left, width
        self._fastest: dict[int, float] = {}
        self._bytes: dict[int, float] = {}
        self._rest: Task | None = None

    def __next__(self) -> Task:
        task = self._rest or next(self._tasks)
        # The fastest measured, because the first trials in a worker include loading machine code. (Should an id be
        # used again, a wrong size is all that follows.)
        seconds = self._fastest.get(id(task.engine))
        most = MOST_BYTES / self._bytes.get(id(task.engine), 1.0)
        size = 1 if seconds is None else int(min(self._seconds / seconds, self._left / self.width, most))
        at_once = task.engine.at_once
        size = min(max(1, round(size / at_once)) * at_once, len(task.trials))
        self._left -= size
        self._rest = task._replace(trials=task.trials[size:]) if size < len(task.trials) else None
        return task._replace(trials=task.trials[:size])

    def result(self, task: Task, played: TaskResults) -> Result:
        """Return the results of a finished task, and record its speed and their size."""
        seconds = max(played.seconds, 1e-9) / len(task.trials)
        self._fastest[id(task.engine)] = min(seconds, self._fastest.get(id(task.engine), seconds))
        size = sum(part.nbytes for kept in played.columns.values() for part in kept if part is not None)
        self._bytes[id(task.engine)] = max(1.0, size / len(task.trials))
        return task.owner, task.trials, played.columns


def run_tasks(
    tasks: Iterable[Task],
    jobs: int,
    *,
    in_threads: bool,
    left: int | None = None,
    keep: Keep = "trials",
) -> Generator[Result, None, None]:
    """Play tasks in parallel; yield results as soon as they are available, in any order.

    Tasks are read one after the other, when a worker is free, and split by measured speed.

    Args:
        tasks: The tasks, of any size.
        jobs: Number of tasks in parallel.
        in_threads: Whether to run in threads instead of processes; joblib's `parallel_config` takes precedence. Without
            joblib everything runs in threads.
        left: The total number of trials; needed if tasks are generated lazily.
        keep: Whether to return the results of each trial, or their sums.
    """
    if left is None:
        tasks = list(tasks)
        left = sum(len(task.trials) for task in tasks)
    way = _way(jobs, in_threads)
    if way == "threads":
        yield from _in_threads(tasks, jobs, left, keep)
    elif way == "here":
        compile_once = once_for_each_engine(_compile)
        for task in tasks:
            compile_once(task)
            at_once = task.engine.at_once
            for start in range(0, len(task.trials), at_once):
                trials = task.trials[start : start + at_once]
                yield task.owner, trials, run_and_keep(functools.partial(run_task, task.engine), trials, keep).columns
    else:
        yield from _with_joblib(tasks, jobs, left, in_threads, keep)


def _way(jobs: int, in_threads: bool) -> Literal["here", "threads", "joblib"]:
    """Return the backend: joblib's default, or the user's choice by `parallel_config`."""
    alone: Literal["here", "threads"] = "here" if jobs == 1 else "threads"
    # A process that never loaded joblib has no chosen backend.
    if not (sys.modules.get("joblib") or (jobs > 1 and not in_threads and installed("joblib"))):
        return alone
    from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend

    backend, _ = get_active_backend(prefer="threads" if in_threads else "processes")
    # The copy of a pool in a process that was forked would wait for its workers for ever.
    is_forked = any(forks != FORKS[0] for forks in _pools)
    if type(backend) in (SequentialBackend, ThreadingBackend) or is_forked:
        return alone
    return "here" if backend.effective_n_jobs(jobs) == 1 else "joblib"


def _in_threads(tasks: Iterable[Task], jobs: int, left: int, keep: Keep) -> Iterator[Result]:
    # joblib polls for results every 10 ms, half the time of a trial, so threads do without it.
    stop = threading.Event()
    pool = ThreadPoolExecutor(jobs)
    compile_once = once_for_each_engine(_compile)

    def submit(task: Task) -> "Future[TaskResults]":
        compile_once(task)
        play = functools.partial(run_task, task.engine, is_cancelled=stop.is_set)
        return pool.submit(run_and_keep, play, task.trials, keep)

    try:
        yield from _played(TaskSplitter(tasks, SECONDS_IN_THREADS, left, 2 * jobs), submit)
    finally:
        # Also after Ctrl-C: running trials end after their current block of rounds.
        stop.set()
        pool.shutdown(cancel_futures=True)


def _compile(task: Task) -> None:
    compile_now([task.engine])


def _played(tasks: TaskSplitter, submit: "Callable[[Task], Future[TaskResults]]") -> Iterator[Result]:
    """Submit tasks, each only when fewer than their `width` are under way, and yield their results."""
    under_way: dict[Future[TaskResults], Task] = {}
    done: queue.SimpleQueue[Future[TaskResults]] = queue.SimpleQueue()
    while True:
        while len(under_way) < tasks.width and (task := next(tasks, None)) is not None:
            future = submit(task)
            under_way[future] = task
            future.add_done_callback(done.put)
        if not under_way:
            return
        try:
            # With a limit, because on Windows Ctrl-C does not end a wait without one.
            future = done.get(timeout=0.5)
        except queue.Empty:
            continue
        yield tasks.result(under_way.pop(future), future.result())


def _with_joblib(tasks: Iterable[Task], jobs: int, left: int, in_threads: bool, keep: Keep) -> Iterator[Result]:
    """Play in the workers of joblib's backend, which takes tasks in a thread of its own."""
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    _pools.add(FORKS[0])
    prefer = "threads" if in_threads else "processes"
    backend, _ = get_active_backend(prefer=prefer)
    workers, elsewhere = backend.effective_n_jobs(jobs), bool(backend_elsewhere())
    if elsewhere:
        backend.submit = functools.partial(_submit, backend)
    cut = TaskSplitter(tasks, max(SECONDS_ELSEWHERE, SECONDS_A_WORKER * workers), left, 2 * workers)
    under_way: dict[int, Task] = {}
    pickled = once_for_each_engine(lambda task: PickledWork.of(task.engine, task.env_id, elsewhere=elsewhere))

    def calls() -> Iterator[Any]:
        for number, task in enumerate(cut):
            under_way[number] = task
            if not count_as_begun(task):
                return  # joblib takes tasks in a thread of its own, which may be late
            yield delayed(_numbered)(number, pickled(task), task.trials, keep)

    one_by_one = backend.supports_return_generator
    return_as = "generator_unordered" if one_by_one else "list"
    # Tasks are long enough without joblib's batches.
    with Parallel(n_jobs=jobs, prefer=prefer, return_as=return_as, batch_size=1) as parallel:
        waves = [calls()] if one_by_one else _waves(calls(), cut.width)
        for number, played in itertools.chain.from_iterable(map(parallel, waves)):
            yield cut.result(under_way.pop(number), played)


def _waves(calls: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Yield lists of this many calls, for a backend that returns results only together."""
    while wave := list(itertools.islice(calls, size)):
        yield wave


def _submit(backend: Any, call: Any, callback: Callable[[Any], None]) -> Any:
    """Submit a call to a backend, and report if it was lost; joblib 1.6 with dask would wait forever."""
    submitted = type(backend).submit(backend, call, callback)

    def report(future: "Future[Any]") -> None:
        if not future.cancelled() and future.exception() is not None:
            callback(future.exception())

    if isinstance(submitted, Future):
        submitted.add_done_callback(report)
    return submitted


def backend_elsewhere() -> str:
    """Return the class of joblib's active backend if it is not joblib's own; its workers may be anywhere."""
    if "joblib" not in sys.modules:
        return ""
    from joblib import parallel

    kinds = ("LokyBackend", "MultiprocessingBackend", "SequentialBackend", "ThreadingBackend")
    backend, _ = parallel.get_active_backend()
    return "" if type(backend) in [getattr(parallel, kind) for kind in kinds] else type(backend).__name__


def refuse_backend_elsewhere() -> None:
    """Raise `ClusterError` if a secret seed would be sent to workers that may be on other machines."""
    if name := backend_elsewhere():
        raise ClusterError(
            f"a secret seed must stay on this machine; joblib's backend {name} may write to disks elsewhere what it is"
            " sent. Play with one of joblib's own (loky, multiprocessing, threading, sequential), or give a seed."
        )


def count_as_begun(task: Task) -> bool:
    """Count a task's games as begun in a ledger's reservation, as they begin elsewhere; return whether they may."""
    engine: Any = task.engine
    reservation: Reservation | None = engine.terms.reservation if hasattr(engine, "terms") else None
    return reservation is None or reservation.count_as_begun(list(engine.algorithms), len(task.trials))


def compile_now(engines: Iterable[Engine]) -> int:
    """Load all loops from disk, and compile those that are not there, algorithm by algorithm; return how many."""
    # A browser's Python starts no threads; it needs none where nothing is compiled.
    unready: list[Any] = [engine for engine in engines if not engine.ready]
    alone = [(name, engine.only([name])) for engine in unready for name in engine.algorithms]
    jobs, listed = list[CompileJob](), set[int]()
    for name, engine in alone:
        is_kept = not engine.games[name].user_functions
        # An algorithm has the same loop in many games.
        loops = [] if engine.ready else [loop for loop in engine.loops if id(loop) not in listed]
        if loops and not (is_kept and loads_from_disk(engine.compile)):
            jobs.append(CompileJob(name, loops, engine.compile, is_kept))
            listed.update(map(id, loops))
    compile_in_turn(jobs)
    for engine in unready:
        if not engine.ready:
            run_in_thread(engine.compile)
    return sum(len(job.loops) for job in jobs)


def compile_ahead(engines: Sequence[Engine], jobs: int, *, in_threads: bool) -> None:
    """Compile what `run_tasks` will play in this process, so that all of it is announced together."""
    if _way(jobs, in_threads) != "joblib":
        compile_now(engines)


def _numbered(number: int, pickled: PickledWork, trials: range, keep: Keep) -> tuple[int, TaskResults]:
    return number, run_and_keep(pickled.play, trials, keep)
