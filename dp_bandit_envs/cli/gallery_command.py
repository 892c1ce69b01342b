"""Prints the gallery of `dp-bandit audit --gallery`: each broken part, its audit, and what an attacker sees."""

from rich.console import Console
from rich.table import Table

from dp_bandit_envs.audits.gallery import LESSONS

EPSILON = 1.0


def show_gallery(console: Console) -> None:
    """Run every audit on the broken part and on its repaired twin, and print the table.

    Args:
        console: Where to print.
    """
    table = Table(title="Broken on purpose, at epsilon = 1", title_justify="left")
    for column in ("fault", "broken", "repaired", "what an attacker sees"):
        table.add_column(column, overflow="fold")
    for name, lesson in LESSONS.items():
        broken, repaired = (lesson.rejects(make(EPSILON)) for make in (lesson.broken, lesson.repaired))
        table.add_row(name, _verdict(broken), _verdict(repaired), lesson.seen)
    console.print(table, highlight=False)


def _verdict(rejected: bool) -> str:
    return "refuted" if rejected else "passes"
