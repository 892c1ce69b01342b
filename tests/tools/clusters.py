"""A dask scheduler and workers on this machine, each a process that can be killed."""

import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys

import pytest

needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None or os.name != "posix",
    reason="needs dask.distributed (pip install 'dp-bandit-envs[cluster]') and SIGKILL",
)
HOST = "127.0.0.1"


class LocalCluster:
    """A scheduler with workers of one thread each; use it in a `with` statement.

    Attributes:
        address: The scheduler's address, which stays the same when it is restarted.
    """

    def __init__(self, folder, workers=2):
        with contextlib.closing(socket.socket()) as free:
            free.bind((HOST, 0))
            self._port = free.getsockname()[1]
        self.address = f"tcp://{HOST}:{self._port}"
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._wanted = workers
        self._scheduler, self._workers = None, []

    def __enter__(self):
        self.start_scheduler()
        self.start_workers()
        return self

    def __exit__(self, *_):
        for process in (*self._workers, self._scheduler):
            self._kill(process)

    def start_scheduler(self):
        """Start the scheduler."""
        self._scheduler = self._start("dask_scheduler", "--host", HOST, "--port", self._port)

    def start_workers(self):
        """Start workers in place of those that are gone."""
        self._workers = [worker for worker in self._workers if worker.poll() is None]
        for _ in range(self._wanted - len(self._workers)):
            place = ("--local-directory", self._folder, "--host", HOST, "--no-nanny")
            self._workers.append(self._start("dask_worker", self.address, "--nthreads", 1, *place))

    def kill_worker(self, number=0):
        """Kill a worker by SIGKILL."""
        self._kill(self._workers[number % len(self._workers)])

    def kill_scheduler(self):
        """Kill the scheduler by SIGKILL."""
        self._kill(self._scheduler)

    def restart_all(self):
        """Kill the scheduler and all workers by SIGKILL, and start them again."""
        self.__exit__()
        self.start_scheduler()
        self.start_workers()

    def _start(self, what, *arguments):
        program = [sys.executable, "-m", f"distributed.cli.{what}", *map(str, arguments), "--no-dashboard"]
        return subprocess.Popen(program, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @staticmethod
    def _kill(process):
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
            process.wait()
