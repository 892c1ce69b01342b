"""Tables of results, each with the guarantee behind every number: Markdown, LaTeX, HTML and CSV."""

import csv
import io
import math
import re
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Final

from dp_bandit_envs import checks
from dp_bandit_envs.experiments.entries import Entry, convention_of, entries_of
from dp_bandit_envs.experiments.paired_tests import LEAST_TRIALS, pair_tests
from dp_bandit_envs.experiments.store import ResultsFolder, read_finished
from dp_bandit_envs.metrics import summary
from dp_bandit_envs.privacy.guarantee import UNITS, WITH_EXACT_NOISE
from dp_bandit_envs.text import aligned_table, html_table
from dp_bandit_envs.typesetting import set_mathematics

Rows = Sequence[Sequence[str]]
LETTERS: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "ε": r"$\varepsilon$",
    "δ": r"$\delta$",
} | {letter: f"\\{letter}" for letter in "&%$#_{}"}
"""How LaTeX writes letters that have a meaning there, or none."""
MINUS: Final = re.compile(r"(?<![\w.)\]}-])-(?=\d|\Z)")
"""The minus of a number."""
SIZES: Final = {"": 60, r"\footnotesize": 75}
"""How many letters of a line fit a page in LaTeX, by their size."""
LEVEL: Final = 0.05
"""The level of the test behind bold cells."""
MOST_DECIMALS: Final = 6
ABOUT_BOLD: Final = (
    "Bold: the best of those that guarantee the epsilon asked for, or at least something if none is, in each"
    " environment, and all that a paired sign-flip test (5 %, Holm) does not separate from it"
)
SHARED: Final = {
    "epsilon": "epsilon = {}",
    "delta": "delta = {}",
    "epsilon for a record": "epsilon = {} for a record",
    "epsilon for a person": "epsilon = {} for a person",
    "guarantee": "guarantee: {}",
    "trials": "{} trials each",
}
"""The caption's words for a constant column."""


def table(entries: Sequence[Entry], format: str, measure: str) -> str:
    """Return a row for each result, of a measure after the last round; see `Comparison.table`."""
    exact = checks.one_of("format", format, tuple(FORMATS)) == "csv"
    name = measure.replace("_", " ")
    rows = []
    for entry in entries:
        seen = {name: float(number) for name, number in summary(entry.values(measure)[:, -1]).items()}
        number: Callable[[float], str] = "{:.10g}".format if exact else _same_decimals(seen)
        row = {
            "environment": entry.title,
            "algorithm": entry.algorithm,
            "asked epsilon": "" if entry.asked is None else f"{entry.asked:g}",
            "epsilon": f"{entry.level.epsilon:.10g}" if exact else f"{entry.level.epsilon:.4g}",
            "delta": f"{entry.level.delta:.10g}" if exact else f"{entry.level.delta:.3g}",
        }
        for unit in UNITS:
            row[f"epsilon for a {unit}"] = f"{entry.units[unit].epsilon:.4g}" if unit in entry.units else ""
        is_short = format == "latex" and entry.covers == "arms and releases"
        guarantee = "none" if entry.model == "none" else entry.model if is_short else f"{entry.model}; {entry.covers}"
        row["guarantee"] = "; ".join(filter(None, [guarantee, entry.silence]))
        row["trials"] = str(entry.trials)
        row[f"mean {name}"] = number(seen["mean"])
        row["standard error"] = number(seen["standard_error"])
        row["median"] = number(seen["median"])
        row["99 % quantile"] = number(seen["quantile_99"])
        rows.append(row)
    left_out = {f"epsilon for a {unit}" for unit in UNITS if not any(unit in entry.units for entry in entries)}
    if len({entry.asked for entry in entries}) < 2:
        left_out.add("asked epsilon")
    head = [column for column in rows[0] if column not in left_out]
    if format != "latex":
        return written(head, [[row[column] for column in head] for row in rows], format)
    shared = [column for column in head if column in SHARED and len({row[column] for row in rows}) == 1]
    head = [column for column in head if column not in shared]
    cells = [[row[column] for column in head] for row in rows]
    best = _as_good_as_the_best(entries, measure)
    bold = {(index, head.index(f"mean {name}")) for index, entry in enumerate(entries) if _key(entry) in best}
    what = "; ".join([name.capitalize(), *(SHARED[column].format(rows[0][column]) for column in shared)])
    sentences = [f"{what}; {convention_of(entries)}"]
    return latex_table(head, cells, [*sentences, *_about_bold(best)], bold)


def wide_table(entries: Sequence[Entry], format: str, measure: str) -> str:
    """Return a row for each algorithm and guarantee, with a column for each game; see `Comparison.table`."""
    titles = list(dict.fromkeys(entry.title for entry in entries))
    of_players: dict[tuple[str, float | None], dict[str, Entry]] = {}
    for entry in entries:
        of_players.setdefault((entry.algorithm, entry.asked), {})[entry.title] = entry
    guarantees = [" / ".join(dict.fromkeys(map(_guarantee, games.values()))) for games in of_players.values()]
    head = ["algorithm", "guarantee", *titles]
    rows = [
        [algorithm, guarantee, *(_mean(games[title], measure) if title in games else "" for title in titles)]
        for ((algorithm, _), games), guarantee in zip(of_players.items(), guarantees, strict=True)
    ]
    what = f"Mean {measure.replace('_', ' ')} ± standard error"
    if format != "latex":
        text = written(head, rows, format)
        note = f"{what}; {convention_of(entries)}."
        return {"csv": text, "html": f"{text}\n<p>{note}</p>"}.get(format, f"{text}\n\n{note}")
    best = _as_good_as_the_best(entries, measure)
    players = enumerate(of_players.values())
    first = 2
    sentences = [f"{what}; {convention_of(entries)}"]
    if len(set(guarantees)) == 1:
        head, rows, first = ["algorithm", *titles], [[row[0], *row[2:]] for row in rows], 1
        sentences.insert(0, f"Guarantee of all: {guarantees[0]}")
    bold = {
        (index, first + titles.index(title))
        for index, games in players
        for title, entry in games.items()
        if _key(entry) in best
    }
    return latex_table(head, rows, [*sentences, *_about_bold(best)], bold)


def terminal_table(entries: Sequence[Entry], head: str, cell: Callable[[Entry], str], width: float = math.inf) -> str:
    """Return an aligned table with a row for each result, and its guarantees.

    Args:
        entries: The results.
        head: The head of the last column.
        cell: Returns the last cell of a row.
        width: The most letters of a line. Where it takes more, environments are lines of their own above their rows,
            and then columns are left out.
    """
    columns = {"environment": [entry.title for entry in entries], "algorithm": [entry.name for entry in entries]}
    columns["guarantee"] = [str(entry.level).strip("()") for entry in entries]
    for unit in UNITS:
        columns[f"for a {unit}"] = [str(entry.units.get(unit, "")).strip("()") for entry in entries]
    columns["trials"] = [f"{entry.trials:,}" for entry in entries]
    columns[head] = [cell(entry) for entry in entries]
    titles = columns["environment"]
    unused = ["environment"] * (len(set(titles)) == 1) + ["trials"] * (len(set(columns["trials"])) == 1)
    columns = {name: cells for name, cells in columns.items() if name not in unused and any(cells)}
    for left_out in ("", "environment", "trials", *(f"for a {unit}" for unit in UNITS)):
        columns.pop(left_out, None)
        lines = aligned_table([list(columns), *zip(*columns.values(), strict=True)]).splitlines()
        if max(map(len, lines)) <= width:
            break
    if len(set(titles)) > 1 and "environment" not in columns:
        first = [titles.index(title) for title in dict.fromkeys(titles)]
        for row in reversed(first):
            lines.insert(row + 1, f"{titles[row]}:")
    return "\n".join(lines)


def _key(entry: Entry) -> tuple[str, str]:
    return entry.key, entry.name


def _as_good_as_the_best(entries: Sequence[Entry], measure: str) -> set[tuple[str, str]]:
    """Return the results, by `_key`, that are the best of their game and epsilon or not significantly different.

    Results whose guarantee is weaker than that epsilon, or missing, count only if no other has it. With too few trials
    for a test the result is empty.
    """
    if any(entry.trials < LEAST_TRIALS for entry in entries):
        return set()
    games, tests, _ = pair_tests(entries, measure)
    as_good = set()
    for title, group in games.items():
        private = [entry for entry in group if _guarantees_as_asked(entry, group)] or group
        as_good.add(_key(private[0]))
        as_good |= {
            _key(test.worse)
            for test in tests
            if test.title == title and test.better is private[0] and test.worse in private and test.adjusted > LEVEL
        }
    return as_good


def _guarantees_as_asked(entry: Entry, group: Sequence[Entry]) -> bool:
    """Return whether an entry was given the epsilon of its group, or guarantees it, or anything if none was asked."""
    asked = max((other.asked for other in group if other.asked is not None), default=math.inf)
    return entry.model != "none" and (entry.asked is not None or entry.level.epsilon <= asked)


def _about_bold(best: Container[Any]) -> list[str]:
    """Return the caption's sentence on bold cells, if any."""
    return [ABOUT_BOLD] if best else []


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
    """Return the summary of all results in a folder, which may contain more than these entries."""
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
    seen = {name: float(number) for name, number in summary(entry.values(measure)[:, -1]).items()}
    number = _same_decimals(seen)
    return f"{number(seen['mean'])} ± {number(seen['standard_error'])}" if entry.trials > 1 else number(seen["mean"])


def _same_decimals(seen: Mapping[str, float]) -> Callable[[float], str]:
    """Return a function that formats a mean and its statistics with the decimals of two digits of the error."""
    mean, error = seen["mean"], seen["standard_error"]
    if not error > 1e-9 * abs(mean):  # one trial has none, and that of equal numbers is rounding
        return amount
    decimals = min(max(1 - math.floor(math.log10(error)), 0), MOST_DECIMALS)
    return lambda value: f"{value:,.{decimals}f}" if math.isfinite(value) else ""


def written(head: Sequence[str], rows: Rows, format: str) -> str:
    """Return a table as text in a format from `FORMATS`."""
    return FORMATS[checks.one_of("format", format, tuple(FORMATS))](head, rows)


def amount(value: float) -> str:
    """Return a number of gains with at least four significant digits, or one decimal place."""
    if not math.isfinite(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.1f}" if abs(value) >= 1 else f"{value:.3g}"


def latex(head: Sequence[str], rows: Rows, bold: Container[tuple[int, int]] = ()) -> str:
    """Return a LaTeX tabular that needs the package booktabs; numbers are right-aligned.

    To save width, letters of wide tables are small, heads are broken in two lines, and if the first column is
    `"environment"`, each environment has a line of its own above its rows instead.

    Args:
        head: The names of the columns.
        rows: The cells.
        bold: The positions (row, column) of bold cells.
    """
    first = int(head[0] == "environment")
    columns = range(first, len(head))
    lines = [" & ".join(_broken(head[n], max(len(row[n]) for row in rows)) for n in columns), r"\midrule"]
    for index, row in enumerate(rows):
        if first and (index == 0 or row[0] != rows[index - 1][0]):
            lines += [r"\addlinespace"] * (index > 0)
            lines.append(rf"\multicolumn{{{len(columns)}}}{{l}}{{{in_latex(row[0])}}}")
        cells = {n: in_latex(row[n]) for n in columns}
        lines.append(" & ".join(rf"\textbf{{{cell}}}" if (index, n) in bold else cell for n, cell in cells.items()))
    rules = (r"\midrule", r"\addlinespace")
    body = "\n".join(line if line in rules else rf"{line} \\" for line in lines)
    alignment = "".join("r" if all(_is_number(row[n]) for row in rows) else "l" for n in columns)
    text = f"\\begin{{tabular}}{{{alignment}}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}"
    letters = sum(max(len(row[n]) for row in rows) + 2 for n in columns)
    size = next((size for size, most in SIZES.items() if letters <= most), r"\scriptsize")
    return rf"{{{size}\setlength{{\tabcolsep}}{{3pt}}%" + f"\n{text}}}" if size else text


def _broken(title: str, width: int) -> str:
    """Return a column's title in LaTeX, in two lines if it is longer than the column's cells."""
    words = title.split()
    if len(title) <= width or len(words) < 2:
        return in_latex(title)
    halves = [(" ".join(words[:number]), " ".join(words[number:])) for number in range(1, len(words))]
    top, bottom = min(halves, key=lambda pair: max(map(len, pair)))
    return rf"\shortstack{{{in_latex(top)} \\ {in_latex(bottom)}}}"


def latex_table(head: Sequence[str], rows: Rows, caption: Sequence[str], bold: Container[tuple[int, int]]) -> str:
    """Return a LaTeX table, as for `latex`, below a caption of these sentences."""
    text = in_latex(" ".join(f"{sentence}." for sentence in caption))
    return "\n".join([r"\begin{table}", r"\centering", rf"\caption{{{text}}}", latex(head, rows, bold), r"\end{table}"])


def in_latex(text: str) -> str:
    """Return plain text as LaTeX, with parameters and numbers such as 1e-06 as mathematics."""
    text = " ".join(text.split())
    return r"$\infty$" if text == "inf" else set_mathematics(text, _escaped)


def _escaped(text: str) -> str:
    return "$-$".join("".join(LETTERS.get(letter, letter) for letter in words) for words in MINUS.split(text))


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
    """Return whether a cell is a number, with its error or interval, an interval, a share or empty."""
    try:
        for part in re.split(r" ± | to | \[|, |\]", text.removesuffix("%")):
            float(part.replace(",", "") or "nan")
    except ValueError:
        return False
    return True
