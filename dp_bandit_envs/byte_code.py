"""Writes byte code as text that is the same in every process and does not depend on line numbers."""

from types import CodeType


def written_out(code: CodeType) -> str:
    """Return instructions, constants, names, arguments and handlers as text, without file names and line numbers."""
    constants = [_constant(const) for const in code.co_consts]
    arguments = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return repr((code.co_code, code.co_exceptiontable, constants, code.co_names, code.co_varnames, arguments))


def _constant(const: object) -> str:
    if isinstance(const, CodeType):
        return written_out(const)
    # The order of a set differs from process to process.
    return repr(sorted(map(repr, const))) if isinstance(const, frozenset) else repr(const)
