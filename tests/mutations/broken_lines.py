"""The list in broken_lines.txt: what is broken, in which file, by which tests it must be caught, and the line."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

TABLE = "tests/audits/test_exact_loss.py"
"""The exact audit over the table of algorithms, which must catch a row without tests of its own."""
ROW = re.compile(r"(?P<what>[^#\s].*)\n  (?P<file>[^:\n]+)(: (?P<tests>.+))?\n(?P<old>(?:-.*\n)+)(?P<new>(?:\+.*\n)+)")


class Mutation(NamedTuple):
    """One broken line.

    Attributes:
        what: What is broken, in words; a name for it.
        file: Where, from the root of the repository.
        old: A text that occurs there exactly once.
        new: What replaces it.
        tests: The tests that must catch it, as arguments of pytest: the shortest selection.
    """

    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = (TABLE,)


def text_of(lines: str) -> str:
    """Return lines of the list without their marks."""
    return "\n".join(line[2:] for line in lines.splitlines())


def read(text: str) -> tuple[Mutation, ...]:
    """Return the rows of a list."""
    rows = [
        Mutation(
            row["what"],
            row["file"],
            text_of(row["old"]),
            text_of(row["new"]),
            tuple(shlex.split(row["tests"])) if row["tests"] else (TABLE,),
        )
        for row in ROW.finditer(text)
    ]
    assert len(rows) == len(re.findall(r"^[^#\s+-]", text, re.MULTILINE)), "a row that cannot be read"
    return tuple(rows)


LIST = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
MUTATIONS = read(LIST)
NOISE = read(LIST.split("\n# ")[0] + "\n")
"""The first part: breaks of the noise."""
FEW = ("noise halved", "one draw for all coordinates", "total in info", "every episode has the same noise")
"""What `make test-slow` plays; the whole list takes minutes."""
