"""The options that several commands share, and how their words are read."""

import math
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dp_bandit_envs import __version__, checks
from dp_bandit_envs.cli.terminal import console

ONE_FILE = (".png", ".svg", ".pdf", ".csv", ".md", ".npz", ".json")
"""Endings of what a folder of results is not."""


def whole(text: Any) -> int:
    """Return a whole number, written as 100000, 1e5, 100_000 or 100,000."""
    written = str(text).strip()
    plain = re.sub(r"(?<=\d),(?=\d{3}(\D|$))", "", written)
    try:
        return int(plain)
    except ValueError:
        pass
    try:
        number = float(plain)
        if number.is_integer():  # nan is not, and inf cannot be converted
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise typer.BadParameter(f"{written!r} is no whole number, such as 1000 or 1e5")


def number(text: Any) -> float:
    """Return a number, or inf if that is written."""
    written = str(text).strip()
    try:
        found = float(written)
    except ValueError:
        comma = re.fullmatch(r"\d*,\d+", written)
        hint = f"; decimals begin with a point, as in {written.replace(',', '.')}" if comma else ", such as 0.5 or 1e-6"
        raise typer.BadParameter(f"{written!r} is no number{hint}") from None
    if math.isinf(found) and "inf" not in written.lower():
        raise typer.BadParameter(f"{written!r} is larger than any number here; write inf if you mean that")
    return found


def wholes(name: str, texts: Sequence[str] | None) -> list[int] | None:
    """Return the whole numbers of an option that takes several: `1000,1e4`, or given twice; None if it is not given."""
    if not texts:
        return None
    for text in texts:
        if re.fullmatch(r"\d{1,3}(,\d{3})+", text.strip()):
            raise ValueError(
                f"{name} {text} may be one number or several; write {text.replace(',', '')} for one, or give the option"
                " again for each of several."
            )
    try:
        return [whole(part) for text in texts for part in text.split(",")]
    except typer.BadParameter as error:
        raise ValueError(f"{name} must be a whole number, or several with commas; {error.message}.") from None


def folder(text: Any) -> Path:
    """Return a folder for results, or raise if it is named like a file, or is one."""
    path = Path(text)
    if not str(text).strip():
        raise typer.BadParameter("it must name a folder, such as results/mine; it is empty")
    if path.is_file():
        raise typer.BadParameter(f"it must be a folder; {str(path)!r} is a file. Choose another name")
    if path.suffix.lower() in ONE_FILE and not path.is_dir():
        raise typer.BadParameter(f"it is a folder, for figure, tables and report; {str(path)!r} is named like a file")
    return path


def picture(text: Any) -> Path:
    """Return a file for a picture, or raise if it has another ending or is in no folder."""
    path = Path(text)
    if path.suffix not in (".png", ".svg") or not path.parent.is_dir() or path.is_dir():
        raise typer.BadParameter(f"it must be a .png or .svg file in a folder that exists; received {str(text)!r}")
    return path


def find_modules_here() -> None:
    """Let `mine:Name` find a file `mine.py` in the working directory, after everything that is installed."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        console.print(f"dp-bandit-envs {__version__}", highlight=False)
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", is_eager=True, callback=show_version, help="Print the version and exit.")
]
Epsilon = Annotated[
    float | None,
    typer.Option(
        parser=number,
        metavar="NUMBER",
        help="Privacy parameter of every algorithm that takes one (with delta = T^-2 if it takes a delta too);"
        " by default each algorithm's own, see show. inf is no privacy.",
    ),
]
Epsilons = Annotated[
    list[str] | None,
    typer.Option(
        metavar="EPSILON[,EPSILON...]",
        help="Privacy parameter of every algorithm that takes one (with --delta if it takes a delta too); several, as"
        " 0.1,1, to compare them. By default each algorithm's own, see show. inf is no privacy.",
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(
        parser=whole,
        metavar="NUMBER",
        help="Number of games of each algorithm in each environment; by default 100, with --ledger 1.",
    ),
]
Horizons = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NUMBER[,NUMBER...]",
        help="Number of rounds of each game, as 1e5, or several; by default the environment's.",
    ),
]
Arms = Annotated[
    list[str] | None,
    typer.Option(metavar="NUMBER[,NUMBER...]", help="Number of arms, or several; by default the environment's."),
]
Seed = Annotated[int, typer.Option(parser=whole, metavar="NUMBER", help="The seed of everything random.")]
TargetDelta = Annotated[
    float, typer.Option(parser=number, metavar="NUMBER", help="At this delta; 0 for pure differential privacy.")
]
NumberOfArms = Annotated[int | None, typer.Option(parser=whole, metavar="NUMBER", help="Number of arms.")]
NumberOfRounds = Annotated[
    int | None, typer.Option(parser=whole, metavar="NUMBER", help="Number of rounds, as 5000 or 1e5.")
]
RoundsPerPerson = Annotated[
    int | None,
    typer.Option(
        parser=whole,
        metavar="NUMBER",
        help="Ask for the guarantee of a person with so many rounds at most; by default it is that of one round.",
    ),
]
SecretSeed = Annotated[
    int | None,
    typer.Option(
        parser=whole,
        metavar="NUMBER",
        help="The seed of everything random; by default 0, or a secret one where data are real or games are hidden.",
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        parser=whole,
        metavar="NUMBER",
        help="Games (in a tournament: agents) to play at a time; 0 for as many as there are cores.",
    ),
]
Cluster = Annotated[
    str | None, typer.Option(help="Address of a dask scheduler whose workers play all games, in place of --jobs.")
]
Out = Annotated[
    Path | None,
    typer.Option(parser=folder, metavar="FOLDER", help="Folder for the results; by default one below results/."),
]


def cores(jobs: int) -> int:
    """Return the number of games to play at a time: as given, or for 0 as many as there are cores."""
    return checks.integer("jobs", jobs, at_least=0) or os.cpu_count() or 1


def command_line() -> str:
    """Return the command as the reader of a report can type it."""
    from dp_bandit_envs.comparison.asking import readable

    return readable(shlex.join(["dp-bandit", *sys.argv[1:]]))
