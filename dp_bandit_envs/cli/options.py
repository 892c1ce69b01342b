"""The options that several commands share, and how their words are read."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from dp_bandit_envs import __version__
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


def folder(text: Any) -> Path:
    """Return a folder for results, or raise if it is named like a file."""
    path = Path(text)
    if path.suffix.lower() in ONE_FILE and not path.is_dir():
        raise typer.BadParameter(f"it is a folder, for figure, tables and report; {str(path)!r} is named like a file")
    return path


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
        help="Privacy parameter of every algorithm that takes one (with delta = T^-2 if it takes a delta too);"
        " by default each algorithm's own, see show. inf is no privacy."
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(parser=whole, metavar="NUMBER", help="Number of games of each algorithm in each environment."),
]
Horizon = Annotated[
    int | None,
    typer.Option(
        parser=whole, metavar="NUMBER", help="Number of rounds of each game, as 1e5; by default the environment's."
    ),
]
Seed = Annotated[int, typer.Option(help="The seed of everything random.")]
Jobs = Annotated[int, typer.Option(help="Games to play at a time; 0 for as many as there are cores.")]
Cluster = Annotated[
    str | None, typer.Option(help="Address of a dask scheduler whose workers play all games, in place of --jobs.")
]
Device = Annotated[
    str, typer.Option(help="Where to play: cpu, or cuda for this machine's NVIDIA GPU (never tried on one).")
]
Out = Annotated[
    Path | None,
    typer.Option(parser=folder, metavar="FOLDER", help="Folder for the results; by default one below results/."),
]
