"""Writes byte code out as text that is the same in every process and wherever the source stands in its file."""

from types import CodeType


def written_out(code: CodeType) -> str:
    """Return instructions, constants and names as text, without the places in a file."""
    constants = [_constant(const) for const in code.co_consts]
    return repr((code.co_code, constants, code.co_names, code.co_varnames))


def _constant(const: object) -> str:
    if isinstance(const, CodeType):
        return written_out(const)
    # The order of a set differs from process to process.
    return repr(sorted(map(repr, const))) if isinstance(const, frozenset) else repr(const)
