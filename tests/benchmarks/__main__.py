"""Runs every benchmark and prints one table; takes a few minutes."""

import os
import platform

from rich.console import Console
from rich.table import Table

from tests.benchmarks import games_in_c, other_processes, speeds
from tests.benchmarks.measuring import Line, Skipped

BENCHMARKS = (
    games_in_c.lines,
    other_processes.before_lanes,
    speeds.exp3_in_river,
    speeds.stochastic,
    speeds.counters,
    speeds.graph,
    speeds.standard_loop,
    speeds.vector_env,
    speeds.two_cores,
    other_processes.two_workers,
    other_processes.memory,
    other_processes.import_time,
    other_processes.first_use,
)


def main() -> None:
    """Print the table."""
    console = Console()
    if not console.is_terminal:
        console.width = max(console.width, 160)
    table = Table(
        title=f"dp-bandit-envs on {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )
    for heading in ("benchmark", "ours", "other", "ratio", "wanted", "", "note"):
        table.add_column(heading, justify="right" if heading in ("ours", "other", "ratio", "wanted") else "left")
    for benchmark in BENCHMARKS:
        with console.status(benchmark.__doc__ or ""):
            for line in benchmark():
                table.add_row(*cells(line))
    console.print(table)


def cells(line: Line | Skipped) -> tuple[str, ...]:
    """Return the cells of a line of the table."""
    if isinstance(line, Skipped):
        return line.name, "", "", "", "", "skipped", line.why
    bound = f"{'<=' if line.at_most else '>='} {line.wanted:g}{line.unit}"
    ratio = f"{line.result:.2f}x" if line.other else ""
    verdict = "[green]reached[/green]" if line.reached else "[red]missed[/red]"
    return line.name, line.ours, line.other, ratio, bound, verdict, line.note


if __name__ == "__main__":
    main()
