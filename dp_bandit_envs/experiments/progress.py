"""Shows how far a run is."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongTypeError

Requested = Callable[[int, int], None] | bool | None
"""Whether to show progress, or a function that is called with (rounds played, rounds in all)."""
QUIET = 3.0
"""Seconds before the first word, so that what is quick stays silent."""
BETWEEN = 0.5
"""Seconds between two looks of the line in a terminal."""
FIRST_LINE = 10.0
"""Seconds before the first line where lines stay, as in a file or a notebook; each further one after twice as long."""


class ShownProgress:
    """Writes how many of the rounds are played.

    Args:
        stream: Where to write; by default stderr as it is now.
        clock: Returns seconds.
        command: What plays them.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        command: str = "compare",
    ) -> None:
        self._command = command
        self._stream = sys.stderr if stream is None else stream
        self._clock, self._began = clock, clock()
        self._rewrites = self._stream is not None and self._stream.isatty()
        self._next = QUIET if self._rewrites else FIRST_LINE
        self._width = 0

    def __call__(self, done: int, total: int) -> None:
        """Take the rounds played, or found in the folder, and those in all."""
        seconds = self._clock() - self._began
        if self._stream is None or seconds < self._next or done >= total:
            return
        left = f", about {seconds * (total - done) / done:,.0f} s left" if done else ""
        text = f"{self._command}: {100 * done // total}% of {total:,} rounds, {seconds:,.0f} s{left}"
        if self._rewrites:
            self._stream.write("\r" + text.ljust(self._width))
            self._next, self._width = seconds + BETWEEN, len(text)
        else:
            self._stream.write(text + "\n")
            self._next = 2 * seconds
        self._stream.flush()

    def close(self) -> None:
        """Take the line of a terminal away."""
        if self._width and self._stream is not None:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0


def check_progress(progress: Requested) -> None:
    """Raise if it is nothing that can be asked for."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise WrongTypeError(f"progress must be True, False or a function of two numbers; received {progress!r}.")
    if callable(progress):
        checks.function("progress", progress, "rounds played", "rounds in all")


@contextlib.contextmanager
def progress_of(command: str, progress: Requested, total: int) -> Iterator[Callable[[str | None, int], None]]:
    """Yield what a run tells its progress to.

    Args:
        command: What plays, for the line that is shown.
        progress: What was asked for.
        total: The number of rounds in all.
    """
    line = ShownProgress(command=command) if progress is True else None
    tell = line or (progress if callable(progress) else None)
    done = 0

    def advance(_: str | None, rounds: int) -> None:
        nonlocal done
        done += rounds
        if tell is not None:
            tell(done, total)

    try:
        yield advance
    finally:
        if line is not None:
            line.close()
