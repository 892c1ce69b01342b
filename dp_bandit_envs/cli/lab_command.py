"""Opens the labs of the course: `dp-bandit lab`."""

import signal
from pathlib import Path
from typing import Annotated

import typer

from dp_bandit_envs.cli.options import folder as a_folder
from dp_bandit_envs.cli.options import whole
from dp_bandit_envs.cli.terminal import console

EXAMPLES = "Examples: dp-bandit lab; dp-bandit lab price-of-privacy; dp-bandit lab --read-only --headless --port 8000"


def lab(
    name: Annotated[
        str | None, typer.Argument(help="A lab, by its name or number as in --list; by default the page of all labs.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the labs, without opening one.")] = False,
    folder: Annotated[
        Path,
        typer.Option(
            parser=a_folder,
            metavar="FOLDER",
            help="Where your copies are. A lab is copied there once and never overwritten: rename or remove your copy"
            " to get a new one.",
        ),
    ] = Path("labs"),
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Show the labs as apps, for a lecture: sliders move, code is hidden.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(parser=whole, metavar="NUMBER", help="Port to listen at; by default a free one.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at; 0.0.0.0 lets others on the network in.")
    ] = "127.0.0.1",
    headless: Annotated[bool, typer.Option("--headless", help="Open no browser; the address is printed.")] = False,
) -> None:
    """Open the labs of the course in the browser: questions, sliders, and tasks that check themselves."""
    from dp_bandit_envs.course.notebooks import START_PAGE, copy_labs, find, outdated, served, show_in_browser
    from dp_bandit_envs.optional import require

    if list_:
        show_labs()
        return
    page = find(name).file if name else START_PAGE
    require("marimo", extra="labs")
    copied = copy_labs(folder)
    if copied:
        console.print(f"Copied {len(copied)} notebooks to {folder}.", highlight=False, markup=False, soft_wrap=True)
    for file in outdated(folder):
        console.print(
            f"{folder / file} is a copy from another version of dp-bandit-envs and does not run with this one: rename"
            " it, give this command again for a new copy, and take your answers over.",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    # Else whoever ends this command by a signal leaves marimo running.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with served(folder, page, read_only=read_only, host=host, port=port) as (address, process):
        console.print(f"The labs are open at {address}", highlight=False, markup=False, soft_wrap=True)
        try:
            console.print("Press Ctrl-C here to close them.", highlight=False)
            if not headless and not show_in_browser(address):
                console.print("There is no browser here: open the address yourself.", highlight=False)
            process.wait()
        except KeyboardInterrupt:
            console.print(f"\nClosed. Your copies are in {folder}.", highlight=False, markup=False, soft_wrap=True)


def show_labs() -> None:
    """Print the table of labs."""
    from rich.table import Table

    from dp_bandit_envs.course.notebooks import LABS

    table = Table(box=None, pad_edge=False)
    for column in ("", "lab", "question", "minutes"):
        table.add_column(column, overflow="fold", justify="right" if column in ("", "minutes") else "left")
    for place, one in enumerate(LABS, 1):
        table.add_row(str(place), one.name, one.question, str(one.minutes))
    console.print(table, highlight=False)
