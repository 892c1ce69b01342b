"""Parquet and Excel files, read through pandas as the same cells of text that a CSV file has."""

import io
from typing import Any, Final

from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.optional import require
from dp_bandit_envs.recorded_data.file_cells import Record, Sheet
from dp_bandit_envs.recorded_data.file_problems import Problem

ENDINGS: Final = {".parquet": ("read_parquet", "pyarrow"), ".xlsx": ("read_excel", "openpyxl")}
"""Of each ending pandas' function, and the package that it needs."""


def sheet_of_table(file: DataFile, header: int = 1, sheet: str | None = None) -> Sheet:
    """Return the records of a Parquet file, or of a sheet of an Excel file; line 2 is the first record.

    Args:
        file: The file.
        header: The line of an Excel file with the names of the columns, from 1.
        sheet: The name of the sheet of an Excel file; by default the first, if there are others with a note.

    Raises:
        ImportError: If the extra `data` is not installed.
        GainFileError: If pandas cannot read it, or there is no such sheet.
    """
    reader, package = ENDINGS[file.path.suffix]
    pandas = require("pandas", extra="data")
    require(package, extra="data")
    sheets: list[str] = []
    first = 1
    try:
        if reader == "read_excel":
            first = header
            book = pandas.ExcelFile(io.BytesIO(file.content))
            sheets = [str(name) for name in book.sheet_names]
            wanted = sheets[0] if sheet is None or sheet not in sheets else sheet
            table = pandas.read_excel(book, sheet_name=wanted, header=header - 1, dtype=object)
        else:
            table = pandas.read_parquet(io.BytesIO(file.content))
    # These readers raise errors of any kind for damaged files.
    except Exception as failure:
        raise GainFileError(
            f"{file.name}: must be a complete {file.path.suffix[1:]} file; pandas cannot read it"
            f" ({type(failure).__name__}). Save it again, or as CSV."
        ) from None
    if sheet is not None and sheet not in sheets:
        raise GainFileError(
            f"{file.name}: there must be a sheet {sheet!r}; its sheets are {', '.join(map(repr, sheets))}. Give one of"
            " these."
        )
    problems = []
    if len(sheets) > 1 and sheet is None:
        names = ", ".join(sheets[1:])
        what = f"other sheet{'' if len(sheets) == 2 else 's'}, {names}"
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
