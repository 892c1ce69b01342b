"""Places nested tuples of arrays, numbers and streams in a block of memory, one column a game; see `layout_code`.

In a block of one column, the memory of a thread of a GPU, the words of an array are adjacent: it is an ordinary array
there, of any shape and type of numbers.
"""

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

DTYPES = ("float64", "int64")
STREAM_WORDS = 4
WORD_BYTES = 8
LINE_BYTES = 64


class Single(NamedTuple):
    """Stands for an array, in a layout, of which at most one element is not 0."""

    dtype: str
    size: int


class Place(NamedTuple):
    """Where a part of a game is: from which row of a block on.

    Attributes:
        kind: `"array"`, `"ordinary"`, `"slot"`, `"stream"` or `"number"`.
        row: Its first row.
        lanes: Number of columns.
        dtype: Of an array, a slot or a number.
        size: Of an array or a slot.
        same: Whether all games index it alike.
        shape: Of an ordinary array.
    """

    kind: str
    row: int
    lanes: int
    dtype: str = ""
    size: int = 0
    same: bool = False
    shape: tuple[int, ...] = ()


class Parts(NamedTuple):
    """A tuple, or a NamedTuple of this class; `inner` are its parts' forms.

    Fingerprints of functions contain it as text, so that the class must be known by its name.
    """

    kind: type | None
    inner: tuple[Any, ...]


class Layout:
    """Where a nested tuple of arrays, numbers and streams is in a block.

    Args:
        example: The tuple; an array is one row of float64 or int64, or any array of numbers in a block of one column,
            and a generator stands for its stream.
        lanes: Number of columns.
        same: Whether all games index arrays alike, so that their elements need not be selected.

    Attributes:
        form: The places of all parts, nested as they are: a constant of machine code.
        rows: Number of words of a game.

    Raises:
        TypeError: If an array has another type or more dimensions.
    """

    def __init__(self, example: tuple[Any, ...], lanes: int, *, same: bool = False) -> None:
        self.lanes, self.rows, self._same = lanes, 0, same
        self.form: Parts = self._placed(example)

    def _placed(self, part: Any) -> Any:
        if isinstance(part, Single):
            return self._taken("slot", 2, part.dtype, part.size)
        if isinstance(part, tuple):
            kind = type(part) if hasattr(part, "_fields") else None
            return Parts(kind, tuple(map(self._placed, part)))
        if isinstance(part, np.random.Generator):
            return self._taken("stream", STREAM_WORDS)
        if isinstance(part, np.ndarray) and self.lanes == 1:
            place = self._taken("ordinary", math.ceil(part.nbytes / WORD_BYTES), part.dtype.name)
            return place._replace(shape=part.shape)
        if isinstance(part, np.ndarray):
            if part.ndim != 1 or part.dtype.name not in DTYPES:
                raise TypeError(f"a lane holds one row of {' or '.join(DTYPES)}; received {part.dtype}{part.shape}.")
            return self._taken("array", part.size, part.dtype.name, part.size)
        return self._taken("number", 1, "float64" if isinstance(part, (float, np.floating)) else "int64")

    def _taken(self, kind: str, rows: int, dtype: str = "", size: int = 0) -> Place:
        self.rows += rows
        return Place(kind, self.rows - rows, self.lanes, dtype, size, self._same)

    def block(self) -> NDArray[np.int64]:
        """Return an empty block, shape `(rows, lanes)`."""
        return empty_words(self.rows, self.lanes)

    def write(self, block: NDArray[np.int64], lane: int, values: tuple[Any, ...], form: Any = None) -> None:
        """Write the parts of one game, of the example's types and shapes, or a part that has this form."""
        for place, part in zip(_leaves(form or self.form), _values(values), strict=True):
            if place.kind == "stream":
                words = part.bit_generator.state["state"]["state"].view(np.int64)
            elif place.kind == "slot":
                words = np.array([-1, 0])
            elif place.kind == "ordinary":
                content = part.tobytes()
                words = np.frombuffer(content + bytes(-len(content) % WORD_BYTES), np.int64)
            else:
                words = np.atleast_1d(np.asarray(part, place.dtype)).view(np.int64)
            block[place.row : place.row + len(words), lane] = words


def empty_words(*shape: int) -> NDArray[np.int64]:
    """Return zeros that begin at a line of the processor's cache."""
    words, size = LINE_BYTES // WORD_BYTES, math.prod(shape)
    # Lines of their own before and behind them: no two threads write to one.
    room = np.zeros(size + 4 * words, np.int64)
    first = words + -room.ctypes.data % LINE_BYTES // WORD_BYTES
    return room[first : first + size].reshape(shape)


@functools.cache
def _leaves(form: Any) -> tuple[Place, ...]:
    return (form,) if isinstance(form, Place) else tuple(leaf for inner in form.inner for leaf in _leaves(inner))


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple) and not isinstance(value, Single):
        for inner in value:
            yield from _values(inner)
    else:
        yield value
