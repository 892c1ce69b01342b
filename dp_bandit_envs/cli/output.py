"""Runs an experiment under a progress bar and writes its figure, tables and report."""

import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from dp_bandit_envs.experiments.experiment import Experiment, Results, run
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
            nonlocal played, total
            if panel == "saved":
                # What was found is not work, so that speed and time left are those of what is left.
                total -= rounds
                bar.update(task, total=total)
            else:
                played += rounds
                bar.update(task, advance=rounds, description=panel)

        results = run(experiment, folder, jobs=jobs, progress=advance)
        bar.update(task, completed=total, description="done")
    seconds = time.perf_counter() - started
    curves = [
        (panel.title, results.rounds(panel.key), {name: results.regret(panel.key, name) for name in results.names})
        for panel in experiment.panels
    ]
    note = _note(experiment)
    figure = regret_figure(curves, note=note, spacing=experiment.checkpoints)
    for kind in ("png", "svg"):
        folder.write(f"figure.{kind}", as_bytes(figure, kind))
    folder.write("summary.csv", summary_csv(results))
    found = claims(results) if claims else []
    text = report_md(results, title=title, command=command, notes=notes(results) if notes else "", claims=found)
    folder.write("report.md", text)
    console.print(_regret_table(results))
    console.print("What each guarantees is in the report.", highlight=False)
    for claim in found:
        console.print(f"{claim.says} [bold]{claim.holds}[/bold]", highlight=False)
    speed = f"{played:,} rounds in {seconds:,.1f} s, {played / seconds / 1e6:,.1f} M a second. " if played else ""
    console.print(f"{speed}See {out / 'report.md'} and {out / 'figure.png'}.", highlight=False, soft_wrap=True)
    return results


def _note(experiment: Experiment) -> str:
    """Say under the figure what lines and bands are, and at which privacy level each algorithm ran."""
    game = experiment.panels[0].game(experiment.horizon)
    levels = []
    for contestant in experiment.contestants:
        algorithm = contestant.make()
        holds = algorithm.guarantee(n_arms=game.n_arms, horizon=game.horizon)
        if holds.rho is not None and holds.delta == 0 and game.horizon > 1:
            levels.append(f"{algorithm.name}: {_short(holds.epsilon_at(game.horizon**-2))} at delta = T^-2")
        else:
            at = f" at delta = {holds.delta:.2g}" if holds.delta else ""
            shown = "none" if holds.model == "none" else f"{_short(holds.epsilon)}{at}"
            levels.append(f"{algorithm.name}: {shown}")
    groups = min(24, experiment.trials)
    return (
        f"line: median of means of {experiment.trials} trials ({groups} groups); band: spread of the trials (Gini's"
        f" mean difference below and above). epsilon of {'; '.join(levels)}"
    )


def _short(epsilon: float) -> str:
    return f"{epsilon:,.0f}" if epsilon >= 1000 else f"{epsilon:.4g}"


def _regret_table(results: Results) -> Table:
    table = Table(title="External regret after the last round: median of means", title_justify="left")
    table.add_column("game")
    for name in results.names:
        table.add_column(name, justify="right")
    for panel in results.experiment.panels:
        last = [results.regret(panel.key, name)[:, -1] for name in results.names]
        table.add_row(panel.title, *(f"{float(median_of_means(regret).value):,.1f}" for regret in last))
    return table
