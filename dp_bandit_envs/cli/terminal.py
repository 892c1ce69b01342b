"""Where the command line prints, how it shows how far a run is, and how it ends."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

INTERRUPTED = 130
"""The exit code after Ctrl-C."""
LINES = 10
"""How many lines of progress there are in a pipe or a file."""
Advance = Callable[[str | None, int], None]
"""Takes a panel's title and the rounds just played, or None and the rounds whose results were there already."""
console = Console()
errors = Console(stderr=True)


def say(text: str) -> None:
    """Print text as it is: a long line stays one, so that commands and paths in it can be copied."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def write_any_letter() -> None:
    """Write a question mark in place of letters that the terminal does not support."""
    for stream in (sys.stdout, sys.stderr):
        # A handler that the user chose is kept.
        if getattr(stream, "errors", "") in ("strict", "surrogateescape") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def leave_at_once(code: int) -> None:
    """Exit without waiting seconds for a background compilation."""
    from dp_bandit_envs.compiling.compiled import COMPILER

    if any(thread.name == COMPILER for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


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
def progress(where: Console, rounds: int) -> Iterator[Advance]:
    """Show how many of the rounds are played, by a bar in a terminal, and by ten lines in a pipe or a file.

    Saved results do not count as work, so that speeds are right.
    """
    if not where.is_terminal:
        yield _in_lines(where, rounds)
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
    with Progress(*columns, console=where) as bar:
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


def _in_lines(where: Console, rounds: int) -> Advance:
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
            said = f"{100 * lines // LINES:>3d}% of {left:,} rounds played, {seconds:,.0f} s, {panel}"
            where.print(said, markup=False, highlight=False, soft_wrap=True)

    return advance
