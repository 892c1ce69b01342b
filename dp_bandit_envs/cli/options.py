"""The options of the command line: their parsers, and options that several commands share."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

ONE_FILE = (".png", ".svg", ".pdf", ".csv", ".md", ".npz", ".json")
"""Endings of files, which a folder of results must not have."""
MOST_OF_NAME = 24
"""How many letters of names are in the name of a folder."""


def parse_integer(text: Any) -> int:
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


def parse_number(text: Any) -> float:
    """Return a number, or inf."""
    written = str(text).strip()
    try:
        number = float(written)
    except ValueError:
        comma = re.fullmatch(r"\d*,\d+", written)
        hint = f"; decimals begin with a point, as in {written.replace(',', '.')}" if comma else ", such as 0.5 or 1e-6"
        raise typer.BadParameter(f"{written!r} is no number{hint}") from None
    if math.isinf(number) and "inf" not in written.lower():
        raise typer.BadParameter(f"{written!r} is larger than any number here; write inf if you mean that")
    return number


def parse_integers(name: str, texts: Sequence[str] | None) -> list[int] | None:
    """Return the integers of an option with several values: `1000,1e4`, or a repeated option; None if it is missing."""
    for text in texts or ():
        if re.fullmatch(r"\d{1,3}(,\d{3})+", text.strip()):
            raise ValueError(
                f"{name} {text} may be one number or several; write {text.replace(',', '')} for one, or give the option"
                " again for each of several."
            )
    return _parse_list(name, texts, parse_integer, "a whole number, or several with commas")


def parse_numbers(name: str, texts: Sequence[str] | None) -> list[float] | None:
    """Return the numbers of an option with several values: `0.1,1`, or a repeated option; None if it is missing."""
    numbers = _parse_list(name, texts, parse_number, "a number, or several as in 0.1,1")
    for text in texts or ():
        if re.fullmatch(r"0+,\d+", text.strip()):
            raise ValueError(f"{name} {text} would be 0 and another; write {text.replace(',', '.')} with a point.")
    return numbers


def _parse_list(name: str, texts: Sequence[str] | None, read: Callable[[str], Any], what: str) -> list[Any] | None:
    if not texts:
        return None
    try:
        return [read(part) for text in texts for part in text.split(",")]
    except typer.BadParameter as error:
        raise ValueError(f"{name} must be {what}; {error.message}.") from None


def folder(text: Any) -> Path:
    """Return a folder for results, or raise if it is a file or named like a file."""
    path = Path(text)
    if not str(text).strip():
        raise typer.BadParameter("it must name a folder, such as results/mine; it is empty")
    if path.is_file():
        raise typer.BadParameter(f"it must be a folder; {str(path)!r} is a file. Choose another name")
    if path.suffix.lower() in ONE_FILE and not path.is_dir():
        raise typer.BadParameter(f"it is a folder, for figure, tables and report; {str(path)!r} is named like a file")
    return path


PICTURES = (".png", ".svg", ".pdf")
TABLES = {".tex": "latex", ".md": "markdown", ".html": "html", ".csv": "csv"}
"""The format of a table, by the ending of its file."""


def picture(text: Any, more: Sequence[str] = ()) -> Path:
    """Return a file for a picture, or of more endings; raise if it has another one or its folder is missing."""
    path, endings = Path(text), (*PICTURES, *more)
    if path.suffix not in endings or not path.parent.is_dir() or path.is_dir():
        known = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise typer.BadParameter(f"it must be a {known} file in a folder that exists; received {str(text)!r}")
    return path


def picture_or_table(text: Any) -> Path:
    """Return a file for a picture or a table, as `picture` does."""
    return picture(text, tuple(TABLES))


def usual_folder(command: str, names: Iterable[str], digest: str) -> Path:
    """Return the folder below `results/` of a call without --out."""
    words = re.sub(r"[^\w-]+", "-", "-".join(names))[:MOST_OF_NAME].strip("-")
    return Path("results") / f"{command}-{words}-{digest}"


def integer_option(help_: str) -> Any:
    """Return an option that takes a whole number."""
    return typer.Option(parser=parse_integer, metavar="NUMBER", help=help_)


def float_option(help_: str, **look: Any) -> Any:
    """Return an option that takes a number."""
    return typer.Option(parser=parse_number, metavar="NUMBER", help=help_, **look)


def picture_option(help_: str) -> Any:
    """Return an option that takes a file for a picture."""
    return typer.Option(parser=picture, metavar="FILE", help=help_)


Epsilons = Annotated[
    list[str] | None,
    typer.Option(
        metavar="EPSILON[,EPSILON...]",
        help="Privacy parameter of every algorithm that takes one (with --delta if it takes a delta too); several, as"
        " 0.1,1, to compare them. By default each algorithm's own, see show. inf is no privacy.",
    ),
]
RoundsPerPerson = Annotated[
    int | None,
    integer_option(
        "Ask for the guarantee of a person with so many rounds at most; by default it is that of one round."
    ),
]
Seed = Annotated[int, integer_option("The seed of everything random.")]
SecretSeed = Annotated[
    int | None,
    integer_option("The seed of everything random; by default 0, or a secret one where data are real."),
]
Jobs = Annotated[int, integer_option("Games to play at a time; 0 for as many as there are cores.")]
Out = Annotated[
    Path | None,
    typer.Option(parser=folder, metavar="FOLDER", help="Folder for the results; by default one below results/."),
]
