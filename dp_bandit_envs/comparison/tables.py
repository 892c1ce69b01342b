"""Tables of results, each with the guarantee behind every number: Markdown, LaTeX, HTML and CSV."""

import csv
import html
import io
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from dp_bandit_envs import checks
from dp_bandit_envs.experiments.report import table as markdown_table
from dp_bandit_envs.metrics import mean_and_standard_error, median_and_tail

if TYPE_CHECKING:
    from dp_bandit_envs.comparison.compared_games import Entry

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
    epsilon, delta = entry.level
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


def in_html(head: Sequence[str], rows: Rows) -> str:
    """Return an HTML table, as notebooks show it."""
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def comma_separated(head: Sequence[str], rows: Rows) -> str:
    """Return comma-separated text."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue()


FORMATS: Final[dict[str, Callable[[Sequence[str], Rows], str]]] = {
    "markdown": markdown_table,
    "latex": latex,
    "csv": comma_separated,
    "html": in_html,
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
