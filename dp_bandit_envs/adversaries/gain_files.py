"""Reads a user's gains from a file; every error names the file, the line, the column and what to correct."""

import csv
import io
import math
import warnings
from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.lib import format as npy

from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.protocols import FloatArray

LONG_COLUMNS = ("arm", "gain")
CLEAN_FIRST = " If it is a messy file, clean it first; docs/real-data.md shows how with pandas."
Row: TypeAlias = tuple[int, list[str]]


class Table(NamedTuple):
    """Gains of shape `(rounds, n_arms)`, and whose each row is; no owners if no column was named."""

    gains: FloatArray
    owners: list[str]


class Pools(NamedTuple):
    """For each arm its recorded gains, and whose each of them is; no owners if no column was named."""

    gains: list[FloatArray]
    owners: list[list[str]]


def read(file: DataFile, persons: str | None = None) -> Table | Pools:
    """Read gains from `.npy`, `.csv` or `.csv.gz`.

    Args:
        file: A table with one column for each arm and one row for each round (a first line of names is allowed), or
            a CSV file whose first line is `arm,gain`: one recorded gain a line, arms numbered from 0.
        persons: The name of one more column of a CSV file, in any case, which says whose each line is.

    Returns:
        A table, or for the second form a pool for each arm.

    Raises:
        GainFileError: If the file breaks one of these rules.
    """
    path = file.path
    if path.suffix == ".npy":
        if persons is not None:
            raise GainFileError(f"{path}: a file with a column of persons must be CSV, whose first line names it.")
        return Table(_read_npy(file), [])
    if path.suffix == ".csv" or path.suffixes[-2:] == [".csv", ".gz"]:
        return _read_csv(file, persons)
    raise GainFileError(f"{path}: the name must end in .npy, .csv or .csv.gz; received {path.name!r}.")


def check_table(table: Any, where: str) -> FloatArray:
    """Return `table` as an array of shape `(rounds, n_arms)`, or raise and name the first wrong entry."""
    try:
        if np.asarray(table).dtype.kind not in "biuf":
            raise TypeError
        # A number too large for a float64 becomes inf, and is refused below.
        with np.errstate(all="ignore"):
            gains = np.array(table, dtype=float)
    except (TypeError, ValueError, OverflowError):
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


def _read_npy(file: DataFile) -> FloatArray:
    """Read an array, after comparing the file's size with its header, so that a wrong header allocates no memory."""
    stream = io.BytesIO(file.content)
    try:
        # Headers written by Python 2, or with odd escapes, cause warnings that do not help a user.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            version = npy.read_magic(stream)
            header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, column_by_column, dtype = header(stream)
    # The header is a Python literal, whose parser can fail in any way.
    except Exception:
        raise GainFileError(f"{file.name}: not an array saved by numpy.save without pickling; save it again.") from None
    if dtype.hasobject:
        raise GainFileError(
            f"{file.name}: must hold numbers saved by numpy.save without pickling; it holds Python objects, which are"
            " never unpickled. Save it again with dtype float."
        )
    if dtype.kind not in "biuf":
        raise GainFileError(
            f"{file.name}: every entry must be a number; received entries of type {dtype.name}. Save one float for each"
            " round and arm by numpy.save."
        )
    there = len(file.content) - stream.tell()
    needed = math.prod(shape) * dtype.itemsize
    if min(shape, default=1) < 0 or needed != there:
        raise GainFileError(
            f"{file.name}: the {there:,} bytes after the header must be those of an array of shape"
            f" {_short(str(shape))} and type {dtype.name}; they are not. The file is truncated or damaged; save it"
            " again by numpy.save."
        )
    table = np.frombuffer(file.content, dtype, offset=stream.tell()).reshape(
        shape, order="F" if column_by_column else "C"
    )
    return check_table(table, file.name)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."


def _read_csv(file: DataFile, persons: str | None) -> Table | Pools:
    rows = _rows(file)
    first = next(rows, None)
    if first is None:
        raise GainFileError(f"{file.name}: the file must hold at least one line of gains; it is empty.")
    names = [name.strip().lower() for name in first[1]]
    # A first line with any number in it is a round: a gap or a word in it is an error, not the name of a column.
    named = not any(_is_number(cell) for cell in names)
    owner = None if persons is None else _owner_column(file, first[0], names if named else [], persons)
    if named and set(LONG_COLUMNS) & set(names):
        return _pools(file, names, first[0], rows, owner)
    return _table(file, first, rows, named=named, owner=owner)


def _owner_column(file: DataFile, line: int, names: list[str], persons: str) -> int:
    """Return the index of the column that says whose a line is."""
    wanted = persons.strip().lower()
    if names.count(wanted) != 1 or wanted in LONG_COLUMNS:
        # Without one of its own names it may be somebody's record.
        known = _short(", ".join(map(repr, names))) if set(LONG_COLUMNS) & set(names) else "none that are known"
        raise GainFileError(
            f"{file.name}, line {line}: the first line must name one column of persons, {persons!r}; its names are"
            f" {known}. Check the name, or write a first line of names."
        )
    return names.index(wanted)


def _owner(file: DataFile, line: int, column: int, cells: list[str]) -> str:
    owner = cells[column].strip()
    if not owner:
        raise GainFileError(f"{file.name}, line {line}, column {column + 1}: must say whose the line is; it is empty.")
    return owner


def _rows(file: DataFile) -> Iterator[Row]:
    reader = csv.reader(file.lines(error=GainFileError))
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error:
        raise GainFileError(
            f"{file.name}, line {reader.line_num}: must be numbers separated by commas; a field there is longer than"
            f" {csv.field_size_limit():,} characters or malformed. Look for a quotation mark that is not closed."
        ) from None


def _table(file: DataFile, first: Row, rows: Iterator[Row], *, named: bool, owner: int | None) -> Table:
    width = len(first[1])
    n_arms = width - (owner is not None)
    if n_arms < 2:
        raise GainFileError(
            f"{file.name}, line {first[0]}: a table needs one column for each of at least 2 arms; received {n_arms}."
            f" A file of recorded gains needs the first line 'arm,gain'.{CLEAN_FIRST}"
        )
    # A flat array takes an eighth of the memory of lists of Python floats.
    gains = array("d")
    owners = []
    if not named:
        gains.extend(_round(file, first, width, owner))
    for row in rows:
        gains.extend(_round(file, row, width, owner))
        if owner is not None:
            owners.append(_owner(file, row[0], owner, row[1]))
    if not gains:
        raise GainFileError(f"{file.name}: the file must hold at least one line of gains; it has only a line of names.")
    return Table(np.frombuffer(gains, float).reshape(-1, n_arms), owners)


def _round(file: DataFile, row: Row, width: int, owner: int | None) -> list[float]:
    line, cells = row
    if len(cells) != width:
        raise GainFileError(
            f"{file.name}, line {line}: every line must have {width} columns like the first; received {len(cells)}."
        )
    return [_gain(file, line, column + 1, cell) for column, cell in enumerate(cells) if column != owner]


def _pools(file: DataFile, names: list[str], first_line: int, rows: Iterator[Row], owner: int | None) -> Pools:
    if sorted(name for column, name in enumerate(names) if column != owner) != sorted(LONG_COLUMNS):
        others = [name for name in names if name not in LONG_COLUMNS]
        # With one more column, it probably says whose each line is.
        one_more = owner is None and len(names) == len(LONG_COLUMNS) + 1 and len(others) == 1
        way = "Rename or remove columns."
        if one_more:
            way = f"If {others[0]!r} says whose the lines are, give --persons {others[0]}; otherwise remove it."
        raise GainFileError(
            f"{file.name}, line {first_line}: a file of recorded gains has the columns 'arm' and 'gain' and no others,"
            f" unless persons= names one; received {_short(', '.join(map(repr, names)))}."
            f" {way}{CLEAN_FIRST}"
        )
    arm_column, gain_column = names.index("arm"), names.index("gain")
    pools: dict[int, array[float]] = {}
    owners: dict[int, list[str]] = {}
    for line, cells in rows:
        if len(cells) != len(names):
            raise GainFileError(
                f"{file.name}, line {line}: every line must have {len(names)} columns; received {len(cells)}."
            )
        text = cells[arm_column].strip()
        # isascii: the digits of other alphabets are decimal too.
        if not (text.isascii() and text.isdecimal() and len(text) <= 9):
            raise GainFileError(
                f"{file.name}, line {line}, column {arm_column + 1} ('arm'): arms are whole numbers from 0; the entry"
                " there is not. Number the arms."
            )
        gain = _gain(file, line, gain_column + 1, cells[gain_column])
        pools.setdefault(int(text), array("d")).append(gain)
        if owner is not None:
            owners.setdefault(int(text), []).append(_owner(file, line, owner, cells))
    arms = sorted(pools)
    if len(arms) < 2 or arms != list(range(len(arms))):
        raise GainFileError(
            f"{file.name}, column {arm_column + 1} ('arm'): at least 2 arms, numbered 0, 1, 2, ... without a gap, each"
            f" with at least one line; received the arms {arms[:10]}. Renumber them."
        )
    return Pools([np.frombuffer(pools[arm], float) for arm in arms], [owners[arm] for arm in arms if owners])


def _gain(file: DataFile, line: int, column: int, cell: str) -> float:
    value = float(cell) if _is_number(cell) else math.nan
    if not 0 <= value <= 1:
        # The entry may be private, so it is not shown.
        raise GainFileError(
            f"{file.name}, line {line}, column {column}: a gain must be a number in [0, 1]; the entry there is not."
            " Rescale the gains, fill the gap, or separate columns by commas and decimals by points."
            f"{CLEAN_FIRST}"
        )
    return value


def _is_number(cell: str) -> bool:
    """Whether a cell is a number as other programs write it; Python reads 1_000 and other alphabets' digits too."""
    try:
        float(cell)
    except ValueError:
        return False
    return cell.isascii() and "_" not in cell
