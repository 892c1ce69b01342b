"""Errors are judged by their type and by what they name, never by their sentences, which may be written anew."""

import contextlib
import re
from collections.abc import Iterator

import pytest


def missing(text: str, *words: object) -> list[str]:
    """Return which words do not stand in a text by themselves: 1 is not in "10", "-1" or "1.5", nor tau in "EXP3-tau".

    Text is looked for as it is, any other value as its `repr`.
    """
    spelled = [word if isinstance(word, str) else repr(word) for word in words]
    return [word for word in spelled if not re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-]|[.,]\d)", text)]


@contextlib.contextmanager
def refused(error: type | tuple[type, ...], *words: object) -> Iterator[pytest.ExceptionInfo]:
    """Expect an error that names all words: the argument, its bounds, the value received, what to type instead."""
    with pytest.raises(error) as caught:
        yield caught
    absent = missing(str(caught.value), *words)
    assert not absent, f"{absent} not in {str(caught.value)!r}"
