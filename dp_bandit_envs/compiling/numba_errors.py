"""Explains in one sentence why Numba cannot compile a user's function: function, line and solution."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from types import CodeType, FunctionType
from typing import Any

from dp_bandit_envs.compiling.functions import owner_of

MOST_LETTERS = 160
WAY_OUT = "Use numbers, arrays and math there, or accept that it is played in Python, slowly"
_PLACE = re.compile(r'File "([^"\n]+)", line (\d+)|(?: at|Raised from) (\S+) \((\d+)\)')
_CALLED = re.compile(r"<function (\w+) at ")
_HEADER = re.compile(r"Failed in \w+ mode pipeline|During: |File \"|$")
_NO_FUNCTION = re.compile(r"No implementation of function Function\(<(?:[\w-]+ )*(\w+)[^>]*>?\)")
_NO_ATTRIBUTE = re.compile(r"Unknown attribute '(\w+)' of type (Stream)?")
_DRAW = re.compile(r"'(\w+)'\) for Stream\(")
_ARGUMENT = re.compile(r"argument \d+: Cannot determine Numba type of")


def in_short(error: Exception, functions: Sequence[Callable[..., Any]], owners: Mapping[Any, str]) -> str:
    """Return why compilation failed.

    Args:
        error: The error from Numba.
        functions: The functions that are not of this package.
        owners: Suffixes for the names of some of them, such as " of MyAgent".
    """
    text = re.sub(r"\x1b\[[\d;]*m", "", str(error))
    function, line = _found(text, functions)
    places = [_named(function, line, owners)] if function else [_named(each, None, owners) for each in functions]
    return f"Numba cannot compile {' or '.join(places)}: {_words(text)}. {WAY_OUT}"


def _named(function: Any, line: int | None, owners: Mapping[Any, str]) -> str:
    code: CodeType = function.__code__
    where = f"{PurePath(code.co_filename).name}, line {line or code.co_firstlineno}"
    return f"{function.__name__}{owner_of(function, owners)} ({where})"


def _found(text: str, functions: Sequence[Any]) -> tuple[FunctionType | None, int | None]:
    """Return the innermost function that a message names, and the line."""
    for first_file, first, second_file, second in _PLACE.findall(text):
        file, line = PurePath(first_file or second_file).name, int(first or second)
        for function in functions:
            code = function.__code__
            if PurePath(code.co_filename).name == file and code.co_firstlineno <= line <= _last_line(code):
                return function, line
    for name in _CALLED.findall(text):
        for function in functions:
            if function.__name__ == name:
                return function, None
    return None, None


def _last_line(code: CodeType) -> int:
    lines = [line for _, _, line in code.co_lines() if line is not None]
    inner = [_last_line(const) for const in code.co_consts if isinstance(const, CodeType)]
    return max([code.co_firstlineno, *lines, *inner])


def _words(text: str) -> str:
    """Return the first informative sentence of a message."""
    missing, attribute, draw = _NO_FUNCTION.search(text), _NO_ATTRIBUTE.search(text), _DRAW.search(text)
    if attribute and attribute[2]:
        words = (
            f"compiled code has no rng.{attribute[1]}; rng.integers(n) draws an arm, rng.random() a number in [0, 1)"
        )
    elif attribute and attribute[1] == "_replace":
        words = "compiled states have no _replace; return a new State(...) with all its fields"
    elif draw:
        words = f"rng.{draw[1]} cannot be called so; compiled code draws one number at a time"
    elif _ARGUMENT.search(text):
        # All arguments of the loop but the states are of this package.
        words = "a state must be a NamedTuple of arrays and numbers, of types that Numba knows"
    elif missing:
        words = f"Numba has no {missing[1]} for these types"
    else:
        lines = [line.strip() for line in text.splitlines()]
        words = next((line for line in lines if not _HEADER.match(line)), "unknown reason")
        words = re.sub(r" from '[^']*'|, defined$", "", _PLACE.sub("", words.partition(" Raised from ")[0]).strip())
        words = words.rstrip(".:,")
    # A literal type holds a value, which may be a private one.
    words = re.sub(r"Literal\[(\w+)\]\((?:[^()]|\([^()]*\))*\)", r"\1", words)
    return words if len(words) <= MOST_LETTERS else f"{words[:MOST_LETTERS]} ..."
