"""Shows what a run compiles, its progress, and the remaining time."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.compiled import QUIET, says_compiling
from dp_bandit_envs.errors import WrongTypeError

Requested = Callable[[int, int], None] | bool | None
"""Whether to show progress, or a function that is called with (rounds played, rounds in all)."""
BETWEEN = 0.5
"""Seconds between two looks of the line in a terminal."""
FIRST_LINE = 10.0
"""Seconds before the first line where lines stay, as in a file or a notebook; each further one after twice as long."""
BAR = 20
"""Letters of the bar in a terminal."""


class ShownProgress:
    """Writes compilations, then the share of rounds played and the approximate remaining time.

    Args:
        stream: Output stream; by default the current stderr.
        clock: Returns seconds.
        command: Name of the command.
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
        self._next_said = 0.0
        self._width = 0
        self._playing_since = 0.0

    def say(self, line: str) -> None:
        """Write a line about the preparation; "" ends the preparation."""
        seconds = self._seconds
        if not line:
            self._playing_since = seconds
        elif self._rewrites or seconds >= self._next_said:
            self._write(line)
            self._next_said = 2 * seconds

    def __call__(self, done: int, total: int, saved: int = 0) -> None:
        """Update with the rounds played or found in the folder, the total, and the rounds found in the folder."""
        seconds = self._seconds
        if seconds < self._next or done >= total:
            return
        share, left = f"{100 * done // total}%", ""
        if done > saved:
            rest = (seconds - self._playing_since) * (total - done) / (done - saved)
            left = f", {duration(rest)} left"
        if self._rewrites:
            filled = BAR * done // total
            self._write(f"{self._command} [{'#' * filled}{'.' * (BAR - filled)}] {share}{left}")
            self._next = seconds + BETWEEN
        else:
            self._write(f"{self._command}: {share} of {total:,} rounds{left}")
            self._next = 2 * seconds

    @property
    def _seconds(self) -> float:
        return self._clock() - self._began

    def _write(self, line: str) -> None:
        if self._stream is None:
            return
        self._stream.write("\r" + line.ljust(self._width) if self._rewrites else line + "\n")
        self._width = len(line) if self._rewrites else 0
        self._stream.flush()

    def close(self) -> None:
        """Clear the line of a terminal."""
        if self._width and self._stream is not None:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0


def duration(seconds: float) -> str:
    """Return a time in words: `12 s`, `3 min` or `2 h 5 min`."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def check_progress(progress: Requested) -> None:
    """Raise if `progress` is invalid."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise WrongTypeError(f"progress must be True, False or a function of two numbers; received {progress!r}.")
    if callable(progress):
        checks.function("progress", progress, "rounds played", "rounds in all")


def interruption(folder: object, *, is_secret: bool = False, what: str = "games") -> KeyboardInterrupt:
    """Return the error to raise after Ctrl-C, without inner frames: it says what is kept, and how to resume."""
    if is_secret:
        return KeyboardInterrupt("interrupted; the seed was secret and is gone, so that this run cannot be continued.")
    if folder is None:
        return KeyboardInterrupt(f"interrupted; nothing is kept. With folder='results/mine', finished {what} are.")
    return KeyboardInterrupt(f"interrupted; finished {what} are saved in {folder}, and the same call goes on there.")


@contextlib.contextmanager
def progress_of(
    command: str, progress: Requested, total: int, stream: TextIO | None = None
) -> Iterator[Callable[[str | None, int], None]]:
    """Yield the progress function of a run of `total` rounds; by default it writes to the current stderr."""
    line = ShownProgress(stream, command=command) if progress is True else None
    done = saved = 0

    def advance(game: str | None, rounds: int) -> None:
        nonlocal done, saved
        done, saved = done + rounds, saved + rounds * (game is None)
        if line is not None:
            line(done, total, saved)
        elif callable(progress):
            progress(done, total)

    with says_compiling(line.say if line else (lambda _: None) if progress is False else None):
        try:
            yield advance
        finally:
            if line is not None:
                line.close()
