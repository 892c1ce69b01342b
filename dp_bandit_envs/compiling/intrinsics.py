# mypy: disable-error-code="no-untyped-call, no-untyped-def, attr-defined, untyped-decorator"
"""Numba intrinsics: streams and functions at given addresses, read-only arrays, and the bits of doubles.

A stream in machine code is the address of the four words of an SFC64, a fixed number of words apart. This stride is 1
for the state of a NumPy generator, which continues where machine code stopped, and the number of lanes for games side
by side.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, models, register_model

from dp_bandit_envs.compiling.layout import STREAM_WORDS
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
"""The bits of 2^52; with an integer below 2^52 in the low bits, the bits of 2^52 + the integer."""
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


def local_stream(builder: Any, address: Any) -> Any:
    """Return a copy of the stream at an address; the copy stays in registers, as no other pointer can alias it."""
    copy = cgutils.alloca_once(builder, WORD, size=STREAM_WORDS)
    _copy_stream(builder, builder.inttoptr(address, ir.PointerType(WORD)), copy)
    return copy


def put_stream_back(builder: Any, address: Any, stream: Any) -> None:
    """Write a copy that was stepped to the stream's address."""
    _copy_stream(builder, stream, builder.inttoptr(address, ir.PointerType(WORD)))


def _copy_stream(builder: Any, source: Any, target: Any) -> None:
    for i in range(STREAM_WORDS):
        word = builder.load(builder.gep(source, [WORD(i)], inbounds=True))
        builder.store(word, builder.gep(target, [WORD(i)], inbounds=True))


@intrinsic
def stream_at(typing_context, address):
    """Return a copy of the stream whose first word is at an address."""

    def generate(context, builder, signature, arguments):
        return local_stream(builder, arguments[0])

    return StreamType(1)(address), generate


@intrinsic
def put_back(typing_context, address, stream):
    """Write a stream's copy back."""

    def generate(context, builder, signature, arguments):
        put_stream_back(builder, arguments[0], arguments[1])
        return context.get_dummy_value()

    return types.void(address, stream), generate


def _next_word(builder: Any, stream: Any, address: Any) -> Any:
    """Step an SFC64 as NumPy does, and return its word."""
    places = [builder.gep(address, [WORD(i * stream.stride)], inbounds=True) for i in range(4)]
    a, b, c, counter = map(builder.load, places)
    word = builder.add(builder.add(a, b), counter)
    if stream.stride == 1:
        # LLVM would add the counter to c apart from the rest, which makes the chain from word to word longer by half.
        word = builder.asm(ir.FunctionType(WORD, [WORD]), "", "=r,0", [word], False)
    rotated = builder.or_(builder.shl(c, WORD(24)), builder.lshr(c, WORD(40)))
    fresh = (
        builder.xor(b, builder.lshr(b, WORD(11))),
        builder.add(c, builder.shl(c, WORD(3))),
        builder.add(rotated, word),
        builder.add(counter, WORD(1)),
    )
    for pointer, state_word in zip(places, fresh, strict=True):
        builder.store(state_word, pointer)
    return word


@intrinsic
def next_double(typing_context, stream):
    """Return the upper 53 bits of the next word as a multiple of 2^-53 in [0, 1)."""

    def generate(context, builder, signature, arguments):
        word = _next_word(builder, stream, arguments[0])
        return builder.fmul(builder.uitofp(builder.lshr(word, WORD(11)), DOUBLE), DOUBLE(2.0**-53))

    return types.float64(stream), generate


@intrinsic
def next_signed(typing_context, stream):
    """Return the next word as `draws.signed_uniform` does."""

    def generate(context, builder, signature, arguments):
        word = _next_word(builder, stream, arguments[0])
        nearer = builder.xor(word, builder.ashr(word, WORD(63)))
        odd = builder.or_(builder.shl(nearer, WORD(1)), WORD(1))
        v = builder.fmul(builder.uitofp(odd, DOUBLE), DOUBLE(2.0**-64))
        sign = builder.and_(builder.not_(word), WORD(SIGN_BIT))
        return builder.bitcast(builder.or_(builder.bitcast(v, WORD), sign), DOUBLE)

    return types.float64(stream), generate


@intrinsic
def power_of_two(typing_context, k):
    """Return 2^k for an integer k in [-1022, 1023], as `draws.power_of_two`."""

    def generate(context, builder, signature, arguments):
        low_bits = builder.bitcast(builder.fadd(arguments[0], DOUBLE(TO_LOW_BITS)), WORD)
        return builder.bitcast(builder.shl(low_bits, WORD(SHIFT_TO_EXPONENT)), DOUBLE)

    return types.float64(types.float64), generate


@intrinsic
def parted(typing_context, x):
    """Return mantissa and exponent, as `draws.parted`."""
    returned = types.UniTuple(types.float64, 2)

    def generate(context, builder, signature, arguments):
        bits = builder.bitcast(arguments[0], WORD)
        mantissa = builder.bitcast(builder.or_(builder.and_(bits, WORD(MANTISSA)), WORD(HALF)), DOUBLE)
        raised = builder.or_(builder.lshr(bits, WORD(SHIFT_TO_EXPONENT)), WORD(AS_DOUBLE))
        exponent = builder.fsub(builder.bitcast(raised, DOUBLE), DOUBLE(2.0**52 + EXPONENT_OF_HALF))
        return context.make_tuple(builder, returned, [mantissa, exponent])

    return returned(types.float64), generate


@intrinsic
def read_only(typing_context, array):
    """Return an array with a read-only type."""

    def generate(context, builder, signature, arguments):
        return impl_ret_borrowed(context, builder, signature.return_type, arguments[0])

    return array.copy(readonly=True)(array), generate


@intrinsic
def call_at(typing_context, address, arguments):
    """Call machine code at an address; its errors are raised here."""

    def generate(context, builder, signature, values):
        kinds = tuple(arguments)
        pointer = context.call_conv.get_function_type(types.none, kinds).as_pointer()
        function = builder.inttoptr(values[0], pointer)
        parts = cgutils.unpack_tuple(builder, values[1])
        status, _ = context.call_conv.call_function(builder, function, types.none, kinds, parts)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(address, arguments), generate
