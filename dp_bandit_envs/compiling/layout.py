"""Places nested tuples of arrays, numbers and streams in a block of words; `layout_code` reads and writes them there.

There are two kinds of blocks. In a block for games side by side, each game is a column, and an array's elements are in
rows; sizes are constants of the machine code, as LLVM needs them for vector registers. In a block for single games,
each game is a row: an array is an address and a shape, followed by the elements, and a stream is an address. So machine
code for single games depends on types only, and an array may be elsewhere, such as the array of a changing graph.
"""

import ctypes
import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.compiling.functions import stream_address

DTYPES = ("float64", "int64")
STREAM_WORDS = 4
SLOT_WORDS = 2
WORD_BYTES = 8
LINE_BYTES = 64
ALIGNED = 2
"""Words at whose multiples the elements of an array begin."""
ADDRESS, SPARE, SHAPE = 0, 1, 2
"""Positions in the words of a single game's array: its address, its spare memory's address (or 0), its shape."""


_Stream = ctypes.c_int64 * STREAM_WORDS


class Single(NamedTuple):
    """Stands for an array with at most one nonzero element in a layout.

    Attributes:
        dtype, size: Element type and size of the array.
        kept: Whether it is stored in the block; otherwise it is all 0 whenever a game is read, and writes affect only
            that copy.
    """

    dtype: str
    size: int
    kept: bool = True


class Place(NamedTuple):
    """The position of a part of a game.

    Attributes:
        kind: `"number"`; side by side also `"array"`, `"slot"`, `"stream"`, or `"variable"` (a slot of machine code,
            not in the block); of a single game `"reference"` (an array) or `"address"` (a stream).
        row: Its first word.
        lanes: Number of games side by side; 1 for single games.
        dtype: Type of an array's or slot's elements, or of a number.
        size: Size of an array or a slot; for a reference the number of dimensions.
        same: Whether all games use the same index.
    """

    kind: str
    row: int
    lanes: int
    dtype: str = ""
    size: int = 0
    same: bool = False


class Parts(NamedTuple):
    """A tuple, or a NamedTuple of this class; `inner` are its parts' forms.

    Fingerprints of functions contain it as text, so that the class must be known by its name.
    """

    kind: type | None
    inner: tuple[Any, ...]


class Layout:
    """The layout of a nested tuple of arrays, numbers and streams in a block of games side by side.

    Args:
        example: The tuple; an array is one row of float64 or int64, and a generator, or the class, stands for a stream.
        lanes: Number of games.
        same: Whether all games use the same array indices, so that elements need not be selected.
        start: The first row.

    Attributes:
        form: The positions of all parts, nested like the tuple: a constant of machine code.
        rows: Number of words of a game, including those before `start`.

    Raises:
        TypeError: If a part cannot be placed.
    """

    def __init__(self, example: tuple[Any, ...], lanes: int, *, same: bool = False, start: int = 0) -> None:
        self.lanes, self.rows, self._same = lanes, start, same
        self.form: Parts = self._placed(example)

    def _placed(self, example: Any) -> Any:
        if isinstance(example, Single):
            if not example.kept:
                return Place("variable", 0, 1, example.dtype, example.size)
            return self._taken("slot", SLOT_WORDS, example.dtype, example.size)
        if isinstance(example, tuple):
            return Parts(type(example) if hasattr(example, "_fields") else None, tuple(map(self._placed, example)))
        if example is np.random.Generator or isinstance(example, np.random.Generator):
            return self._stream()
        if isinstance(example, np.ndarray):
            return self._array(example)
        if not isinstance(example, (bool, int, float, complex, np.number, np.bool_)):
            raise TypeError("a state must be a NamedTuple of arrays and numbers, of types that Numba knows")
        return self._number(example)

    def _stream(self) -> Place:
        return self._taken("stream", STREAM_WORDS)

    def _array(self, array: NDArray[Any]) -> Place:
        if array.ndim != 1 or array.dtype.name not in DTYPES:
            raise TypeError(f"a lane holds one row of {' or '.join(DTYPES)}; received {array.dtype}{array.shape}.")
        return self._taken("array", array.size, array.dtype.name, array.size)

    def _number(self, number: Any) -> Place:
        return self._taken("number", 1, "float64" if isinstance(number, (float, np.floating)) else "int64")

    def _taken(self, kind: str, rows: int, dtype: str = "", size: int = 0) -> Place:
        self.rows += rows
        return Place(kind, self.rows - rows, self.lanes, dtype, size, self._same)

    def write(self, block: NDArray[np.int64], games: Sequence[tuple[Any, ...]], form: Any = None) -> None:
        """Write games of the example's types and shapes, one per column; or a part of them with this form."""
        for place, *parts in zip(leaves(form or self.form), *map(_values, games), strict=True):
            if place.kind == "variable":
                continue
            some = parts[:1] if all(part is parts[0] for part in parts) else parts
            if place.kind == "stream":
                words = np.array([_Stream.from_address(stream_address(part))[:] for part in some], np.int64)
            elif place.kind == "slot":
                words = np.array([[-1, 0]])
            else:
                words = np.array(some, place.dtype).reshape(len(some), -1).view(np.int64)
            block[place.row : place.row + words.shape[1]] = words.T


class Image(Layout):
    """The layout of a nested tuple in a row of words (one game), with the initial words of a game.

    Args:
        example: The tuple, with arrays of any shape and type of numbers.
        spare: Whether arrays may be replaced; replacements are copied to the old arrays' memory.
    """

    def __init__(self, example: tuple[Any, ...], *, spare: bool = False) -> None:
        self._spare = spare
        super().__init__(example, 1)
        self._leaves = leaves(self.form)
        end, contents = -(-self.rows // ALIGNED) * ALIGNED, []
        pointers = []
        words = np.zeros(end, np.int64)
        for place, part in zip(self._leaves, _values(example), strict=True):
            if place.kind == "number":
                words[place.row : place.row + _words_of(place.dtype)] = _as_words(np.array(part, place.dtype))
            elif place.kind == "reference":
                content = _as_words(part)
                words[place.row + ADDRESS] = end * WORD_BYTES
                words[place.row + SHAPE : place.row + SHAPE + part.ndim] = part.shape
                pointers.append(place.row + ADDRESS)
                contents.append(content)
                end += len(content)
                if spare:
                    words[place.row + SPARE] = end * WORD_BYTES
                    pointers.append(place.row + SPARE)
                    contents.append(np.zeros_like(content))
                    end += len(content)
        self._first = np.concatenate([words, *contents, np.zeros(-end % (LINE_BYTES // WORD_BYTES), np.int64)])
        self._pointers = np.array(pointers, np.int64)
        self._streams = [place.row for place in self._leaves if place.kind == "address"]

    def _stream(self) -> Place:
        return self._taken("address", 1)

    def _array(self, array: NDArray[Any]) -> Place:
        if array.dtype.hasobject or array.dtype.names:
            raise TypeError(f"arrays of a state must hold numbers; received one of {array.dtype}.")
        return self._taken("reference", SHAPE + array.ndim, _name(array.dtype), array.ndim)

    def _number(self, number: Any) -> Place:
        dtype = _name(np.asarray(number).dtype)
        return self._taken("number", _words_of(dtype), dtype)

    @property
    def words(self) -> int:
        """Number of words of a game, including array elements."""
        return len(self._first)

    def games(self, streams: Sequence[Sequence[int]]) -> NDArray[np.int64]:
        """Return games before their first round, shape `(games, words)`, for the addresses of each game's streams."""
        block = empty_words(len(streams), len(self._first))
        self.begin(block, streams)
        return block

    def begin(self, block: NDArray[np.int64], streams: Sequence[Sequence[int]]) -> None:
        """Write games before their first round into a block; games of one row of addresses share the streams."""
        block[...] = self._first
        starts = block.ctypes.data + block.strides[0] * np.arange(len(block))
        block[:, self._pointers] += starts[:, np.newaxis]
        block[:, self._streams] = streams

    def read(self, game: NDArray[np.int64], form: Any = None, contents_of: dict[int, Any] | None = None) -> Any:
        """Return the parts of a game; its arrays are views.

        Args:
            game: Its words.
            form: The form of a part, to read only that part.
            contents_of: Arrays of this game that were read or replaced before, by row, to read each array once. Arrays
                read now are added, for `replace`.
        """
        form, contents_of = form or self.form, {} if contents_of is None else contents_of
        if isinstance(form, Parts):
            parts = [self.read(game, inner, contents_of) for inner in form.inner]
            contents_of[id(form)] = contents = form.kind(*parts) if form.kind else tuple(parts)
            return contents
        if form.kind == "address":
            return None
        if form.kind == "number":
            words = (
                game if form.dtype == "int64" else game[form.row : form.row + _words_of(form.dtype)].view(form.dtype)
            )
            contents_of[form.row] = contents = words.item(form.row if words is game else 0)
            return contents
        if form.row not in contents_of:
            shape = tuple(game[form.row + SHAPE : form.row + SHAPE + form.size])
            start = int(game[form.row + ADDRESS]) - game.ctypes.data
            contents_of[form.row] = np.ndarray(shape, form.dtype, game, start)
        return contents_of[form.row]

    def arrays(self, block: NDArray[np.int64], array: Place) -> NDArray[Any]:
        """Return one array of all games in a block, a view of shape `(games, ...)`."""
        shape = tuple(self._first[array.row + SHAPE : array.row + SHAPE + array.size])
        inner = np.empty(shape, array.dtype).strides
        start = int(self._first[array.row + ADDRESS])
        return np.ndarray((len(block), *shape), array.dtype, block, start, (block.strides[0], *inner))

    def replace(self, game: NDArray[np.int64], contents: Any, form: Any, contents_of: dict[int, Any]) -> None:
        """Write a part with this form; arrays that are not in `contents_of` are copied and stored there, to stay alive.

        Raises:
            TypeError: If an array has another type than in the example.
        """
        if isinstance(form, Parts):
            if contents is not contents_of.get(id(form)):
                for inner, inner_contents in zip(form.inner, contents, strict=True):
                    self.replace(game, inner_contents, inner, contents_of)
        elif form.kind == "reference" and contents is not contents_of.get(form.row):
            if contents.dtype != form.dtype or contents.ndim != form.size:
                raise TypeError("with_graph must return arrays of the types of initial_state, and as many axes.")
            copies = np.array((contents, contents) if self._spare else (contents,))
            game[form.row + ADDRESS] = copies.ctypes.data
            game[form.row + SPARE] = copies[1].ctypes.data if self._spare else 0
            game[form.row + SHAPE : form.row + SHAPE + form.size] = contents.shape
            contents_of[form.row] = copies[0]
        elif form.kind == "number" and contents is not contents_of.get(form.row):
            game[form.row : form.row + _words_of(form.dtype)] = _as_words(np.array(contents, form.dtype))


def empty_words(*shape: int) -> NDArray[np.int64]:
    """Return zeros aligned to a cache line."""
    words, size = LINE_BYTES // WORD_BYTES, math.prod(shape)
    # Lines of their own before and behind them: no two threads write to one.
    room = np.zeros(size + 4 * words, np.int64)
    first = words + -room.ctypes.data % LINE_BYTES // WORD_BYTES
    return room[first : first + size].reshape(shape)


@functools.cache
def leaves(form: Any) -> tuple[Place, ...]:
    """Return the places in a form, in order."""
    return (form,) if isinstance(form, Place) else tuple(leaf for inner in form.inner for leaf in leaves(inner))


def _values(nested: Any) -> Iterator[Any]:
    if isinstance(nested, tuple) and not isinstance(nested, Single):
        for inner in nested:
            yield from _values(inner)
    else:
        yield nested


@functools.cache
def _name(dtype: np.dtype[Any]) -> str:
    return dtype.name


@functools.cache
def _words_of(dtype: str) -> int:
    return -(-np.dtype(dtype).itemsize // WORD_BYTES)


def _as_words(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return the elements of an array in C order, padded to whole words."""
    content = array.tobytes()
    whole = ALIGNED if array.ndim else 1
    return np.frombuffer(content + bytes(-len(content) % (WORD_BYTES * whole)), np.int64)
