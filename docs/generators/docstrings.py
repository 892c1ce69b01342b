"""Takes docstrings apart and writes them as Markdown for MyST, and drawings and lists of pages, too."""

import inspect
import re
from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

DIFFERS = "Differs from the source in:"
REASON = re.compile(r"(Private|Hardly private|Not private) because ")
SECTIONS = re.compile(r"(Args|Attributes|Raises|Returns|Example|Examples|Source|Protects|Learns from[^:]*):")


class Parts(NamedTuple):
    """What the docstring of an algorithm says, in Markdown; "" where it says nothing."""

    what: str
    rule: str
    reason: str
    notes: str
    differs: str


def paragraphs(thing: Any) -> list[str]:
    """Return the paragraphs of a docstring."""
    return [one for one in (inspect.getdoc(thing) or "").split("\n\n") if one.strip()]


def algorithm_parts(maker: Any) -> Parts:
    """Return the parts of an algorithm's docstring: its first line, `Rule:`, why it is private, notes, differences."""
    first, *others = paragraphs(maker)
    parts: dict[str, list[str]] = {"rule": [], "reason": [], "notes": [], "differs": []}
    at = "notes"
    for text in others:
        if text.startswith("Rule: "):
            at, text = "rule", sentence(text.removeprefix("Rule: "))
        elif REASON.match(text):
            parts["reason"].append(text)
            at = "notes"
            continue
        elif text.startswith(DIFFERS):
            at, text = "differs", sentence(text.removeprefix(DIFFERS).strip())
        parts[at].append(text)
    what = " ".join(first.split()).partition(": ")[2]
    return Parts(markdown([sentence(what)]), *(markdown(parts[key]) for key in ("rule", "reason", "notes", "differs")))


def sentence(text: str) -> str:
    """Return a text that begins with a capital letter, unless it begins with code or a formula."""
    return text[:1].upper() + text[1:]


def description(thing: Any) -> str:
    """Return what a class is said to do, in Markdown: its docstring without sections, sources and differences."""
    kept = []
    for text in paragraphs(thing):
        if SECTIONS.match(text) or text.startswith(DIFFERS):
            continue
        kept.append(text.partition(f"\n{DIFFERS}")[0])
    return markdown(kept)


def headings(thing: Any) -> dict[str, str]:
    """Return the parts of an environment's docstring by their headings; what stands before them is under ""."""
    pieces = re.split(r"^## (.+)\n+", inspect.getdoc(thing) or "", flags=re.MULTILINE)
    return {"": pieces[0].strip()} | {name: body.strip() for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}


def markdown(texts: list[str]) -> str:
    """Return paragraphs in Markdown."""
    return "\n\n".join(map(paragraph, texts))


def paragraph(text: str) -> str:
    """Return one paragraph in Markdown: a formula, a list, or prose."""
    text = text.strip("\n")
    before, formula, body = text.partition(".. math::")
    if formula:
        inner = " ".join(body.split())
        return (prose(before) + "\n\n" if before.strip() else "") + f"```{{math}}\n{inner}\n```"
    if re.match(r"\s*[-*] ", text):
        items = re.split(r"^[-*] ", inspect.cleandoc(text), flags=re.MULTILINE)
        return "\n".join(f"- {prose(item)}" for item in items if item)
    return prose(text)


def prose(text: str) -> str:
    """Return prose in one line, with formulas between dollars and names as code."""
    text = " ".join(text.split())
    text = re.sub(r":math:`([^`]*)`", r"$\1$", text)
    text = re.sub(r":(?:class|func|meth|attr|mod):`~?([^`]*)`", r"`\1`", text)
    text = re.sub(r"``([^`]*)``", r"`\1`", text)
    # What looks like a tag is none; what stands in code or in a formula stays.
    pieces = re.split(r"(`[^`]*`|\$[^$]*\$)", text)
    return "".join(one if place % 2 else escaped(one) for place, one in enumerate(pieces))


def escaped(text: str) -> str:
    """Return prose in which nothing is markup."""
    return re.sub(r"([<>*\[\]{}|])", r"\\\1", text)


def raw(html: str) -> str:
    """Return HTML as it is."""
    return f"```{{raw}} html\n{html}\n```"


def picture(drawing: str, caption: str) -> str:
    """Return a drawing with a caption below it."""
    return raw(f'<figure class="drawn">\n{drawing}\n<figcaption>{escape(caption)}</figcaption>\n</figure>')


def contents(pages: Iterable[str]) -> str:
    """Return the hidden list of the pages below an index."""
    return "\n".join(["```{toctree}", ":hidden:", "", *pages, "```"])
