"""Addresses of random streams: machine code steps the words of NumPy's own SFC64."""

import ctypes
import functools
from typing import Any

import numpy as np


def stream_address(rng: np.random.Generator) -> int:
    """Return the address of the four words of a generator's SFC64, which does not change during its life."""
    bits = rng.bit_generator
    if not isinstance(bits, np.random.SFC64):
        raise TypeError(f"compiled games need streams of SFC64; received one of {type(bits).__name__}.")
    # The only way to it that makes no object each time: `bits.ctypes` looks up the functions, too.
    interface = _capsule_pointer()(bits.capsule, b"BitGenerator")
    return int(ctypes.c_void_p.from_address(interface).value or 0)


@functools.cache
def _capsule_pointer() -> Any:
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return get(("PyCapsule_GetPointer", ctypes.pythonapi))
