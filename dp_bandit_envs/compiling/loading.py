"""Says whether code may be compiled in this thread, or only loaded from disk."""

import contextlib
import threading
from collections.abc import Iterator

_this_thread = threading.local()


class MissingCodeError(Exception):
    """Raised instead of compiling a function whose machine code is not on disk."""


@contextlib.contextmanager
def only_from_disk() -> Iterator[None]:
    """Let calls in this thread load machine code, but raise `MissingCodeError` where it would have to be compiled.

    Functions that are never kept on disk are compiled all the same.
    """
    _this_thread.only_loads = True
    try:
        yield
    finally:
        _this_thread.only_loads = False


def only_loads() -> bool:
    """Return whether this thread may not compile."""
    return getattr(_this_thread, "only_loads", False)
