# mypy: disable-error-code="no-untyped-call, attr-defined, untyped-decorator"
"""Two Numba intrinsics: use random generators at given addresses, and turn a NamedTuple into a plain tuple."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

BITGEN_FIELDS = ("state", "fnptr_next_uint64", "fnptr_next_uint32", "fnptr_next_double")
"""The first fields of NumPy's C structure `bitgen_t`, in order, with Numba's names."""


def _generators_at(typing_context: Any, addresses: Any) -> Any:
    """Return the generators whose `bitgen_t` are at a tuple of addresses; compiled code does not own them."""
    bits = types.NumPyRandomBitGeneratorType("bit_generator")
    rng_type = types.NumPyRandomGeneratorType("rng")
    returned = types.UniTuple(rng_type, len(addresses))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = context.get_value_type(types.uintp)
        found = []
        for place in range(len(addresses)):
            address = builder.extract_value(arguments[0], place)
            fields = builder.inttoptr(address, ir.PointerType(word))
            bit_generator = cgutils.create_struct_proxy(bits)(context, builder)
            for field, name in enumerate(BITGEN_FIELDS):
                setattr(bit_generator, name, builder.load(cgutils.gep_inbounds(builder, fields, field)))
            # The other fields stay null, so that Numba's runtime counts no references.
            rng = cgutils.create_struct_proxy(rng_type)(context, builder)
            rng.bit_generator = bit_generator._getvalue()
            found.append(rng._getvalue())
        return context.make_tuple(builder, returned, found)

    return returned(addresses), generate


def _plain_tuple(typing_context: Any, value: Any) -> Any:
    """Return nested NamedTuples as plain tuples, which have the same layout."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return impl_ret_borrowed(context, builder, signature.return_type, arguments[0])

    return _plain(value)(value), generate


def _plain(kind: Any) -> Any:
    return types.Tuple([_plain(part) for part in kind.types]) if isinstance(kind, types.BaseTuple) else kind


generators_at: Any = intrinsic(_generators_at)
plain_tuple: Any = intrinsic(_plain_tuple)
