"""Numbers as people and spreadsheets write them: decimal commas, thousands separators, percent signs, gaps."""

import math
import re
from typing import Final, Literal, NamedTuple

_SPELLINGS: Final = (
    "|na|n/a|n.a.|#n/a|#na|<na>|nat|null|#null!|none|nil|-|--|---|?|.|..|missing|unknown|not available|not done|#value!"
    "|#div/0!|#ref!|#num!|–|—|k.a.|k. a.|k.a|keine angabe|keine angaben|unbekannt|fehlt|fehlend|entfällt"
)
MISSING: Final = frozenset(_SPELLINGS.split("|"))
"""Spellings of a missing value, in lower case, in a column of numbers."""
NANS: Final = frozenset(["nan", "-nan", "+nan", "1.#qnan", "1.#ind", "-1.#ind"])
INFINITE: Final = frozenset(["inf", "-inf", "+inf", "infinity", "-infinity", "+infinity", "∞", "-∞", "1.#inf"])

Kind = Literal["number", "missing", "nan", "infinite", "text", "ambiguous"]
_SPACES: Final = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f'\u2019](?=\d{3}(?:\D|$))")
_PLAIN: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?")
_GROUPS: Final = {one: re.compile(rf"[+-]?\d{{1,3}}(?:{re.escape(one)}\d{{3}})+") for one in ".,"}
_ONE_GROUP: Final = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")


class Written(NamedTuple):
    """What a cell says: the value is NaN unless it is a number; the rest is how it was written."""

    kind: Kind
    value: float = math.nan
    comma: bool = False
    thousands: bool = False
    percent: bool = False


def looks_like_number(cell: str) -> bool:
    """Return whether a cell is a number, however it is written."""
    return read_number(cell, decimal="point").kind == "number"


def has_decimal_comma(cell: str) -> bool:
    """Return whether a cell shows, beyond doubt, that its column writes a comma before decimals."""
    text = _bare(cell)[0]
    if _ONE_GROUP.fullmatch(text) or not any(mark in text for mark in ".,"):
        return False
    one = _read(text, None)
    # In 1.234.567 the point is none of decimals.
    return one.kind == "number" and (one.comma or _GROUPS["."].fullmatch(text) is not None)


def read_number(
    cell: str, *, decimal: str | None, commas: bool = False, codes: frozenset[str] = frozenset()
) -> Written:
    """Read one cell.

    Args:
        cell: Its text.
        decimal: The mark before decimals, which decides what 1,234 and 1.234 are; None if nobody said it: then 1,234 is
            ambiguous, and 1.234 is a little more than one.
        commas: Whether the column has decimal commas; then 1.234 is ambiguous too.
        codes: More spellings of a missing value.
    """
    lower = cell.strip().casefold()
    if lower in MISSING or lower in codes:
        return Written("missing")
    if lower in NANS:
        return Written("nan")
    text, percent = _bare(cell)
    if text in INFINITE:
        return Written("infinite")
    if commas and decimal is None and _ONE_GROUP.fullmatch(text):
        return Written("ambiguous")
    return _read(text, decimal)._replace(percent=percent)


def _bare(cell: str) -> tuple[str, bool]:
    text = cell.strip().casefold().replace("\u2212", "-")
    percent = text.startswith("%") or text.endswith("%")
    return text.strip("%").strip(), percent


def _read(text: str, decimal: str | None) -> Written:
    if not text.isascii():
        text = re.sub("[\u00a0\u2009\u202f\u2019]", "'", text)
    bare = _SPACES.sub("", text)
    thousands = bare != text
    comma = False
    points, commas = bare.count("."), bare.count(",")
    if commas and points:
        last = max(".,", key=bare.rfind)
        other = "," if last == "." else "."
        whole = bare.rpartition(last)[0]
        if bare.count(last) > 1 or not _GROUPS[other].fullmatch(whole):
            return Written("text")
        comma, thousands = last == ",", True
        bare = bare.replace(other, "").replace(",", ".")
    elif commas > 1 or points > 1:
        mark = "," if commas else "."
        if not _GROUPS[mark].fullmatch(bare):
            return Written("text")
        bare, thousands = bare.replace(mark, ""), True
    elif commas and _ONE_GROUP.fullmatch(bare) and decimal != "comma":
        if decimal is None:
            return Written("ambiguous")
        bare, thousands = bare.replace(",", ""), True
    elif commas:
        bare, comma = bare.replace(",", "."), True
    elif points and _ONE_GROUP.fullmatch(bare) and decimal == "comma":
        bare, thousands = bare.replace(".", ""), True
    if not (bare.isascii() and _PLAIN.fullmatch(bare)):
        return Written("text")
    value = float(bare)
    if math.isinf(value):
        return Written("infinite")
    return Written("number", value, comma=comma, thousands=thousands)
