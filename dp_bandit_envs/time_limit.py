"""A time limit for untrusted Python code, which may never end."""

import contextlib
import ctypes
import threading
from collections.abc import Iterator

from dp_bandit_envs.errors import TooLongError


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooLongError` in this thread after some seconds, at the next line of Python."""
    ended, lock, thread = False, threading.Lock(), threading.get_ident()

    def end() -> None:
        with lock:
            if not ended:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TooLongError))

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    with contextlib.suppress(RuntimeError):  # a browser's Python starts no threads
        timer.start()
    try:
        yield
    finally:
        with lock:
            ended = True
        timer.cancel()
