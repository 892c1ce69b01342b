"""Tables of results, each with the guarantee behind every number: Markdown, LaTeX, HTML and CSV."""

import csv
import io
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from dp_bandit_envs import checks
from dp_bandit_envs.html_table import html_table
from dp_bandit_envs.metrics import mean_and_standard_error, median_and_tail
from dp_bandit_envs.privacy.guarantee import CONVENTION, WITH_EXACT_NOISE
from dp_bandit_envs.runs.run_report import table as markdown_table

if TYPE_CHECKING:
    from dp_bandit_envs.comparison.compared_games import Entry
    from dp_bandit_envs.protocols import FloatArray

Rows = Sequence[Sequence[str]]
LETTERS: Final = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"} | {
    letter: f"\\{letter}" for letter in "&%$#_{}"
}
SYMBOLS: Final = {"epsilon": r"$\varepsilon$", "delta": r"$\delta$", "asked epsilon": r"asked $\varepsilon$"}


def table(entries: "Sequence[Entry]", format: str, measure: str) -> str:
    """Return a table of a measure after the last round; see `Comparison.table`."""
    several = len({entry.asked for entry in entries}) > 1
    units = [unit for unit in ("record", "person") if any(unit in entry.units for entry in entries)]
    what = measure.replace("_", " ")
    head = [
        "environment",
        "algorithm",
        *(["asked epsilon"] if several else []),
        "epsilon",
        "delta",
        *(f"epsilon for a {unit}" for unit in units),
        "guarantee",
        "trials",
        f"mean {what}",
        "standard error",
        "median",
        "99 % quantile",
    ]
    return written(head, [_row(entry, measure, several, units, exact=format == "csv") for entry in entries], format)


def wide_table(entries: "Sequence[Entry]", format: str, measure: str) -> str:
    """Return a table with a row for each algorithm and guarantee, a column for each game; see `Comparison.table`."""
    titles = list(dict.fromkeys(entry.title for entry in entries))
    cells: dict[tuple[str, float | None], dict[str, Entry]] = {}
    for entry in entries:
        cells.setdefault((entry.algorithm, entry.asked), {})[entry.title] = entry
    rows = []
    for (algorithm, _), of in cells.items():
        guarantees = dict.fromkeys(_guarantee(entry) for entry in of.values())
        seen = [_mean_and_error(of[title].values(measure)[:, -1]) if title in of else "" for title in titles]
        rows.append([algorithm, " / ".join(guarantees), *seen])
    guarantee = "guarantee" if format == "csv" else f"guarantee ({CONVENTION})"
    return written(["algorithm", guarantee, *titles], rows, format)


def _guarantee(entry: "Entry") -> str:
    if entry.model == "none":
        return "none"
    epsilon, delta, exact = entry.level
    noise = f" {WITH_EXACT_NOISE}" if exact else ""
    parts = [f"epsilon {epsilon:.4g}{noise}", *([f"delta {delta:.3g}"] if delta else [])]
    units = [f"epsilon {level.epsilon:.4g} for a {unit}" for unit, level in entry.units.items()]
    return ", ".join([*parts, *units, entry.model])


def _mean_and_error(last: "FloatArray") -> str:
    mean, error = mean_and_standard_error(last)
    return f"{amount(float(mean))} ± {amount(float(error))}" if len(last) > 1 else amount(float(mean))


def written(head: Sequence[str], rows: Rows, format: str) -> str:
    """Return a table as text in one of `FORMATS`."""
    return FORMATS[checks.one_of("format", format, tuple(FORMATS))](head, rows)


def _row(entry: "Entry", measure: str, several: bool, units: Sequence[str], *, exact: bool) -> list[str]:
    last = entry.values(measure)[:, -1]
    mean, error = mean_and_standard_error(last)
    median, tail = median_and_tail(last)
    asked = [] if not several else ["" if entry.asked is None else f"{entry.asked:g}"]
    of_units = [f"{entry.units[unit].epsilon:.4g}" if unit in entry.units else "" for unit in units]
    what = "none" if entry.model == "none" else f"{entry.model}; {entry.covers}"
    numbers = [f"{value:.10g}" if exact else amount(float(value)) for value in (mean, error, median, tail)]
    epsilon, delta, _ = entry.level
    return [
        entry.title,
        entry.algorithm,
        *asked,
        f"{epsilon:.10g}" if exact else f"{epsilon:.4g}",
        f"{delta:.10g}" if exact else f"{delta:.3g}",
        *of_units,
        what,
        str(entry.trials),
        *numbers,
    ]


def amount(value: float) -> str:
    """Return a number of gains with four significant digits at least, or one decimal place."""
    if not math.isfinite(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.1f}" if abs(value) >= 1 else f"{value:.3g}"


def latex(head: Sequence[str], rows: Rows) -> str:
    """Return a LaTeX tabular that needs the package booktabs."""
    numeric = [all(_is_number(row[index]) for row in rows) for index in range(len(head))]
    columns = "".join("r" if number else "l" for number in numeric)
    lines = [" & ".join(SYMBOLS.get(cell, _in_latex(cell)) for cell in head)]
    lines += [" & ".join(r"$\infty$" if cell == "inf" else _in_latex(cell) for cell in row) for row in rows]
    body = [f"{line} \\\\" for line in lines]
    parts = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", body[0], r"\midrule", *body[1:]]
    return "\n".join([*parts, r"\bottomrule", r"\end{tabular}"])


def comma_separated(head: Sequence[str], rows: Rows) -> str:
    """Return comma-separated text."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue()


FORMATS: Final[dict[str, Callable[[Sequence[str], Rows], str]]] = {
    "markdown": markdown_table,
    "latex": latex,
    "csv": comma_separated,
    "html": html_table,
}
"""What writes a table, by format."""


def _in_latex(text: str) -> str:
    return "".join(LETTERS.get(letter, letter) for letter in text)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "") or "nan")
    except ValueError:
        return False
    return True
