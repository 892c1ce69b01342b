"""The submitted files of a folder, and the names under which everybody reads them."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

MOST_BYTES = 2**20
"""The longest file, which is read into memory."""
MOST_LETTERS = 60
FLAGS: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""Nobody waits for a writer to a named pipe."""


class Submission(NamedTuple):
    """A submitted file.

    Attributes:
        player: Its name without the ending, as it is; it chooses the agent's random streams.
        name: The same for readers: printable, short, different from all others.
        file: Its name, printable.
        source: What is in it.
        problem: Why it cannot be read; empty if it can.
    """

    player: str
    name: str
    file: str
    source: bytes
    problem: str = ""


def submissions_in(folder: Path, taken: Iterable[str] = ()) -> list[Submission]:
    """Return the files NAME.py of a folder, by name; names that begin with . or _ are no submissions.

    Args:
        folder: The folder.
        taken: Names that no submission may have.

    Raises:
        ValueError: If it is no folder, or there is no such file in it.
    """
    if not folder.is_dir():
        raise ValueError(f"FOLDER must be a folder with one file NAME.py for each agent; received {str(folder)!r}.")
    files = sorted(path for path in folder.iterdir() if path.suffix == ".py" and path.name[0] not in "._")
    if not files:
        raise ValueError(
            f"FOLDER must have one file NAME.py for each agent; there is none in {str(folder)!r}. Files that begin with"
            " . or _ do not count."
        )
    names = different([shown(path.stem)[:MOST_LETTERS] for path in files], taken)
    return [_read(path, name) for path, name in zip(files, names, strict=True)]


def shown(text: str) -> str:
    """Return text on one line, of letters that can be printed; others, and bytes that are no letters, become ?."""
    return "".join(one if one.isprintable() else " " if one.isspace() else "?" for one in text)


def different(names: list[str], taken: Iterable[str] = ()) -> list[str]:
    """Return names with a number behind those that were there before, ignoring case."""
    seen, found = {name.lower() for name in taken}, []
    for name in names:
        new, number = name, 2
        while new.lower() in seen:
            new, number = f"{name} ({number})", number + 1
        seen.add(new.lower())
        found.append(new)
    return found


def _read(path: Path, name: str) -> Submission:
    source, problem = b"", ""
    try:
        if path.is_file():
            with os.fdopen(os.open(path, FLAGS), "rb") as file:
                source = file.read(MOST_BYTES + 1)
        else:
            problem = "cannot be read: it is no regular file"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    if len(source) > MOST_BYTES:
        source, problem = b"", f"is longer than {MOST_BYTES:,} bytes"
    return Submission(path.stem, name, shown(path.name), source, problem)
