"""What `compare` and `dp-bandit run` are asked for, turned into an experiment."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.calibration import AskedPrivacy, asked_privacy, parameters_at
from dp_bandit_envs.algorithms.specs import Asked, algorithm_of, game_of, imported, is_data, is_one
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import LedgerError, WrongTypeError
from dp_bandit_envs.experiments.experiment import AlgorithmSpec, Experiment, GameSpec
from dp_bandit_envs.seeding import Seed, chosen_seed
from dp_bandit_envs.simulation.simulation import MOST_TRIALS, SPACINGS
from dp_bandit_envs.wrappers.layers import Boundary, layers_of

TEXT = (str, bytes, bytearray, memoryview)
"""Sequences that are no lists of numbers, though Python makes numbers of bytes."""


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
) -> Experiment:
    """Return the experiment that is asked for; the arguments are those of `compare`, and two for a file of gains.

    `persons` is the most records of a person, or the name of the column that says whose they are; `ledger` is the
    `Ledger` that counts the games on the file.
    """
    horizons = [checks.integer("horizon", one, at_least=1) for one in several("horizon", horizon)]
    sizes = [checks.integer("n_arms", one, at_least=2) for one in several("n_arms", n_arms)]
    privacy = asked_privacy(
        several("epsilon", epsilon), delta, at_guarantee=at_guarantee, rounds_per_person=rounds_per_person
    )
    own_horizon = len(horizons) > 1
    experiment = Experiment(
        name="compare",
        panels=(),
        contestants=(),
        horizon=horizons[0] if len(horizons) == 1 else None,
        trials=checks.integer("trials", trials, at_least=1, at_most=MOST_TRIALS),
        seed=chosen_seed(seed, is_real=False),
        checkpoints=checks.one_of("checkpoints", checkpoints, SPACINGS),
    )
    size: Any = {"n_arms": sizes or [None], "horizons": horizons or [None], "own_horizon": own_horizon}
    games = [game for one in _listed(environments) for game in sized(_data_with(one, persons, ledger), **size)]
    if ledger is not None and len(games) > 1:
        raise LedgerError(
            f"ledger is for one game on one file, so that all of it counts, or nothing; received {len(games)}"
            " games. Play each in a command of its own."
        )
    wanted = _wanted(algorithms)  # after the games, whose modules may register algorithms
    panels = [dataclasses.replace(game, contestants=_players(wanted, privacy, experiment, game)) for game in games]
    _refuse_doubles("environments", [panel.key for panel in panels])
    _refuse_unused(panels, privacy.epsilons, None if at_guarantee else delta)
    same = all(panel.contestants == panels[0].contestants for panel in panels)
    shared = panels[0].contestants or ()
    if same:
        panels = [dataclasses.replace(panel, contestants=None) for panel in panels]
    words = [*(panel.key for panel in panels), *(one.label or one.name for one in shared)]
    experiment = dataclasses.replace(
        experiment,
        name=re.sub(r"[^\w.=-]+", "-", "-".join(["run", *words]))[:120],
        panels=tuple(panels),
        contestants=shared if same else (),
    )
    return dataclasses.replace(experiment, seed=chosen_seed(seed, experiment.is_real))


def _data_with(game: Any, persons: str | None, ledger: Any) -> GameSpec:
    if ledger is not None and not is_data(game):
        raise LedgerError(f"ledger is for a file of gains, such as my.csv; received the environment {game!r}.")
    named = game_of(game, persons)
    if named.maker is not None and any(isinstance(layer, Boundary) for layer in layers_of(named.make())):
        raise WrongTypeError(
            f"{named.title} must make an environment without privacy wrappers here, as each algorithm brings its own;"
            " use simulate for it, or give the wrappers to Algorithm('name', MyAgent, lambda env: ...)."
        )
    return GameSpec(**vars(named), ledger=ledger)


def several(name: str, value: Any) -> list[Any]:
    """Return one number or several as a list; none for None.

    Raises:
        ValueError: If a number is given twice, or none in a list.
    """
    if value is None:
        return []
    if isinstance(value, (Set, Iterator)):
        raise WrongTypeError(f"{name} must be a number or a list; received a {type(value).__name__}. Use list(...).")
    values = list(value) if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, TEXT) else [value]
    if not values:
        raise ValueError(f"{name} must be a number or several; received none.")
    if (double := _first_duplicate(values)) is not None:
        raise ValueError(f"{name} must have each value once; received {double} twice.")
    return values


def _first_duplicate(values: Sequence[Any]) -> Any:
    """Return the first value that is there before; None if there is none."""
    return next((one for index, one in enumerate(values) if one in values[:index]), None)


def _listed(environments: Any) -> list[Any]:
    if isinstance(environments, Mapping):
        raise WrongTypeError(
            "environments must be one or a list; received a mapping. Give a game and its arguments as a pair:"
            " ('Stochastic', {'n_arms': 3})."
        )
    pair = isinstance(environments, tuple) and len(environments) == 2 and isinstance(environments[1], Mapping)
    one = (
        isinstance(environments, str)
        or pair
        or hasattr(environments, "__array__")
        or not isinstance(environments, Iterable)
    )
    listed = [environments] if one else list(environments)
    if not listed:
        raise ValueError("environments must name at least one; received none.")
    return listed


def _wanted(algorithms: Any) -> list[Asked]:
    if isinstance(algorithms, Mapping):
        for label in algorithms:
            if not isinstance(label, str) or not label.strip():
                raise WrongTypeError(f"an algorithm's name for readers must be text; received {label!r}.")
        wanted = [algorithm_of(one, label) for label, one in algorithms.items()]
    else:
        wanted = _labelled([algorithms] if is_one(algorithms) else list(algorithms))
    if not wanted:
        raise ValueError("algorithms must name at least one; received none.")
    _refuse_doubles("algorithms", [one.shown_as for one in wanted])
    return wanted


def _labelled(algorithms: Sequence[Any]) -> list[Asked]:
    """Return what is asked for; a name that several have, such as `MyAgent`, gets the module: `anna:MyAgent`."""
    wanted = [algorithm_of(algorithm) for algorithm in algorithms]
    names = [asked.shown_as for asked in wanted]
    return [
        asked._replace(shown_as=f"{module}:{asked.shown_as}")
        if names.count(asked.shown_as) > 1 and (module := _module_of(algorithm))
        else asked
        for algorithm, asked in zip(algorithms, wanted, strict=True)
    ]


def _module_of(algorithm: Any) -> str:
    """Return the module of a class, a function or a text `module:Name`; empty if it is none of these."""
    if isinstance(algorithm, str):
        return algorithm.partition(":")[0] if imported(algorithm) is not None else ""
    return getattr(algorithm, "__module__", "") if callable(algorithm) else ""


def _players(
    wanted: list[Asked], privacy: AskedPrivacy, experiment: Experiment, panel: GameSpec
) -> tuple[AlgorithmSpec, ...]:
    game = experiment.game(panel)
    if game.adversary.ledger is not None and panel.ledger is None:
        raise LedgerError(
            "compare plays no data with a ledger, as a budget is for games that are meant to count. Use simulate, or"
            " leave the ledger out."
        )
    return tuple(one for each in wanted for one in players_at(each, privacy, lambda: game))


def _refuse_unused(panels: Sequence[GameSpec], epsilons: list[float], delta: float | None) -> None:
    """Raise if no algorithm got an epsilon or a delta that was given for all."""
    players = [one for panel in panels for one in panel.contestants or ()]
    names = ", ".join(dict.fromkeys(one.shown_as or one.name for one in players))
    if epsilons and all(one.asked is None for one in players):
        raise ValueError(
            f"epsilon must be for at least one algorithm; {names} would not get it, taking none or having it written"
            " after the name. Leave epsilon out, or add an algorithm that takes one, such as DP-KLUCB; of your own,"
            " give the function that takes epsilon, not what it returns."
        )
    if delta is not None and all(one.parameters.get("delta") != delta for one in players):
        raise ValueError(
            f"delta must be for at least one algorithm; {names} would not get it. Leave delta out, or add an"
            " algorithm that takes one, such as DP-UCB-INT."
        )


def _refuse_doubles(what: str, names: list[str]) -> None:
    if (double := _first_duplicate(names)) is not None:
        raise ValueError(f"{what} must have different names; received {double!r} twice. Give each a name of its own.")


def sized(
    game: GameSpec, *, n_arms: Sequence[int | None], horizons: Sequence[int | None], own_horizon: bool
) -> list[GameSpec]:
    """Return a game in each of several sizes, titled and named by what differs.

    Args:
        game: The game.
        n_arms: Numbers of arms; None for its own.
        horizons: Numbers of rounds; None for its own.
        own_horizon: Whether the horizon is an argument of each game rather than of the experiment.
    """
    made = []
    for k in n_arms:
        for t in horizons:
            game.with_arguments(n_arms=k, horizon=t)  # which raises if the experiment's horizon is not for it
            extra = {"n_arms": k, "horizon": t if own_horizon else None}
            extra = {name: value for name, value in extra.items() if value is not None}
            shown = ([] if len(n_arms) == 1 else [f"K = {k}"]) + ([] if len(horizons) == 1 else [f"T = {t:,}"])
            title = ", ".join([game.title, *shown])
            key = "-".join([game.key, *(f"{name}={value}" for name, value in extra.items())])
            sized_game = game.with_arguments(**extra)
            made.append(dataclasses.replace(sized_game, key=key, title=title, environment=game.title))
    return made


def players_at(one: Asked, wanted: AskedPrivacy, game: Callable[[], BanditEnv]) -> Iterator[AlgorithmSpec]:
    """Yield an algorithm at each epsilon at which it plays a game: once, if it takes none; see `parameters_at`."""
    levels: list[float | None] = [*wanted.epsilons]
    for epsilon in levels or [None]:
        parameters, played = parameters_at(one, epsilon, wanted, game)
        several = len(wanted.epsilons) > 1 and played is not None
        label = one.label({"epsilon": f"{played:g}"} if several else {})
        found = wanted.at_guarantee and played is not None
        yield AlgorithmSpec(one.name, parameters, label, 0, one.shown_as, played, one.maker, calibrated=found)
        if played is None:
            return
