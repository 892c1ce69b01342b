"""The commands `run`, `reproduce` and `grade`: read the names, play the games, and print the results."""

import functools
import re
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dp_bandit_envs import text
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.gain_files import ENDINGS
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.algorithms.specs import import_by_name, read_import, readable, short_name
from dp_bandit_envs.checks import near_names
from dp_bandit_envs.cli.data_commands import describe_ledger, open_ledger
from dp_bandit_envs.cli.options import usual_folder
from dp_bandit_envs.cli.terminal import INTERRUPTED, console, errors, leave_at_once, rate, say
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.experiments.arguments import experiment_from
from dp_bandit_envs.experiments.comparison import Comparison, comparison_of, run_study
from dp_bandit_envs.experiments.entries import Entry, convention_of
from dp_bandit_envs.experiments.experiment import Experiment, Results
from dp_bandit_envs.experiments.progress import progress_of
from dp_bandit_envs.experiments.report import (
    SECRET_SEED,
    Note,
    Study,
    View,
    format_measure,
    notes_on,
)
from dp_bandit_envs.experiments.store import find_growing
from dp_bandit_envs.experiments.tables import terminal_table
from dp_bandit_envs.metrics import mean_and_standard_error, median_and_tail, median_of_means

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OF_MEANS = View("external_regret", "mean")
PERSON = "person"
"""The word after --at-guarantee that asks for the guarantee of a person."""


def run_games(
    names: Sequence[str],
    *,
    trials: int | None,
    seed: int | None,
    checkpoints: str,
    persons: str | None,
    ledger: Path | None,
    out: Path | None,
    jobs: int,
    command: str,
    **arguments: Any,
) -> None:
    """Play algorithms in environments, and write figure, tables and report; more as for `experiment_from`."""
    if arguments["at_guarantee"] and PERSON in names:
        names, arguments["at_guarantee"] = [name for name in names if name != PERSON], PERSON
    environments, algorithms = sort_names(names)
    if persons is not None and not persons.strip():
        raise ValueError("persons must name a column, or be the most lines of a person; it is empty.")
    if ledger is not None and seed is not None:
        raise ValueError(
            "--ledger counts games with secret noise only: that of a known seed cancels in a difference of two games."
            " Leave --seed out."
        )
    budget = None if ledger is None else open_ledger(ledger)
    trials = (100 if budget is None else 1) if trials is None else trials
    of_games: dict[str, Any] = {
        "trials": trials,
        "seed": "auto" if seed is None else seed,
        "persons": persons,
        "ledger": budget,
    }
    experiment = experiment_from(environments, algorithms, checkpoints=checkpoints, **of_games, **arguments)
    experiment.check()
    labels = ", ".join(dict.fromkeys(spec.base_label for spec in experiment.all_algorithms))
    folder = out or _usual_folder(experiment)
    # A report is not private, but the gains themselves have no place in it.
    publish: Callable[[str], str] = _without_tables if experiment.is_real else str
    title = publish(f"{labels} on {readable(', '.join(environments))}")
    if experiment.is_real and experiment.seed is None:
        console.print(SECRET_SEED, highlight=False)

    def make_notes(results: Sequence[Results]) -> list[Note]:
        """Return all notes; the spending of a budget is known after the games."""
        spent = [] if budget is None or ledger is None else [Note(describe_ledger(budget, ledger), on_terminal=True)]
        return [*notes_on(comparison_of(results[0])), *spent]

    def draw(results: Sequence[Results], columns: int | None = None, note: bool = True) -> "dict[str, Figure]":
        return {"": comparison_of(results[0]).plot(columns=columns, note=note)}

    study = Study(experiment.name, title, (experiment,), OF_MEANS, notes=make_notes, draw=draw)
    try:
        produce(study, folder, jobs=jobs, command=publish(command))
    except KeyboardInterrupt:
        if experiment.seed is not None:
            raise
        errors.print(
            f"\nInterrupted. The seed was secret and is gone, so this run cannot be continued. Delete {folder}, or"
            " choose another folder with --out.",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
        leave_at_once(INTERRUPTED)


def _usual_folder(experiment: Experiment) -> Path:
    """Return the folder below `results/` of a run, or a finished run's folder that is part of it and can grow."""
    games = dict.fromkeys((re.findall(r"\w+", game.key) or ["game"])[0] for game in experiment.games)
    folder = usual_folder("run", games, experiment.digest())
    return folder if folder.exists() else find_growing(folder.parent, experiment.configuration()) or folder


def produce(
    study: Study,
    out: Path,
    *,
    jobs: int,
    command: str,
) -> None:
    """Run the missing games, write all files, and print their paths."""
    for experiment in study.experiments:
        experiment.check()
    started, played = time.perf_counter(), 0

    def advance(game: str | None, rounds: int) -> None:
        """Show progress, and count the rounds that are played now."""
        nonlocal played
        played += rounds * (game is not None)
        show(game, rounds)

    with progress_of("dp-bandit", True, sum(one.rounds for one in study.experiments), sys.stdout) as show:
        report = run_study(study, out, jobs=jobs, progress=advance, command=command)
    seconds = time.perf_counter() - started
    print_regrets(next(iter(report.results.values())), study.view)
    console.print("The report explains why each guarantee holds.", highlight=False)
    for claim in report.claims:
        console.print(f"{claim.says} [bold]{claim.answer}[/bold]", highlight=False)
    print_notes(report.notes)
    speed = (
        f"{played:,} rounds in {seconds:,.1f} s{rate(played / seconds)}. "
        if played
        else "Nothing was played again: the results were there. "
    )
    where = f"See {' and '.join(str(out / file) for file in ('report.md', *report.pictures))}."
    if not report.is_written:
        where = f"{out} is read-only: its figure, tables and report are those of an earlier run. {where}"
    say(f"{speed}{where}")


def print_regrets(comparison: Comparison, view: View) -> None:
    """Print a table with a row for each algorithm in each game, and the meaning of its numbers."""
    console.print(
        f"{format_measure(view.measure)} after the last round: {view.centre} (median / 99 % quantile);"
        f" {convention_of(comparison.entries)}",
        highlight=False,
        style="italic",
    )
    head = format_measure(view.measure).lower()
    say(terminal_table(comparison.entries, head, functools.partial(_in_a_cell, view=view), console.width))


def print_notes(notes: Sequence[Note]) -> None:
    """Print the notes that the terminal shows."""
    for note in notes:
        if note.warning or note.on_terminal:
            console.print(f"{note.warning} {note.text}".strip(), markup=False, highlight=False)


def _in_a_cell(entry: Entry, view: View) -> str:
    last = entry.values(view.measure)[:, -1]
    median, tail = median_and_tail(last)
    if view.centre == "median":
        centre = median
    else:
        centre = mean_and_standard_error(last)[0] if view.centre == "mean" else median_of_means(last).value
    return f"{float(centre):,.1f} ({median:,.1f} / {tail:,.1f})"


def sort_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the environments and the algorithms among names, in any order.

    An unknown name counts as an environment if there is none yet, so that the error suggests the most likely names.

    Raises:
        typer.BadParameter: If an environment or an algorithm is missing, or a name is a number.
    """
    environments, algorithms = sort_kinds(names)
    for kind, of_kind in (("environment", environments), ("algorithm", algorithms)):
        if not of_kind:
            raise typer.BadParameter(
                f"run needs at least one {kind}; received {' '.join(map(text.shown, names))!r}. For example: dp-bandit"
                " run Switching EXP3 EXP3-tau. `dp-bandit list` shows the names."
            )
    return environments, algorithms


def sort_kinds(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the environments and the algorithms among names; either may be missing. See `sort_names`."""
    kinds: dict[str, list[str]] = {"environment": [], "algorithm": [], "": []}
    for name in names:
        kinds[_kind(name)].append(name)
    environments, algorithms, unknown = kinds.values()
    for name in unknown:
        if re.fullmatch(r"[\d.]+(e-?\d+)?", name):
            raise typer.BadParameter(
                f"several values of an option are written with commas, as in --epsilon 0.1,1; received {name!r} alone."
            )
        resembles_algorithm = near_names(name, ALGORITHMS) and not near_names(name, map(short_name, IDS))
        (algorithms if environments or resembles_algorithm else environments).append(name)
    return environments, algorithms


def _kind(word: str) -> str:
    """Return the kind of a name: an environment, an algorithm, or "" if it is unknown."""
    if word.endswith(ENDINGS):
        return "environment"
    name = word.partition(":")[0].lower()
    if name in {spelling.lower() for id_ in IDS for spelling in (id_, short_name(id_), f"DPBandit-{short_name(id_)}")}:
        return "environment"
    if name in {algorithm.lower() for algorithm in ALGORITHMS}:
        return "algorithm"
    importable = re.fullmatch(r"([\w.]+):([\w-]+)(:.*)?", word)
    if importable is None:
        return ""
    if importable[2].startswith("DPBandit-"):
        return "environment"
    try:
        named = read_import(word)
    except ValueError:
        import_by_name(importable[1])
        return ""
    is_game = named is not None and isinstance(named.imported, type) and issubclass(named.imported, Adversary)
    return "environment" if is_game else "algorithm"


def _without_tables(text: str) -> str:
    """Return a command, or words of one, without the lists in it: they may be the gains themselves."""
    return re.sub(r"(?<==)[\[(].*[\])]", "[...]", text, flags=re.DOTALL)


def grade_labs(folder: Path, out: Path, secret: str | None, **settings: Any) -> None:
    """Grade a folder of submitted labs, and write two tables."""
    from dp_bandit_envs.course.grading import grade, write

    say("This is no sandbox: each file runs with your rights. Grade files of people you do not trust elsewhere.")
    phrase = secrets.token_hex(8) if secret is None else secret
    try:
        grades = grade(folder, phrase, progress=lambda graded: say(graded.summary), **settings)
    except KeyboardInterrupt:
        errors.print("\nInterrupted. All submissions were stopped, and nothing was written.", highlight=False)
        leave_at_once(INTERRUPTED)
    write(out, grades)
    if secret is None:
        say(f"Cases were drawn from a new secret; --secret {phrase} draws the same again.")
    say(f"{len(grades)} files. See {out / 'grades.csv'} and {out / 'answers.csv'}.")
