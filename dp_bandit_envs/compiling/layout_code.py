# mypy: disable-error-code="no-untyped-call, no-untyped-def, misc"
"""Machine code that reads and writes the parts of a game where its layout places them; loading it loads Numba.

`reader` makes the function that gives a plain function one game's tuple, with lanes for arrays and loaded numbers;
`writer` makes the one that stores the numbers of a state that a function returned.
"""

import functools
import hashlib
import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np import arrayobj, numpy_support

from dp_bandit_envs.compiling.intrinsics import WORD, StreamType
from dp_bandit_envs.compiling.lanes import Lane, Slot
from dp_bandit_envs.compiling.layout import Parts, Place

DTYPES = {"float64": types.float64, "int64": types.int64}


def _name(what: str, form: Parts) -> str:
    """Return a name of its own for each layout: of two functions of one name from disk, a process sees the first."""
    return f"{what}_{hashlib.sha256(repr(form).encode()).hexdigest()[:12]}"


def _type_of(form: Any) -> Any:
    if isinstance(form, Parts):
        inner = [_type_of(each) for each in form.inner]
        return types.Tuple(inner) if form.kind is None else types.NamedTuple(inner, form.kind)
    if form.kind == "stream":
        return StreamType(form.lanes)
    if form.kind == "ordinary":
        return types.Array(numpy_support.from_dtype(np.dtype(form.dtype)), len(form.shape), "C")
    dtype = DTYPES[form.dtype]
    if form.kind == "slot":
        return Slot(dtype, form.size, form.lanes)
    return dtype if form.kind == "number" else Lane(dtype, form.size, form.lanes, form.same)


def _pointer(builder: Any, base: Any, place: Place, lane: Any) -> Any:
    return builder.gep(base, [builder.add(WORD(place.row * place.lanes), lane)], inbounds=True)


def _ordinary(context: Any, builder: Any, kind: Any, pointer: Any, shape: tuple[int, ...]) -> Any:
    """Return an array that is in memory at a pointer."""
    array = context.make_array(kind)(context, builder)
    itemsize = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides = (itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    arrayobj.populate_array(
        array,
        data=builder.bitcast(pointer, array.data.type),
        shape=list(map(WORD, shape)),
        strides=list(map(WORD, strides)),
        itemsize=WORD(itemsize),
        meminfo=None,
    )
    return array._getvalue()


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
                if part.kind == "ordinary":
                    return _ordinary(context, builder, kind, pointer, part.shape)
                if part.kind != "number":
                    return pointer
                return builder.load(builder.bitcast(pointer, ir.PointerType(context.get_value_type(kind))))

            return made(form, returned)

        return returned(block, types.intp), generate

    game_at.__qualname__ = _name("game_at", form)
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

    keep.__qualname__ = _name("keep", form)
    return intrinsic(keep)
