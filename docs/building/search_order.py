"""Writes the order of search results, in which the glossary comes first for its terms."""

import json
import re
from pathlib import Path

DOCS = Path(__file__).parents[1]
PLACE = "const TERMS = [];"


def terms() -> list[str]:
    """Return the terms of the glossary and the other words for them, which stand there in italics, in lower case."""
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    others = re.findall(r"(?<![*\w])\*([\w' -]+)\*(?![*\w])", text)
    words = {word.lower() for word in [*headings, *others, *ALIASES]}
    return sorted(words | {word.removesuffix("s") for word in words if word.endswith("games")})


ALIASES = (
    "reward",
    "pure dp",
    "approximate dp",
    "zcdp",
    "rdp",
    "neighbouring",
    "neighboring",
    "local",
    "central",
    "composition",
    "k-norm",
)
"""Short forms that people type."""


def text() -> str:
    """Return the script with the terms in it."""
    script = (DOCS / "_static" / "search_order.js").read_text(encoding="utf-8")
    return script.replace(PLACE, f"const TERMS = {json.dumps(terms())};")


def write(path: Path) -> Path:
    """Write the script, unless it is there already, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text():
        path.write_text(text(), encoding="utf-8")
    return path
