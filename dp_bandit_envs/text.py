"""Text: arguments written as `EXP3-tau:batch_size=19,delta=1e-6`, objects written by their values, tables in HTML."""

import ast
import functools
import hashlib
import html
import itertools
from collections.abc import Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Final

import numpy as np

SHOWN: Final = 40
"""The most letters of a wrong argument that an error shows."""
WORDS: Final = {"true": True, "false": False, "none": None}
PACKAGE: Final = "dp_bandit_envs."


def read_call(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of `name` or `name:argument=value,argument=value`.

    A value is a Python literal, `inf`, `nan`, `true`, `false`, `none`, a list of these in brackets, or else text;
    tuples become lists, as in JSON.

    Raises:
        ValueError: If the colon is the end, a part is not written as name=value, or an argument is given twice.
    """
    name, colon, rest = text.partition(":")
    if colon and not rest:
        raise ValueError(f"parameters must follow a colon, as in name:parameter=value; received {shown(text)!r}.")
    return name, read_arguments(rest, name)


def read_arguments(written: str, name: str) -> dict[str, Any]:
    """Return the arguments of `argument=value,argument=value`; commas within brackets are part of a value.

    Args:
        written: The text.
        name: The preceding name, for the error.

    Raises:
        ValueError: If a part is not written as name=value, or an argument is given twice.
    """
    arguments: dict[str, Any] = {}
    texts = [argument for argument in _parts(written) if argument]
    for index, argument in enumerate(texts):
        key, equals, value = argument.partition("=")
        if not equals:
            way_out = f"Write {name}:{shown(argument)}=VALUE."
            if index:
                rest = ",".join(itertools.takewhile(lambda other: "=" not in other, texts[index:]))
                whole = f"{name}:{texts[index - 1].replace('=', '=[')},{rest}]"
                way_out = f"Write a list in brackets, and in a shell all of it in quotes: '{shown(whole)}'."
            rule = f"parameters must be written as name=value; received {shown(argument)!r} after {name!r}."
            raise ValueError(f"{rule} {way_out}")
        if key.strip() in arguments:
            raise ValueError(f"{key.strip()} must be given once after {name!r}; received it twice.")
        arguments[key.strip()] = read_value(value.strip())
    return arguments


def read_value(text: str) -> Any:
    """Return the value of a text."""
    for read in (ast.literal_eval, float):  # float reads inf and nan
        try:
            value = read(text)
        except (ValueError, SyntaxError):
            continue
        # Settings are stored as JSON, which has lists only.
        return list(value) if isinstance(value, tuple) else value
    if text.startswith("[") and text.endswith("]"):  # with words in it, such as inf
        return [read_value(part.strip()) for part in _parts(text[1:-1])]
    return WORDS.get(text.lower(), text)


def shown(text: str) -> str:
    """Return a text for an error, shortened if it is long."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def in_brackets(arguments: dict[str, Any]) -> str:
    """Return arguments as a suffix: ` (batch_size=19, delta=1e-06)`; "" without arguments."""
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


def written_value(value: Any) -> str:
    """Return text that differs for objects with different parameters.

    Numbers, strings, arrays and collections of them are written in full, functions and classes by name, and other
    objects by class and attributes. Objects with hidden values (in C code, for example) are written by class only.
    """
    return _written(value, ())


def name_of(kind: Any) -> str:
    """Return the name of a class or function, without its module if it is this package's."""
    is_ours = f"{kind.__module__}.".startswith(PACKAGE)
    return kind.__qualname__ if is_ours else f"{kind.__module__}.{kind.__qualname__}"


def _written(value: Any, inside: tuple[int, ...]) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    if id(value) in inside:
        return "..."
    inside = (*inside, id(value))
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array({value.dtype.str}, {value.shape}, {content})"
    if isinstance(value, Mapping):
        pairs = sorted((_written(key, inside), _written(one, inside)) for key, one in value.items())
        return "{" + ", ".join(f"{key}: {one}" for key, one in pairs) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(_written(one, inside) for one in value)) + "}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}(" + ", ".join(_written(one, inside) for one in value) + ")"
    if isinstance(value, functools.partial):
        return f"partial{_written((value.func, value.args, value.keywords), inside)}"
    if isinstance(value, MethodType):
        return f"{_written(value.__self__, inside)}.{value.__func__.__name__}"
    if isinstance(value, (type, FunctionType, BuiltinFunctionType)):
        return name_of(value)
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(value, name)]
    attributes = {name: getattr(value, name) for name in slots} | getattr(value, "__dict__", {})
    return f"{name_of(type(value))}{_written(attributes, inside)}"


def aligned_table(lines: Sequence[Sequence[str]]) -> str:
    """Return lines of cells as plain text whose columns are aligned, the last one to the right."""
    *widths, last = [max(map(len, column)) for column in zip(*lines, strict=True)]
    cells = ([*map(str.ljust, line, widths), line[-1].rjust(last)] for line in lines)
    return "\n".join(map("  ".join, cells))


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """Return a table of plain text as HTML, with everything escaped.

    Args:
        head: The names of the columns.
        rows: The cells, row by row.
        caption: Text above the table.
    """
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    above = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
