"""Reads a user's gains: files, arrays and data frames; every error names line or row, column and the correction."""

import csv
import io
import math
import numbers
import re
import warnings
from array import array
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.lib import format as npy

from dp_bandit_envs import checks
from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.protocols import FloatArray, IntArray

ENDINGS: Final = (".npy", ".csv", ".csv.gz")
"""How the names of files that are read end."""
UNREAD: Final = (
    "the name of a file of gains must end in .npy, .csv or .csv.gz, and other formats are not read; received {!r}. Read"
    " it with pandas, and give the DataFrame as gains or save it by to_csv(..., index=False)."
)
BOOLEANS: Final = {"true": 1.0, "false": 0.0}
"""What Python, pandas and R write for 1 and 0, in lower case."""
LONG_COLUMNS = ("arm", "gain")
MOST_ARM: Final = 10**9
NO_ARM: Final = "('arm'): arms are whole numbers from 0; the entry there is not. Number the arms."
CLEAN_FIRST = " If it is a messy file, clean it first; docs/real-data.md shows how with pandas."
Row: TypeAlias = tuple[int, list[str]]


class Table(NamedTuple):
    """Gains of shape `(rounds, n_arms)`, and the person of each row; no owners if no column was named."""

    gains: FloatArray
    owners: Sequence[Hashable]


class Pools(NamedTuple):
    """For each arm its recorded gains, and the person of each gain; no owners if no column was named."""

    gains: list[FloatArray]
    owners: list[list[Hashable]]


def read(source: Any, persons: str | None = None) -> Table | Pools:
    """Read gains from a `DataFile` that ends in `.npy`, `.csv` or `.csv.gz`, an array, a data frame or an Arrow table.

    Args:
        source: A table with one column per arm and one row per round (in a CSV file, a first line of names is allowed).
            Or records: one recorded gain per row, in columns called `arm` and `gain`, with arms numbered from 0.
        persons: The name of one more column, in any case, with the person of each row.

    Returns:
        A table, or for records a pool for each arm.

    Raises:
        GainFileError: If it breaks one of these rules.
    """
    if not isinstance(source, DataFile):
        return _read_columns(source, persons)
    path = source.path
    if not path.name.endswith(ENDINGS):
        raise GainFileError(f"{path}: {UNREAD.format(path.name)}")
    if path.suffix != ".npy":
        return _read_csv(source, persons)
    if persons is not None:
        raise GainFileError(f"{path}: a file with a column of persons must be CSV, whose first line names it.")
    return Table(_read_npy(source), [])


def columns_of(data: Any) -> list[tuple[str, Any]]:
    """Return the columns, with their names in lower case, of a data frame, an Arrow table or a structured array.

    Other objects have none. Packages are recognised by attributes, without importing them.
    """
    if hasattr(data, "columns") and hasattr(data, "to_arrow"):  # polars
        data = data.to_arrow()
    named: Any = ()
    if hasattr(data, "column_names"):  # pyarrow; NumPy makes a number of a null among encoded values
        full = (one.to_pylist() if one.null_count else one for one in data.columns)
        named = zip(data.column_names, full, strict=True)
    elif hasattr(data, "columns") and hasattr(data, "iloc"):  # pandas
        named = data.items()
    elif getattr(getattr(data, "dtype", None), "names", None):
        named = ((name, data[name]) for name in data.dtype.names)
    return [(str(name).strip().lower(), column) for name, column in named]


def floats(cells: Any) -> FloatArray:
    """Return a copy of numbers as floats, with NaN for other entries: a gap, a masked cell, a text, a date.

    Raises:
        ValueError: If rows have different lengths.
    """
    masked: Any = np.ma.asarray(cells)
    with np.errstate(all="ignore"):  # a number too large for a float64 becomes inf
        if masked.dtype.kind in "biuf":
            gains = masked.data.astype(np.float64)
        elif masked.dtype.kind in "OUS":
            # As they were given: NumPy makes a text of every number beside a text.
            # `np.array`, as the function of one thing returns no array.
            gains = np.array(np.frompyfunc(_float, 1, 1)(np.asarray(cells, object)), np.float64)
        else:
            gains = np.full(masked.shape, np.nan)
    gains[np.ma.getmaskarray(masked)] = np.nan
    return gains  # type: ignore[no-any-return]


def _float(value: Any) -> float:
    try:
        return float(value) if isinstance(value, (numbers.Number, np.bool_)) else math.nan  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):  # a complex number, a signalling NaN, 10**400
        return math.nan


def check_table(table: Any, where: str, low: float = 0.0) -> FloatArray:
    """Return gains in [low, 1] as an array of shape `(rounds, n_arms)`, or raise and name the first wrong entry.

    Args:
        table: An array, or a data frame with a column for each arm.
        where: Its name in errors.
        low: The smallest gain.
    """
    columns = columns_of(table)
    names = [name for name, _ in columns]
    if set(LONG_COLUMNS) & set(names):
        raise GainFileError(
            f"{where}: a table must have one column for each arm; received records, with columns"
            f" {_short(', '.join(map(repr, names)))}. Play them by dp_bandit_envs.adversaries.Replay."
        )
    try:
        gains = np.column_stack([_cells(where, column) for _, column in columns]) if columns else floats(table)
    except GainFileError:
        raise
    except (TypeError, ValueError):
        raise GainFileError(f"{where}: every entry must be a number and every row as long as the others.") from None
    if gains.ndim == 0:
        raise GainFileError(
            f"{where}: must be a table of shape (rounds, n_arms); received {checks.kind_of(table)}. Give an array or"
            " a DataFrame; dp_bandit_envs.adversaries.Replay also reads a file, whose path is a str or a Path."
        )
    return _checked(gains, where, low)


def _cells(where: str, column: Any) -> FloatArray:
    """Return a column's numbers, shape `(rows,)`; a structured array may have no rows, or rows of rows."""
    cells = floats(column)
    if cells.ndim != 1:
        raise GainFileError(
            f"{where}: every column must have one number in each row; received a column of shape {cells.shape}. Give a"
            " DataFrame, or a structured array of one dimension."
        )
    return cells


def _checked(
    gains: FloatArray, where: str, low: float = 0.0, column_indices: Sequence[int] | None = None
) -> FloatArray:
    """Return a table of gains, or raise; `column_indices` are its columns' indices in the data, from 0."""
    if gains.ndim != 2 or gains.shape[0] < 1 or gains.shape[1] < 2:
        raise GainFileError(
            f"{where}: gains must form a table of shape (rounds, n_arms) with at least 1 round and 2 arms;"
            f" received shape {gains.shape}."
        )
    _check_range(gains, where, low, column_indices)
    return gains


def _check_range(gains: FloatArray, where: str, low: float = 0.0, column_indices: Sequence[int] | None = None) -> None:
    wrong = np.argwhere(~((gains >= low) & (gains <= 1)))
    if wrong.size:
        row, column = wrong[0]
        column = column if column_indices is None else column_indices[column]
        raise GainFileError(
            f"{where}: every gain must be a number in [{low:g}, 1]; row {row + 1}, column {column + 1} is not"
            f" ({len(wrong)} such entries in all). Rescale the gains, fill the gaps or remove those rows."
        )


def _read_columns(source: Any, persons: str | None) -> Table | Pools:
    where, columns = "gains", columns_of(source)
    names = [name for name, _ in columns]
    owner_column = None if persons is None else _owner_column(where, names, persons)
    records = bool(set(LONG_COLUMNS) & set(names))
    if owner_column is None and not records:
        return Table(check_table(source, where), [])
    owners = [] if owner_column is None else np.atleast_1d(np.asarray(columns[owner_column][1], object)).tolist()
    if not records:
        column_indices = [index for index in range(len(names)) if index != owner_column]
        cells = [np.empty((len(owners), 0)), *(_cells(where, columns[index][1]) for index in column_indices)]
        return Table(_checked(np.column_stack(cells), where, column_indices=column_indices), owners)
    _check_names(where, names, owner_column, "persons=")
    arm_column, gain_column = names.index("arm"), names.index("gain")
    arms, gains = (_cells(where, columns[index][1]) for index in (arm_column, gain_column))
    wrong = np.flatnonzero(~((arms >= 0) & (arms < MOST_ARM) & (arms == np.floor(arms))))
    if wrong.size:
        raise GainFileError(f"{where}, row {wrong[0] + 1}, column {arm_column + 1} {NO_ARM}")
    _check_range(gains[:, np.newaxis], where, column_indices=[gain_column])
    return _pools_of(f"{where}, column {arm_column + 1}", arms.astype(np.int64), gains, owners)


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
    n_bytes = len(file.content) - stream.tell()
    needed = math.prod(shape) * dtype.itemsize
    if min(shape, default=1) < 0 or needed != n_bytes:
        raise GainFileError(
            f"{file.name}: the {n_bytes:,} bytes after the header must be those of an array of shape"
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
    if first[1][0].lstrip().startswith(("{", "[")) or (len(first[1]) == 1 and re.search("[;\t|]", first[1][0])):
        raise GainFileError(
            f"{file.name}, line {first[0]}: columns must be separated by commas; these are not, or the file is of a"
            " format that is not read, such as JSON. Read it with pandas and save it by to_csv(..., index=False)."
        )
    names = [name.strip().lower() for name in first[1]]
    # A first line with any number in it is a round: a gap or a word in it is an error, not the name of a column.
    named = all(_number(cell) is None for cell in names)
    where = f"{file.name}, line {first[0]}"
    owner_column = None if persons is None else _owner_column(where, names if named else [], persons)
    if named and set(LONG_COLUMNS) & set(names):
        return _pools(file, names, first[0], rows, owner_column)
    return _table(file, first, rows, named=named, owner_column=owner_column)


def _owner_column(where: str, names: list[str], persons: str) -> int:
    """Return the index of the column with the person of each row."""
    wanted = persons.strip().lower()
    if names.count(wanted) != 1 or wanted in LONG_COLUMNS:
        # Without one of its own names it may be somebody's record.
        listed = _short(", ".join(map(repr, names))) if set(LONG_COLUMNS) & set(names) else "none that are known"
        raise GainFileError(
            f"{where}: one column of persons must be called {persons!r}; the names of columns are {listed}. Check the"
            " name, or write a first line of names."
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


def _table(file: DataFile, first: Row, rows: Iterator[Row], *, named: bool, owner_column: int | None) -> Table:
    width = len(first[1])
    n_arms = width - (owner_column is not None)
    if n_arms < 2:
        raise GainFileError(
            f"{file.name}, line {first[0]}: a table needs one column for each of at least 2 arms; received {n_arms}."
            f" A file of recorded gains needs the first line 'arm,gain'.{CLEAN_FIRST}"
        )
    # A flat array takes an eighth of the memory of lists of Python floats.
    gains = array("d")
    owners = []
    if not named:
        gains.extend(_round(file, first, width, owner_column))
    for row in rows:
        gains.extend(_round(file, row, width, owner_column))
        if owner_column is not None:
            owners.append(_owner(file, row[0], owner_column, row[1]))
    if not gains:
        raise GainFileError(f"{file.name}: the file must hold at least one line of gains; it has only a line of names.")
    return Table(np.frombuffer(gains, float).reshape(-1, n_arms), owners)


def _round(file: DataFile, row: Row, width: int, owner_column: int | None) -> list[float]:
    line, cells = row
    if len(cells) != width:
        raise GainFileError(
            f"{file.name}, line {line}: every line must have {width} columns like the first; received {len(cells)}."
        )
    return [_gain(file, line, column + 1, cell) for column, cell in enumerate(cells) if column != owner_column]


def _check_names(where: str, names: list[str], owner_column: int | None, option: str) -> None:
    """Raise unless the columns of records are exactly arm, gain and, if named, the column of persons."""
    if sorted(name for column, name in enumerate(names) if column != owner_column) == sorted(LONG_COLUMNS):
        return
    others = [name for name in names if name not in LONG_COLUMNS]
    # With one more column, it probably says whose each row is.
    one_more = owner_column is None and len(names) == len(LONG_COLUMNS) + 1 and len(others) == 1
    way = "Rename or remove columns."
    if one_more:
        way = f"If {others[0]!r} says whose the rows are, give {option}{others[0]!r}; otherwise remove it."
    raise GainFileError(
        f"{where}: recorded gains have the columns 'arm' and 'gain' and no others, unless persons= names one; received"
        f" {_short(', '.join(map(repr, names)))}. {way}{CLEAN_FIRST}"
    )


def _pools(file: DataFile, names: list[str], first_line: int, rows: Iterator[Row], owner_column: int | None) -> Pools:
    _check_names(f"{file.name}, line {first_line}", names, owner_column, "--persons ")
    arm_column, gain_column = names.index("arm"), names.index("gain")
    arms, gains, owners = array("q"), array("d"), []
    for line, cells in rows:
        if len(cells) != len(names):
            raise GainFileError(
                f"{file.name}, line {line}: every line must have {len(names)} columns; received {len(cells)}."
            )
        text = cells[arm_column].strip()
        # isascii: the digits of other alphabets are decimal too.
        if not (text.isascii() and text.isdecimal() and len(text) < len(str(MOST_ARM))):
            raise GainFileError(f"{file.name}, line {line}, column {arm_column + 1} {NO_ARM}")
        arms.append(int(text))
        gains.append(_gain(file, line, gain_column + 1, cells[gain_column]))
        if owner_column is not None:
            owners.append(_owner(file, line, owner_column, cells))
    where = f"{file.name}, column {arm_column + 1}"
    return _pools_of(where, np.array(arms, np.int64), np.array(gains, float), owners)


def _pools_of(where: str, arms: IntArray, gains: FloatArray, owners: Sequence[Hashable]) -> Pools:
    """Return the gains of each arm, in the order of the records."""
    distinct, sizes = np.unique(arms, return_counts=True)
    if len(distinct) < 2 or distinct[-1] != len(distinct) - 1:
        raise GainFileError(
            f"{where} ('arm'): at least 2 arms, numbered 0, 1, 2, ... without a gap, each with at least one record;"
            f" received the arms {distinct[:10].tolist()}. Renumber them."
        )
    records = np.split(np.argsort(arms, kind="stable"), np.cumsum(sizes)[:-1])
    return Pools([gains[rows] for rows in records], [[owners[one] for one in rows] for rows in records if owners])


def _gain(file: DataFile, line: int, column: int, cell: str) -> float:
    value = _number(cell)
    if value is None or not 0 <= value <= 1:
        # The entry may be private, so it is not shown.
        raise GainFileError(
            f"{file.name}, line {line}, column {column}: a gain must be a number in [0, 1]; the entry there is not."
            " Rescale the gains, fill the gap, or separate columns by commas and decimals by points."
            f"{CLEAN_FIRST}"
        )
    return value


def _number(cell: str) -> float | None:
    """Return a number as other programs write it, else None; Python reads 1_000 and other alphabets' digits too."""
    text = cell.strip().lower()
    try:
        return BOOLEANS[text] if text in BOOLEANS else float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None
