"""Reads the words of `dp-bandit run`: which are environments, which algorithms, and what is said about the epsilons."""

import re
from collections.abc import Sequence
from typing import Any

import typer

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.cli.options import number
from dp_bandit_envs.comparison.asked_algorithms import asked
from dp_bandit_envs.comparison.asked_games import FILE_ENDINGS, loaded, short_name
from dp_bandit_envs.comparison.question import question
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.experiments.experiment import Experiment
from dp_bandit_envs.experiments.privacy_levels import labels_of
from dp_bandit_envs.experiments.specs import AlgorithmSpec
from dp_bandit_envs.simulation.checkpoints import SPACINGS


def sorted_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the environments and the algorithms among words, which may stand in any order.

    A word that is neither is an environment if there is none yet, so that the error suggests near names of what a
    reader most likely meant.

    Raises:
        typer.BadParameter: If an environment or an algorithm is missing.
    """
    environments: list[str] = []
    algorithms: list[str] = []
    unknown: list[str] = []
    for word in words:
        kind = _kind(word)
        (environments if kind == "environment" else algorithms if kind == "algorithm" else unknown).append(word)
    for word in unknown:
        if not environments:
            environments.append(word)
        else:
            algorithms.append(word)
    names = " ".join(word.partition(":")[0] for word in words)
    for what, found in (("environment", environments), ("algorithm", algorithms)):
        if not found:
            raise typer.BadParameter(
                f"run needs at least one {what}; received {names!r}. For example: dp-bandit run Switching EXP3"
                " EXP3-tau. `dp-bandit list` shows the names."
            )
    return environments, algorithms


def numbers(name: str, texts: Sequence[str] | None) -> list[float] | None:
    """Return the numbers of an option that takes several: `0.1,1`, or given twice; None if it is not given.

    Raises:
        ValueError: If a part is no number.
    """
    if not texts:
        return None
    try:
        found = [number(part) for text in texts for part in text.split(",")]
    except typer.BadParameter as error:
        raise ValueError(f"{name} must be a number, or several as in 0.1,1; {error.message}.") from None
    for text in texts:
        if re.fullmatch(r"0+,\d+", text.strip()):
            raise ValueError(f"{name} {text} would be 0 and another; write {text.replace(',', '.')} with a point.")
    return found


def experiment_of(
    environments: Sequence[str],
    algorithms: Sequence[str],
    *,
    epsilon: Sequence[float] | float | None = None,
    seed: int | None = None,
    spacing: str = "linear",
    **asked_for: Any,
) -> Experiment:
    """Return the experiment that plays `algorithms` in `environments`.

    Args:
        environments: As for `game_of`.
        algorithms: Names, each with parameters after a colon if wanted: `EXP3-tau:batch_size=19`; or `mine:Name`.
        epsilon: For every algorithm with this parameter whose text does not set it.
        seed: The seed; None for a secret one where the data are real, and otherwise 0.
        spacing: Spacing of the rounds that are recorded, `"linear"` or `"log"`.
        asked_for: As for `question`.
    """
    checks.one_of("spacing", spacing, SPACINGS)
    chosen: Any = "auto" if seed is None else seed
    return question(
        list(environments), list(algorithms), epsilon=epsilon, seed=chosen, checkpoints=spacing, **asked_for
    )


def contestant(text: str, epsilon: float | None, horizon: int) -> AlgorithmSpec:
    """Return the algorithm that `NAME` or `NAME:parameter=value,parameter=value` asks for.

    Args:
        text: The text.
        epsilon: For an algorithm with this parameter whose text does not set it.
        horizon: The game's horizon T; an algorithm with both epsilon and delta gets delta = T^-2.
    """
    one = asked(text)
    return AlgorithmSpec(one.name, one.at(epsilon, None, lambda: horizon), one.shown_as, maker=one.maker)


def about_epsilon(experiment: Experiment, epsilons: Sequence[float] | None) -> str:
    """Return a sentence on which algorithms got --epsilon, with which delta, and which have another guarantee."""
    if not epsilons:
        return ""
    has: dict[float | None, dict[str, None]] = {}
    others: dict[str, None] = {}
    labels = labels_of([experiment])
    for panel in experiment.panels:
        for one in experiment.contestants_of(panel):
            if one.asked is not None:
                has.setdefault(one.parameters.get("delta"), {})[one.shown_as or one.name] = None
            else:
                others[labels[one.label or one.name]] = None
    usual = {float(experiment.game(panel).horizon) ** -2 for panel in experiment.panels}
    parts = [
        ", ".join(names)
        + ("" if delta is None else f" with delta = {delta:.3g}" + (" = T^-2" if delta in usual else ""))
        for delta, names in has.items()
    ]
    values = f"epsilon = {' and '.join(f'{one:g}' for one in epsilons)}"
    text = f"{values} goes to {'; '.join(parts)}." if parts else f"{values} goes to nobody."
    return text + (f" Not to {', '.join(others)}." if others else "")


def about_guarantees(experiment: Experiment) -> str:
    """Return a sentence on the parameters at which algorithms really have the guarantee that was asked for."""
    parts = []
    for panel in experiment.panels:
        of_panel = [
            f"{one.label or one.name} with {', '.join(map(_in_words, one.parameters.items()))}"
            for one in experiment.contestants_of(panel)
            if one.asked is not None and one.parameters
        ]
        parts.append((f"{panel.title}: " if len(experiment.panels) > 1 else "") + "; ".join(of_panel))
    return f"At the guarantees that were asked for, found by their real ones: {'. '.join(filter(None, parts))}."


def _in_words(parameter: tuple[str, Any]) -> str:
    name, value = parameter
    return f"{name} = {value:.7g}" if isinstance(value, float) else f"{name} = {value}"


def _kind(word: str) -> str:
    """Return what a word names: an environment, an algorithm, or "" if it is unknown."""
    if word.endswith(FILE_ENDINGS):
        return "environment"
    name = word.partition(":")[0].lower()
    if name in {spelling.lower() for id_ in IDS for spelling in (id_, short_name(id_), f"DPBandit-{short_name(id_)}")}:
        return "environment"
    if name in {known.lower() for known in ALGORITHMS}:
        return "algorithm"
    importable = re.fullmatch(r"([\w.]+):([\w-]+)(:.*)?", word)
    if importable is None:
        return ""
    if importable[2].startswith("DPBandit-"):
        return "environment"
    found = getattr(loaded(importable[1]), importable[2], None)
    if isinstance(found, type) and issubclass(found, Adversary):
        return "environment"
    return "algorithm" if found is not None else ""
