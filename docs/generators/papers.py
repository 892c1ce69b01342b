"""Links each paper that a page or a docstring names: authors and year, with or without brackets, become a link."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

PAPERS: dict[str, str] = json.loads(Path(__file__).with_name("papers.json").read_text(encoding="utf-8"))
"""The address of each paper by its authors and year."""
KEPT = re.compile(r"(^```.*?^```|<svg.*?</svg>|`[^`\n]+`|!?\[[^\[\]]*\]\([^)\s]*\))", re.DOTALL | re.MULTILINE)
"""What stays as it is: code, drawings, links, and the words of pictures."""


def _written(name: str) -> str:
    """Return an expression for a paper, whose words may be on two lines."""
    authors, year = name.rsplit(" ", 1)
    words = r"\s+".join(map(re.escape, authors.split()))
    return rf"(?<!\[){words}\s+(?:\({year}\)|{year})"


NAMED = re.compile("|".join(f"({_written(name)})" for name in sorted(PAPERS, key=len, reverse=True)))
ADDRESSES = [PAPERS[name] for name in sorted(PAPERS, key=len, reverse=True)]


def _replaced(text: str, link: Callable[[str, str], str]) -> str:
    return NAMED.sub(lambda match: link(match[0], ADDRESSES[(match.lastindex or 1) - 1]), text)


def in_markdown(text: str) -> str:
    """Return a page in which every paper that is named is a link."""
    pieces = KEPT.split(text)
    return "".join(
        piece if index % 2 else _replaced(piece, lambda words, address: f"[{words}]({address})")
        for index, piece in enumerate(pieces)
    )


def in_docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Link the papers of a docstring, for Sphinx."""
    text = _replaced("\n".join(lines), lambda words, address: f"`{' '.join(words.split())} <{address}>`__")
    lines[:] = text.split("\n")
