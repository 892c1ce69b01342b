"""Reads the words of `dp-bandit run`: which are environments, which algorithms, and what is said about the epsilons."""

import inspect
import re
from collections.abc import Sequence
from typing import Any

import typer

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm
from dp_bandit_envs.cli.options import number
from dp_bandit_envs.comparison.asking import (
    FILE_ENDINGS,
    algorithm_of,
    imported,
    loaded,
    question,
    refuse_unknown,
    short_name,
)
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment
from dp_bandit_envs.simulation.simulation import SPACINGS
from dp_bandit_envs.text import in_brackets
from dp_bandit_envs.wrappers import PrivacyBoundary


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
    one = algorithm_of(text)
    return AlgorithmSpec(one.name, one.at(epsilon, None, lambda: horizon), one.shown_as, maker=one.maker)


def audited(text: str, epsilon: float | None, horizon: int) -> tuple[Algorithm | Mechanism, str, dict[str, Any]]:
    """Return what an audit of `NAME`, or of `mine:Name`, looks at, its name for readers, and its parameters.

    Args:
        text: An algorithm as for `contestant`; or a mechanism, or the class of one or of a wrapper, in a module.
        epsilon: For what takes one, if the text does not set it.
        horizon: The game's horizon T.
    """
    own = imported(text)
    kind = own.thing if own is not None else None
    if isinstance(kind, Mechanism):
        return kind, type(kind).__name__, {}
    if own is None or not (isinstance(kind, type) and issubclass(kind, (Mechanism, PrivacyBoundary))):
        spec = contestant(text, epsilon, horizon)
        return spec.make(), spec.label or spec.name, dict(spec.parameters)
    takes = {key: one for key, one in inspect.signature(kind).parameters.items() if key != "env"}
    refuse_unknown(own.name, own.given, takes)
    given = {**({"epsilon": epsilon} if epsilon is not None and "epsilon" in takes else {}), **own.given}
    needed = [key for key, one in takes.items() if one.default is one.empty and one.kind in (0, 1, 3)]
    if missing := [key for key in needed if key not in given]:
        raise ValueError(f"{own.name} needs {', '.join(missing)}; write {text.rstrip(':')}:{missing[0]}=VALUE.")
    name = f"{own.name}{in_brackets(given)}"
    if issubclass(kind, Mechanism):
        return kind(**given), name, given
    return Algorithm(name, Uniform, lambda env: kind(env, **given), parameters=given), name, given


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
    try:
        own = imported(word)
    except ValueError:
        loaded(importable[1])
        return ""
    is_game = own is not None and isinstance(own.thing, type) and issubclass(own.thing, Adversary)
    return "environment" if is_game else "algorithm"
