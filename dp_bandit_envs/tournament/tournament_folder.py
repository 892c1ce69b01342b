"""The folder of a tournament's results: new or empty before, complete or empty after."""

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path

from dp_bandit_envs.durable_files import make_folder, remove, whole_file
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.tournament.holding import Tournament
from dp_bandit_envs.tournament.tournament_page import page_of
from dp_bandit_envs.tournament.tournament_report import report_of, summary_of

PAGE, REPORT, SUMMARY = "index.html", "report.md", "summary.csv"


def unused_folder(below: Path) -> Path:
    """Return `tournament`, `tournament-2` and so on below a folder: the first that does not exist."""
    names = itertools.chain(["tournament"], (f"tournament-{number}" for number in itertools.count(2)))
    return next(path for name in names if not (path := below / name).exists())


@contextlib.contextmanager
def reserved(folder: Path) -> Iterator[None]:
    """Make the folder before anything is played; remove it again if nothing gets into it.

    Raises:
        ResultsError: If it is not empty, or cannot be made.
    """
    try:
        new = not folder.exists()
        make_folder(folder)
        if any(folder.iterdir()):
            raise ResultsError(
                f"{folder}: the folder of a tournament must be new or empty; it contains files. Choose another."
            )
    except OSError as error:
        raise ResultsError(f"{folder}: the folder must be writable; {error.strerror}. Choose another.") from None
    try:
        yield
    finally:
        if new:
            with contextlib.suppress(OSError):
                folder.rmdir()


def write(folder: Path, one: Tournament, command: str) -> None:
    """Write page, report and table, all of them or none."""
    contents = {SUMMARY: summary_of(one), REPORT: report_of(one, command), PAGE: page_of(one, command)}
    try:
        for name, text in contents.items():
            with whole_file(folder / name) as file:
                # A folder's name in the command may contain undecodable bytes.
                file.write(text.encode(errors="replace"))
    except BaseException:
        for name in contents:
            remove(folder / name)
        raise
