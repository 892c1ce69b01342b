"""`dp-bandit run --at-guarantee`: every algorithm at the parameter at which it really has one guarantee."""

import dataclasses
from typing import Any

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import calibrated_in
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.experiments.experiment import AlgorithmSpec, Experiment
from dp_bandit_envs.experiments.report import table

Target = tuple[float, float]
"""(epsilon, delta)."""
HEAD = ("algorithm", "parameters", "guarantees")


def parse_target(text: str) -> Target:
    """Parse `EPSILON` or `EPSILON,DELTA`; without a delta it is 0, which asks for pure differential privacy.

    Raises:
        ValueError: If it is not one or two numbers, epsilon finite and greater than 0, delta in [0, 1).
    """
    written = text.split(",")
    try:
        numbers = [float(part) for part in written]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 2:
        raise ValueError(f"--at-guarantee must be EPSILON or EPSILON,DELTA, such as 1,1e-6; received {text!r}.")
    epsilon, delta = numbers if len(numbers) == 2 else (numbers[0], 0.0)
    return checks.greater_than("epsilon", epsilon, 0.0), 0.0 if delta == 0 else checks.delta(delta)


def at_target(one: AlgorithmSpec, target: Target, game: BanditEnv) -> AlgorithmSpec:
    """Return the algorithm with the parameter at which its guarantee in this game meets the target from below.

    Parameters that it has already are kept and not searched for.

    Raises:
        UnreachableGuaranteeError: If no value meets the target.
        WrongGameError: If the algorithm cannot play this game.
    """
    return dataclasses.replace(one, parameters=calibrated_in(one.name, target, game, **one.parameters))


def about_target(experiment: Experiment, target: Target) -> str:
    """Return a table of the parameters of each algorithm and of what they guarantee in the game of the experiment."""
    epsilon, delta = target
    game = experiment.game(experiment.panels[0])
    rows = [HEAD]
    for one in experiment.contestants:
        algorithm = one.make()
        holds = algorithm.guarantee_in(game)
        reached = holds.epsilon_at(delta) if delta > 0 else holds.pure_epsilon
        rows.append((algorithm.name, ", ".join(map(_in_words, one.parameters.items())), f"epsilon = {reached:.7g}"))
    # Of equal width, so that the terminal shows a table too.
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    at = f", delta = {delta:g}" if delta > 0 else ""
    return f"Calibrated to a guarantee of epsilon = {epsilon:g}{at} in this game:\n\n{table(padded[0], padded[1:])}"


def _in_words(parameter: tuple[str, Any]) -> str:
    name, value = parameter
    return f"{name} = {value:.7g}" if isinstance(value, float) else f"{name} = {value}"
