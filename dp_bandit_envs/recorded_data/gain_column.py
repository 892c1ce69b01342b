"""The gains of a messy column: what is missing, no number, out of range, or written in an unusual way."""

import math
from collections.abc import Sequence
from typing import Final

from dp_bandit_envs.recorded_data.clean_options import Decisions
from dp_bandit_envs.recorded_data.file_problems import Findings, Problem
from dp_bandit_envs.recorded_data.written_numbers import has_decimal_comma, read_number

_MISSING_HERE: Final = "give {missing=drop} to leave these lines out, or {missing=0} where no outcome is no success"
_READ: Final = {"refuse": "correct these cells, or give {unreadable=drop} to leave the lines out", "drop": "left out"}


def gains_of(
    cells: Sequence[str], lines: Sequence[int], decided: Decisions, *, column: str
) -> tuple[list[float], list[Problem]]:
    """Return the gain of each cell, NaN where its line is left out or needs a decision, and the problems found.

    Args:
        cells: The column.
        lines: The number of each cell's line.
        decided: The user's decisions.
        column: Its name.
    """
    found = Findings()
    words = decided.values
    different = dict.fromkeys(cells)
    # One record's cell may show how numbers are written here, but does not decide what other records' cells mean.
    commas = decided.decimal is None and any(map(has_decimal_comma, different))
    gains, plain = [], []
    # A column has few different cells, and each is read once.
    read = {
        cell: read_number(cell, decimal=decided.decimal, commas=commas, codes=decided.missing_codes)
        for cell in different
    }
    for cell, line in zip(cells, lines, strict=True):
        text = cell.strip().casefold()
        if text in words:
            gains.append(_scaled(words[text], line, decided, column, found))
            continue
        one = read[cell]
        if one.kind != "number":
            found.add(one.kind, line, column)
            filled = one.kind in ("missing", "nan") and isinstance(decided.missing, float)
            gains.append(float(decided.missing) if filled else math.nan)
            continue
        for kind, there in (("comma", one.comma), ("thousands", one.thousands), ("percent", one.percent)):
            if there:
                found.add(kind, line, column)
        if not one.percent:
            plain.append(line)
        value = one.value / 100 if one.percent and decided.worst is None else one.value
        gains.append(_scaled(value, line, decided, column, found))
    some_percent = found.count("percent", column) and plain and decided.worst is None
    if some_percent:
        for line in plain:
            found.add("no percent", line, column)
    return gains, _problems(found, column, decided)


def _scaled(value: float, line: int, decided: Decisions, column: str, found: Findings) -> float:
    if decided.worst is not None:
        value = (value - decided.worst) / (decided.best - decided.worst)
    if 0 <= value <= 1:
        return value
    found.add("outside", line, column)
    if decided.outside == "clip":
        return min(1.0, max(0.0, value))
    return math.nan


def _problems(found: Findings, column: str, decided: Decisions) -> list[Problem]:
    filled = isinstance(decided.missing, float)
    gap = (
        f"counted as gain {decided.missing:g}" if filled else "left out" if decided.missing == "drop" else _MISSING_HERE
    )
    open_gap = decided.missing == "refuse"
    unread, open_unread = _READ[decided.unreadable], decided.unreadable == "refuse"
    text = (
        unread
        if not open_unread
        else f"{unread}; if words are outcomes, say which gain each is: {{values=no=0,yes=1}}; if they mean missing,"
        " {missing_codes=refused}"
    )
    marks = "say which mark is that of decimals, {decimal=comma} or {decimal=point}" if open_unread else "left out"
    outside = {"drop": "left out", "clip": "set to 0 or 1"}.get(decided.outside) or (
        "give {scale=WORST,BEST}, the worst and best possible outcome, such as {scale=0,100} (public knowledge, never"
        " taken from the data); codes for missing values are {missing_codes=-99}; what then is outside, {outside=drop}"
        " or {outside=clip}"
    )
    after = "gain[s] outside [0, 1]" if decided.worst is None else "gain[s] outside the scale"
    per = "divided by 100" if decided.worst is None else "left out, as a scale is given"
    rows = (
        ("missing", "missing value[s]", gap, open_gap),
        ("nan", "value[s] NaN", gap, open_gap),
        ("infinite", "infinite value[s]", unread, open_unread),
        ("text", "cell[s] with text in place of a number", text, open_unread),
        (
            "ambiguous",
            "number[s] with thousands or decimals, which is not clear, as in 1,234",
            marks,
            open_unread,
        ),
        ("outside", after, outside, decided.outside == "refuse"),
        ("no percent", "number[s] without % where others have it", "give {scale=percent} if all are percent", True),
        ("comma", "decimal comma[s]", "read as decimal points", False),
        ("thousands", "thousands separator[s]", "left out", False),
        ("percent", "percent sign[s]", per, False),
    )
    return [
        one
        for kind, what, remedy, is_open in rows
        for one in found.problem(kind, what, remedy, column=column, is_open=is_open)
    ]
