"""Parses the arguments of `dp-bandit run` into an experiment."""

import ast
import dataclasses
import importlib
import inspect
import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.cli.equal_guarantee import Target, at_target
from dp_bandit_envs.cli.show_command import short_name
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.experiments.experiment import AlgorithmSpec, Experiment, GameSpec
from dp_bandit_envs.experiments.privacy_levels import labels_of
from dp_bandit_envs.simulation.checkpoints import SPACINGS

WORDS = {"true": True, "false": False, "none": None}
FILE_ENDINGS = (".npy", ".csv", ".csv.gz")
FIXED_BY = {"EXP3-tau": "batch_size"}
"""The parameter that fixes the privacy of an algorithm in place of epsilon and delta."""


def comparison(
    environment: str,
    algorithms: list[str],
    *,
    epsilon: float | None,
    trials: int,
    horizon: int | None,
    seed: int | None,
    spacing: str = "linear",
    at_guarantee: Target | None = None,
    persons: str | None = None,
) -> Experiment:
    """Return the experiment that plays `algorithms` against `environment`.

    Args:
        environment: An id, with or without `DPBandit-` and `-v0`, and with arguments after a colon if wanted:
            `Graph:graph=cycle,n_arms=10` or `Stochastic:means=[.9,.6]`; or the id of a registered adversary behind its
            module's name, `mine:DPBandit-Drifting-v0`; or a file of gains.
        algorithms: Names, each with parameters after a colon if wanted: `EXP3-tau:batch_size=19`.
        epsilon: For every algorithm with this parameter whose text does not set it; with delta = T^-2 if it also has a
            delta.
        trials: Number of games of each algorithm.
        horizon: Number of rounds, or None for the environment's own.
        seed: The seed; None for a secret one where the data are real, and otherwise 0.
        spacing: Spacing of the rounds that are recorded, `"linear"` or `"log"`.
        at_guarantee: An (epsilon, delta) that every algorithm's guarantee in this game meets as closely as possible
            from below, or None; not together with `epsilon`.
        persons: For a file of gains: the most records of a person, or the name of the column that says whose they are.
    """
    if epsilon is not None and at_guarantee is not None:
        raise ValueError(
            "--epsilon and --at-guarantee both set the privacy; give one. --epsilon is the parameter of each algorithm,"
            " --at-guarantee what it really guarantees."
        )
    if epsilon is not None:
        epsilon = checks.epsilon(epsilon)
    panel = _panel(environment, persons)
    experiment = Experiment(
        name="run",
        panels=(panel,),
        contestants=(),
        horizon=None if horizon is None else checks.integer("horizon", horizon, at_least=1),
        trials=checks.integer("trials", trials, at_least=1),
        seed=None if seed is None else checks.integer("seed", seed, at_least=0),
        checkpoints=checks.one_of("spacing", spacing, SPACINGS),
    )
    if seed is None and not experiment.is_real:
        experiment = dataclasses.replace(experiment, seed=0)
    contestants = tuple(contestant(text, epsilon, lambda: experiment.game(panel).horizon) for text in algorithms)
    if at_guarantee is not None:
        contestants = tuple(at_target(one, at_guarantee, experiment.game(panel)) for one in contestants)
    for one in contestants:
        one.make()
    words = [panel.key, *(one.label or one.name for one in contestants)]
    name = re.sub(r"[^\w.=-]+", "-", "-".join(["run", *words]))[:120]
    return dataclasses.replace(experiment, name=name, contestants=contestants)


def contestant(text: str, epsilon: float | None, horizon: Callable[[], int]) -> AlgorithmSpec:
    """Parse `NAME` or `NAME:parameter=value,parameter=value`.

    Args:
        text: The text.
        epsilon: For an algorithm with this parameter whose text does not set it.
        horizon: Returns the game's horizon T; an algorithm with both epsilon and delta gets delta = T^-2.
    """
    written, _, rest = text.partition(":")
    name = checks.known_name("algorithm", written, ALGORITHMS)
    parameters = _parameters(rest, text)
    takes = {key: one for key, one in inspect.signature(ALGORITHMS[name]).parameters.items() if key != "label"}
    unknown = sorted(set(parameters) - set(takes))
    if unknown:
        known = ", ".join(sorted(takes)) or "none"
        raise ValueError(f"{name} has no parameter {unknown[0]!r}. Known: {known}.")
    wants_delta = "delta" in takes and ("noise" not in takes or parameters.get("noise") == "gaussian")
    label = f"{name} ({', '.join(f'{key}={value}' for key, value in parameters.items())})" if parameters else None
    if "epsilon" in takes and "epsilon" not in parameters and epsilon is not None:
        if FIXED_BY.get(name) not in parameters:
            parameters["epsilon"] = epsilon
            if wants_delta and "delta" not in parameters:
                parameters["delta"] = usual_delta(name, horizon())
    elif "epsilon" in parameters and wants_delta and takes["delta"].default is None:
        parameters.setdefault("delta", usual_delta(name, horizon()))
    return AlgorithmSpec(name, parameters, label)


def usual_delta(name: str, horizon: int) -> float:
    """Return T^-2, the default for an algorithm with a delta."""
    if horizon < 2:
        raise ValueError(f"horizon must be at least 2 for {name}, whose delta is T^-2; received {horizon}.")
    return float(horizon) ** -2


def about_epsilon(experiment: Experiment, epsilon: float | None) -> str:
    """Return a sentence on which algorithms got --epsilon, with which delta, and which have another guarantee."""
    if epsilon is None:
        return ""
    has: dict[float | None, list[str]] = {}
    others = []
    labels = labels_of([experiment])
    for one in experiment.contestants:
        name = one.label or one.name
        if one.parameters.get("epsilon") == epsilon:
            has.setdefault(one.parameters.get("delta"), []).append(name)
        else:
            others.append(labels[name])
    parts = [
        ", ".join(names) + ("" if delta is None else f" with delta = {delta:.3g}" + _is_usual(experiment, delta))
        for delta, names in has.items()
    ]
    text = f"epsilon = {epsilon:g} goes to {'; '.join(parts)}." if parts else f"epsilon = {epsilon:g} goes to nobody."
    return text + (f" Not to {', '.join(others)}." if others else "")


def _is_usual(experiment: Experiment, delta: float) -> str:
    return " = T^-2" if delta == float(experiment.game(experiment.panels[0]).horizon) ** -2 else ""


def readable(text: str) -> str:
    """Return command-line text that can be written to a file: bytes unknown to the locale are decoded as UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _file_name(text: str) -> str:
    """Return a valid file name: without accents if the file system supports ASCII only."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii") or "gains"
    return text


def _panel(environment: str, persons: str | None) -> GameSpec:
    if environment.endswith(FILE_ENDINGS):
        name = readable(Path(environment).name)
        gains: dict[str, Any] = {"gains": environment}
        if persons is not None:
            gains["persons"] = int(persons) if persons.isascii() and persons.isdecimal() else persons
        return GameSpec(_file_name(name.split(".")[0]), name, "DPBandit-Replay-v0", gains)
    if persons is not None:
        raise ValueError(f"persons is for a file of gains, such as my.csv; received the environment {environment!r}.")
    module = re.fullmatch(r"([\w.]+):(DPBandit-.+)", environment)
    if module:
        environment = module[2]
        try:
            importlib.import_module(module[1])
        except ModuleNotFoundError as error:
            raise ValueError(
                f"module must be one that Python finds; {error}. Put its folder into PYTHONPATH."
            ) from None
    short = {short_name(id_): id_ for id_ in IDS}
    if re.match(r"[\w.]+:[\w-]+$", environment) and environment.partition(":")[0] not in short:
        module_, _, name = environment.partition(":")
        raise ValueError(
            f"environment must be an id; received {environment!r}. Write {module_}:DPBandit-{name}-v0 for one that the"
            f" module {module_} registers."
        )
    written, _, rest = environment.partition(":")
    arguments = _parameters(rest, environment)
    id_ = (
        written if written in IDS else short[checks.known_name("environment", written.removeprefix("DPBandit-"), short)]
    )
    title = short_name(id_)
    if arguments:
        title += f" ({', '.join(f'{key}={value}' for key, value in arguments.items())})"
    # With the module's name, so that other processes import it too.
    full = f"{module[1]}:{id_}" if module else id_
    return GameSpec(re.sub(r"[^\w.=-]+", "-", title.lower()).strip("-"), title, full, arguments)


def _parameters(written: str, whole: str) -> dict[str, Any]:
    """Parse `name=value,name=value`."""
    parameters: dict[str, Any] = {}
    for part in filter(None, _parts(written)):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"parameters must be written as name=value; received {part!r} in {whole!r}.")
        if key.strip() in parameters:
            raise ValueError(f"{key.strip()} must be given once; received {whole!r}.")
        parameters[key.strip()] = _value(value.strip())
    return parameters


def _parts(written: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in written:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _value(text: str) -> Any:
    for read in (ast.literal_eval, float):  # float parses inf and nan
        try:
            value = read(text)
        except (ValueError, SyntaxError):
            continue
        # Settings are stored as JSON, which has lists only.
        return list(value) if isinstance(value, tuple) else value
    return WORDS.get(text.lower(), text)
