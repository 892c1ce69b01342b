"""Turns what is asked of a comparison into an experiment: every algorithm at every epsilon, in every game."""

import dataclasses
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.comparison.asked_algorithms import Asked, asked
from dp_bandit_envs.comparison.asked_epsilons import Wanted, contestants
from dp_bandit_envs.comparison.asked_games import game_of, sized
from dp_bandit_envs.errors import LedgerError, WrongTypeError
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment, GameSpec
from dp_bandit_envs.seeding import Seed, chosen_seed
from dp_bandit_envs.simulation.simulation import SPACINGS

MOST_TRIALS = 10_000_000
"""The most games of one algorithm; a gigabyte of results for each of its measures is a tenth of that."""


def question(
    environments: Any,
    algorithms: Any,
    *,
    epsilon: Any = None,
    delta: float | None = None,
    at_guarantee: bool = False,
    rounds_per_person: int | None = None,
    horizon: Any = None,
    n_arms: Any = None,
    trials: int = 100,
    seed: Seed = "auto",
    checkpoints: str = "linear",
    persons: str | None = None,
    ledger: Any = None,
    name: str | None = None,
) -> Experiment:
    """Return the experiment; the arguments are those of `compare`.

    `persons` is for a file of gains: the most records of a person, or the name of the column that says whose they are.
    `ledger` is for one file of gains, too, and counts its games.
    `name` is the experiment's; by default one made of its games and algorithms.
    """
    epsilons = [checks.epsilon(one) for one in several("epsilon", epsilon)]
    horizons = [checks.integer("horizon", one, at_least=1) for one in several("horizon", horizon)]
    sizes = [checks.integer("n_arms", one, at_least=2) for one in several("n_arms", n_arms)]
    if delta is not None:
        delta = 0.0 if at_guarantee and delta == 0 else checks.delta(delta)
    if checks.boolean("at_guarantee", at_guarantee):
        if not epsilons:
            raise ValueError("epsilon must be given with at_guarantee: it is the guarantee that is asked for.")
        if not all(0 < one < math.inf for one in epsilons):
            raise ValueError(f"epsilon must be finite and greater than 0 with at_guarantee; received {epsilons}.")
    if rounds_per_person is not None and not at_guarantee:
        raise ValueError("rounds_per_person is for the guarantee that is asked for with at_guarantee; leave it out.")
    if rounds_per_person is not None:
        rounds_per_person = checks.integer("rounds_per_person", rounds_per_person, at_least=1)
    privacy = Wanted(epsilons, delta, at_guarantee, rounds_per_person)
    own_horizon = len(horizons) > 1
    experiment = Experiment(
        name=name or "compare",
        panels=(),
        contestants=(),
        horizon=horizons[0] if len(horizons) == 1 else None,
        trials=checks.integer("trials", trials, at_least=1, at_most=MOST_TRIALS),
        seed=chosen_seed(seed, is_real=False),
        checkpoints=checks.one_of("checkpoints", checkpoints, SPACINGS),
    )
    size: Any = {"n_arms": sizes or [None], "horizons": horizons or [None], "own_horizon": own_horizon}
    games = [game for one in _listed(environments) for game in sized(game_of(one, persons, ledger), **size)]
    if ledger is not None and len(games) > 1:
        raise LedgerError(
            f"a ledger is for one game on one file, so that all of it counts, or nothing; received {len(games)}"
            " games. Play each in a command of its own."
        )
    wanted = _wanted(algorithms)  # after the games, whose modules may register algorithms
    panels = [dataclasses.replace(game, contestants=_players(wanted, privacy, experiment, game)) for game in games]
    _refuse_doubles("environments", [panel.key for panel in panels])
    if not at_guarantee:
        _refuse_unused([one for panel in panels for one in panel.contestants or ()], epsilons, delta)
    same = all(panel.contestants == panels[0].contestants for panel in panels)
    shared = panels[0].contestants or ()
    if same:
        panels = [dataclasses.replace(panel, contestants=None) for panel in panels]
    words = [*(panel.key for panel in panels), *(one.label or one.name for one in shared)]
    experiment = dataclasses.replace(
        experiment,
        name=name or re.sub(r"[^\w.=-]+", "-", "-".join(["run", *words]))[:120],
        panels=tuple(panels),
        contestants=shared if same else (),
    )
    return dataclasses.replace(experiment, seed=chosen_seed(seed, experiment.is_real))


def several(name: str, value: Any) -> list[Any]:
    """Return one number or several as a list; none for None.

    Raises:
        ValueError: If a number is given twice, or none in a list.
    """
    if value is None:
        return []
    if isinstance(value, (Set, Iterator)):
        raise WrongTypeError(f"{name} must be a number or a list; received a {type(value).__name__}. Use list(...).")
    values = list(value) if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str) else [value]
    if not values:
        raise ValueError(f"{name} must be a number or several; received none.")
    doubles = [one for index, one in enumerate(values) if one in values[:index]]
    if doubles:
        raise ValueError(f"{name} must have each value once; received {doubles[0]} twice.")
    return values


def _listed(environments: Any) -> list[Any]:
    pair = isinstance(environments, tuple) and len(environments) == 2 and isinstance(environments[1], Mapping)
    one = isinstance(environments, str) or pair or not isinstance(environments, Iterable)
    listed = [environments] if one else list(environments)
    if not listed:
        raise ValueError("environments must name at least one; received none.")
    return listed


def _wanted(algorithms: Any) -> list[Asked]:
    if isinstance(algorithms, Mapping):
        for label in algorithms:
            if not isinstance(label, str) or not label.strip():
                raise WrongTypeError(f"an algorithm's name for readers must be text; received {label!r}.")
        wanted = [asked(one, label) for label, one in algorithms.items()]
    else:
        one = isinstance(algorithms, (str, Algorithm)) or not isinstance(algorithms, Iterable)
        wanted = [asked(each) for each in ([algorithms] if one else algorithms)]
    if not wanted:
        raise ValueError("algorithms must name at least one; received none.")
    _refuse_doubles("algorithms", [one.shown_as for one in wanted])
    return wanted


def _players(
    wanted: list[Asked], privacy: Wanted, experiment: Experiment, panel: GameSpec
) -> tuple[AlgorithmSpec, ...]:
    game = experiment.game(panel)
    if game.adversary.ledger is not None and panel.ledger is None:
        raise LedgerError(
            "compare plays no data with a ledger, as a budget is for games that are meant to count. Use simulate, or"
            " leave the ledger out."
        )
    return tuple(one for each in wanted for one in contestants(each, privacy, lambda: game))


def _refuse_unused(players: list[AlgorithmSpec], epsilons: list[float], delta: float | None) -> None:
    """Raise if no algorithm got an epsilon or a delta that was given for all."""
    names = ", ".join(dict.fromkeys(one.shown_as or one.name for one in players))
    if epsilons and all(one.asked is None for one in players):
        raise ValueError(
            f"epsilon must be for at least one algorithm; {names} would not get it, taking none or having it written"
            " after the name. Leave epsilon out, or add an algorithm that takes one, such as DP-KLUCB."
        )
    if delta is not None and all(one.parameters.get("delta") != delta for one in players):
        raise ValueError(
            f"delta must be for at least one algorithm; {names} would not get it. Leave delta out, or add an"
            " algorithm that takes one, such as DP-UCB-INT."
        )


def _refuse_doubles(what: str, names: list[str]) -> None:
    doubles = [one for index, one in enumerate(names) if one in names[:index]]
    if doubles:
        raise ValueError(
            f"{what} must have different names; received {doubles[0]!r} twice. Give each a name of its own."
        )
