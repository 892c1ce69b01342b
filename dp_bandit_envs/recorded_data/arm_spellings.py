"""The names of arms: spellings that differ only in case, spaces or a final point are one arm."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

_WHOLE: Final = re.compile(r"[+-]?\d+(\.0*)?")


class Arms(NamedTuple):
    """The arms of a file.

    Attributes:
        names: Of each arm its most frequent spelling; numbers in their order, then words in alphabetical order.
        arm: The number of the arm of each cell.
        common: Whether each cell is written in its arm's most frequent spelling.
    """

    names: tuple[str, ...]
    arm: list[int]
    common: list[bool]


def arms_of(cells: Sequence[str]) -> Arms:
    """Return which arm each cell names.

    Args:
        cells: The names as they are written, none of them missing.
    """
    keys = [_key(cell) for cell in cells]
    spellings: dict[str, Counter[str]] = {}
    for key, cell in zip(keys, cells, strict=True):
        spellings.setdefault(key, Counter())[cell] += 1
    order = sorted(spellings, key=lambda key: (not _is_whole(key), int(key) if _is_whole(key) else 0, key))
    names = {key: spellings[key].most_common(1)[0][0] for key in order}
    number = {key: arm for arm, key in enumerate(order)}
    common = [cell == names[key] for key, cell in zip(keys, cells, strict=True)]
    shown = tuple(" ".join(names[key].split()) for key in order)
    return Arms(shown, [number[key] for key in keys], common)


def person_key(cell: str) -> str:
    """Return what is the same for all spellings of a person's id; merging too many is on the safe side."""
    return _key(cell)


def _key(cell: str) -> str:
    text = " ".join(cell.split()).casefold()
    if text.isascii() and _WHOLE.fullmatch(text):
        return str(int(text.partition(".")[0]))
    return text.rstrip(".").rstrip() or text


def _is_whole(key: str) -> bool:
    return key.isascii() and _WHOLE.fullmatch(key) is not None
