"""Reads a messy file of records whole, and reports all of its problems at once."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.errors import GainFileError, WrongTypeError
from dp_bandit_envs.protocols import IntArray
from dp_bandit_envs.recorded_data.clean_records import CleanRecords, Findings, Problem, rounds_of
from dp_bandit_envs.recorded_data.messy_columns import (
    Column,
    Decisions,
    arms_of,
    name_key,
    note_spellings,
    problems_of_arms,
    problems_of_names,
    read_gains,
    replace_alike,
    within_limit,
)
from dp_bandit_envs.recorded_data.messy_files import Record, Sheet, columns_of, file_of, read_sheet

FROM_DATA: Final = ("auto", "data", "minmax", "min-max", "min,max", "range", "normalize", "normalise")


def clean(
    source: Any,
    *,
    arm: str,
    gain: str,
    persons: str | None = None,
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
        persons: The name of the column that says whose the record is. Clean files number persons anew.
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
    for name, column in (("arm", arm), ("gain", gain), ("persons", "" if persons is None else persons)):
        if not isinstance(column, str):
            raise WrongTypeError(f"{name} must be the name of a column; received {checks.kind_of(column)}.")
    if most_per_person is not None and persons is None:
        raise ValueError("most_per_person must come with persons=, their column; it is not given. Give both.")
    codes = _codes(missing_codes)
    worst, best = _scale(scale)
    decided = Decisions(
        worst=worst,
        best=best,
        missing=_missing(missing),
        outside=checks.one_of("outside", outside, ("refuse", "drop", "clip")),
        unreadable=checks.one_of("unreadable", unreadable, ("refuse", "drop")),
        duplicates=checks.one_of("duplicates", duplicates, ("keep", "drop")),
        decimal=None if checks.one_of("decimal", decimal, ("auto", "point", "comma")) == "auto" else decimal,
        values=_values(values or {}),
        missing_codes=codes,
        most_per_person=None
        if most_per_person is None
        else checks.integer("most_per_person", most_per_person, at_least=1),
        arms_alike=_alike(arms_alike or {}),
    )
    file = file_of(source)
    wanted = [arm, gain] if persons is None else [arm, gain, persons]
    first = checks.integer("header", header, at_least=1)
    found = read_sheet(file, wanted, drop_broken=decided.unreadable == "drop", header=first, sheet=sheet)
    columns = columns_of(found, wanted, name=file.name)
    if len(set(columns)) < len(columns):
        raise GainFileError(f"{file.name}: arm, gain and persons must be different columns; received {wanted}.")
    return _cleaned(file.path.name, found, columns, wanted, decided)


def _cleaned(
    source: str, sheet: Sheet, places: Sequence[int], wanted: Sequence[str], decided: Decisions
) -> CleanRecords:
    of_lines = Findings()
    records = _without_copies(sheet.records, of_lines, decided)
    lines = [record.line for record in records]
    arm, gain, *others = [
        Column(name, [record.cells[place] for record in records], lines)
        for place, name in zip(places, wanted, strict=True)
    ]
    person = others[0] if others else None
    replace_alike(arm, decided.arms_alike)
    gains, of_gains = read_gains(gain, decided)
    named = list(range(len(records)))
    for column in (arm, *others):
        absent = {index for index, cell in enumerate(column.cells) if decided.is_no_name(cell)}
        for index in sorted(absent):
            column.note("missing", index)
        named = [index for index in named if index not in absent]
    arms = arms_of([arm.cells[index] for index in named])
    arm_of = dict(zip(named, arms.arm, strict=True))
    for index, common in zip(named, arms.common, strict=True):
        if not common:
            arm.note("spelling", index)
    shown_names = () if arms.are_too_many else arms.names
    problems = [*sheet.problems, *_problems_of_lines(sheet, places, of_lines, decided), *of_gains]
    # While something is open, few gains may be usable; then what counts is what the file has.
    open_yet = any(one.is_open for one in problems) or (decided.missing == "refuse" and len(named) < len(records))
    counted = named if open_yet else [index for index in named if not math.isnan(gains[index])]
    owners = None
    if person is not None:
        owners = [name_key(cell) for cell in person.cells]
        note_spellings(person, owners, named)
        counted = within_limit(person, owners, counted, decided.most_per_person)
    problems += problems_of_names(arm, person, decided, shown_names)
    # Without one number among the outcomes, arms and outcomes may be exchanged: then "few" would count outcomes.
    only_words = all(math.isnan(one) for one in gains) and any(one.kind == "text" for one in of_gains)
    of_arms = problems_of_arms(arm, arms, [(lines[index], arm_of[index]) for index in counted])
    problems += [one for one in of_arms if one.kind != "few" or not only_words]
    used = [] if any(one.is_open for one in problems) else counted
    return CleanRecords(
        source=source,
        lines=len(sheet.records),
        arm_names=shown_names,
        records_of_arms=tuple(np.bincount([arm_of[one] for one in counted], minlength=len(arms.names)).tolist()),
        rounds_per_person=None if owners is None else rounds_of([owners[index] for index in counted]),
        arms=np.array([arm_of[index] for index in used], dtype=np.int64),
        gains=np.array([gains[index] for index in used], dtype=float),
        persons=None if owners is None else _numbered([owners[index] for index in used]),
        problems=tuple(problems),
    )


def _without_copies(records: Sequence[Record], found: Findings, decided: Decisions) -> list[Record]:
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


def _problems_of_lines(sheet: Sheet, places: Sequence[int], found: Findings, decided: Decisions) -> list[Problem]:
    problems = []
    unknown = [name for index, name in enumerate(sheet.names) if index not in places]
    if unknown:
        shown = ", ".join(name or "without a name" for name in unknown[:10]) + (", ..." if len(unknown) > 10 else "")
        what = f"other column{'' if len(unknown) == 1 else 's'}, {shown}"
        problems.append(Problem("unknown", "", len(unknown), (), what, "not used", False))
    dropped = decided.duplicates == "drop"
    kept = "kept; if the file was exported twice, give {duplicates=drop}"
    return problems + found.problem("copy", "line[s] equal to an earlier one", "left out" if dropped else kept)


def _numbered(owners: Sequence[str]) -> IntArray:
    numbers = {owner: number for number, owner in enumerate(dict.fromkeys(owners))}
    return np.array([numbers[owner] for owner in owners], dtype=np.int64)


def _scale(scale: Any) -> tuple[float | None, float]:
    """Return the worst and the best possible outcome."""
    if scale is None:
        return None, 1.0
    if isinstance(scale, str):
        word = scale.strip().lower()
        if word == "percent":
            return 0.0, 100.0
        if word in FROM_DATA:
            raise ValueError(
                f"scale must be known without the data, such as 0,100 for a score from 0 to 100; received {scale!r}."
                " The smallest and largest value in the data are somebody's outcomes: all clean gains would depend on"
                " them, which no noise for one record covers. Take the range from the questionnaire or the protocol."
            )
        scale = word.split(",")
    try:
        worst, best = (float(end) for end in scale)
    except (TypeError, ValueError):
        worst = best = math.nan
    if not (math.isfinite(worst) and math.isfinite(best) and worst != best):
        raise ValueError(
            f"scale must be percent, or the worst and the best possible outcome, two different numbers such as 0,100;"
            f" received {scale!r}. Where less is better, as for days in hospital, begin with the larger: 30,0."
        )
    return worst, best


def _missing(missing: Any) -> str | float:
    if missing in ("refuse", "drop"):
        return str(missing)
    try:
        gain = float(missing)
    except (TypeError, ValueError):
        gain = math.nan
    if isinstance(missing, bool) or not 0 <= gain <= 1:
        raise ValueError(
            f"missing must be refuse, drop, or the gain in [0, 1] that a missing outcome counts as; received"
            f" {missing!r}. Use drop, or 0 where no outcome means no success."
        )
    return gain


def _codes(codes: Sequence[Any] | str) -> frozenset[str]:
    if not isinstance(codes, (str, Sequence)):
        raise WrongTypeError(f"missing_codes must be a list, such as [-99]; received {checks.kind_of(codes)}.")
    return frozenset(str(code).strip().casefold() for code in (codes.split(",") if isinstance(codes, str) else codes))


def _pairs(given: Any) -> list[Any]:
    return [part.split("=") for part in given.split(",")] if isinstance(given, str) else list(given.items())


def _alike(arms_alike: Mapping[str, str] | str) -> dict[str, str]:
    try:
        return {" ".join(str(one).split()).casefold(): str(other).strip() for one, other in _pairs(arms_alike)}
    except (AttributeError, TypeError, ValueError):
        raise ValueError(
            "arms_alike must say which name stands for which, as in Plazebo=Placebo, or unbekannt= for none; what was"
            " given does not."
        ) from None


def _values(values: Mapping[str, float] | str) -> dict[str, float]:
    pairs = []
    try:
        pairs = _pairs(values)
        numbers = {str(word).strip().casefold(): float(value) for word, value in pairs}
    except (AttributeError, TypeError, ValueError):
        numbers = {"": math.nan}
    if not all(math.isfinite(value) for value in numbers.values()):
        raise ValueError("values must say which number each word is, as in no=0,yes=1; what was given does not.")
    if len(numbers) < len(pairs):
        raise ValueError("values must say of each word once which number it is; one is there twice. Leave one out.")
    return numbers
