"""Parquet and Excel files, read through pandas as the same cells of text that a CSV file has."""

import io
from typing import Any, Final

from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.optional import require
from dp_bandit_envs.recorded_data.file_cells import Record, Sheet

ENDINGS: Final = {".parquet": ("read_parquet", "pyarrow"), ".xlsx": ("read_excel", "openpyxl")}
"""Of each ending pandas' function, and the package that it needs."""


def sheet_of_table(file: DataFile) -> Sheet:
    """Return the records of a Parquet file, or of the first sheet of an Excel file; line 2 is the first record.

    Raises:
        ImportError: If the extra `data` is not installed.
        GainFileError: If pandas cannot read it.
    """
    reader, package = ENDINGS[file.path.suffix]
    pandas = require("pandas", extra="data")
    require(package, extra="data")
    read = getattr(pandas, reader)
    try:
        table = read(io.BytesIO(file.content), **({"dtype": object} if reader == "read_excel" else {}))
    # These readers raise errors of any kind for damaged files.
    except Exception as failure:
        raise GainFileError(
            f"{file.name}: must be a complete {file.path.suffix[1:]} file; pandas cannot read it"
            f" ({type(failure).__name__}). Save it again, or as CSV."
        ) from None
    missing = table.isna().to_numpy()
    columns = [table.iloc[:, column].tolist() for column in range(table.shape[1])]
    records = [
        Record(row + 2, ["" if missing[row, column] else _text(cells[row]) for column, cells in enumerate(columns)])
        for row in range(len(table))
    ]
    return Sheet([str(name).strip() for name in table.columns], records, [])


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return repr(float(value)) if isinstance(value, float) else str(value)
