"""The state of a game before its first round, of which every game gets a copy in memory of its own."""

import math
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

APART = 256
"""Bytes before and behind a copy: no two threads write to one line of the processor's cache."""
ALIGNED = 16
State = TypeVar("State")


class FirstState(Generic[State]):
    """Makes copies of nested tuples of arrays and numbers; the arrays of a copy share one block of memory.

    Args:
        state: What is copied; it must not change.

    Raises:
        TypeError: If an array holds Python objects.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._offsets: list[int] = []
        parts, end = [], APART
        for array in _arrays(state):
            if array.dtype.hasobject:
                raise TypeError(f"arrays of a state must hold numbers; received one of {array.dtype}.")
            self._offsets.append(end)
            size = math.ceil(array.nbytes / ALIGNED) * ALIGNED
            parts.append(array.tobytes().ljust(size, b"\0"))
            end += size
        self._content = np.frombuffer(b"".join(parts), np.uint8)

    def copy(self) -> State:
        """Return a copy."""
        return self.copy_with_memory()[0]

    def copy_with_memory(self) -> tuple[State, NDArray[np.int64], NDArray[np.int64]]:
        """Return a copy, the memory of its arrays, and what is in it now: written there again, the copy is as new."""
        room = np.empty(len(self._content) + 2 * APART, np.uint8)
        memory = room[APART:-APART]
        memory[...] = self._content
        return self._in(room), memory.view(np.int64), self._content.view(np.int64)

    def _in(self, room: NDArray[np.uint8]) -> State:
        """Return the state with its arrays in this block of memory."""
        offsets = iter(self._offsets)

        def copied(part: Any) -> Any:
            if isinstance(part, np.ndarray):
                return np.ndarray(part.shape, part.dtype, room, next(offsets))
            if isinstance(part, tuple):
                parts = map(copied, part)
                return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)
            return part

        return copied(self._state)  # type: ignore[no-any-return]


def _arrays(part: Any) -> list[NDArray[Any]]:
    if isinstance(part, np.ndarray):
        return [part]
    return [array for inner in part for array in _arrays(inner)] if isinstance(part, tuple) else []
