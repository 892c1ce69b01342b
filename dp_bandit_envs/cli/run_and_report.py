"""Runs experiments under a progress bar and writes figure, tables and report."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from dp_bandit_envs.cli.progress import progress, rate
from dp_bandit_envs.comparison.compared import comparison_of
from dp_bandit_envs.comparison.saving import write_tables
from dp_bandit_envs.experiments.reproduction import Reproduction
from dp_bandit_envs.metrics import mean_and_standard_error, median_and_tail, median_of_means
from dp_bandit_envs.plots.curves import Curve, Panel
from dp_bandit_envs.plots.curves_plot import ROUND, curves_figure
from dp_bandit_envs.plots.figure_bytes import as_bytes
from dp_bandit_envs.privacy.guarantee import CONVENTION
from dp_bandit_envs.runs.experiment import Experiment, GameSpec, Results, labels_in, levels_in, units_of, words_of
from dp_bandit_envs.runs.run_report import View, in_words, numbers_json, report_md
from dp_bandit_envs.runs.running import run
from dp_bandit_envs.runs.store import ResultsFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH_OF_NAMES, WIDTH_OF_UNIT, WIDTH_OF_GAME = 46, 16, 34
"""Width in characters of a table's columns for names and guarantees, for a record or a person, and for each game."""
Draw = Callable[[Reproduction, Sequence[Results]], "Figure"]


def draw_over_time(reproduction: Reproduction, results: Sequence[Results]) -> "Figure":
    """Draw the regret of one experiment against time."""
    one, view = results[0], reproduction.view
    panels = []
    for panel in one.experiment.panels:
        labels, rounds = labels_in(one.experiment, panel), one.rounds(panel.key)
        curves = [
            Curve(name, labels[name], rounds, one.regret(panel.key, name, view.measure)) for name in one.names_in(panel)
        ]
        panels.append(Panel(panel.title, curves))
    return curves_figure(
        panels,
        across=ROUND,
        measure=view.measure,
        band=view.band,
        x_scale=one.experiment.checkpoints,
        y_scale=view.scale,
        columns=view.columns,
    )


def produce(
    console: Console,
    reproduction: Reproduction,
    out: Path,
    *,
    jobs: int,
    command: str,
    draw: Draw = draw_over_time,
    cluster: str | None = None,
    netcdf: bool = False,
) -> list[Results]:
    """Run what is missing, on a cluster if its address is given, write all files, and print their paths."""
    experiments, view = reproduction.experiments, reproduction.view
    for experiment in experiments:
        experiment.check()
    folder, folders = _folders(reproduction, out)
    started = time.perf_counter()
    results, played = _run(console, experiments, folders, jobs, cluster)
    seconds = time.perf_counter() - started
    figure = draw(reproduction, results)
    written = [folder.write_again(f"figure.{kind}", as_bytes(figure, kind)) for kind in ("png", "svg")]
    for one, its_folder in zip(results, folders, strict=True):
        written += write_tables(
            comparison_of(one.experiment.configuration(), one.arrays), its_folder, view.measure, netcdf=netcdf
        )
    claims, notes = reproduction.claims(results), reproduction.notes(results)
    text = report_md(results, title=reproduction.title, command=command, view=view, notes=notes, claims=claims)
    written.append(folder.write_again("report.md", text))
    numbers = numbers_json(results, view, reproduction.numbers(results))
    written.append(folder.write_again("numbers.json", numbers))
    what = in_words(view.measure)
    console.print(
        f"{what} after the last round: {view.centre} (median / 99 % quantile); {CONVENTION}",
        highlight=False,
        style="italic",
    )
    console.print(_regret_table(results[0], view, console.width))
    console.print("The report explains why each guarantee holds.", highlight=False)
    for claim in claims:
        console.print(f"{claim.says} [bold]{claim.answer}[/bold]", highlight=False)
    for remark in notes:
        if remark.warning or remark.on_terminal:
            console.print(f"{remark.warning} {remark.text}".strip(), markup=False, highlight=False)
    speed = (
        f"{played:,} rounds in {seconds:,.1f} s, {rate(played / seconds)}. "
        if played
        else "Nothing was played again: the results were there. "
    )
    where = f"See {out / 'report.md'} and {out / 'figure.png'}."
    if not all(written):
        where = f"{out} is read-only: its figure, tables and report are those of an earlier run. {where}"
    console.print(f"{speed}{where}", markup=False, highlight=False, soft_wrap=True)
    return results


def _folders(reproduction: Reproduction, out: Path) -> tuple[ResultsFolder, list[ResultsFolder]]:
    """Return the report's folder and each experiment's: the same for one experiment, subfolders for several."""
    experiments = reproduction.experiments
    if len(experiments) == 1:
        folder = ResultsFolder(out, experiments[0].configuration())
        return folder, [folder]
    settings = {one.name: one.configuration() for one in experiments}
    folder = ResultsFolder(out, {"name": reproduction.name, "experiments": settings})
    return folder, [ResultsFolder(out / one.name, settings[one.name]) for one in experiments]


def _run(
    console: Console,
    experiments: Sequence[Experiment],
    folders: Sequence[ResultsFolder],
    jobs: int,
    cluster: str | None,
) -> tuple[list[Results], int]:
    """Run what is missing under one display of progress; return the results and the number of rounds played."""
    played = 0
    with progress(console, sum(experiment.rounds for experiment in experiments)) as show:

        def advance(panel: str | None, rounds: int) -> None:
            nonlocal played
            played += rounds if panel is not None else 0
            show(panel, rounds)

        pairs = zip(experiments, folders, strict=True)
        results = [
            run(experiment, folder, jobs=jobs, progress=advance, cluster=cluster) for experiment, folder in pairs
        ]
    return results, played


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
