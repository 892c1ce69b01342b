"""A grid of cards: a small drawing, a name and a line about it, each a link."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple


class Card(NamedTuple):
    """One card: where it leads, relative to its page; its name; a line of text; its picture as HTML."""

    link: str
    name: str
    text: str
    picture: str


def grid(cards: Sequence[Card]) -> str:
    """Return the grid as raw HTML in MyST."""
    items = [
        f'<a class="card" href="{escape(one.link)}">{one.picture}<strong>{escape(one.name)}</strong>'
        f"<span>{escape(one.text)}</span></a>"
        for one in cards
    ]
    return raw("\n".join(['<div class="cards">', *items, "</div>"]))


def raw(html: str) -> str:
    """Return HTML as it is, in MyST."""
    return f"```{{raw}} html\n{html}\n```"


def contents(pages: Sequence[str]) -> str:
    """Return the hidden list of the pages below an index."""
    return "\n".join(["```{toctree}", ":hidden:", "", *pages, "```"])


def picture(drawing: str, caption: str) -> str:
    """Return a drawing with a caption below it."""
    return raw(f'<figure class="drawn">\n{drawing}\n<figcaption>{escape(caption)}</figcaption>\n</figure>')
