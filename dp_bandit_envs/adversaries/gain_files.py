"""Reads a user's gains from a file; every error names the file, the line, the column and the rule to mend it."""

import csv
import gzip
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np

from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.protocols import FloatArray

LONG_COLUMNS = ("arm", "gain")
Row: TypeAlias = tuple[int, list[str]]


def read(path: Path) -> FloatArray | list[FloatArray]:
    """Read gains from `.npy`, `.csv` or `.csv.gz`.

    Args:
        path: A table with one column for each arm and one row for each round (a first line of names is allowed), or
            a CSV file whose first line is `arm,gain`: one recorded gain a line, arms numbered from 0.

    Returns:
        A table of shape `(rounds, n_arms)`, or for the second form one array of gains for each arm.

    Raises:
        GainFileError: If the file breaks one of these rules.
    """
    if not path.is_file():
        raise GainFileError(f"{path}: the file must exist; there is none. Check the path.")
    if path.suffix == ".npy":
        return _read_npy(path)
    if path.suffix == ".csv" or path.suffixes[-2:] == [".csv", ".gz"]:
        return _read_csv(path)
    raise GainFileError(f"{path}: the name must end in .npy, .csv or .csv.gz; received {path.name!r}.")


def check_table(table: FloatArray, where: str) -> FloatArray:
    """Return `table` as an array of shape `(rounds, n_arms)`, or raise and name the first wrong entry."""
    try:
        if np.asarray(table).dtype.kind not in "biuf":
            raise TypeError
        gains = np.array(table, dtype=float)
    except (TypeError, ValueError):
        raise GainFileError(f"{where}: every entry must be a number and every row as long as the others.") from None
    if gains.ndim != 2 or gains.shape[0] < 1 or gains.shape[1] < 2:
        raise GainFileError(
            f"{where}: gains must form a table of shape (rounds, n_arms) with at least 1 round and 2 arms;"
            f" received shape {gains.shape}."
        )
    wrong = np.argwhere(~((gains >= 0) & (gains <= 1)))
    if wrong.size:
        row, column = wrong[0]
        raise GainFileError(
            f"{where}: every gain must be in [0, 1]; row {row + 1}, column {column + 1} is not"
            f" ({len(wrong)} such entries in all). Rescale the gains or remove those rounds."
        )
    return gains


def _read_npy(path: Path) -> FloatArray:
    try:
        table = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        raise GainFileError(f"{path}: not an array saved by numpy.save without pickling; save it again.") from None
    return check_table(table, str(path))


def _read_csv(path: Path) -> FloatArray | list[FloatArray]:
    try:
        rows = list(_rows(path))
    except (OSError, EOFError, UnicodeDecodeError, zlib.error, csv.Error):
        raise GainFileError(f"{path}: not readable as comma-separated UTF-8 text; save it again as such.") from None
    if not rows:
        raise GainFileError(f"{path}: the file must hold at least one line of gains; it is empty.")
    first = [name.strip().lower() for name in rows[0][1]]
    # A line with a number in it is a round, so that a gap or a word in the first round is not taken for a name.
    named = not any(_is_number(cell) for cell in first)
    if named and set(LONG_COLUMNS) & set(first):
        return _pools(path, first, rows)
    return _table(path, rows, named=named)


def _rows(path: Path) -> Iterator[Row]:
    with (
        gzip.open(path, "rt", encoding="utf-8-sig", newline="")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8-sig", newline="") as text
    ):
        reader = csv.reader(text)
        for cells in reader:
            if cells:
                yield reader.line_num, cells


def _table(path: Path, rows: list[Row], *, named: bool) -> FloatArray:
    width = len(rows[0][1])
    if width < 2:
        raise GainFileError(
            f"{path}, line {rows[0][0]}: a table needs one column for each of at least 2 arms; received {width}."
            " A file of recorded gains needs the first line 'arm,gain'."
        )
    body = rows[1:] if named else rows
    if not body:
        raise GainFileError(f"{path}: the file must hold at least one line of gains; it has only a line of names.")
    table = np.empty((len(body), width))
    for index, (line, cells) in enumerate(body):
        if len(cells) != width:
            raise GainFileError(
                f"{path}, line {line}: every line must have {width} columns like the first; received {len(cells)}."
            )
        for column, cell in enumerate(cells):
            table[index, column] = _gain(path, line, column + 1, cell)
    return table


def _pools(path: Path, names: list[str], rows: list[Row]) -> list[FloatArray]:
    if sorted(names) != sorted(LONG_COLUMNS):
        raise GainFileError(
            f"{path}, line {rows[0][0]}: a file of recorded gains has the columns 'arm' and 'gain' and no others;"
            f" received {', '.join(map(repr, names))}. Rename or remove columns."
        )
    arm_column, gain_column = names.index("arm"), names.index("gain")
    pools: dict[int, list[float]] = {}
    for line, cells in rows[1:]:
        if len(cells) != len(names):
            raise GainFileError(f"{path}, line {line}: every line must have 2 columns; received {len(cells)}.")
        text = cells[arm_column].strip()
        if not text.isdecimal() or len(text) > 9:
            raise GainFileError(
                f"{path}, line {line}, column {arm_column + 1} ('arm'): arms are whole numbers from 0; the entry there"
                " is not. Number the arms."
            )
        gain = _gain(path, line, gain_column + 1, cells[gain_column])
        pools.setdefault(int(text), []).append(gain)
    arms = sorted(pools)
    if len(arms) < 2 or arms != list(range(len(arms))):
        raise GainFileError(
            f"{path}, column {arm_column + 1} ('arm'): at least 2 arms, numbered 0, 1, 2, ... without a gap, each with"
            f" at least one line; received the arms {arms[:10]}. Renumber them."
        )
    return [np.array(pools[arm]) for arm in arms]


def _gain(path: Path, line: int, column: int, cell: str) -> float:
    value = float(cell) if _is_number(cell) else math.nan
    if not 0 <= value <= 1:
        # The entry may be somebody's datum, so it is not shown.
        raise GainFileError(
            f"{path}, line {line}, column {column}: a gain must be a number in [0, 1]; the entry there is not. Rescale"
            " the gains, fill the gap, or separate columns by commas and decimals by points."
        )
    return value


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
