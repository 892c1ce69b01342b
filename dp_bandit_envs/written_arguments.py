"""Reads arguments written as text: `EXP3-tau:batch_size=19,delta=1e-6`."""

import ast
from typing import Any

SHOWN = 20
"""The most letters of a wrong argument that an error shows, if it is a name: numbers may be private ones."""
WORDS = {"true": True, "false": False, "none": None}


def read_call(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of `name` or `name:argument=value,argument=value`.

    A value is a Python literal, `inf`, `nan`, `true`, `false`, `none`, or else text; tuples become lists, as in JSON.

    Raises:
        ValueError: If nothing follows the colon, a part is not written as name=value, or an argument is given twice.
    """
    name, colon, rest = text.partition(":")
    if colon and not rest:
        raise ValueError(f"parameters must follow a colon, as in name:parameter=value; received {text[:SHOWN]!r}.")
    return name, read_arguments(rest, name)


def read_arguments(written: str, name: str) -> dict[str, Any]:
    """Return the arguments of `argument=value,argument=value`; commas within brackets are part of a value.

    Args:
        written: The text.
        name: What is before it, for the error, which shows no value: it may be a private one.

    Raises:
        ValueError: If a part is not written as name=value, or an argument is given twice.
    """
    arguments: dict[str, Any] = {}
    for part in filter(None, _parts(written)):
        key, equals, value = part.partition("=")
        if not equals:
            shown = part if part.isidentifier() and len(part) <= SHOWN else "..."
            raise ValueError(f"parameters must be written as name=value; received {shown!r} after {name!r}.")
        if key.strip() in arguments:
            raise ValueError(f"{key.strip()} must be given once after {name!r}; received it twice.")
        arguments[key.strip()] = read_value(value.strip())
    return arguments


def read_value(text: str) -> Any:
    """Return the value that a text stands for."""
    for read in (ast.literal_eval, float):  # float reads inf and nan
        try:
            value = read(text)
        except (ValueError, SyntaxError):
            continue
        # Settings are stored as JSON, which has lists only.
        return list(value) if isinstance(value, tuple) else value
    return WORDS.get(text.lower(), text)


def in_brackets(arguments: dict[str, Any]) -> str:
    """Return arguments as they follow a name: ` (batch_size=19, delta=1e-06)`; nothing if there are none."""
    return f" ({', '.join(f'{key}={value}' for key, value in arguments.items())})" if arguments else ""


def _parts(written: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in written:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
