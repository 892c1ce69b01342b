"""What `dp-bandit run` says about the seed where data are real."""

from pathlib import Path

from dp_bandit_envs.experiments.claim import Note
from dp_bandit_envs.experiments.experiment import Experiment
from dp_bandit_envs.seeding import KNOWN_SEED

SECRET_SEED = (
    "The data are real, so the seed is a secret one, drawn from the operating system and written nowhere: this run"
    " cannot be repeated, nor continued after an interruption. With --seed it could, but whoever knows a seed can"
    " subtract the noise."
)


def about_seed(experiment: Experiment) -> Note | None:
    """Return what the reader of a report must know about the seed; None where gains are made up."""
    if not experiment.is_real:
        return None
    if experiment.seed is None:
        return Note(SECRET_SEED)
    return Note(f"{KNOWN_SEED[0].upper()}{KNOWN_SEED[1:]}", warning="The noise can be subtracted.")


def interrupted(out: Path) -> str:
    """Return what to print after Ctrl-C in a run with a secret seed."""
    return (
        f"\nInterrupted. The seed was secret and is gone, so this run cannot be continued. Delete {out}, or choose"
        " another folder with --out."
    )
