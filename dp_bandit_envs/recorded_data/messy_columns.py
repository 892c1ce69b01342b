"""The columns of a messy file: the gains, the names of arms and the ids of persons, and what is wrong with each."""

import dataclasses
import itertools
import math
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from dp_bandit_envs.recorded_data.clean_records import SHOWN_LINES, Findings, Problem
from dp_bandit_envs.recorded_data.written_numbers import MISSING, has_decimal_comma, read_number

FEW_RECORDS = 10
"""Arms with fewer records than this, or than a hundredth of all, are reported."""
MOST_NAMED_ARMS = 100
"""A column with more names than this is taken not to be that of the arms, and none of them is shown."""
MANY = 5
"""Persons with more records than this, and than this times the median, are reported."""
SHORTEST: Final = 4
"""Shorter names, such as A1 and A2, are not compared by their letters."""
_WHOLE: Final = re.compile(r"[+-]?\d+(\.0*)?")
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
        ("thousands", "thousands separator[s]", "left out", False),
        ("percent", "percent sign[s]", "left out, as a scale is given" if scaled else "divided by 100", False),
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
