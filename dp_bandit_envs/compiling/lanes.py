# mypy: disable-error-code="no-untyped-call, no-untyped-def, attr-defined, untyped-decorator, misc"
"""Many games side by side in one block of memory, seen one at a time through Numba types.

A block has `LANES` columns of 8-byte words, one for each game, and a row for each word of a game's state. A `Lane` is
one array of one game: `size` words, `stride` words apart. Its size and its place are part of its type, so that machine
code for all games at once has addresses that grow by one word from game to game, which LLVM turns into vector
registers. An index that differs between games would break that: such an element is selected from all of them, and
written by writing all of them again, which is cheap for the few arms that lanes are for.

`Layout` places a nested tuple of arrays and numbers in a block; `game_at` gives a plain function the same nested tuple
with lanes for arrays and loaded numbers, and `keep` stores the numbers of a state that a function returned.
"""

import functools
import importlib
import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import RefType, iternext_impl
from numba.extending import intrinsic, lower_builtin, models, overload, register_model
from numpy.typing import NDArray

from dp_bandit_envs.compiling.intrinsics import WORD, StreamType

DTYPES = {"float64": types.float64, "int64": types.int64}
STREAM_WORDS = 4
LINE_BYTES = 64


class Lane(types.IterableType):
    """One array of a game: the type's name says all there is to know, as machine code is kept by it."""

    def __init__(self, dtype: Any, size: int, stride: int, same: bool) -> None:
        self.dtype, self.size, self.stride, self.same = dtype, size, stride, same
        super().__init__(name=f"Lane({dtype}, {size}, {stride}, {same})")

    @property
    def iterator_type(self) -> Any:
        """The type of what `for` goes through."""
        return LaneIterator(self)

    mutable = True


class Slot(types.Type):
    """An array of a game of which at most one element is not 0: two words, the place and the element."""

    def __init__(self, dtype: Any, size: int, stride: int) -> None:
        self.dtype, self.size, self.stride = dtype, size, stride
        super().__init__(name=f"Slot({dtype}, {size}, {stride})")


class LaneIterator(types.SimpleIteratorType):
    """Goes through the elements of a lane."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        super().__init__(f"iter({lane})", lane.dtype)


@register_model(Lane)
@register_model(Slot)
class _LaneModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.PointerType(WORD))


@register_model(LaneIterator)
class _IteratorModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        members = [("lane", kind.lane), ("place", types.EphemeralPointer(types.intp))]
        super().__init__(manager, kind, members)


def _at(context: Any, builder: Any, lane: Any, base: Any, place: Any, dtype: Any = None) -> Any:
    """Return a pointer to an element, whose place is an int or a value."""
    if isinstance(place, int):
        offset = WORD(place * lane.stride)
    else:
        offset = builder.mul(place, WORD(lane.stride))
    kind = context.get_value_type(dtype or lane.dtype)
    return builder.bitcast(builder.gep(base, [offset], inbounds=True), ir.PointerType(kind))


def _load(context: Any, builder: Any, lane: Any, base: Any, place: Any) -> Any:
    if isinstance(lane, Slot):
        here = builder.icmp_signed("==", place, builder.load(_at(context, builder, lane, base, 0, types.intp)))
        found = builder.load(_at(context, builder, lane, base, 1))
        return builder.select(here, found, found.type(0))
    if lane.same:
        return builder.load(_at(context, builder, lane, base, place))
    found = builder.load(_at(context, builder, lane, base, 0))
    for each in range(1, lane.size):
        here = builder.icmp_signed("==", place, WORD(each))
        found = builder.select(here, builder.load(_at(context, builder, lane, base, each)), found)
    return found


def _store(context: Any, builder: Any, lane: Any, base: Any, place: Any, value: Any) -> None:
    if isinstance(lane, Slot):
        builder.store(place, _at(context, builder, lane, base, 0, types.intp))
        builder.store(value, _at(context, builder, lane, base, 1))
        return
    if lane.same:
        builder.store(value, _at(context, builder, lane, base, place))
        return
    for each in range(lane.size):
        pointer = _at(context, builder, lane, base, each)
        here = builder.icmp_signed("==", place, WORD(each))
        builder.store(builder.select(here, value, builder.load(pointer)), pointer)


@intrinsic
def _get(typing_context, lane, place):
    def generate(context, builder, signature, arguments):
        return _load(context, builder, lane, arguments[0], arguments[1])

    return lane.dtype(lane, types.intp), generate


@intrinsic
def _set(typing_context, lane, place, value):
    def generate(context, builder, signature, arguments):
        _store(context, builder, lane, *arguments)
        return context.get_dummy_value()

    return types.void(lane, types.intp, lane.dtype), generate


@overload(operator.getitem, jit_options={"forceinline": True})
def _getitem(lane, place):
    if isinstance(lane, (Lane, Slot)) and isinstance(place, types.Integer):
        return lambda lane, place: _get(lane, place)
    # A block of gains of which only one row is there.
    if isinstance(lane, Lane) and isinstance(place, types.BaseTuple):
        return lambda lane, place: _get(lane, place[1])
    return None


@overload(operator.setitem, jit_options={"forceinline": True})
def _setitem(lane, place, value):
    if isinstance(lane, (Lane, Slot)):
        dtype = lane.dtype
        return lambda lane, place, value: _set(lane, place, dtype(value))
    return None


@overload(len)
def _len(lane):
    if isinstance(lane, (Lane, Slot)):
        size = lane.size
        return lambda lane: size
    return None


@lower_builtin("getiter", Lane)
def _getiter(context, builder, signature, arguments):
    iterator = cgutils.create_struct_proxy(signature.return_type)(context, builder)
    iterator.lane = arguments[0]
    iterator.place = cgutils.alloca_once_value(builder, WORD(0))
    return iterator._getvalue()


@lower_builtin("iternext", LaneIterator)
@iternext_impl(RefType.UNTRACKED)
def _iternext(context, builder, signature, arguments, result):
    lane = signature.args[0].lane
    iterator = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
    place = builder.load(iterator.place)
    there = builder.icmp_signed("<", place, WORD(lane.size))
    result.set_valid(there)
    with builder.if_then(there):
        # The places are those of the loop, the same in all games.
        result.yield_(builder.load(_at(context, builder, lane, iterator.lane, place)))
        builder.store(builder.add(place, WORD(1)), iterator.place)


class Single(NamedTuple):
    """Stands for an array, in a layout, of which at most one element is not 0."""

    dtype: str
    size: int


class Place(NamedTuple):
    """Where a part of a game is: from which row of a block on.

    Attributes:
        kind: `"array"`, `"slot"`, `"stream"` or `"number"`.
        row: Its first row.
        lanes: Number of columns.
        dtype: Of an array, a slot or a number.
        size: Of an array or a slot.
        same: Whether all games index it alike.
    """

    kind: str
    row: int
    lanes: int
    dtype: str = ""
    size: int = 0
    same: bool = False


class Parts(NamedTuple):
    """A tuple, or a NamedTuple of the class of this name in this module; `inner` are its parts' forms."""

    module: str
    name: str
    inner: tuple[Any, ...]


class Layout:
    """Where a nested tuple of arrays, numbers and streams is in a block.

    Args:
        example: The tuple; an array is one row of float64 or int64, and a generator stands for its stream.
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
            named = hasattr(part, "_fields")
            kind = (type(part).__module__, type(part).__qualname__) if named else ("", "")
            return Parts(*kind, tuple(map(self._placed, part)))
        if isinstance(part, np.random.Generator):
            return self._taken("stream", STREAM_WORDS)
        if isinstance(part, np.ndarray):
            if part.ndim != 1 or part.dtype.name not in DTYPES:
                raise TypeError(f"a lane holds one row of {' or '.join(DTYPES)}; received {part.dtype}{part.shape}.")
            return self._taken("array", part.size, part.dtype.name, part.size)
        return self._taken("number", 1, "float64" if isinstance(part, (float, np.floating)) else "int64")

    def _taken(self, kind: str, rows: int, dtype: str = "", size: int = 0) -> Place:
        self.rows += rows
        return Place(kind, self.rows - rows, self.lanes, dtype, size, self._same)

    def block(self) -> NDArray[np.int64]:
        """Return an empty block, shape `(rows, lanes)`, that begins at a line of the processor's cache."""
        words, size = LINE_BYTES // 8, self.rows * self.lanes
        # Lines of their own before and behind it: no two threads write to one.
        room = np.zeros(size + 4 * words, np.int64)
        first = words + -room.ctypes.data % LINE_BYTES // 8
        return room[first : first + size].reshape(self.rows, self.lanes)

    def write(self, block: NDArray[np.int64], lane: int, values: tuple[Any, ...]) -> None:
        """Write the parts of one game."""
        for place, part in zip(_leaves(self.form), _values(values), strict=True):
            if place.kind == "stream":
                words = part.bit_generator.state["state"]["state"].view(np.int64)
            elif place.kind == "slot":
                words = np.array([-1, 0])
            else:
                words = np.atleast_1d(np.asarray(part, place.dtype)).view(np.int64)
            block[place.row : place.row + len(words), lane] = words


def _leaves(form: Any) -> Iterator[Place]:
    if isinstance(form, Place):
        yield form
    else:
        for inner in form.inner:
            yield from _leaves(inner)


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple) and not isinstance(value, Single):
        for inner in value:
            yield from _values(inner)
    else:
        yield value


def _type_of(form: Any) -> Any:
    if isinstance(form, Parts):
        inner = [_type_of(each) for each in form.inner]
        if not form.module:
            return types.Tuple(inner)
        return types.NamedTuple(inner, getattr(importlib.import_module(form.module), form.name))
    if form.kind == "stream":
        return StreamType(form.lanes)
    dtype = DTYPES[form.dtype]
    if form.kind == "slot":
        return Slot(dtype, form.size, form.lanes)
    return dtype if form.kind == "number" else Lane(dtype, form.size, form.lanes, form.same)


def _pointer(builder: Any, base: Any, place: Place, lane: Any) -> Any:
    return builder.gep(base, [builder.add(WORD(place.row * place.lanes), lane)], inbounds=True)


@functools.cache
def reader(form: Parts) -> Any:
    """Return a function of machine code, `game_at(block, lane)`, that returns a game's nested tuple."""

    def game_at(typing_context, block, lane):
        returned = _type_of(form)

        def generate(context, builder, signature, arguments):
            base = context.make_array(block)(context, builder, arguments[0]).data

            def made(part, kind):
                if isinstance(part, Parts):
                    return context.make_tuple(builder, kind, list(map(made, part.inner, kind.types)))
                pointer = _pointer(builder, base, part, arguments[1])
                if part.kind != "number":
                    return pointer
                return builder.load(builder.bitcast(pointer, ir.PointerType(context.get_value_type(kind))))

            return made(form, returned)

        return returned(block, types.intp), generate

    return intrinsic(game_at)


@functools.cache
def writer(form: Parts) -> Any:
    """Return a function of machine code, `keep(block, lane, value)`, that stores the numbers of a nested tuple."""

    def keep(typing_context, block, lane, value):
        def generate(context, builder, signature, arguments):
            base = context.make_array(block)(context, builder, arguments[0]).data

            def store(part, kind, number):
                if isinstance(part, Parts):
                    for place, inner in enumerate(part.inner):
                        store(inner, kind.types[place], builder.extract_value(number, place))
                elif part.kind == "number":
                    dtype = DTYPES[part.dtype]
                    pointer = _pointer(builder, base, part, arguments[1])
                    number = context.cast(builder, number, kind, dtype)
                    builder.store(number, builder.bitcast(pointer, ir.PointerType(context.get_value_type(dtype))))

            store(form, value, arguments[2])
            return context.get_dummy_value()

        return types.void(block, types.intp, value), generate

    return intrinsic(keep)
