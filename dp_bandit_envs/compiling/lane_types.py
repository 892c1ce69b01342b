# mypy: disable-error-code="no-untyped-call, no-untyped-def, attr-defined, name-defined, call-arg"
# mypy: disable-error-code="untyped-decorator, misc"
"""Numba types for the arrays of one game in a block of memory that holds many games side by side.

A block has one column of 8-byte words for each game, and a row for each word of a game's state. A `Lane` is one array
of one game: `size` words, `stride` words apart, both part of its type. So addresses grow by one word from game to game,
and LLVM turns a loop over games into vector registers. An index that differs between games would break that. Such an
element is read by selecting from all elements, and written by rewriting all, which is cheap for the few arms that lanes
are for. A `Slot` is an array with at most one element that is not 0, such as the gains that one round releases.
"""

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import RefType, iternext_impl
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

from dp_bandit_envs.compiling.intrinsics import WORD


class Lane(types.IterableType):
    """One array of a game; the type's name is complete, as it is part of the cache key of machine code."""

    def __init__(self, dtype: Any, size: int, stride: int, same: bool) -> None:
        self.dtype, self.size, self.stride, self.same = dtype, size, stride, same
        super().__init__(name=f"Lane({dtype}, {size}, {stride}, {same})")

    @property
    def iterator_type(self) -> Any:
        """The type of the iterator of a `for` loop."""
        return LaneIterator(self)

    mutable = True


class Slot(types.Type):
    """An array of a game with at most one nonzero element: two words, the index and the element."""

    def __init__(self, dtype: Any, size: int, stride: int) -> None:
        self.dtype, self.size, self.stride = dtype, size, stride
        super().__init__(name=f"Slot({dtype}, {size}, {stride})")


class LaneIterator(types.SimpleIteratorType):
    """Iterates over the elements of a lane."""

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


def _at(context: Any, builder: Any, lane: Any, base: Any, index: Any, dtype: Any = None) -> Any:
    """Return a pointer to an element, whose index is an int or a value."""
    offset = WORD(index * lane.stride) if isinstance(index, int) else builder.mul(index, WORD(lane.stride))
    kind = context.get_value_type(dtype or lane.dtype)
    return builder.bitcast(builder.gep(base, [offset], inbounds=True), ir.PointerType(kind))


def _load(context: Any, builder: Any, lane: Any, base: Any, index: Any) -> Any:
    if isinstance(lane, Slot):
        here = builder.icmp_signed("==", index, builder.load(_at(context, builder, lane, base, 0, types.intp)))
        element = builder.load(_at(context, builder, lane, base, 1))
        return builder.select(here, element, element.type(0))
    if lane.same:
        return builder.load(_at(context, builder, lane, base, index))
    # LLVM would join the comparisons of an element that was just written to an overflow of `index - 1`, which is no
    # vector instruction, if element 0 took the place of the zero here.
    element = context.get_value_type(lane.dtype)(0)
    for i in range(lane.size):
        here = builder.icmp_signed("==", index, WORD(i))
        element = builder.select(here, builder.load(_at(context, builder, lane, base, i)), element)
    return element


def _store(context: Any, builder: Any, lane: Any, base: Any, index: Any, element: Any) -> None:
    if isinstance(lane, Slot):
        builder.store(index, _at(context, builder, lane, base, 0, types.intp))
        builder.store(element, _at(context, builder, lane, base, 1))
        return
    if lane.same:
        builder.store(element, _at(context, builder, lane, base, index))
        return
    for i in range(lane.size):
        pointer = _at(context, builder, lane, base, i)
        here = builder.icmp_signed("==", index, WORD(i))
        builder.store(builder.select(here, element, builder.load(pointer)), pointer)


@intrinsic
def _get(typing_context, lane, index):
    def generate(context, builder, signature, arguments):
        return _load(context, builder, lane, arguments[0], arguments[1])

    return lane.dtype(lane, types.intp), generate


@intrinsic
def _set(typing_context, lane, index, element):
    def generate(context, builder, signature, arguments):
        _store(context, builder, lane, *arguments)
        return context.get_dummy_value()

    return types.void(lane, types.intp, lane.dtype), generate


@overload(operator.getitem, jit_options={"forceinline": True})
def _getitem(lane, index):
    if isinstance(lane, (Lane, Slot)) and isinstance(index, types.Integer):
        return lambda lane, index: _get(lane, index)
    # A block of gains of which only one row is there.
    if isinstance(lane, Lane) and isinstance(index, types.BaseTuple):
        return lambda lane, index: _get(lane, index[1])
    return None


@overload(operator.setitem, jit_options={"forceinline": True})
def _setitem(lane, index, element):
    if isinstance(lane, (Lane, Slot)):
        dtype = lane.dtype
        return lambda lane, index, element: _set(lane, index, dtype(element))
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
    index = builder.load(iterator.place)
    there = builder.icmp_signed("<", index, WORD(lane.size))
    result.set_valid(there)
    with builder.if_then(there):
        # The places are those of the loop, the same in all games.
        result.yield_(builder.load(_at(context, builder, lane, iterator.lane, index)))
        builder.store(builder.add(index, WORD(1)), iterator.place)
