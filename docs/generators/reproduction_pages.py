"""The page with all reproductions: each with its picture and what was played, linked to its own page."""

import re

from generators.docstrings import sentence
from generators.kept import ROOT

FOLDER = ROOT / "docs" / "reproductions"
PAGES = ("figure-1", "figure-2", "figure-modern", "figure-graph", "price-of-privacy")
"""In the order of the papers."""


def title_of(text: str) -> str:
    """Return a page's title."""
    return text.splitlines()[0].removeprefix("# ")


def picture_of(text: str) -> str:
    """Return the first picture of a page, as seen from the root."""
    found = re.search(r"!\[(.*?)\]\(\.\./\.\./(.*?)\)", text)
    assert found is not None, text[:80]
    return f"![{found[1]}](/{found[2]})"


def about(text: str) -> str:
    """Return what a page says was played: the words below its picture, or else its first words."""
    found = re.search(r"^\*(?!\*)((?:.|\n)+?)\*$", text, re.MULTILINE)
    if found is not None:
        return found[1]
    blocks = [one for one in text.split("\n\n")[1:] if re.match(r"[^\W\d_]", one)]
    whole = re.match(r"(?:.|\n)*\.(?=\s|$)", blocks[0])
    return sentence(blocks[0] if whole is None else whole[0])


def index() -> str:
    """Return the page."""
    parts = [
        "# All reproductions",
        "Figures of five papers and of this project, played again from one command each. Every page holds the claims of"
        " its paper against what was measured.",
    ]
    for name in PAGES:
        text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
        parts += [
            f"## [{title_of(text)}](/docs/reproductions/{name}.md)",
            f"```{{container}} small\n[{picture_of(text)}](/docs/reproductions/{name}.md)\n```",
            about(text),
        ]
    return "\n\n".join(parts) + "\n"
