"""`int` for other people's functions in machine code, where NaN would become 0 and so play arm 0."""

import dis
from types import CodeType
from typing import Any


def whole(number: Any) -> Any:
    """Return `int(number)`, or raise if it is not finite."""
    if number != number:
        raise ValueError("cannot convert float NaN to integer")
    if number - number != 0:  # of integers it is 0
        raise OverflowError("cannot convert float infinity to integer")
    return int(number)


def only_calls(code: CodeType, name: str) -> bool:
    """Whether a function loads a global name, always to call it: `int` is also a type of numbers in arrays."""
    loads = [step for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL" and step.argval == name]
    nested = any(name in const.co_names for const in code.co_consts if isinstance(const, CodeType))
    return bool(loads) and not nested and all((step.arg or 0) & 1 for step in loads)
