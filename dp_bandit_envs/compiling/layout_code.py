# mypy: disable-error-code="no-untyped-call, no-untyped-def, misc"
"""Machine code that reads and writes the parts of a game at the positions of its layout; loading it loads Numba.

`reader` makes a function that returns one game's tuple, with lanes for arrays and loaded numbers; `writer` makes a
function that stores the numbers of a returned state.
"""

import functools
import hashlib
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj, numpy_support

from dp_bandit_envs.compiling.intrinsics import WORD, StreamType, local_stream, put_stream_back
from dp_bandit_envs.compiling.lane_types import Lane, Slot
from dp_bandit_envs.compiling.layout import SHAPE, SLOT_WORDS, SPARE, Parts, Place

OTHER_SHAPE = "update returned an array of another shape; let initial_state make it as large as it will become."


def _dtype(number: Place) -> Any:
    return numpy_support.from_dtype(np.dtype(number.dtype))


def _name(what: str, form: Parts) -> str:
    """Return a unique name for each layout: of two functions with one name on disk, a process finds only the first."""
    return f"{what}_{hashlib.sha256(repr(form).encode()).hexdigest()[:12]}"


def _type_of(form: Any) -> Any:
    if isinstance(form, Parts):
        inner = [_type_of(each) for each in form.inner]
        return types.BaseTuple.from_types(inner, form.kind)
    if form.kind in ("stream", "address"):
        return StreamType(form.lanes)
    dtype = _dtype(form)
    if form.kind == "reference":
        return types.Array(dtype, form.size, "C")
    if form.kind in ("slot", "variable"):
        return Slot(dtype, form.size, form.lanes)
    return dtype if form.kind == "number" else Lane(dtype, form.size, form.lanes, form.same)


def _pointer(builder: Any, base: Any, place: Place, lane: Any) -> Any:
    return builder.gep(base, [builder.add(WORD(place.row * place.lanes), lane)], inbounds=True)


def _array_at(context: Any, builder: Any, kind: Any, words: Any) -> Any:
    """Return an array whose address and shape are in these words."""
    array = context.make_array(kind)(context, builder)
    shape = [builder.load(builder.gep(words, [WORD(SHAPE + axis)], inbounds=True)) for axis in range(kind.ndim)]
    itemsize = WORD(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [itemsize]
    for size in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], size))
    arrayobj.populate_array(
        array,
        data=builder.inttoptr(builder.load(words), array.data.type),
        shape=shape,
        strides=strides[: kind.ndim],
        itemsize=itemsize,
        meminfo=None,
    )
    return array._getvalue()


def _put_back(context: Any, builder: Any, moved: list[tuple[Any, Any, Any]]) -> None:
    """Copy replaced or swapped arrays to their positions, through spare memory.

    `moved` has, for each array, its words, its type and its current value.
    """
    new = []
    for words, kind, contents in moved:
        array = context.make_array(kind)(context, builder, contents)
        home = builder.load(words)
        there = builder.icmp_unsigned("!=", builder.ptrtoint(array.data, WORD), home)
        for axis, size in enumerate(cgutils.unpack_tuple(builder, array.shape)):
            length = builder.load(builder.gep(words, [WORD(SHAPE + axis)], inbounds=True))
            with cgutils.if_unlikely(builder, builder.icmp_signed("!=", size, length)):
                context.call_conv.return_user_exc(builder, ValueError, (OTHER_SHAPE,))
        spare = builder.load(builder.gep(words, [WORD(SPARE)], inbounds=True))
        bytes_ = builder.mul(array.itemsize, array.nitems)
        with cgutils.if_unlikely(builder, there):
            with cgutils.if_unlikely(builder, builder.icmp_unsigned("==", spare, WORD(0))):
                context.call_conv.return_user_exc(builder, ValueError, (OTHER_SHAPE,))
            cgutils.raw_memcpy(builder, _bytes_at(builder, spare), array.data, bytes_, 1)
        new.append((there, home, spare, bytes_))
    for there, home, spare, bytes_ in new:
        with cgutils.if_unlikely(builder, there):
            cgutils.raw_memcpy(builder, _bytes_at(builder, home), _bytes_at(builder, spare), bytes_, 1)


def _bytes_at(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, cgutils.voidptr_t)


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
                if part.kind == "variable":
                    variable = cgutils.alloca_once(builder, WORD, size=SLOT_WORDS)
                    for word in range(SLOT_WORDS):
                        builder.store(WORD(0), builder.gep(variable, [WORD(word)], inbounds=True))
                    return variable
                pointer = _pointer(builder, base, part, arguments[1])
                if part.kind == "reference":
                    return _array_at(context, builder, kind, pointer)
                if part.kind == "address":
                    return local_stream(builder, builder.load(pointer))
                if part.kind == "number":
                    return context.unpack_value(
                        builder, kind, builder.bitcast(pointer, ir.PointerType(context.get_data_type(kind)))
                    )
                return pointer

            return made(form, returned)

        return returned(block, types.intp), generate

    game_at.__qualname__ = _name("game_at", form)
    return intrinsic(game_at)


@functools.cache
def writer(form: Parts) -> Any:
    """Return a function of machine code, `keep(block, lane, value)`, that stores a nested tuple."""

    def keep(typing_context, block, lane, value):
        def generate(context, builder, signature, arguments):
            base = context.make_array(block)(context, builder, arguments[0]).data
            moved = []

            def store(part, kind, number):
                if isinstance(part, Parts):
                    for place, inner in enumerate(part.inner):
                        store(inner, kind.types[place], builder.extract_value(number, place))
                    return
                pointer = _pointer(builder, base, part, arguments[1])
                if part.kind == "reference":
                    moved.append((pointer, kind, number))
                elif part.kind == "address":
                    put_stream_back(builder, builder.load(pointer), number)
                elif part.kind == "number":
                    dtype = _dtype(part)
                    number = context.cast(builder, number, kind, dtype)
                    context.pack_value(
                        builder, dtype, number, builder.bitcast(pointer, ir.PointerType(context.get_data_type(dtype)))
                    )

            store(form, value, arguments[2])
            _put_back(context, builder, moved)
            return context.get_dummy_value()

        return types.void(block, types.intp, value), generate

    keep.__qualname__ = _name("keep", form)
    return intrinsic(keep)
