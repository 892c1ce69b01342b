"""Shows how far a run is: a bar in a terminal, ten lines in a pipe or a file."""

import contextlib
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

Advance = Callable[[str | None, int], None]
"""Takes a panel's title and the rounds just played, or None and the rounds whose results were there already."""
LINES = 10


class RoundsPerSecond(ProgressColumn):
    """Shows how fast rounds are played."""

    def render(self, task: Task) -> Text:
        """Return the speed as text."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else rate(speed))


def rate(speed: float) -> str:
    """Return a speed in words."""
    return f"{speed / 1e6:,.1f} M rounds/s" if speed >= 1e6 else f"{speed / 1e3:,.0f} k rounds/s"


@contextlib.contextmanager
def progress(console: Console, rounds: int) -> Iterator[Advance]:
    """Show how many of the rounds are played; saved results do not count as work, so that speeds are right."""
    if not console.is_terminal:
        yield in_lines(console, rounds)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        RoundsPerSecond(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("compiling", total=rounds)
        left = rounds

        def advance(panel: str | None, rounds: int) -> None:
            nonlocal left
            if panel is None:
                left -= rounds
                bar.update(task, total=left)
            else:
                bar.update(task, advance=rounds, description=panel)

        yield advance
        bar.update(task, total=max(left, 1), completed=max(left, 1), description="done")


def in_lines(console: Console, rounds: int) -> Advance:
    """Return what prints a line after each tenth of the rounds."""
    began = time.perf_counter()
    left, played, lines = rounds, 0, 0

    def advance(panel: str | None, rounds: int) -> None:
        nonlocal left, played, lines
        if panel is None:
            left -= rounds
            return
        played += rounds
        if LINES * played // left > lines:
            lines = LINES * played // left
            seconds = time.perf_counter() - began
            console.print(
                f"{100 * lines // LINES:>3d}% of {left:,} rounds played, {seconds:,.0f} s, {panel}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )

    return advance
