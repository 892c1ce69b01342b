"""What `dp-bandit run` says where data are real: about the seed, about what its results show, and about all games."""

import math
import re
from pathlib import Path

from dp_bandit_envs.runs.experiment import Experiment, described
from dp_bandit_envs.runs.run_report import Note
from dp_bandit_envs.seeding import KNOWN_SEED

SECRET_SEED = (
    "The data are real, so the seed is a secret one, drawn from the operating system and written nowhere: this run"
    " cannot be repeated, nor continued after an interruption. With --seed it could, but whoever knows a seed can"
    " subtract the noise."
)

HARDLY = 10.0
"""An epsilon from which on what is seen is 20,000 times as likely with these data as with others."""


def about_seed(experiment: Experiment) -> Note | None:
    """Return what the reader of a report must know about the seed; None where gains are made up."""
    if not experiment.is_real:
        return None
    if experiment.seed is None:
        return Note(SECRET_SEED)
    return Note(f"{KNOWN_SEED[0].upper()}{KNOWN_SEED[1:]}", warning="The noise can be subtracted.")


def without_tables(text: str) -> str:
    """Return a command, or words of one, without the lists in it: they may be the gains themselves."""
    return re.sub(r"(?<==)[\[(].*[\])]", "[...]", text, flags=re.DOTALL)


def about_results(experiment: Experiment) -> Note | None:
    """Return what the reader must know about results on real data; None where gains are made up."""
    if not experiment.is_real:
        return None
    sentences = [
        "Regrets, figure and all files here are computed from true outcomes: they are NOT private, keep them where the"
        " data are. A guarantee is for the arms played in one game."
    ]
    if experiment.trials > 1:
        together = {
            player.name: player.guarantee_in(experiment.game(panel)).for_games(experiment.trials).epsilon
            for panel in experiment.panels
            for player in experiment.players(panel)
        }
        words = ", ".join(f"{name} {epsilon:.4g}" for name, epsilon in together.items() if math.isfinite(epsilon))
        sentences.append(
            f"Showing the arms of all {experiment.trials} games spends it {experiment.trials} times"
            + (f" (epsilon: {words})." if words else ".")
        )
    weak = _that_protect_nobody(experiment)
    if weak:
        sentences.append(f"An epsilon of {HARDLY:g} or more hardly protects anybody: {', '.join(weak)}.")
    return Note(" ".join(sentences), on_terminal=True)


def _that_protect_nobody(experiment: Experiment) -> list[str]:
    """Return algorithms that protect a round, or a record or person if it is known, with a large epsilon only."""
    found: dict[str, None] = {}
    for game in described(experiment):
        for one in game["results"]:
            levels = {"a round": one["level"][0], **{f"a {unit}": level[0] for unit, level in one["units"].items()}}
            what, worst = max(levels.items(), key=lambda pair: float(pair[1]))
            if float(worst) >= HARDLY:
                level = "none" if one["model"] == "none" else f"{worst:.4g} for {what}"
                found[f"{one['name']} ({level})"] = None
    return list(found)


def interrupted(out: Path) -> str:
    """Return what to print after Ctrl-C in a run with a secret seed."""
    return (
        f"\nInterrupted. The seed was secret and is gone, so this run cannot be continued. Delete {out}, or choose"
        " another folder with --out."
    )
