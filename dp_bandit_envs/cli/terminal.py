"""Printing and exiting of the command line."""

import os
import sys
import threading
from collections.abc import Container, Iterable, Sequence

from rich.console import Console
from rich.table import Table

LEAST_SPEED = 10_000
"""The least speed that is worth a word, in rounds per second."""
INTERRUPTED = 130
"""The exit code after Ctrl-C."""
console = Console()
errors = Console(stderr=True)


def say(text: str) -> None:
    """Print text without wrapping, so that commands and paths in long lines can be copied."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def table_of(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], right: Container[str] = ()) -> Table:
    """Return a table; the columns named in `right` are aligned to the right."""
    table = Table(title=title, title_justify="left")
    for column in head:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def write_any_letter() -> None:
    """Replace letters that the terminal does not support by question marks."""
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


def rate(speed: float) -> str:
    """Return a speed in words, after a comma; nothing for one that says more of how long it takes to begin."""
    if speed < LEAST_SPEED:
        return ""
    return f", {speed / 1e6:,.1f} M rounds/s" if speed >= 1e6 else f", {speed / 1e3:,.0f} k rounds/s"
