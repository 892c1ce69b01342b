"""Plays many tasks in parallel, in threads, processes or on a cluster, and stops at once on Ctrl-C."""

import functools
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from typing import Any, Literal

from dp_bandit_envs.compiling.compiled import in_background
from dp_bandit_envs.optional import installed
from dp_bandit_envs.seeding import FORKS
from dp_bandit_envs.simulation.compiling_beside import compile_all
from dp_bandit_envs.simulation.cutting import Cutter
from dp_bandit_envs.simulation.sending import Carried
from dp_bandit_envs.simulation.tasks import Played, Result, Task, once_for_each_work, play_all
from dp_bandit_envs.simulation.trials import PlayedTrials

SECONDS_IN_THREADS, SECONDS_ELSEWHERE = 0.1, 2.0
"""What a task takes: so long that sending it costs little, so short that an interruption loses little."""

_pools: set[int] = set()
"""`FORKS` of the processes, up to this one, that have used joblib's workers."""


def spread(
    tasks: Iterable[Task],
    jobs: int,
    *,
    in_threads: bool,
    cluster: Any = None,
    left: int | None = None,
) -> Generator[Result, None, None]:
    """Play tasks in parallel; yield the result of each trial as soon as it is there, in any order.

    Tasks are taken one after the other, each when a worker has time for it, and cut by measured speed.

    Args:
        tasks: The tasks, of any size.
        jobs: How many run in parallel.
        in_threads: Whether to run in threads instead of processes; joblib's `parallel_config` takes precedence. Without
            joblib everything runs in threads.
        cluster: The address of a dask scheduler or a client of it; its workers then play everything.
        left: The number of trials in all tasks together; needed if they are made one by one.
    """
    if left is None:
        tasks = list(tasks)
        left = sum(len(task.trials) for task in tasks)
    if cluster is not None:
        from dp_bandit_envs.simulation.cluster import Crew

        with Crew(cluster) as crew:
            cut = Cutter(tasks, SECONDS_ELSEWHERE, left, crew.width)
            yield from _played(cut, crew.submit, crew.width, crew.recover)
        return
    way = _way(jobs, in_threads)
    if way == "threads":
        yield from _in_threads(tasks, jobs, left)
    elif way == "here":
        compile_once = once_for_each_work(_compile)
        for task in tasks:
            compile_once(task)
            at_once = task.work.at_once
            for start in range(0, len(task.trials), at_once):
                trials = task.trials[start : start + at_once]
                for trial, columns in zip(trials, task.work.run_all(trials), strict=True):
                    yield task.owner, trial, columns
    else:
        yield from _with_joblib(Cutter(tasks, SECONDS_ELSEWHERE, left, lambda: 2 * jobs), jobs, in_threads)


def _way(jobs: int, in_threads: bool) -> Literal["here", "threads", "joblib"]:
    """Return where to play: joblib's default, or the backend that the user chose with its `parallel_config`."""
    alone: Literal["here", "threads"] = "here" if jobs == 1 else "threads"
    # Nobody chose a backend in a process that never loaded joblib.
    if not (sys.modules.get("joblib") or (jobs > 1 and not in_threads and installed("joblib"))):
        return alone
    from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend

    backend, _ = get_active_backend(prefer="threads" if in_threads else "processes")
    if isinstance(backend, (SequentialBackend, ThreadingBackend)) or _pool_is_of_parent():
        return alone
    return "here" if backend.effective_n_jobs(jobs) == 1 else "joblib"


def _pool_is_of_parent() -> bool:
    """Whether this process was forked from one with a pool, whose copy here would wait for workers for ever."""
    return any(forks != FORKS[0] for forks in _pools)


def _in_threads(tasks: Iterable[Task], jobs: int, left: int) -> Iterator[Result]:
    # joblib polls for results every 10 ms, half the time of a trial, so threads do without it.
    stop = threading.Event()
    pool = ThreadPoolExecutor(jobs)
    compile_once = once_for_each_work(_compile)

    def submit(task: Task) -> "Future[Played]":
        compile_once(task)
        return pool.submit(play_all, task.work, task.trials, stop.is_set)

    def width() -> int:
        return 2 * jobs

    try:
        yield from _played(Cutter(tasks, SECONDS_IN_THREADS, left, width), submit, width)
    finally:
        # Also after Ctrl-C: running trials end after their current block of rounds.
        stop.set()
        pool.shutdown(cancel_futures=True)


def _compile(task: Task) -> None:
    # A browser's Python starts no threads; it needs none where nothing is compiled.
    if not isinstance(task.work, PlayedTrials):
        in_background(functools.partial(compile_all, task.work))


def _failed(task: Task, error: BaseException) -> None:
    raise error


def _played(
    tasks: Cutter,
    submit: "Callable[[Task], Future[Played]]",
    width: Callable[[], int],
    recover: Callable[[Task, BaseException], None] = _failed,
) -> Iterator[Result]:
    """Submit tasks, each only when fewer than `width()` are under way, and yield their results.

    `recover` raises the error of a task, or returns if the task should be submitted again.
    """
    under_way: dict[Future[Played], Task] = {}
    while True:
        while len(under_way) < width() and (task := next(tasks, None)) is not None:
            under_way[submit(task)] = task
        if not under_way:
            return
        # With a limit, because on Windows Ctrl-C does not end a wait without one.
        for future in wait(under_way, timeout=0.5, return_when=FIRST_COMPLETED).done:
            task = under_way.pop(future)
            try:
                played = future.result()
            except (Exception, CancelledError) as error:
                recover(task, error)
                under_way[submit(task)] = task
            else:
                yield from tasks.results(task, played)


def _with_joblib(tasks: Cutter, jobs: int, in_threads: bool) -> Iterator[Result]:
    """Play in the workers of joblib's backend, which takes tasks in a thread of its own."""
    from joblib import Parallel, delayed

    _pools.add(FORKS[0])
    under_way: dict[int, Task] = {}
    carried = once_for_each_work(lambda task: Carried.of(task.work, task.env_id))

    def calls() -> Iterator[Any]:
        for number, task in enumerate(tasks):
            under_way[number] = task
            yield delayed(_numbered)(number, carried(task), task.trials)

    prefer = "threads" if in_threads else "processes"
    for number, played in Parallel(n_jobs=jobs, prefer=prefer, return_as="generator_unordered")(calls()):
        yield from tasks.results(under_way.pop(number), played)


def _numbered(number: int, carried: Carried, trials: range) -> tuple[int, Played]:
    return number, carried.play(trials)
