"""Says once in a process that something is compiled, or why nothing is, to whoever waits for it.

The lines go to the logger `dp_bandit_envs`, which prints them on stderr if the program has not set up logging;
`logging.getLogger("dp_bandit_envs").setLevel("ERROR")` silences them.
"""

import contextlib
import logging
from collections.abc import Iterator, Sequence

MOST_NAMES = 3
_log = logging.getLogger("dp_bandit_envs")
_said: set[str] = set()
_waiting: list[Sequence[str]] = []


def say_once(kind: str, line: str) -> None:
    """Write a line, unless one of this kind has been written by this process."""
    if kind not in _said:
        _said.add(kind)
        _log.warning(line)


def say_compiling(names: Sequence[str], *, kept: bool) -> None:
    """Say that algorithms are compiled.

    Args:
        names: Their names.
        kept: Whether their machine code is kept on disk.
    """
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    once = "once on this machine" if kept else f"once in each process that plays {'it' if len(names) == 1 else 'them'}"
    say_once("compiling", f"compiling {', '.join(names[:MOST_NAMES])}{more}: some seconds, {once}")


@contextlib.contextmanager
def announced(names: Sequence[str]) -> Iterator[None]:
    """Say so if something is compiled in this block, in any thread; what is loaded from disk is not announced."""
    _waiting.append(names)
    try:
        yield
    finally:
        _waiting.remove(names)


def about_to_compile() -> None:
    """Say that something is compiled, if somebody waits for it."""
    if _waiting and _waiting[-1]:
        say_compiling(_waiting[-1], kept=True)
