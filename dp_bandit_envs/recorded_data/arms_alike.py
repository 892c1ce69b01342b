"""Arms that may be one: names that the user takes to be the same, and names that look as if they were."""

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Final

from dp_bandit_envs.recorded_data.file_problems import Findings, Problem

SHORTEST: Final = 4
"""Shorter names, such as A1 and A2, are not compared by their letters."""
_DOSE: Final = re.compile(r"[\d.,]+\s*(mg|g|ml|µg|ug|mcg|%|ie|iu)?(?![a-z])")


def with_alike(
    cells: Sequence[str], lines: Sequence[int], column: str, alike: Mapping[str, str], found: Findings
) -> list[str]:
    """Return the cells of the column of arms with each name in place of which another stands.

    Args:
        cells: The column.
        lines: The number of each cell's line.
        column: Its name.
        alike: The name that stands for each, by the name in lower case; "" for a missing arm.
        found: What the changed cells are added to.
    """
    named = []
    for cell, line in zip(cells, lines, strict=True):
        other = alike.get(" ".join(cell.split()).casefold())
        if other is not None:
            found.add("alike", line, column)
        named.append(cell if other is None else other)
    return named


def near_names(column: str, names: Sequence[str]) -> list[Problem]:
    """Return a note for every two names of arms that differ in one letter, or in a dose only.

    Args:
        column: The name of the column of arms.
        names: Those of the arms.
    """
    problems = []
    for one, other in itertools.combinations(names, 2):
        if _near(one.casefold(), other.casefold()):
            what = f"arms whose names are near, {one} and {other}"
            remedy = f"kept apart; if they are one, give {{arms_alike={one}={other}}}"
            problems.append(Problem("near", column, 2, (), what, remedy, False))
    return problems


def _near(one: str, other: str) -> bool:
    bare = _DOSE.sub("", one).strip(), _DOSE.sub("", other).strip()
    if bare[0] == bare[1] and len(bare[0]) >= SHORTEST:
        return True
    return min(len(one), len(other)) >= SHORTEST and bare == (one, other) and _one_letter(one, other)


def _one_letter(one: str, other: str) -> bool:
    """Return whether one letter is changed, added or left out."""
    short, long = sorted((one, other), key=len)
    at = next((index for index, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return long[at + 1 :] in (short[at:], short[at + 1 :])
