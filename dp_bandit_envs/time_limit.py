"""A time limit for untrusted Python code, which may never end."""

import contextlib
import ctypes
import signal
import threading
from collections.abc import Iterator
from typing import Any

from dp_bandit_envs.errors import TooLongError

AGAIN = 1.0
"""Seconds until `TooLongError` is raised once more, for code that catches it."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooLongError` in this thread after some seconds.

    In the main thread a signal also ends a sleep; elsewhere, and where there are no signals, the error comes at the
    next line of Python.
    """
    over, lock, thread = threading.Event(), threading.Lock(), threading.get_ident()
    with_signal = threading.current_thread() is threading.main_thread() and hasattr(signal, "pthread_kill")

    def stop() -> None:
        wait = min(seconds, threading.TIMEOUT_MAX)
        while not over.wait(wait):
            with lock:
                if over.is_set():
                    return
                if with_signal:
                    signal.pthread_kill(thread, signal.SIGALRM)
                else:
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TooLongError))
            wait = AGAIN

    previous = signal.signal(signal.SIGALRM, _raise) if with_signal else None
    with contextlib.suppress(RuntimeError):  # a browser's Python starts no threads
        threading.Thread(target=stop, daemon=True).start()
    try:
        yield
    finally:
        while not over.is_set():
            with contextlib.suppress(TooLongError), lock:  # one that comes now is too late
                over.set()
        if with_signal:
            signal.signal(signal.SIGALRM, previous)


def _raise(number: int, frame: Any) -> None:
    raise TooLongError
