# mypy: disable-error-code="no-untyped-call, attr-defined, untyped-decorator"
"""Numba intrinsics: streams and functions at given addresses, NamedTuples as plain tuples, and the bits of doubles.

A stream in machine code is the address of the four words of an SFC64, a fixed number of words apart: 1 for the state of
a NumPy generator, which goes on where machine code left it, and the number of lanes for games side by side.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, models, register_model

from dp_bandit_envs.draws import SIGN_BIT

WORD = ir.IntType(64)
DOUBLE = ir.DoubleType()
MANTISSA = 0x000FFFFFFFFFFFFF
HALF = 0x3FE0000000000000
"""The bits of 1/2."""
SHIFT_TO_EXPONENT = 52
TO_LOW_BITS = 1.5 * 2.0**52 + 1023.0
"""Added to an integer k, it leaves k + 1023 in the low bits: the exponent of 2^k."""
AS_DOUBLE = 0x4330000000000000
"""The bits of 2^52: with an integer below 2^52 in their low bits, those of 2^52 + the integer."""
EXPONENT_OF_HALF = 1022.0


class StreamType(types.Type):
    """A random stream in machine code, whose words are `stride` words apart."""

    def __init__(self, stride: int) -> None:
        self.stride = stride
        super().__init__(name=f"Stream({stride})")


@register_model(StreamType)
class _StreamModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.PointerType(WORD))


def _streams_at(typing_context: Any, addresses: Any) -> Any:
    """Return the streams whose first words are at a tuple of addresses."""
    returned = types.UniTuple(StreamType(1), len(addresses))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        taken = (builder.extract_value(arguments[0], place) for place in range(len(addresses)))
        found = [builder.inttoptr(address, ir.PointerType(WORD)) for address in taken]
        return context.make_tuple(builder, returned, found)

    return returned(addresses), generate


def _next_word(builder: Any, stream: Any, address: Any) -> Any:
    """Step an SFC64 as NumPy does, and return its word."""
    places = [builder.gep(address, [WORD(place * stream.stride)], inbounds=True) for place in range(4)]
    a, b, c, counter = map(builder.load, places)
    word = builder.add(builder.add(a, b), counter)
    rotated = builder.or_(builder.shl(c, WORD(24)), builder.lshr(c, WORD(40)))
    fresh = (
        builder.xor(b, builder.lshr(b, WORD(11))),
        builder.add(c, builder.shl(c, WORD(3))),
        builder.add(rotated, word),
        builder.add(counter, WORD(1)),
    )
    for place, value in zip(places, fresh, strict=True):
        builder.store(value, place)
    return word


def _next_double(typing_context: Any, stream: Any) -> Any:
    """Return the upper 53 bits of the next word as a multiple of 2^-53 in [0, 1)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = _next_word(builder, stream, arguments[0])
        return builder.fmul(builder.uitofp(builder.lshr(word, WORD(11)), DOUBLE), DOUBLE(2.0**-53))

    return types.float64(stream), generate


def _next_signed(typing_context: Any, stream: Any) -> Any:
    """Return the next word as `draws.signed_uniform` does."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = _next_word(builder, stream, arguments[0])
        nearer = builder.xor(word, builder.ashr(word, WORD(63)))
        odd = builder.or_(builder.shl(nearer, WORD(1)), WORD(1))
        v = builder.fmul(builder.uitofp(odd, DOUBLE), DOUBLE(2.0**-64))
        sign = builder.and_(builder.not_(word), WORD(SIGN_BIT))
        return builder.bitcast(builder.or_(builder.bitcast(v, WORD), sign), DOUBLE)

    return types.float64(stream), generate


def _power_of_two(typing_context: Any, k: Any) -> Any:
    """Return 2^k for an integer k in [-1022, 1023], as `arithmetic.power_of_two`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        low_bits = builder.bitcast(builder.fadd(arguments[0], DOUBLE(TO_LOW_BITS)), WORD)
        return builder.bitcast(builder.shl(low_bits, WORD(SHIFT_TO_EXPONENT)), DOUBLE)

    return types.float64(types.float64), generate


def _parted(typing_context: Any, x: Any) -> Any:
    """Return mantissa and exponent, as `arithmetic.parted`."""
    returned = types.UniTuple(types.float64, 2)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits = builder.bitcast(arguments[0], WORD)
        mantissa = builder.bitcast(builder.or_(builder.and_(bits, WORD(MANTISSA)), WORD(HALF)), DOUBLE)
        raised = builder.or_(builder.lshr(bits, WORD(SHIFT_TO_EXPONENT)), WORD(AS_DOUBLE))
        exponent = builder.fsub(builder.bitcast(raised, DOUBLE), DOUBLE(2.0**52 + EXPONENT_OF_HALF))
        return context.make_tuple(builder, returned, [mantissa, exponent])

    return returned(types.float64), generate


def _plain_tuple(typing_context: Any, value: Any) -> Any:
    """Return nested NamedTuples as plain tuples, which have the same layout."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return impl_ret_borrowed(context, builder, signature.return_type, arguments[0])

    return _plain(value)(value), generate


def _plain(kind: Any) -> Any:
    return types.Tuple([_plain(part) for part in kind.types]) if isinstance(kind, types.BaseTuple) else kind


def _call_at(typing_context: Any, address: Any, arguments: Any) -> Any:
    """Call machine code at an address; what it raises is raised here."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = tuple(arguments)
        pointer = context.call_conv.get_function_type(types.none, kinds).as_pointer()
        function = builder.inttoptr(values[0], pointer)
        parts = cgutils.unpack_tuple(builder, values[1])
        status, _ = context.call_conv.call_function(builder, function, types.none, kinds, parts)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(address, arguments), generate


call_at: Any = intrinsic(_call_at)
next_double: Any = intrinsic(_next_double)
next_signed: Any = intrinsic(_next_signed)
parted: Any = intrinsic(_parted)
plain_tuple: Any = intrinsic(_plain_tuple)
power_of_two: Any = intrinsic(_power_of_two)
streams_at: Any = intrinsic(_streams_at)
