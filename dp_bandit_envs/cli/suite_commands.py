"""The command `suite`: score agents or a class's folder, list the tasks, or show the reference."""

import contextlib
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from dp_bandit_envs.cli.options import parse_numbers, usual_folder
from dp_bandit_envs.cli.terminal import console, say
from dp_bandit_envs.files import write_whole
from dp_bandit_envs.suite import AXES, LEVELS, SIZES, ScoreCard, evaluate, identification_tasks, join, load, tasks
from dp_bandit_envs.suite.evaluation import LEVELS_OF_A_CARD
from dp_bandit_envs.suite.identification import are_of_identification, lines_of_identification
from dp_bandit_envs.suite.players import agents_of_folder
from dp_bandit_envs.suite.reference import REFERENCE_SEED
from dp_bandit_envs.suite.sheet import MOST_DOTS, PRIVATE_LEVELS, level_in_words, lines_of_reference
from dp_bandit_envs.suite.task_table import size_name

CELLS: Final = Path("results/suite")
"""Where calls without --out keep what was played; each card has a folder of its own."""


def score_agents(
    words: Sequence[str],
    *,
    size: str,
    epsilon: list[str] | None,
    axes: list[str] | None,
    out: Path | None,
    seed: int | None,
    seconds: float,
    jobs: int,
) -> None:
    """Score agents, or join cards; print the sheet, and write card, sheet and picture."""
    for word in words:
        if os.sep in word.partition(":")[0] and not Path(word).exists():
            raise ValueError(f"{word}: the file or folder must exist; there is none. Check the path.")
    cards = [word for word in words if word.endswith(".json")]
    if cards and len(cards) < len(words):
        raise ValueError(f"cards are joined alone; received {cards[0]!r} beside others. Score those first.")
    if cards:
        for option, setting in {"--epsilon": epsilon, "--axis": axes, "--seed": seed}.items():
            if setting is not None:
                raise ValueError(f"{option} is for agents that play, and cards are joined as they are. Leave it out.")
        write_card(join(*(load(word) for word in words)), out)
        return
    agents: Any = list(words)
    if folders := [word for word in words if Path(word).is_dir()]:
        if len(words) > 1:
            raise ValueError(f"a folder of agents must be alone; received {len(words)} words with {folders[0]!r}.")
        say("This is no sandbox: each file runs with your rights. Score files of people you do not trust elsewhere.")
        agents = agents_of_folder(Path(folders[0]))
    scores = evaluate(
        agents,
        size=size,
        epsilon=parse_levels(epsilon),
        tasks=axes,
        folder=(out or CELLS) / "cells",
        seed=REFERENCE_SEED if seed is None else seed,
        seconds=seconds,
        jobs=jobs,
    )
    write_card(scores, out)


def parse_levels(texts: Sequence[str] | None) -> list[float | None]:
    """Return the levels of `--epsilon 0.1,none`; by default the three of a card."""
    levels: list[float | None] = []
    for word in [word for text in texts or () for word in text.split(",")]:
        levels += [None] if word.strip().lower() == "none" else parse_numbers("--epsilon", [word]) or []
    return levels or list(LEVELS_OF_A_CARD)


def write_card(scores: ScoreCard, out: Path | None) -> None:
    """Print the sheet, and write it, the card, and its picture if there is a score and matplotlib is installed."""
    names = dict.fromkeys(cell["agent"] for cell in scores.cells)
    out = out or usual_folder("suite", names, scores.values["digest"][:8])
    sheet = scores.sheet(console.width if console.is_terminal else math.inf)
    say(sheet)
    if sheet != str(scores):
        say("\nsheet.txt has the other axes.")
    scores.save(out / "card.json")
    write_whole(out / "sheet.txt", f"{scores}\n")
    files = ["card.json", "sheet.txt"]
    if any(cell["score"] is not None for cell in scores.cells):
        with contextlib.suppress(ImportError):
            from dp_bandit_envs.plots.plot_style import as_bytes

            write_whole(out / "figure.png", as_bytes(scores.plot(), "png"))
            files.append("figure.png")
    if "figure.png" in files and len({cell["agent"] for cell in scores.cells}) > MOST_DOTS:
        say(f"\nThe picture has {', '.join(scores.named_agents())}; the sheet has all agents.")
    say(f"\nSee {' and '.join(str(out / name) for name in files)}.")


def show_tasks() -> None:
    """Print sizes, levels and tasks."""
    sizes = ", ".join(f"{name} (T = {size.horizon:,}, {size.games} games)" for name, size in SIZES.items())
    levels = ", ".join(level_in_words(level) for level in LEVELS)
    lines = [f"Sizes: {sizes}", f"Levels: epsilon {levels}", f"Axes: {', '.join(AXES)}", ""]
    lines.append(f"{'task':<28}{'game':<15}{'measure':<17}scores 1")
    for task in tasks():
        lines.append(f"{task.name:<28}{task.game:<15}{task.measure.replace('_', ' '):<17}{task.best}")
    lines += [
        "",
        "Outside the total (--axis identification), to find the best arm:",
    ]
    for finding in identification_tasks():
        means = " ".join(f"{mean:g}" for mean in finding.arguments["means"])
        lines.append(f"{finding.name:<28}{finding.game:<15}{finding.measure.replace('_', ' '):<20}{means}")
    say("\n".join(lines))


def show_reference(size: str, axes: list[str] | None, epsilon: list[str] | None) -> None:
    """Print the best of the package by axis, or all of some axes."""
    if are_of_identification(axes):
        identification_tasks(axes)
        say("\n".join(lines_of_identification(size_name(size), LEVELS if epsilon is None else parse_levels(epsilon))))
        return
    levels = PRIVATE_LEVELS if epsilon is None else parse_levels(epsilon)
    chosen: Sequence[str | None] = axes or [None]
    for axis in chosen:
        say("\n".join(lines_of_reference(size_name(size), axis, levels)))
