"""Reads a messy file of any kind into a sheet of cells, and notes what was wrong with its bytes and lines."""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from dp_bandit_envs import checks
from dp_bandit_envs.errors import GainFileError, WrongTypeError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.optional import require
from dp_bandit_envs.recorded_data.clean_records import Findings, Problem
from dp_bandit_envs.recorded_data.written_numbers import looks_like_number

TITLES: Final = 30
"""Among so many first lines the one with the names is looked for."""
MOST_SHOWN: Final = 20
"""How many names of columns a message shows."""
MOST_LINES_OF_A_RECORD: Final = 50
"""A quotation mark that is not closed within so many lines is taken to be open."""
SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
TABLES: Final = {".parquet": "pyarrow", ".xlsx": "openpyxl"}
"""Endings of files that pandas reads, and the package that it needs for each."""
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
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


class _Line(NamedTuple):
    """A line without its end, and its number, from 1."""

    number: int
    text: str


def file_of(source: Any) -> DataFile:
    """Return a file's content, or that of a pandas DataFrame as CSV.

    Raises:
        GainFileError: If there is no such file.
        WrongTypeError: If it is something else.
    """
    if isinstance(source, DataFile):
        return source
    if isinstance(source, (str, Path)):
        return DataFile.read(source, error=GainFileError)
    if type(source).__name__ == "DataFrame" and callable(getattr(source, "to_csv", None)):
        return DataFile("DataFrame.csv", source.to_csv(index=False).encode())
    raise WrongTypeError(
        f"source must be the path of a file, or a pandas DataFrame; received {type(source).__name__}. Write it to a CSV"
        " file, and give its path."
    )


def read_sheet(
    file: DataFile, wanted: Sequence[str], *, drop_broken: bool = False, header: int = 1, sheet: str | None = None
) -> Sheet:
    """Return the names of the columns and the records.

    Args:
        file: The file.
        wanted: Names of columns that must be there; none to see only what there is.
        drop_broken: Whether lines with another number of cells are left out; otherwise they are open problems.
        header: The line with the names, from 1.
        sheet: The name of the sheet of an Excel file; by default the first.

    Raises:
        GainFileError: If the file cannot be read, or the names are in another line.
        ImportError: For Parquet and Excel without the extra `data`.
    """
    if sheet is not None and file.path.suffix != ".xlsx":
        raise GainFileError(f"{file.name}: sheet is for Excel files, .xlsx; received {sheet!r}. Leave it out.")
    if file.path.suffix in TABLES:
        table = _table(file, header, sheet)
        _look_below(file, table, table.records, wanted)
        return table
    lines, problems = _lines_of(file.text_bytes(error=GainFileError))

    def read(first: int) -> Sheet:
        below = [line for line in lines if line.number >= first]
        return _sheet_of(below, wanted, name=file.name, drop_broken=drop_broken)

    found = read(header)
    if not _has(found.names, wanted):
        later = [line.number for line in lines[:TITLES] if line.number > found.line and line.text.strip()]
        below = [Record(number, read(number).names) for number in later if number < lines[-1].number]
        _look_below(file, found, below, wanted)
    return found._replace(problems=[*problems, *found.problems])


def shown_columns(source: Any, *, header: int = 1, sheet: str | None = None) -> str:
    """Return the names of a file's columns as text.

    Raises:
        GainFileError: If the file cannot be read, or its first line may be somebody's record.
    """
    file = file_of(source)
    found = read_sheet(file, (), header=header, sheet=sheet)
    return _shown_names(found) or _no_names(file.name, found.line, "; give --arm and --gain")


def columns_of(sheet: Sheet, wanted: Sequence[str], *, name: str) -> list[int]:
    """Return the index of each wanted column, whatever the case of the letters.

    Raises:
        GainFileError: If one is missing or there twice; names are shown only if none can be part of a record.
    """
    known = [one.casefold() for one in sheet.names]
    for one in wanted:
        times = known.count(one.strip().casefold())
        if times == 1:
            continue
        shown = _shown_names(sheet, wanted) or _no_names(name, sheet.line, f", {one!r} among them")
        near = checks.near_names(one, sheet.names)
        mean = f" Did you mean {near[0]!r}?" if near and times == 0 else ""
        raise GainFileError(
            f"{name}: there must be one column {one!r}; there is {times or 'no'} such among {shown}.{mean} Give the"
            " name of a column, or rename columns in the file."
        )
    return [known.index(one.strip().casefold()) for one in wanted]


def _shown_names(sheet: Sheet, wanted: Sequence[str] = ()) -> str:
    """Return the names of the columns as a message may show them; "" if the first line may be somebody's record.

    They are shown if a wanted one is among them; or if none has a digit and none occurs as a cell below, as an arm or
    an outcome would.
    """
    known = {one.casefold() for one in sheet.names}
    if not known & {one.strip().casefold() for one in wanted}:
        cells = known - {""}
        if any(looks_like_number(one) or any(map(str.isdigit, one)) for one in known):
            return ""
        if any(cell.strip().casefold() in cells for record in sheet.records for cell in record.cells):
            return ""
    return ", ".join(map(repr, sheet.names[:MOST_SHOWN])) + (", ..." if len(sheet.names) > MOST_SHOWN else "")


def _no_names(name: str, line: int, which: str) -> NoReturn:
    raise GainFileError(
        f"{name}: line {line} must name the columns{which}; it does not look like names of columns (its cells are"
        " withheld, as they may be private). Check the names that you gave, or write a first line of names into the"
        " file."
    )


def _look_below(file: DataFile, found: Sheet, below: Sequence[Record], wanted: Sequence[str]) -> None:
    """Raise if the wanted names are in a later line."""
    if _has(found.names, wanted):
        return
    for line, cells in below[:TITLES]:
        if wanted and _has(cells, wanted):
            raise GainFileError(
                f"{file.name}: line {found.line} must name the columns; the names seem to be in line {line}. Give"
                f" --header {line}, in Python header={line}."
            )


def _has(names: Sequence[str], wanted: Sequence[str]) -> bool:
    return {one.strip().casefold() for one in wanted} <= {one.strip().casefold() for one in names}


def _lines_of(content: bytes) -> tuple[list[_Line], list[Problem]]:
    """Return the lines of a file and what was wrong with its bytes.

    Each line is read as UTF-8 if it is that, and otherwise as Windows-1252, a superset of what is called Latin-1: parts
    of a file may come from different programs.
    """
    found = Findings()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        found.add("utf-16", 1)
        content = content.decode("utf-16", "replace").encode()
    elif content.startswith(codecs.BOM_UTF8):
        found.add("mark", 1)
        content = content[len(codecs.BOM_UTF8) :]
    lines = []
    modern = False
    for number, data in enumerate(_LINE_END.split(content), 1):
        try:
            text = data.decode("utf-8")
            modern = modern or not text.isascii()
        except UnicodeDecodeError:
            found.add("encoding", number)
            text = _western(data)
        if "\0" in text:
            found.add("nul", number)
            text = text.replace("\0", "")
        lines.append(_Line(number, text))
    if lines and not lines[-1].text:
        lines.pop()
    other = "line[s] in Windows-1252 (Latin-1)" + (", where others are in UTF-8" if modern else "")
    return lines, [
        *found.problem("utf-16", "file in UTF-16", "read as such"),
        *found.problem("mark", "byte-order mark", "skipped"),
        *found.problem("encoding", other, "each line read in its encoding; compare the names below"),
        *found.problem("nul", "line[s] with NUL bytes", "the NUL bytes are left out"),
    ]


def _western(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _sheet_of(lines: list[_Line], wanted: Sequence[str], *, name: str, drop_broken: bool) -> Sheet:
    """Return the records of a text file from the line of names on; the wanted columns show what the separator is."""
    found = Findings()
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
    cells = f"line[s] with more or fewer cells than names{hint}"
    broken = "left out" if drop_broken else "correct these lines, or give {unreadable=drop} to leave them out"
    problems = [
        *found.problem("sep", "line 'sep=' as Excel writes it", "followed and skipped"),
        *found.problem("separator", f"file separated by {SEPARATORS.get(separator, repr(separator))}", "read so"),
        *found.problem("empty", "empty line[s]", "skipped"),
        *found.problem("names", "line[s] with the names of the columns once more", "skipped"),
        *found.problem("quotes", "line[s] with quotation marks", "cells read without them"),
        *found.problem("open quote", "line[s] with a quotation mark that is not closed", "read as one line"),
        *found.problem("broken", cells, broken, is_open=not drop_broken),
    ]
    return Sheet(names, records, problems, lines[0].number)


def _separator(header: str, wanted: Sequence[str]) -> str:
    """Return the separator with which the wanted columns, or otherwise most columns, are found."""
    names = {one.strip().casefold() for one in wanted}

    def fit(separator: str) -> tuple[int, int]:
        cells = {cell.strip().casefold() for cell in _cells(header, separator)}
        return len(names & cells), len(cells)

    return max(SEPARATORS, key=fit)


def _records(lines: Sequence[_Line], separator: str, width: int, found: Findings) -> Iterator[Record]:
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


def _end_of_quotes(lines: Sequence[_Line], at: int) -> int:
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


def _table(file: DataFile, header: int, sheet: str | None) -> Sheet:
    """Return the records of a Parquet file, or of a sheet of an Excel file, as the text that a CSV file would have."""
    kind = file.path.suffix
    pandas = require("pandas", extra="data")
    require(TABLES[kind], extra="data")
    sheets: list[str] = []
    first = header if kind == ".xlsx" else 1
    try:
        if kind == ".xlsx":
            book = pandas.ExcelFile(io.BytesIO(file.content))
            sheets = [str(name) for name in book.sheet_names]
            wanted = sheets[0] if sheet is None or sheet not in sheets else sheet
            table = pandas.read_excel(book, sheet_name=wanted, header=header - 1, dtype=object)
        else:
            table = pandas.read_parquet(io.BytesIO(file.content))
    # These readers raise errors of any kind for damaged files.
    except Exception as failure:
        raise GainFileError(
            f"{file.name}: must be a complete {kind[1:]} file; pandas cannot read it ({type(failure).__name__}). Save"
            " it again, or as CSV."
        ) from None
    if sheet is not None and sheet not in sheets:
        raise GainFileError(
            f"{file.name}: there must be a sheet {sheet!r}; its sheets are {', '.join(map(repr, sheets))}. Give one of"
            " these."
        )
    problems = []
    if len(sheets) > 1 and sheet is None:
        what = f"other sheet{'' if len(sheets) == 2 else 's'}, {', '.join(sheets[1:])}"
        remedy = f"not used, only the first, {sheets[0]}; {{sheet=NAME}} reads another"
        problems.append(Problem("sheets", "", len(sheets) - 1, (), what, remedy, False))
    missing = table.isna().to_numpy()
    columns = [table.iloc[:, column].tolist() for column in range(table.shape[1])]
    records = []
    for row in range(len(table)):
        cells = ["" if missing[row, column] else _text(of[row]) for column, of in enumerate(columns)]
        records.append(Record(row + first + 1, cells))
    return Sheet([str(name).strip() for name in table.columns], records, problems, first)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return repr(float(value)) if isinstance(value, float) else str(value)
