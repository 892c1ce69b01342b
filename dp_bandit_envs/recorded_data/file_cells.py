"""The cells of a messy CSV file: separators, quotation marks, empty and broken lines."""

import csv
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.recorded_data.file_lines import Line
from dp_bandit_envs.recorded_data.file_problems import Findings, Problem

SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
MOST_LINES_OF_A_RECORD: Final = 50
"""A quotation mark that is not closed within so many lines is taken to be open."""
_SEP_LINE: Final = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)


class Record(NamedTuple):
    """The cells of one record as they are written, and the number of its first line."""

    line: int
    cells: list[str]


class Sheet(NamedTuple):
    """The names of the columns, the records with as many cells, what was wrong with the lines, and the names' line."""

    names: list[str]
    records: list[Record]
    problems: list[Problem]
    line: int = 1


def sheet_of(lines: Sequence[Line], wanted: Sequence[str], *, name: str, drop_broken: bool) -> Sheet:
    """Return the records of a text file.

    Args:
        lines: Its lines.
        wanted: Names of columns that must be there, which show what the separator is.
        name: The file's name, for messages.
        drop_broken: Whether lines with another number of cells are left out; otherwise they are open problems.

    Raises:
        GainFileError: If there is no line with names and one more.
    """
    found = Findings()
    lines = list(lines)
    given = _SEP_LINE.fullmatch(lines[0].text) if lines else None
    if given:
        found.add("sep", lines.pop(0).number)
    while lines and not lines[0].text.strip():
        found.add("empty", lines.pop(0).number)
    if len(lines) < 2:
        raise GainFileError(f"{name}: must have a line with the names of the columns and at least one record.")
    separator = given[1] if given else _separator(lines[0].text, wanted)
    if separator != ",":
        found.add("separator", lines[0].number)
    names = [cell.strip() for cell in _cells(lines[0].text, separator)]
    records = []
    for record in _records(lines[1:], separator, len(names), found):
        bare = [cell.strip() for cell in record.cells]
        if not any(bare):
            found.add("empty", record.line)
        elif bare == names:
            found.add("names", record.line)
        elif len(bare) < len(names) or any(bare[len(names) :]):
            found.add("broken", record.line)
        else:
            records.append(Record(record.line, record.cells[: len(names)]))
    hint = "" if separator != "," else " (perhaps a decimal comma without quotation marks)"
    broken = "left out" if drop_broken else "correct these lines, or give {unreadable=drop} to leave them out"
    return Sheet(
        names,
        records,
        [
            *found.problem("sep", "line 'sep=' as Excel writes it", "followed and skipped"),
            *found.problem("separator", f"file separated by {SEPARATORS.get(separator, repr(separator))}", "read so"),
            *found.problem("empty", "empty line[s]", "skipped"),
            *found.problem("names", "line[s] with the names of the columns once more", "skipped"),
            *found.problem("quotes", "line[s] with quotation marks", "cells read without them"),
            *found.problem("open quote", "line[s] with a quotation mark that is not closed", "read as one line"),
            *found.problem(
                "broken", f"line[s] with more or fewer cells than names{hint}", broken, is_open=not drop_broken
            ),
        ],
        lines[0].number,
    )


def _separator(header: str, wanted: Sequence[str]) -> str:
    """Return the separator with which the wanted columns, or otherwise most columns, are found."""
    names = {one.strip().casefold() for one in wanted}

    def fit(separator: str) -> tuple[int, int]:
        cells = {cell.strip().casefold() for cell in _cells(header, separator)}
        return len(names & cells), len(cells)

    return max(SEPARATORS, key=fit)


def _records(lines: Sequence[Line], separator: str, width: int, found: Findings) -> Iterator[Record]:
    at = 0
    while at < len(lines):
        number, text = lines[at]
        last = at
        if '"' in text:
            found.add("quotes", number)
            last = _end_of_quotes(lines, at)
            joined = "\n".join(line.text for line in lines[at : last + 1])
            # A mark that is never closed reaches to the next record's; then the cells do not fit.
            if last > at and len(_cells(joined, separator)) != width:
                last = at
            if last == at and text.count('"') % 2:
                found.add("open quote", number)
            text = joined if last > at else text
        yield Record(number, _cells(text, separator))
        at = last + 1


def _end_of_quotes(lines: Sequence[Line], at: int) -> int:
    marks = 0
    for last in range(at, min(at + MOST_LINES_OF_A_RECORD, len(lines))):
        marks += lines[last].text.count('"')
        if marks % 2 == 0:
            return last
    return at


def _cells(text: str, separator: str) -> list[str]:
    if '"' not in text:
        return text.split(separator)
    try:
        return next(csv.reader([text], delimiter=separator, skipinitialspace=True), [""])
    except csv.Error:  # a cell of more than 128 kB
        return text.replace('"', "").split(separator)
