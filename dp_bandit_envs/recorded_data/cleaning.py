"""Reads a messy file of records whole, and reports all of its problems at once."""

import dataclasses
import itertools
import math
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.errors import GainFileError, WrongTypeError
from dp_bandit_envs.protocols import IntArray
from dp_bandit_envs.recorded_data.clean_records import SHOWN_LINES, CleanRecords, Findings, Problem, rounds_of
from dp_bandit_envs.recorded_data.messy_files import Record, Sheet, columns_of, file_of, read_sheet
from dp_bandit_envs.recorded_data.written_numbers import MISSING, has_decimal_comma, read_number

FEW_RECORDS = 10
"""Arms with fewer records than this, or than a hundredth of all, are reported."""
MOST_NAMED_ARMS = 100
"""A column with more names than this is taken not to be that of the arms, and none of them is shown."""
MANY = 5
"""Persons with more records than this, and than this times the median, are reported."""
SHORTEST: Final = 4
"""Shorter names, such as A1 and A2, are not compared by their letters."""
_WHOLE: Final = re.compile(r"[+-]?\d{1,4000}(\.0*)?")  # Python reads no number of more than 4,300 digits
_NEGATIVE: Final = re.compile(r"-\d+(\.0*)?")
_UNSIGNED: Final = re.compile(r"\+?[\d.]+")
_DOSE: Final = re.compile(r"[\d.,]+\s*(mg|g|ml|µg|ug|mcg|%|ie|iu)?(?![a-z])")


@dataclasses.dataclass(frozen=True)
class Decisions:
    """What the user decided, checked; see the arguments of `clean`. All spellings are in lower case.

    Attributes:
        worst: The outcome that becomes gain 0; None if gains are taken as they are.
        best: The outcome that becomes gain 1.
        missing: `"refuse"`, `"drop"`, or the gain that a missing outcome counts as.
        decimal: The mark before decimals; None if nobody said it.
        values: Gains of outcomes that are words, before scaling.
        arms_alike: Names of arms that stand for another; "" is a missing arm.
    """

    worst: float | None
    best: float
    missing: str | float
    outside: str
    unreadable: str
    duplicates: str
    decimal: str | None
    values: dict[str, float]
    missing_codes: frozenset[str]
    most_per_person: int | None
    arms_alike: dict[str, str]

    def is_no_name(self, cell: str) -> bool:
        """Return whether an arm or person is missing: a code such as 99 may be the number of one, none a treatment."""
        text = cell.strip().casefold()
        if text in self.missing_codes and not _UNSIGNED.fullmatch(text):
            return True
        return text == "nan" or (text in MISSING and text not in ("none", "nil"))


@dataclasses.dataclass
class Column:
    """The cells of one column as they are written, of each its line in the file, and what was noted."""

    name: str
    cells: list[str]
    lines: list[int]
    found: Findings = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.found = Findings(self.name)

    def note(self, kind: str, index: int) -> None:
        """Count one more problem, of the cell at an index."""
        self.found.add(kind, self.lines[index])


def read_gains(column: Column, decided: Decisions) -> tuple[list[float], list[Problem]]:
    """Return the gain of each cell, NaN where its line is left out or needs a decision, and the problems found."""
    different = dict.fromkeys(column.cells)
    # One record's cell may show how numbers are written here, but does not decide what other records' cells mean.
    commas = decided.decimal is None and any(map(has_decimal_comma, different))
    # A column has few different cells, and each is read once.
    read = {
        cell: read_number(cell, decimal=decided.decimal, commas=commas, codes=decided.missing_codes)
        for cell in different
    }
    gains, plain = [], []
    for index, cell in enumerate(column.cells):
        word = decided.values.get(cell.strip().casefold())
        if word is not None:
            gains.append(_scaled(word, index, column, decided))
            continue
        one = read[cell]
        if one.kind != "number":
            column.note(one.kind, index)
            filled = one.kind in ("missing", "nan") and isinstance(decided.missing, float)
            gains.append(float(decided.missing) if filled else math.nan)
            continue
        for kind, there in (("comma", one.comma), ("thousands", one.thousands), ("percent", one.percent)):
            if there:
                column.note(kind, index)
        if not one.percent:
            plain.append(index)
        value = one.value / 100 if one.percent and decided.worst is None else one.value
        gains.append(_scaled(value, index, column, decided))
    if column.found.count("percent") and decided.worst is None:
        for index in plain:
            column.note("no percent", index)
    return gains, _problems_of_gains(column.found, decided)


def _scaled(value: float, index: int, column: Column, decided: Decisions) -> float:
    if decided.worst is not None:
        value = (value - decided.worst) / (decided.best - decided.worst)
    if 0 <= value <= 1:
        return value
    column.note("outside", index)
    return min(1.0, max(0.0, value)) if decided.outside == "clip" else math.nan


def _problems_of_gains(found: Findings, decided: Decisions) -> list[Problem]:
    gap = {
        "refuse": "give {missing=drop} to leave these lines out, or {missing=0} where no outcome is no success",
        "drop": "left out",
    }.get(str(decided.missing)) or f"counted as gain {decided.missing:g}"
    open_gap, open_unread = decided.missing == "refuse", decided.unreadable == "refuse"
    unread, text, marks = "left out", "left out", "left out"
    if open_unread:
        unread = "correct these cells, or give {unreadable=drop} to leave the lines out"
        text = f"{unread}; if words are outcomes, say which gain each is: {{values=no=0,yes=1}}; if they mean missing,"
        text += " {missing_codes=refused}"
        marks = "say which mark is that of decimals, {decimal=comma} or {decimal=point}"
    outside = {"drop": "left out", "clip": "set to 0 or 1"}.get(decided.outside) or (
        "give {scale=WORST,BEST}, the worst and best possible outcome, such as {scale=0,100} (public knowledge, never"
        " taken from the data); codes for missing values are {missing_codes=-99}; what then is outside, {outside=drop}"
        " or {outside=clip}"
    )
    scaled = decided.worst is not None
    unclear = "number[s] with thousands or decimals, which is not clear, as in 1,234"
    rows = (
        ("missing", "missing value[s]", gap, open_gap),
        ("nan", "value[s] NaN", gap, open_gap),
        ("infinite", "infinite value[s]", unread, open_unread),
        ("text", "cell[s] with text in place of a number", text, open_unread),
        ("ambiguous", unclear, marks, open_unread),
        ("outside", f"gain[s] outside {'the scale' if scaled else '[0, 1]'}", outside, decided.outside == "refuse"),
        ("no percent", "number[s] without % where others have it", "give {scale=percent} if all are percent", True),
        ("comma", "decimal comma[s]", "read as decimal points", False),
        ("thousands", "thousands separator[s]", "ignored", False),
        ("percent", "percent sign[s]", "ignored, as a scale is given" if scaled else "divided by 100", False),
    )
    return [one for kind, what, remedy, is_open in rows for one in found.problem(kind, what, remedy, is_open=is_open)]


class Arms(NamedTuple):
    """The arms of a file.

    Attributes:
        names: Of each arm its most frequent spelling; numbers in their order, then words in alphabetical order.
        arm: The number of the arm of each cell.
        common: Whether each cell is written in its arm's most frequent spelling.
    """

    names: tuple[str, ...]
    arm: list[int]
    common: list[bool]

    @property
    def are_too_many(self) -> bool:
        """Whether the names are probably of persons, which are not to be shown."""
        names, records = len(self.names), len(self.arm)
        return names > min(MOST_NAMED_ARMS, max(2, records // 2)) or (names > 20 and records < FEW_RECORDS * names)


def arms_of(cells: Sequence[str]) -> Arms:
    """Return which arm each cell names; spellings that differ only in case, spaces or a final point are one arm."""
    keys = [name_key(cell) for cell in cells]
    spellings: dict[str, Counter[str]] = {}
    for key, cell in zip(keys, cells, strict=True):
        spellings.setdefault(key, Counter())[cell] += 1
    order = sorted(spellings, key=lambda key: (not _is_whole(key), int(key) if _is_whole(key) else 0, key))
    names = {key: spellings[key].most_common(1)[0][0] for key in order}
    number = {key: arm for arm, key in enumerate(order)}
    common = [cell == names[key] for key, cell in zip(keys, cells, strict=True)]
    shown = tuple(" ".join(names[key].split()) for key in order)
    return Arms(shown, [number[key] for key in keys], common)


def name_key(cell: str) -> str:
    """Return what is the same for all spellings of an arm or id; to merge too many ids is on the safe side."""
    text = " ".join(cell.split()).casefold()
    if _is_whole(text):
        return str(int(text.partition(".")[0]))
    return text.rstrip(".").rstrip() or text


def _is_whole(text: str) -> bool:
    return text.isascii() and _WHOLE.fullmatch(text) is not None


def replace_alike(column: Column, alike: dict[str, str]) -> None:
    """Put in place of each name of an arm the one that stands for it."""
    for index, cell in enumerate(column.cells):
        other = alike.get(" ".join(cell.split()).casefold())
        if other is not None:
            column.note("alike", index)
            column.cells[index] = other


def within_limit(column: Column, owners: Sequence[str], indices: Sequence[int], most: int | None) -> list[int]:
    """Return the records within the most of a person, and note persons with very many and records beyond the limit."""
    counts = Counter(owners[index] for index in indices)
    median = statistics.median(counts.values()) if counts else 0
    served: Counter[str] = Counter()
    kept = []
    for index in indices:
        owner = owners[index]
        served[owner] += 1
        if served[owner] == 1 and counts[owner] > max(MANY, MANY * median):
            column.note("many", index)
        if most is not None and served[owner] > most:
            column.note("beyond", index)
        else:
            kept.append(index)
    return kept


def note_spellings(column: Column, owners: Sequence[str], indices: Sequence[int]) -> None:
    """Note ids that are written in several ways, and negative ones among others, which are codes and no persons."""
    first: dict[str, str] = {}
    codes = {owner for owner in set(owners) if _NEGATIVE.fullmatch(owner)}
    few = 2 * len(codes) < len(set(owners))
    for index in indices:
        if column.cells[index] != first.setdefault(owners[index], column.cells[index]):
            column.note("spelling", index)
        if few and owners[index] in codes:
            column.note("code", index)


def problems_of_names(
    arm: Column, person: Column | None, decided: Decisions, shown_names: Sequence[str]
) -> list[Problem]:
    """Return the problems of the columns of arms and persons; no names of arms if they are not to be shown."""
    open_gap = decided.missing == "refuse"
    gap = "give {missing=drop} to leave these lines out" if open_gap else "left out"
    variants = "with other spaces, case or a final point"
    problems = []
    for column in (arm, person):
        if column is not None:
            problems += column.found.problem("missing", "missing value[s]", gap, is_open=open_gap)
    spelled = f"taken to be one of {', '.join(shown_names)}" if shown_names else "taken to be the same"
    problems += arm.found.problem("spelling", f"name[s] {variants}", spelled)
    problems += arm.found.problem("alike", "name[s] of arms that stand for another", "taken as you said")
    if person is None:
        return problems
    most = decided.most_per_person
    many = "kept; what holds for a person grows with the most records of one, and {most_per_person=5} keeps five"
    many = f"at most {most} of each kept" if most else many
    same = "taken to be the same person as the id without them"
    code = "if a code for an unknown person, give it as {missing_codes=-99}; otherwise write them without the sign"
    return [
        *problems,
        *person.found.problem("spelling", f"id[s] {variants}", same),
        *person.found.problem("code", "record[s] with a negative number as id", code, is_open=True),
        *person.found.problem("many", "person[s] with very many records, of whom the first are in", many),
        *person.found.problem("beyond", "record[s] of persons who have more", "left out"),
    ]


def problems_of_arms(column: Column, arms: Arms, counted: Sequence[tuple[int, int]]) -> list[Problem]:
    """Return the problems of too few or too many arms, and of arms with few records or names that are near.

    Args:
        column: The column of arms.
        arms: Its arms.
        counted: Of each record that counts, its line and its arm.
    """
    names = arms.names
    another = "give {arm=COLUMN}, the column of the treatments"
    if arms.are_too_many:
        what = "different names, which are too many for arms and are not shown"
        return [Problem("names", column.name, len(names), (), what, another, True)]
    if len(names) < 2:
        return [Problem("one arm", column.name, len(names), (), "arm, where a game needs two", another, True)]
    counts = Counter(arm for _, arm in counted)
    problems = []
    for arm, name in enumerate(names):
        if counts[arm] >= max(FEW_RECORDS, len(counted) / 100):
            continue
        first = [line for line, other in counted if other == arm][:SHOWN_LINES]
        remedy = f"an arm without a record cannot be played; correct its lines, or give {{arms_alike={name}=}}"
        if counts[arm]:
            passes = -(-len(counted) // counts[arm])
            remedy = f"kept; a replay of all records plays each of them {passes} times, and epsilon counts as often;"
            remedy += f" {{arms_alike={name}=OTHER}} makes it one with another arm, {{arms_alike={name}=}} missing"
        what = f"record{'' if counts[arm] == 1 else 's'} of the arm {name}"
        problems.append(Problem("few", column.name, counts[arm], tuple(first), what, remedy, not counts[arm]))
    for one, other in itertools.combinations(names, 2):
        if are_near(one, other):
            what = f"arms whose names are near, {one} and {other}"
            remedy = f"kept apart; if they are one, give {{arms_alike={one}={other}}}"
            problems.append(Problem("near", column.name, 2, (), what, remedy, False))
    return problems


def are_near(one: str, other: str) -> bool:
    """Return whether two names of arms differ in one letter, or in a dose only."""
    names = one.casefold(), other.casefold()
    bare = tuple(_DOSE.sub("", name).strip() for name in names)
    if bare[0] == bare[1] and len(bare[0]) >= SHORTEST:
        return True
    if min(map(len, names)) < SHORTEST or bare != names:
        return False
    short, long = sorted(names, key=len)
    at = next((index for index, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    # One letter is changed, added or left out.
    return long[at + 1 :] in (short[at:], short[at + 1 :])


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
