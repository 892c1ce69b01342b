"""Runs an experiment under a progress bar and writes its figure, tables and report."""

import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from dp_bandit_envs.experiments.experiment import Experiment, Results, run
from dp_bandit_envs.experiments.figure_1 import NOTE
from dp_bandit_envs.experiments.report import Claim, report_md
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.experiments.summary import summary_csv
from dp_bandit_envs.metrics import median_of_means
from dp_bandit_envs.plots.regret import as_bytes, regret_figure


class RoundsPerSecond(ProgressColumn):
    """Shows how fast rounds are played."""

    def render(self, task: Task) -> Text:
        """Return the speed as text."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed / 1e6:,.1f} M rounds/s")


def produce(
    console: Console,
    experiment: Experiment,
    out: Path,
    *,
    jobs: int,
    title: str,
    command: str,
    notes: Callable[[Results], str] | None = None,
    claims: Callable[[Results], list[Claim]] | None = None,
) -> Results:
    """Run what is missing, write all files, and print where they are."""
    experiment.check()
    folder = ResultsFolder(out, experiment.configuration())
    total, started = experiment.rounds, time.perf_counter()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        RoundsPerSecond(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    played = 0
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("compiling", total=total)

        def advance(panel: str, rounds: int) -> None:
            nonlocal played
            played += 0 if panel == "saved" else rounds
            bar.update(task, advance=rounds, description=panel)

        results = run(experiment, folder, jobs=jobs, progress=advance)
        bar.update(task, completed=total, description="done")
    seconds = time.perf_counter() - started
    curves = [
        (panel.title, results.rounds(panel.key), {name: results.regret(panel.key, name) for name in results.names})
        for panel in experiment.panels
    ]
    note = NOTE.format(trials=experiment.trials)
    figure = regret_figure(curves, note=note, spacing=experiment.checkpoints)
    for kind in ("png", "svg"):
        folder.write(f"figure.{kind}", as_bytes(figure, kind))
    folder.write("summary.csv", summary_csv(results))
    found = claims(results) if claims else []
    text = report_md(results, title=title, command=command, notes=notes(results) if notes else "", claims=found)
    folder.write("report.md", text)
    console.print(_regret_table(results))
    for claim in found:
        console.print(f"{claim.says} [bold]{claim.holds}[/bold]", highlight=False)
    speed = f"{played:,} rounds in {seconds:,.1f} s, {played / seconds / 1e6:,.1f} M a second. " if played else ""
    console.print(f"{speed}See {out / 'report.md'} and {out / 'figure.png'}.", highlight=False, soft_wrap=True)
    return results


def _regret_table(results: Results) -> Table:
    table = Table(title="External regret after the last round: median of means", title_justify="left")
    table.add_column("game")
    for name in results.names:
        table.add_column(name, justify="right")
    for panel in results.experiment.panels:
        last = [results.regret(panel.key, name)[:, -1] for name in results.names]
        table.add_row(panel.title, *(f"{float(median_of_means(regret).value):,.1f}" for regret in last))
    return table
