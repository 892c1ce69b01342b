"""Runs experiments under a progress bar and writes figure, tables and report."""

import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from dp_bandit_envs.cli.progress import progress, rate
from dp_bandit_envs.comparison.compared import comparison_of_results
from dp_bandit_envs.comparison.reporting import folders_of, played, report_on
from dp_bandit_envs.metrics import mean_and_standard_error, median_and_tail, median_of_means
from dp_bandit_envs.privacy.guarantee import CONVENTION
from dp_bandit_envs.runs.experiment import GameSpec, Results, levels_in, units_of, words_of
from dp_bandit_envs.runs.run_report import Study, View, in_words
from dp_bandit_envs.runs.store import ResultsFolder

WIDTH_OF_NAMES, WIDTH_OF_UNIT, WIDTH_OF_GAME = 46, 16, 34
"""Width in characters of a table's columns for names and guarantees, for a record or a person, and for each game."""


def produce(
    console: Console,
    study: Study,
    out: Path,
    *,
    jobs: int,
    command: str,
    cluster: str | None = None,
    netcdf: bool = False,
) -> list[Results]:
    """Run what is missing, on a cluster if its address is given, write all files, and print their paths."""
    for experiment in study.experiments:
        experiment.check()
    folders = folders_of(study, out)
    started = time.perf_counter()
    results, rounds = _run(console, study, folders, jobs, cluster)
    seconds = time.perf_counter() - started
    report = report_on(
        study, results, list(map(comparison_of_results, results)), command=command, folders=folders, netcdf=netcdf
    )
    view, what = study.view, in_words(study.view.measure)
    console.print(
        f"{what} after the last round: {view.centre} (median / 99 % quantile); {CONVENTION}",
        highlight=False,
        style="italic",
    )
    console.print(_regret_table(results[0], view, console.width))
    console.print("The report explains why each guarantee holds.", highlight=False)
    for claim in report.claims:
        console.print(f"{claim.says} [bold]{claim.answer}[/bold]", highlight=False)
    for remark in report.notes:
        if remark.warning or remark.on_terminal:
            console.print(f"{remark.warning} {remark.text}".strip(), markup=False, highlight=False)
    speed = (
        f"{rounds:,} rounds in {seconds:,.1f} s, {rate(rounds / seconds)}. "
        if rounds
        else "Nothing was played again: the results were there. "
    )
    where = f"See {out / 'report.md'} and {out / 'figure.png'}."
    if not report.is_written:
        where = f"{out} is read-only: its figure, tables and report are those of an earlier run. {where}"
    console.print(f"{speed}{where}", markup=False, highlight=False, soft_wrap=True)
    return results


def _run(
    console: Console, study: Study, folders: Sequence[ResultsFolder], jobs: int, cluster: str | None
) -> tuple[list[Results], int]:
    """Run what is missing under one display of progress; return the results and the number of rounds played."""
    done = 0
    with progress(console, sum(experiment.rounds for experiment in study.experiments)) as show:

        def advance(panel: str | None, rounds: int) -> None:
            nonlocal done
            done += rounds if panel is not None else 0
            show(panel, rounds)

        results = played(study, folders, jobs=jobs, progress=advance, cluster=cluster)
    return results, done


def _regret_table(results: Results, view: View, width: int) -> Table:
    """Return a table with a row for each algorithm and a column for each game, or if too wide a row for each pair.

    It shows each algorithm's guarantee, and median and 99 % quantile, because a few bad games may decide a mean.
    """
    what = in_words(view.measure)
    table = Table()
    panels = results.experiment.panels
    units = {
        unit: {name: words.get(name, "") for name in results.names}
        for unit, words in units_of([results.experiment]).items()
    }
    for_units = [f"for a {unit}" for unit in units]
    if width >= WIDTH_OF_NAMES + WIDTH_OF_UNIT * len(units) + WIDTH_OF_GAME * len(panels):
        for column in ("algorithm", "guarantee", *for_units):
            table.add_column(column, overflow="fold")
        for panel in panels:
            table.add_column(panel.title, justify="right", overflow="fold")
        words = words_of([results.experiment])
        for name in results.names:
            cells = [
                _in_a_cell(results, panel, name, view) if name in results.names_in(panel) else "" for panel in panels
            ]
            table.add_row(name, words[name], *(of[name] for of in units.values()), *cells)
        return table
    several = len(panels) > 1
    # On two lines, so that the columns are as narrow as what is in them.
    for column in (*(["game"] if several else []), "algorithm", "guarantee", *(f"for a\n{unit}" for unit in units)):
        table.add_column(column, overflow="fold")
    table.add_column(what.lower(), justify="right", overflow="fold")
    for panel in panels:
        title = panel.title
        for name, level in levels_in(results.experiment, panel).items():
            table.add_row(
                *([title] if several else []),
                name,
                str(level),
                *(of[name] for of in units.values()),
                _in_a_cell(results, panel, name, view),
            )
            title = ""
        table.add_section()
    return table


def _in_a_cell(results: Results, panel: GameSpec, name: str, view: View) -> str:
    last = results.regret(panel.key, name, view.measure)[:, -1]
    median, tail = median_and_tail(last)
    if view.centre == "median":
        centre = median
    else:
        centre = mean_and_standard_error(last)[0] if view.centre == "mean" else median_of_means(last).value
    return f"{float(centre):,.1f} ({median:,.1f} / {tail:,.1f})"
