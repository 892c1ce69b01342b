"""`dp-bandit tournament`: everybody's agent in the same hidden games."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dp_bandit_envs.cli.options import Jobs, Out, SecretSeed, command_line, cores, number, whole
from dp_bandit_envs.cli.terminal import INTERRUPTED, console, errors, leave_at_once

if TYPE_CHECKING:
    from rich.table import Table

    from dp_bandit_envs.tournament import Tournament
    from dp_bandit_envs.tournament.refereeing import Match

EXAMPLES = (
    "Examples: dp-bandit tournament submissions; dp-bandit tournament submissions --epsilon 1 --out results/monday"
)


def tournament(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Has one file NAME.py for each agent; see docs/tournament.md.")
    ],
    epsilon: Annotated[
        float | None,
        typer.Option(
            parser=number,
            metavar="NUMBER",
            help="Privacy of what every agent sees, by Laplace noise on its gains; by default true gains.",
        ),
    ] = None,
    horizon: Annotated[
        int, typer.Option(parser=whole, metavar="NUMBER", help="Number of rounds of each game.")
    ] = 2_000,
    games: Annotated[
        int, typer.Option(parser=whole, metavar="NUMBER", help="Number of games of each of the five kinds.")
    ] = 20,
    arms: Annotated[int, typer.Option(parser=whole, metavar="NUMBER", help="Number of arms of each game.")] = 5,
    seed: SecretSeed = None,
    seconds: Annotated[
        float,
        typer.Option(
            parser=number,
            metavar="NUMBER",
            help="Processor time of an agent for all its games; by the clock it has three times as many.",
        ),
    ] = 60.0,
    memory: Annotated[
        int, typer.Option(parser=whole, metavar="MEGABYTES", help="Memory that an agent may use.")
    ] = 1_024,
    jobs: Jobs = 0,
    out: Out = None,
) -> None:
    """Play everybody's agent in the same hidden games, and write a ranking with intervals, a page and a report.

    An agent's process has limits of time and memory, and your rights: this is NO sandbox (see docs/tournament.md).
    """
    from dp_bandit_envs.tournament import hold
    from dp_bandit_envs.tournament.tournament_files import (
        NO_SANDBOX,
        PAGE,
        REPORT,
        about_seed,
        reserved,
        unused_folder,
        warnings_of,
        write,
    )

    target = out or unused_folder(Path("results"))
    try:
        with reserved(target):
            console.print(NO_SANDBOX, highlight=False, soft_wrap=True)
            one = hold(
                folder,
                horizon=horizon,
                games=games,
                n_arms=arms,
                epsilon=epsilon,
                seed=seed,
                seconds=seconds,
                memory=memory,
                jobs=cores(jobs),
                progress=_show,
            )
            write(target, one, command_line())
    except KeyboardInterrupt:
        errors.print("\nInterrupted. All agents were stopped, and nothing was written.", highlight=False)
        leave_at_once(INTERRUPTED)
    console.print(_table(one))
    for line in (*warnings_of(one), about_seed(one, command_line())):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print(f"See {target / PAGE} and {target / REPORT}.", markup=False, highlight=False, soft_wrap=True)


def _show(match: "Match") -> None:
    said = match.failure or f"played all games, {match.seconds:,.1f} s"
    console.print(f"{match.submission.name}: {said}", markup=False, highlight=False, soft_wrap=True)


def _table(one: "Tournament") -> "Table":
    from rich.markup import escape
    from rich.table import Table

    from dp_bandit_envs.tournament.tournament_files import HEAD, rows_of

    table = Table()
    for column in HEAD:
        table.add_column(column, justify="left" if column == "agent" else "right", overflow="fold")
    for row in rows_of(one):
        table.add_row(row.rank, escape(row.name), row.score, row.interval, row.possible)
    table.caption = "score: regret as a share of what chance loses; 0 % is the best arm throughout"
    return table
