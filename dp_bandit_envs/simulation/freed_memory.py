"""Lets dask's workers keep freed memory for the next block of gains, as every other process does."""

import ctypes
import functools

TRIM, MMAP = -1, -3
"""Parameters of glibc's `mallopt`."""
MOST_TRIM, MOST_MMAP = 2**26, 2**25
"""The values that glibc itself reaches in a process that allocates and frees large arrays."""


@functools.cache
def keep_freed_memory() -> None:
    """Set how much freed memory this process keeps, once; does nothing without glibc.

    Dask starts workers with `MALLOC_TRIM_THRESHOLD_=65536`. Every block of gains was then returned to the system and
    taken from it again, which was a sixth of all time.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):
        return
    mallopt(TRIM, MOST_TRIM)
    mallopt(MMAP, MOST_MMAP)
