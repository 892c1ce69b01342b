"""Tables of results, each with the guarantee behind every number: Markdown, LaTeX, HTML and CSV."""

import csv
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from dp_bandit_envs import checks
from dp_bandit_envs.experiments.entries import Entry, entries_of
from dp_bandit_envs.experiments.store import ResultsFolder, read_finished
from dp_bandit_envs.metrics import summary
from dp_bandit_envs.privacy.guarantee import CONVENTION, UNITS, WITH_EXACT_NOISE
from dp_bandit_envs.text import html_table

Rows = Sequence[Sequence[str]]
LETTERS: Final = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"} | {
    letter: f"\\{letter}" for letter in "&%$#_{}"
}
SYMBOLS: Final = {
    "epsilon": r"$\varepsilon$",
    "delta": r"$\delta$",
    "asked epsilon": r"asked $\varepsilon$",
}
"""Words of a head as LaTeX writes them; below, `INFINITY` is another one."""
INFINITY: Final = {"inf": r"$\infty$"}


def table(entries: Sequence[Entry], format: str, measure: str) -> str:
    """Return a row for each result, of a measure after the last round; see `Comparison.table`."""
    exact = checks.one_of("format", format, tuple(FORMATS)) == "csv"
    rows = []
    for entry in entries:
        seen = summary(entry.values(measure)[:, -1])
        number = "{:.10g}".format if exact else amount
        row = {
            "environment": entry.title,
            "algorithm": entry.algorithm,
            "asked epsilon": "" if entry.asked is None else f"{entry.asked:g}",
            "epsilon": f"{entry.level.epsilon:.10g}" if exact else f"{entry.level.epsilon:.4g}",
            "delta": f"{entry.level.delta:.10g}" if exact else f"{entry.level.delta:.3g}",
        }
        for unit in UNITS:
            row[f"epsilon for a {unit}"] = f"{entry.units[unit].epsilon:.4g}" if unit in entry.units else ""
        guarantee = "none" if entry.model == "none" else f"{entry.model}; {entry.covers}"
        row["guarantee"] = "; ".join(filter(None, [guarantee, entry.silence]))
        row["trials"] = str(entry.trials)
        row[f"mean {measure.replace('_', ' ')}"] = number(float(seen["mean"]))
        row["standard error"] = number(float(seen["standard_error"]))
        row["median"] = number(float(seen["median"]))
        row["99 % quantile"] = number(float(seen["quantile_99"]))
        rows.append(row)
    left_out = {f"epsilon for a {unit}" for unit in UNITS if not any(unit in entry.units for entry in entries)}
    if len({entry.asked for entry in entries}) < 2:
        left_out.add("asked epsilon")
    head = [name for name in rows[0] if name not in left_out]
    return written(head, [[row[name] for name in head] for row in rows], format)


def wide_table(entries: Sequence[Entry], format: str, measure: str) -> str:
    """Return a row for each algorithm and guarantee, with a column for each game; see `Comparison.table`."""
    titles = list(dict.fromkeys(entry.title for entry in entries))
    of_players: dict[tuple[str, float | None], dict[str, Entry]] = {}
    for entry in entries:
        of_players.setdefault((entry.algorithm, entry.asked), {})[entry.title] = entry
    rows = []
    for (algorithm, _), games in of_players.items():
        guarantees = dict.fromkeys(map(_guarantee, games.values()))
        means = [_mean(games[title], measure) if title in games else "" for title in titles]
        rows.append([algorithm, " / ".join(guarantees), *means])
    text = written(["algorithm", "guarantee", *titles], rows, format)
    note = f"Mean {measure.replace('_', ' ')} ± standard error; {CONVENTION}."
    if format == "latex":
        # In the cells and below them, as an author writes them.
        text = re.sub(r"\b(epsilon|delta) (\S*\d)", r"$\\var\1 = \2$", text).replace(r"\vardelta", r"\delta")
        note = (
            note.replace("±", r"$\pm$")
            .replace("epsilon", r"$\varepsilon$")
            .replace("delta = 1e-6", r"$\delta = 10^{-6}$")
        )
        return f"{text}\n\n\\smallskip{{\\footnotesize {note}}}"
    return {"csv": text, "html": f"{text}\n<p>{note}</p>"}.get(format, f"{text}\n\n{note}")


def summary_csv(entries: Sequence[Entry], measure: str = "external_regret") -> str:
    """Return every statistic at every recorded round, as comma-separated text; epsilon is inf for no privacy."""
    rows: list[list[str]] = []
    columns: dict[str, Any] = {}
    for entry in entries:
        columns = summary(entry.values(measure))
        level = [f"{number:.10g}" for number in entry.level[:2]]
        for index, round_ in enumerate(entry.rounds):
            numbers = [f"{column[index]:.10g}" for column in columns.values()]
            rows.append([entry.key, entry.name, *level, str(round_), str(entry.trials), *numbers])
    return comma_separated(["game", "algorithm", "epsilon", "delta", "round", "trials", *columns], rows)


def summary_of_folder(
    folder: ResultsFolder,
    entries: Sequence[Entry],
    configuration: Mapping[str, Any],
    measure: str = "external_regret",
) -> str:
    """Return the summary of everything in a folder, which may hold more than these entries of a configuration."""
    stored, arrays = read_finished(folder.path)
    return summary_csv(entries if stored == configuration else list(entries_of(stored, arrays)), measure)


def _guarantee(entry: Entry) -> str:
    if entry.model == "none":
        return ", ".join(filter(None, ["none", entry.silence]))
    epsilon, delta, exact = entry.level
    noise = f" {WITH_EXACT_NOISE}" if exact else ""
    parts = [f"epsilon {epsilon:.4g}{noise}", *([f"delta {delta:.3g}"] if delta else [])]
    units = [f"epsilon {level.epsilon:.4g} for a {unit}" for unit, level in entry.units.items()]
    return ", ".join(filter(None, [*parts, *units, entry.model, entry.silence]))


def _mean(entry: Entry, measure: str) -> str:
    seen = summary(entry.values(measure)[:, -1])
    mean, error = amount(float(seen["mean"])), amount(float(seen["standard_error"]))
    return f"{mean} ± {error}" if entry.trials > 1 else mean


def written(head: Sequence[str], rows: Rows, format: str) -> str:
    """Return a table as text in one of `FORMATS`."""
    return FORMATS[checks.one_of("format", format, tuple(FORMATS))](head, rows)


def amount(value: float) -> str:
    """Return a number of gains with four significant digits at least, or one decimal place."""
    if not math.isfinite(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.1f}" if abs(value) >= 1 else f"{value:.3g}"


def latex(head: Sequence[str], rows: Rows) -> str:
    """Return a LaTeX tabular that needs the package booktabs."""

    def line(cells: Sequence[str], symbols: Mapping[str, str]) -> str:
        escaped = ("".join(LETTERS.get(letter, letter) for letter in cell) for cell in cells)
        return " & ".join(symbols.get(cell, text) for cell, text in zip(cells, escaped, strict=True)) + r" \\"

    columns = "".join("r" if all(_is_number(row[index]) for row in rows) else "l" for index in range(len(head)))
    begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
    return "\n".join(
        [
            begin,
            r"\toprule",
            line(head, SYMBOLS),
            r"\midrule",
            *(line(row, INFINITY) for row in rows),
            r"\bottomrule",
            end,
        ]
    )


def markdown_table(head: Sequence[str], rows: Rows) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


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


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "") or "nan")
    except ValueError:
        return False
    return True
