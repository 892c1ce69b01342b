"""Prints what `dp-bandit list` shows: every name, in 80 columns; `dp-bandit show` says more about one."""

import textwrap
from collections.abc import Iterable

from rich.console import Console

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.cli.show_command import HORIZON, KINDS, N_ARMS, WIDTH, first_line
from dp_bandit_envs.comparison.asking import short_name
from dp_bandit_envs.privacy.guarantee import CONVENTION, level_of


def show_all(console: Console) -> None:
    """Print a line for each environment and algorithm, and the names of the rest."""
    for line in listed():
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def listed() -> list[str]:
    """Return the lines, none longer than 80 characters."""
    lines = ["Environments (DPBandit-...-v0)"]
    lines += [_line(short_name(name), "", 14, 0, first_line(thing)) for name, thing in KINDS["environment"]().items()]
    lines += ["", f"Algorithms, with their default guarantees at K = {N_ARMS}, T = {HORIZON:,};", CONVENTION]
    for name, maker in KINDS["algorithm"]().items():
        level = level_of(make_algorithm(name).guarantee(n_arms=N_ARMS, horizon=HORIZON))
        what = first_line(maker).partition(": ")[2]
        lines.append(_line(name, str(level), 18, 26, what))
    for kind in ("agent", "wrapper", "counter"):
        lines += ["", f"{kind.capitalize()}s", *_names(KINDS[kind]())]
    return [*lines, "", "dp-bandit show NAME says more: parameters, guarantee, bound, source."]


def _line(name: str, level: str, wide: int, level_wide: int, what: str) -> str:
    start = f"  {name:<{wide}} " + (f"{level:<{level_wide}} " if level_wide else "")
    return (start + textwrap.shorten(what, WIDTH - len(start), placeholder=" ...")).rstrip()


def _names(names: Iterable[str]) -> list[str]:
    return textwrap.wrap(", ".join(names), WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
