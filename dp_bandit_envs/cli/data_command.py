"""`dp-bandit data`: all problems of a messy file, and a clean one."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from dp_bandit_envs.cli.options import whole
from dp_bandit_envs.cli.terminal import console
from dp_bandit_envs.errors import GainFileError

OPEN = 1
"""The exit code while problems are open."""

EXAMPLES = (
    "Examples: dp-bandit data trial.csv --arm treatment --gain outcome --person id --scale 0,100; dp-bandit data"
    " trial.csv --arm treatment --gain outcome --person id --scale 0,100 --missing drop --out clean.csv"
)


def data(
    file: Annotated[str, typer.Argument(help="A file with one record a line: .csv, .tsv, .txt, .parquet or .xlsx.")],
    arm: Annotated[
        str | None, typer.Option(help="The column that says which arm was played, such as the treatment.")
    ] = None,
    gain: Annotated[
        str | None, typer.Option(help="The column of the outcomes, larger ones better unless --scale says so.")
    ] = None,
    person: Annotated[str | None, typer.Option(help="The column that says whose the record is.")] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            metavar="percent|WORST,BEST",
            help="The worst and the best possible outcome, such as 0,100; 30,0 where less is better. From the protocol,"
            " never from the data.",
        ),
    ] = None,
    missing: Annotated[
        str, typer.Option(metavar="refuse|drop|GAIN", help="What a missing outcome is; 0 counts it as gain 0.")
    ] = "refuse",
    missing_codes: Annotated[
        str,
        typer.Option(
            help="Numbers and words that mean missing, such as -99,refused; for arms and persons only words and"
            " negative numbers, as 99 may be the number of one."
        ),
    ] = "",
    outside: Annotated[
        str, typer.Option(metavar="refuse|drop|clip", help="What to do with gains outside [0, 1].")
    ] = "refuse",
    unreadable: Annotated[
        str, typer.Option(metavar="refuse|drop", help="What to do with text in place of a number, and broken lines.")
    ] = "refuse",
    duplicates: Annotated[
        str, typer.Option(metavar="keep|drop", help="What to do with copies of whole lines.")
    ] = "keep",
    decimal: Annotated[str, typer.Option(metavar="auto|point|comma", help="The mark before decimals.")] = "auto",
    values: Annotated[str, typer.Option(help="Outcomes that are words, such as cured=1,died=0.")] = "",
    most_per_person: Annotated[
        int | None, typer.Option(parser=whole, metavar="NUMBER", help="Keep at most so many records of a person.")
    ] = None,
    arms_alike: Annotated[
        str, typer.Option(help="Arms that are one, such as Plazebo=Placebo; unbekannt= is a missing arm.")
    ] = "",
    header: Annotated[int, typer.Option(help="The line with the names of the columns.")] = 1,
    sheet: Annotated[str | None, typer.Option(help="The sheet of an Excel file; by default the first.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="CLEAN.csv", help="Write the clean file here.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the clean file if there is one.")] = False,
) -> None:
    """Report all problems of a messy file at once, without showing an outcome or an id, and write a clean one."""
    if arm is None or gain is None:
        show_columns(console, file, header, sheet)
    decided = {"scale": scale, "missing": missing, "outside": outside, "unreadable": unreadable, "decimal": decimal}
    more = {
        "duplicates": duplicates,
        "values": values,
        "most_per_person": most_per_person,
        "arms_alike": arms_alike,
        "header": header,
        "sheet": sheet,
    }
    codes = [code for code in missing_codes.split(",") if code.strip()]
    columns = {"arm": arm, "gain": gain, "person": person}
    show_data(console, file, {**columns, **decided, **more, "missing_codes": codes}, out=out, force=force)


def show_columns(console: Console, file: str, header: int, sheet: str | None) -> None:
    """Print the columns of a file and how to name them, unless its first line may be a record.

    Raises:
        GainFileError: If the file cannot be read.
        typer.Exit: With code 1, as arm and gain must be given.
    """
    from dp_bandit_envs.recorded_data import shown_columns

    shown = shown_columns(file, header=header, sheet=sheet)
    text = f"The columns of {file}: {shown}.\nSay which are the arms, the outcomes and, if there is one, the persons:\n"
    text += f"dp-bandit data {shlex.quote(file)} --arm COLUMN --gain COLUMN --person COLUMN"
    console.print(text, markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(OPEN)


def show_data(console: Console, file: str, options: Mapping[str, Any], *, out: Path | None, force: bool) -> None:
    """Print what was found in a file, and write the clean one if it is asked for and nothing is open.

    Args:
        console: Where to print.
        file: The path of the messy file.
        options: The arguments of `recorded_data.clean`.
        out: The path of the clean file, or None.
        force: Whether to replace it.

    Raises:
        GainFileError: If the file cannot be read at all, or `out` is the messy file itself.
        FileExistsError: If `out` exists, without `force`.
        typer.Exit: With code 1, if problems are open.
    """
    if out is not None and (out.suffix != ".csv" or not out.parent.is_dir()):
        raise ValueError(f"out must be a .csv file in a folder that exists; received {str(out)!r}.")
    if force and out is None:
        raise ValueError("--force must come with --out, whose file it replaces; there is none. Give both.")
    if out is not None and out.resolve() == Path(file).resolve():
        raise GainFileError(f"{out}: the clean file must not replace the messy one. Choose another name.")
    if out is not None and out.exists() and not force:
        raise FileExistsError(f"{out}: must be new; it exists. Choose another name, or give --force to replace it.")
    from dp_bandit_envs.recorded_data import clean

    cleaned = clean(file, **options)

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    say(cleaned.report(command_line=True))
    if cleaned.open_problems:
        many = len(cleaned.open_problems)
        say(f"\nNo clean file: {many} problem{'' if many == 1 else 's'} above must be decided first (TO DECIDE).")
        raise typer.Exit(OPEN)
    if out is None:
        say("\nEverything is decided. Write the clean file with --out clean.csv.")
        return
    cleaned.save(out, force=force)
    from dp_bandit_envs.advice.advice import rounded_down

    use, path = cleaned.use, shlex.quote(str(out))
    whom, epsilon = ("record", 1 / use.record) if use.person is None else ("person", 1 / use.person)
    say(
        f"\nWritten: {out}, and {out}.json, which says what was done. Next, for example, with epsilon = 1 for a {whom}:"
    )
    # Without persons, a record is all that anything can be said for.
    say(f"A new trial:\ndp-bandit advise {path} --epsilon 1{' --rounds-per-person 1' if use.person is None else ''}")
    persons = "" if use.person is None else " --persons person"
    say(f"A replay of this file:\ndp-bandit run {path} Batched-Lap-HTINF --epsilon {rounded_down(epsilon)}{persons}")
