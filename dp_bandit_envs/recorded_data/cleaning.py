"""Reads a messy file of records whole, and reports all of its problems at once."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.errors import GainFileError, WrongTypeError
from dp_bandit_envs.protocols import IntArray
from dp_bandit_envs.recorded_data.arm_spellings import arms_of, person_key
from dp_bandit_envs.recorded_data.arms_alike import near_names, with_alike
from dp_bandit_envs.recorded_data.clean_options import Decisions, decisions
from dp_bandit_envs.recorded_data.clean_records import CleanRecords, rounds_of
from dp_bandit_envs.recorded_data.column_names import columns_of
from dp_bandit_envs.recorded_data.file_cells import Record, Sheet
from dp_bandit_envs.recorded_data.file_problems import Findings, Problem
from dp_bandit_envs.recorded_data.gain_column import gains_of
from dp_bandit_envs.recorded_data.name_columns import are_no_arms, of_arms, of_names, of_persons, within_limit
from dp_bandit_envs.recorded_data.reading import file_of, read_sheet


def clean(
    source: Any,
    *,
    arm: str,
    gain: str,
    person: str | None = None,
    scale: str | tuple[float, float] | None = None,
    missing: str | float = "refuse",
    outside: str = "refuse",
    unreadable: str = "refuse",
    duplicates: str = "keep",
    decimal: str = "auto",
    values: Mapping[str, float] | str | None = None,
    missing_codes: Sequence[Any] | str = (),
    most_per_person: int | None = None,
    arms_alike: Mapping[str, str] | str | None = None,
    header: int = 1,
    sheet: str | None = None,
) -> CleanRecords:
    """Read a messy file with one recorded gain a line, and return clean records with all problems of the file.

    What has one meaning is put right: encodings, separators, quotation marks, decimal commas, spellings of an arm. What
    is a decision stays open until an argument takes it; then there is no clean file yet. No problem shows a gain or a
    person's id. Which lines are left out depends on the data, and the number of records counts as public: clean before
    the guarantee begins, and publish no counts of it that you would not publish otherwise.

    Args:
        source: A pandas DataFrame, in which line 2 is the first row; or a file: `.csv`, `.csv.gz`, `.tsv` or `.txt`
            with a line of names first; `.parquet` or `.xlsx` with the extra `data`.
        arm: The name of the column that says which arm was played; numbers or words, upper and lower case are the same.
        gain: The name of the column of outcomes, larger ones better.
        person: The name of the column that says whose the record is. Clean files number persons anew.
        scale: What outcomes become gains 0 and 1: None if they are in [0, 1]; `"percent"`; or the worst and the best
            possible outcome, `(0, 100)` or `"0,100"`, or `(30, 0)` where less is better. Never take them from the data.
        missing: `"refuse"`, `"drop"`, or the gain that a missing outcome counts as; a number leaves out lines without
            an arm or a person.
        outside: For gains outside [0, 1]: `"refuse"`, `"drop"` or `"clip"`.
        unreadable: For cells that are no number and lines of another number of cells: `"refuse"` or `"drop"`.
        duplicates: For second and later copies of whole lines: `"keep"` or `"drop"`.
        decimal: The mark before decimals: `"point"`, `"comma"`, or `"auto"`, which reads what has one meaning, such as
            0,5 or 12.34, and leaves 1,234 open, and in a column with decimal commas 1.234 too.
        values: Outcomes that are words, `{"cured": 1, "not cured": 0}` or `"cured=1,not cured=0"`.
        missing_codes: More spellings of a missing value, numbers or words, such as `[-99, "refused"]` or
            `"-99,refused"`. Of arms and persons only words and negative numbers: 99 may be the number of one.
        most_per_person: Records of a person beyond this number are left out, the later ones in the file.
        arms_alike: Names of arms that stand for another, `{"Plazebo": "Placebo"}` or `"Plazebo=Placebo"`; with nothing
            behind it, `"unbekannt="`, the arm is missing.
        header: The line with the names of the columns, from 1; lines before it are not read.
        sheet: The name of the sheet of an Excel file; by default the first.

    Raises:
        WrongTypeError: If the source is neither a file nor a DataFrame.
        GainFileError: If there is no such file, or no such column in it, or no record.
        ValueError: If an argument is none of its choices, or the scale is to be taken from the data.
        ImportError: For Parquet and Excel without the extra `data`.
    """
    for name, column in (("arm", arm), ("gain", gain), ("person", "" if person is None else person)):
        if not isinstance(column, str):
            raise WrongTypeError(f"{name} must be the name of a column; received a {type(column).__name__}.")
    if most_per_person is not None and person is None:
        raise ValueError("most_per_person must come with person, the column of persons; it is not given. Give both.")
    decided = decisions(
        scale=scale,
        missing=missing,
        outside=outside,
        unreadable=unreadable,
        duplicates=duplicates,
        decimal=decimal,
        values=values,
        missing_codes=missing_codes,
        most_per_person=most_per_person,
        arms_alike=arms_alike,
    )
    file = file_of(source)
    wanted = [arm, gain] if person is None else [arm, gain, person]
    first = checks.integer("header", header, at_least=1)
    found = read_sheet(file, wanted, drop_broken=decided.unreadable == "drop", header=first, sheet=sheet)
    columns = columns_of(found, wanted, name=file.name)
    if len(set(columns)) < len(columns):
        raise GainFileError(f"{file.name}: arm, gain and person must be different columns; received {wanted}.")
    return _cleaned(file, found, columns, wanted, decided)


def _cleaned(
    file: DataFile, sheet: Sheet, columns: list[int], wanted: Sequence[str], decided: Decisions
) -> CleanRecords:
    found = Findings()
    records = _without_copies(sheet.records, found, decided)
    lines = [record.line for record in records]
    cells = [[record.cells[column] for record in records] for column in columns]
    cells[0] = with_alike(cells[0], lines, wanted[0], decided.arms_alike, found)
    gains, of_gains = gains_of(cells[1], lines, decided, column=wanted[1])
    named = list(range(len(records)))
    for column in (0, 2)[: len(columns) - 1]:
        absent = {index for index, cell in enumerate(cells[column]) if cell.strip().casefold() in decided.missing_names}
        for index in sorted(absent):
            found.add("missing", lines[index], wanted[column])
        named = [index for index in named if index not in absent]
    arms = arms_of([cells[0][index] for index in named])
    arm_of = dict(zip(named, arms.arm, strict=True))
    for index, common in zip(named, arms.common, strict=True):
        if not common:
            found.add("spelling", lines[index], wanted[0])
    hidden = are_no_arms(len(arms.names), len(named))
    usable = [index for index in named if not math.isnan(gains[index])]
    problems = [*sheet.problems, *_of_lines(sheet, columns, found, decided), *of_gains]
    # While something is open, few gains may be usable; then what counts is what the file has.
    open_yet = any(one.is_open for one in problems) or (decided.missing == "refuse" and len(named) < len(records))
    counted = named if open_yet else usable
    owners = [person_key(cell) for cell in cells[2]] if len(columns) > 2 else None
    if owners is not None:
        of_persons(owners, cells[2], named, lines, wanted[2], found)
        counted = within_limit(counted, owners, lines, wanted[2], found, decided.most_per_person)
    problems += of_names(found, wanted, decided, () if hidden else arms.names)
    arms_counted = [arm_of[index] for index in counted]
    of_the_arms = of_arms(wanted[0], arms.names, arms_counted, [lines[index] for index in counted], len(named))
    of_the_arms += [] if hidden else near_names(wanted[0], arms.names)
    # Without one number among the outcomes, arms and outcomes may be exchanged: then "few" would count outcomes.
    only_words = all(math.isnan(gain) for gain in gains) and any(one.kind == "text" for one in of_gains)
    problems += [one for one in of_the_arms if one.kind != "few" or not only_words]
    used = [] if any(one.is_open for one in problems) else counted
    return CleanRecords(
        source=file.path.name,
        lines=len(sheet.records),
        arm_names=() if hidden else arms.names,
        records_of_arms=tuple(np.bincount(arms_counted, minlength=len(arms.names)).tolist()),
        rounds_per_person=None if owners is None else rounds_of([owners[index] for index in counted]),
        arms=np.array([arm_of[index] for index in used], dtype=np.int64),
        gains=np.array([gains[index] for index in used], dtype=float),
        persons=None if owners is None else _numbered([owners[index] for index in used]),
        problems=tuple(problems),
    )


def _without_copies(records: list[Record], found: Findings, decided: Decisions) -> list[Record]:
    seen: set[tuple[str, ...]] = set()
    kept = []
    for record in records:
        key = tuple(record.cells)
        if key in seen:
            found.add("copy", record.line)
            if decided.duplicates == "drop":
                continue
        seen.add(key)
        kept.append(record)
    return kept


def _of_lines(sheet: Sheet, columns: list[int], found: Findings, decided: Decisions) -> list[Problem]:
    problems = []
    unknown = [name for index, name in enumerate(sheet.names) if index not in columns]
    if unknown:
        shown = ", ".join(name or "without a name" for name in unknown[:10]) + (", ..." if len(unknown) > 10 else "")
        what = f"other column{'' if len(unknown) == 1 else 's'}, {shown}"
        problems.append(Problem("unknown", "", len(unknown), (), what, "not used", False))
    dropped = decided.duplicates == "drop"
    kept = "kept; if the file was exported twice, give {duplicates=drop}"
    return problems + found.problem("copy", "line[s] equal to an earlier one", "left out" if dropped else kept)


def _numbered(owners: list[str]) -> IntArray:
    numbers = {owner: number for number, owner in enumerate(dict.fromkeys(owners))}
    return np.array([numbers[owner] for owner in owners], dtype=np.int64)
