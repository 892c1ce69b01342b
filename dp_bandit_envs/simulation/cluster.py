"""Plays tasks on the workers of a dask cluster; those of a worker that died are played again by another."""

import contextlib
import ctypes
import functools
import logging
import time
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from dp_bandit_envs.errors import ClusterError
from dp_bandit_envs.optional import require
from dp_bandit_envs.simulation.outcomes import Keep, Played, Work, play_and_keep
from dp_bandit_envs.simulation.provenance import installed_code, made_by, source_here
from dp_bandit_envs.simulation.sending import Carried

if TYPE_CHECKING:
    from dp_bandit_envs.simulation.workers import Task

REACHED, PATIENCE = 10.0, 60.0
"""Seconds to wait for the scheduler, and for its first worker."""
COPIED = 2.0
"""Seconds to wait until all workers have what is played; without that they play it, too, but share it less evenly."""
LOOK_AGAIN = 1.0
"""Seconds after which workers are counted again."""
DIGEST = 64
"""The digits of a SHA-256."""
ATTEMPTS = 10
"""How often a task is given to the scheduler, which tries four workers each time. More deaths are not by chance."""


class Crew:
    """The workers of a cluster; use it in a `with` statement.

    Args:
        cluster: The address of a dask scheduler, or a `distributed.Client`, which stays open.
        keep: As for `spread`.

    Raises:
        ClusterError: If there is no scheduler at the address, or it has no workers.
        ImportError: If dask.distributed is not installed.
    """

    def __init__(self, cluster: Any, keep: Keep = "trials") -> None:
        self._distributed = require("distributed", extra="cluster")
        self._address = getattr(getattr(cluster, "scheduler", None), "address", cluster)
        self._own = not isinstance(cluster, self._distributed.Client)
        try:
            connect = functools.partial(self._distributed.Client, set_as_default=False, timeout=REACHED)
            self._client = connect(cluster) if self._own else cluster
        except (OSError, ValueError, TypeError) as error:
            raise ClusterError(
                "cluster must be the address of a dask scheduler, such as tcp://127.0.0.1:8786; received"
                f" {self._address!r}, which cannot be reached ({error}). Start one with: dask scheduler"
            ) from None
        self._executor = self._client.get_executor(pure=False)
        self._keep: Keep = keep
        self._parcels: dict[int, tuple[Work, Any]] = {}
        self._attempts: dict[tuple[int, range], int] = {}
        self._width, self._counted, self._lost = 0, 0.0, False
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except OSError:
            self.__exit__()
            raise ClusterError(
                f"cluster must have workers; {self._address!r} had none in {PATIENCE:g} s. Start some with:"
                f" dask worker {self._address}"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Cancel what is not finished; a worker ends the task that it plays, for nobody."""
        # The scheduler may be gone, which is then the error that the caller sees.
        with contextlib.suppress(Exception):
            self._executor.shutdown(wait=False)
        if self._own:
            # A client that has lost its scheduler logs pages about that when it is closed; the caller gets a sentence.
            logger = logging.getLogger("distributed.client")
            disabled, logger.disabled = logger.disabled, self._lost or logger.disabled
            with contextlib.suppress(Exception):
                self._client.close()
            logger.disabled = disabled

    def width(self) -> int:
        """Return how many tasks to submit at a time: two for each thread of the workers that are there now."""
        if time.monotonic() > self._counted + LOOK_AGAIN:
            with contextlib.suppress(OSError):
                self._width = 2 * sum(self._client.nthreads().values())
            self._counted = time.monotonic()
        return max(2, self._width)

    def submit(self, task: "Task") -> "Future[Played]":
        """Send a task; its work goes to each worker once."""
        if id(task.work) not in self._parcels:
            self._parcels[id(task.work)] = task.work, self._sent(task)
        _, parcel = self._parcels[id(task.work)]
        played: Future[Played] = self._executor.submit(_play, parcel, task.trials, self._keep)
        return played

    def recover(self, task: "Task", error: BaseException) -> None:
        """Return if a task should be submitted again after this error, and raise otherwise."""
        if isinstance(error, (CancelledError, self._distributed.client.FutureCancelledError, OSError)):
            self._lost = True
            raise ClusterError(
                f"the cluster {self._address!r} was lost while it played ({type(error).__name__}). Start it, and give"
                " the same command again; what was saved is kept."
            ) from None
        attempts = self._attempts[id(task.work), task.trials] = self._attempts.get((id(task.work), task.trials), 1) + 1
        if not isinstance(error, self._distributed.KilledWorker) or attempts > ATTEMPTS:
            raise error
        # The parcel itself may have been on the worker that died.
        self._parcels = {}

    def _sent(self, task: "Task") -> Any:
        made = {**made_by(), **installed_code(task.work)}
        parcel = self._client.submit(_Parcel, Carried.of(task.work, task.env_id), made, pure=False)
        # To all workers that are there now: dask gives tasks first to those that hold what they need, until they queue.
        with contextlib.suppress(Exception):
            self._client.replicate(parcel, callback_timeout=COPIED)
        return parcel


class _Parcel(NamedTuple):
    """Work, and the code that it needs, by name."""

    carried: Carried
    made: dict[str, str]


@functools.cache
def _keep_freed_memory() -> None:
    """Undo dask's `MALLOC_TRIM_THRESHOLD_` of 64 kB, with which blocks of gains are made anew: 2 to 7 % of the time."""
    with contextlib.suppress(OSError, TypeError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(-1, 2**26)  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD, at the most that glibc itself chooses
        mallopt(-3, 2**25)


def _short(version: str) -> str:
    """Return a version as it is, and of a digest as much as tells two apart."""
    return version[:8] if len(version) == DIGEST else version


def _play(parcel: _Parcel, trials: range, keep: Keep) -> Played:
    """Play trials on a worker, if its code is that of the client."""
    carried, made = parcel
    here = {**{name: source_here(name) for name in made}, **made_by()}
    if here != made:
        unlike = [part for part in made if here[part] != made[part]]
        other = ", ".join(f"{part} {_short(here[part])} instead of {_short(made[part])}" for part in unlike)
        raise ClusterError(
            f"the cluster's workers must have the same code as the client; a worker has {other}. Install the same"
            " versions there, and restart the workers."
        )
    _keep_freed_memory()
    return play_and_keep(carried.play, trials, keep)
