"""Reads a messy file of any kind into a sheet of cells, beginning at the line with the names of its columns."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.errors import GainFileError, WrongTypeError
from dp_bandit_envs.recorded_data.file_cells import Record, Sheet, sheet_of
from dp_bandit_envs.recorded_data.file_lines import lines_of
from dp_bandit_envs.recorded_data.pandas_tables import ENDINGS, sheet_of_table

TITLES: Final = 30
"""Among so many first lines the one with the names is looked for."""


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
    if file.path.suffix in ENDINGS:
        table = sheet_of_table(file, header, sheet)
        _look_below(file, table, table.records, wanted)
        return table
    lines, problems = lines_of(file.text_bytes(error=GainFileError))

    def read(first: int) -> Sheet:
        below = [line for line in lines if line.number >= first]
        return sheet_of(below, wanted, name=file.name, drop_broken=drop_broken)

    found = read(header)
    if not _has(found.names, wanted):
        later = [line.number for line in lines[:TITLES] if line.number > found.line and line.text.strip()]
        below = [Record(number, read(number).names) for number in later if number < lines[-1].number]
        _look_below(file, found, below, wanted)
    return found._replace(problems=[*problems, *found.problems])


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
