"""What is wrong with a file: one entry for each kind of problem and column, with a count and the first lines."""

import dataclasses
import re
import shlex
from collections.abc import Iterable
from typing import Final

SHOWN_LINES: Final = 3
"""How many line numbers are kept for each problem."""
_OPTION: Final = re.compile(r"\{(\w+)=([^}]*)\}")


@dataclasses.dataclass(frozen=True)
class Problem:
    """One kind of problem in one column. It never holds a gain or a person's id.

    Attributes:
        kind: A short name, such as `"missing"`.
        column: The name of the column; "" for the whole file.
        count: How many cells or lines.
        lines: The numbers of the first lines, at most three; line 1 is the first of the file.
        what: What it is, in words.
        remedy: What was done; or, if it is open, what to do. Options are written `{name=value}`.
        is_open: Whether it needs a decision before there can be a clean file.
    """

    kind: str
    column: str
    count: int
    lines: tuple[int, ...]
    what: str
    remedy: str
    is_open: bool

    def sentence(self, *, command_line: bool = False) -> str:
        """Return it as one line of text.

        Args:
            command_line: Write options as on the command line, `--missing drop`, and not as in Python.
        """
        where = f"{self.column}: " if self.column else ""
        lines = ", ".join(f"{line:,}" for line in self.lines)
        if lines:
            lines = (
                f" ({'line' if self.count == 1 else 'lines'} {lines}{', ...' if self.count > len(self.lines) else ''})"
            )
        return f"{where}{self.count:,} {self.what}{lines}: {_options(self.remedy, command_line)}"


class Findings:
    """Collects the lines of each kind of problem in each column, while a file is read."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], list[int]] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, kind: str, line: int, column: str = "") -> None:
        """Count one more problem."""
        key = (kind, column)
        self._counts[key] = self._counts.get(key, 0) + 1
        lines = self._lines.setdefault(key, [])
        if len(lines) < SHOWN_LINES:
            lines.append(line)

    def count(self, kind: str, column: str = "") -> int:
        """Return how many problems of a kind there are in a column."""
        return self._counts.get((kind, column), 0)

    def problem(self, kind: str, what: str, remedy: str, *, column: str = "", is_open: bool = False) -> list[Problem]:
        """Return the problem of a kind in a column as a list of one, or of none if it did not occur.

        In `what`, `[s]` is the ending of a noun unless there is one only.
        """
        count = self.count(kind, column)
        if not count:
            return []
        words = what.replace("[s]", "" if count == 1 else "s")
        return [Problem(kind, column, count, tuple(self._lines[kind, column]), words, remedy, is_open)]


def sentences(problems: Iterable[Problem], *, command_line: bool) -> list[str]:
    """Return problems as lines of text, those that need a decision first."""
    ordered = sorted(problems, key=lambda one: not one.is_open)
    return [
        f"{'TO DECIDE' if one.is_open else 'done     '}  {one.sentence(command_line=command_line)}" for one in ordered
    ]


def _options(text: str, command_line: bool) -> str:
    if command_line:
        return _OPTION.sub(lambda found: f"--{found[1].replace('_', '-')} {shlex.quote(found[2])}", text)
    return _OPTION.sub(lambda found: f"{found[1]}={found[2]!r}", text)
