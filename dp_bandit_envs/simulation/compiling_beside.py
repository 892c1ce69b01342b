"""Compiles the loops of several algorithms in processes beside this one: Numba compiles one at a time in a process.

The processes write machine code to disk, from where this one loads it. They need not succeed: what is missing in the
end is compiled here. A process is `python -m dp_bandit_envs.simulation.compiling_beside` with pickled work as its
input, so that it runs nothing of the user's program.
"""

import contextlib
import dataclasses
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from dp_bandit_envs.compiling.compiled import MissingCodeError, Stopped, never, only_from_disk
from dp_bandit_envs.optional import installed
from dp_bandit_envs.simulation.lane_trials import LaneTrials
from dp_bandit_envs.simulation.tasks import Terms, Work
from dp_bandit_envs.simulation.trials import CompiledTrials

FOR_EACH = 3
"""Loops for each process beside this one: it takes the time of one to start."""
SECONDS = 0.05
"""Between two looks at the processes."""


def compile_all(work: Work, stopped: Stopped) -> None:
    """Compile all loops of a work, or load them from disk; end early after `stopped` returns True."""
    if isinstance(work, (CompiledTrials, LaneTrials)) and len(work.plans) >= FOR_EACH:
        # What all loops share; no two processes should compile it.
        of_plans(work, []).compile(stopped)
        missing = [] if stopped() else missing_in(work)
        beside = min(cpu_count() - 1, len(missing) // FOR_EACH)
        if beside > 0 and may_be_sent(work):
            # One more for this process, which need not start.
            shares = [missing[1:][place :: beside + 1] for place in range(beside + 1)]
            with processes([of_plans(work, share) for share in shares[1:]]) as running:
                of_plans(work, [missing[0], *shares[0]]).compile(stopped)
                while not stopped() and any(process.poll() is None for process in running):
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        running[0].wait(SECONDS)
                    running.append(running.pop(0))
    if not stopped():
        work.compile(stopped)


def cpu_count() -> int:
    """Return the number of cores that this process may use; without joblib, which knows containers, all of them."""
    if not installed("joblib"):
        return os.cpu_count() or 1
    import joblib

    return int(joblib.cpu_count())


def missing_in(work: Any) -> list[str]:
    """Return the algorithms whose machine code is not on disk; that of the others is loaded."""
    names = []
    for name in work.plans:
        try:
            with only_from_disk():
                of_plans(work, [name]).compile(never)
        except MissingCodeError:
            names.append(name)
    return names


def of_plans(work: Any, names: list[str]) -> Any:
    """Return the work for some of its algorithms."""
    return dataclasses.replace(work, plans={name: work.plans[name] for name in names})


def may_be_sent(work: CompiledTrials | LaneTrials) -> bool:
    """Return whether other processes may have a work, which has real data or a ledger perhaps."""
    return not work.adversary.is_real and work.adversary.ledger is None and bool(sys.executable)


@contextlib.contextmanager
def processes(works: list[Any]) -> "Iterator[list[subprocess.Popen[bytes]]]":
    """Start a process for each work, without its seed; at the end they are gone."""
    running: list[subprocess.Popen[bytes]] = []
    try:
        # A work that cannot be pickled, or a system that starts no process: then all is compiled here.
        with contextlib.suppress(Exception):
            for work in works:
                running.append(start(work))
        yield running
    finally:
        for process in running:
            if process.poll() is None:
                process.terminate()
            process.wait()


def start(work: Any) -> "subprocess.Popen[bytes]":
    """Start a process that compiles a work."""
    import cloudpickle

    public = {"terms": Terms()} if isinstance(work, CompiledTrials) else {}
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    with tempfile.TemporaryFile() as file:
        file.write(cloudpickle.dumps(dataclasses.replace(work, seed=0, **public)))
        file.seek(0)
        return subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=file,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )


if __name__ == "__main__":
    import cloudpickle

    cloudpickle.load(sys.stdin.buffer).compile(never)
