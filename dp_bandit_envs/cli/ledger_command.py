"""`dp-bandit ledger`: makes the file that keeps a budget for data, or shows what was spent of it by whom."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dp_bandit_envs.cli.options import number
from dp_bandit_envs.cli.terminal import console

if TYPE_CHECKING:
    from dp_bandit_envs.privacy.ledger import Ledger

EXAMPLES = (
    "Examples: dp-bandit ledger my.ledger --epsilon 3 --unit person; dp-bandit run clean.csv DP-KLUCB --epsilon 0.1"
    " --persons person --ledger my.ledger; dp-bandit ledger my.ledger"
)
DELTA = 1e-6
"""What a budget has by default."""


def ledger(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The ledger: one file for each data set.")],
    epsilon: Annotated[
        float | None,
        typer.Option(
            parser=number, metavar="NUMBER", help="Make the file, with this budget for all games on the data together."
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            parser=number,
            metavar="NUMBER",
            help="The delta of that budget; a hundredth of it is kept for fast draws.",
            show_default=f"{DELTA:g}",
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="Whom the budget is for: record, or person (games then need --persons).", show_default="record"
        ),
    ] = None,
) -> None:
    """Make a budget for all games on the same data (--epsilon), or show what was spent of one, and by whom."""
    from dp_bandit_envs import checks
    from dp_bandit_envs.privacy.guarantee import UNITS
    from dp_bandit_envs.privacy.ledger import Ledger

    if unit is not None:
        checks.one_of("--unit", unit, UNITS)
    if epsilon is not None:
        made = Ledger.create(
            file,
            epsilon=epsilon,
            delta=DELTA if delta is None else delta,
            unit="person" if unit == "person" else "record",
        )
    elif not all(one is None for one in (delta, unit)):
        raise ValueError("--epsilon must be given to make a ledger; --delta and --unit go with it.")
    else:
        made = opened(file)
        show_charges(made)
    console.print(about(made, file), markup=False, highlight=False, soft_wrap=True)


def show_charges(one: "Ledger") -> None:
    """Print a table of what each player spent."""
    from rich.table import Table

    charges = one.charges
    if not charges:
        return
    table = Table(title="Spent so far", title_justify="left")
    for column in ("by", "games", f"epsilon alone, at delta = {one.budget.for_curve:.3g}"):
        table.add_column(column, justify="left" if column == "by" else "right", overflow="fold")
    for whom, games, epsilon in charges:
        table.add_row(whom or "(a reset)", f"{games:,}", f"{epsilon:.4g}")
    console.print(table)


def opened(file: Path) -> "Ledger":
    """Return the ledger of a file.

    Raises:
        ValueError: If there is no such file.
    """
    from dp_bandit_envs.privacy.ledger import Ledger

    if not file.exists():
        raise ValueError(
            f"--ledger must be a file that exists; there is no {str(file)!r}. Make it once for these data: dp-bandit"
            f" ledger {file} --epsilon 3, where 3 is all that games on them may ever spend."
        )
    return Ledger.load(file)


def about(one: "Ledger", file: Path) -> str:
    """Return what may be spent, and what was."""
    spent = one.spent
    games = f"{spent.games:,} game{'' if spent.games == 1 else 's'}"
    left = f"epsilon = {max(0.0, one.budget.epsilon - spent.epsilon):.6g} is left"
    return (
        f"{file}: the budget is {one.budget}. Spent by {games} so far: epsilon = {spent.epsilon:.6g}, delta ="
        f" {spent.delta:.3g}; {'nothing is left, as they were admitted alone' if one.is_closed else left}."
    )
