"""The columns of arms and of persons: missing and unusual names, arms with few records, persons with many."""

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Final

from dp_bandit_envs.recorded_data.clean_options import Decisions
from dp_bandit_envs.recorded_data.file_problems import SHOWN_LINES, Findings, Problem

_NEGATIVE: Final = re.compile(r"-\d+(\.0*)?")
FEW_RECORDS = 10
"""Arms with fewer records than this, or than a hundredth of all, are reported."""
MOST_NAMED_ARMS = 100
"""A column with more names than this is taken not to be that of the arms, and none of them is shown."""
MANY = 5
"""Persons with more records than this, and than this times the median, are reported."""


def are_no_arms(names: int, records: int) -> bool:
    """Return whether so many names are probably of persons, which are not to be shown."""
    return names > min(MOST_NAMED_ARMS, max(2, records // 2)) or (names > 20 and records < FEW_RECORDS * names)


def within_limit(
    indices: Sequence[int], owners: Sequence[str], lines: Sequence[int], column: str, found: Findings, most: int | None
) -> list[int]:
    """Return the records within the most of a person, and note persons with very many and records beyond the limit.

    Args:
        indices: The records that count.
        owners: Of all records, whose they are.
        lines: Of all records, their lines.
        column: The name of the column of persons.
        found: What it is added to.
        most: The most records of a person; None for no limit.
    """
    counts = Counter(owners[index] for index in indices)
    median = statistics.median(counts.values()) if counts else 0
    served: Counter[str] = Counter()
    kept = []
    for index in indices:
        owner = owners[index]
        served[owner] += 1
        if served[owner] == 1 and counts[owner] > max(MANY, MANY * median):
            found.add("many", lines[index], column)
        if most is not None and served[owner] > most:
            found.add("beyond", lines[index], column)
        else:
            kept.append(index)
    return kept


def of_persons(
    owners: Sequence[str],
    cells: Sequence[str],
    indices: Sequence[int],
    lines: Sequence[int],
    column: str,
    found: Findings,
) -> None:
    """Note ids that are written in several ways, and negative ones among others, which are codes and no persons.

    Args:
        owners: Of all records, whose they are.
        cells: Of all records, the id as it is written.
        indices: The records with an id.
        lines: Of all records, their lines.
        column: The name of the column of persons.
        found: What it is added to.
    """
    first: dict[str, str] = {}
    codes = {owner for owner in set(owners) if _NEGATIVE.fullmatch(owner)}
    few = 2 * len(codes) < len(set(owners))
    for index in indices:
        if cells[index] != first.setdefault(owners[index], cells[index]):
            found.add("spelling", lines[index], column)
        if few and owners[index] in codes:
            found.add("code", lines[index], column)


def of_names(found: Findings, wanted: Sequence[str], decided: Decisions, names: Sequence[str]) -> list[Problem]:
    """Return the problems of the columns of arms and persons.

    Args:
        found: What was counted.
        wanted: The names of the columns: arm, gain and perhaps person.
        decided: The user's decisions.
        names: Those of the arms; empty if they are not to be shown.
    """
    open_gap = decided.missing == "refuse"
    gap = "give {missing=drop} to leave these lines out" if open_gap else "left out"
    problems = []
    for column in (wanted[0], *wanted[2:]):
        problems += found.problem("missing", "missing value[s]", gap, column=column, is_open=open_gap)
    spelled = f"taken to be one of {', '.join(names)}" if names else "taken to be the same"
    problems += found.problem("spelling", "name[s] with other spaces, case or a final point", spelled, column=wanted[0])
    problems += found.problem("alike", "name[s] of arms that stand for another", "taken as you said", column=wanted[0])
    if len(wanted) > 2:
        most = decided.most_per_person
        many = (
            f"at most {most} of each kept"
            if most
            else "kept; what holds for a person grows with the most records of one, and {most_per_person=5} keeps five"
        )
        same = "taken to be the same person as the id without them"
        problems += found.problem("spelling", "id[s] with other spaces, case or a final point", same, column=wanted[2])
        code = "if a code for an unknown person, give it as {missing_codes=-99}; otherwise write them without the sign"
        problems += found.problem(
            "code", "record[s] with a negative number as id", code, column=wanted[2], is_open=True
        )
        what = "person[s] with very many records, of whom the first are in"
        problems += found.problem("many", what, many, column=wanted[2])
        problems += found.problem("beyond", "record[s] of persons who have more", "left out", column=wanted[2])
    return problems


def of_arms(column: str, names: Sequence[str], arms: Sequence[int], lines: Sequence[int], total: int) -> list[Problem]:
    """Return the problems of arms with few records, or of too few or too many arms.

    Args:
        column: The name of the column of arms.
        names: Those of the arms.
        arms: Of each record that counts, its arm.
        lines: Of each of these records, its line.
        total: Number of records with an arm's name in the file.
    """
    another = "give {arm=COLUMN}, the column of the treatments"
    if are_no_arms(len(names), total):
        what = "different names, which are too many for arms and are not shown"
        return [Problem("names", column, len(names), (), what, another, True)]
    if len(names) < 2:
        return [Problem("one arm", column, len(names), (), "arm, where a game needs two", another, True)]
    counts = Counter(arms)
    problems = []
    for arm, name in enumerate(names):
        if counts[arm] >= max(FEW_RECORDS, len(arms) / 100):
            continue
        first = [line for line, other in zip(lines, arms, strict=True) if other == arm][:SHOWN_LINES]
        remedy = f"an arm without a record cannot be played; correct its lines, or give {{arms_alike={name}=}}"
        if counts[arm]:
            passes = -(-len(arms) // counts[arm])
            remedy = f"kept; a replay of all records plays each of them {passes} times, and epsilon counts as"
            remedy += (
                f" often; {{arms_alike={name}=OTHER}} makes it one with another arm, {{arms_alike={name}=}} missing"
            )
        what = f"record{'' if counts[arm] == 1 else 's'} of the arm {name}"
        problems.append(Problem("few", column, counts[arm], tuple(first), what, remedy, not counts[arm]))
    return problems
