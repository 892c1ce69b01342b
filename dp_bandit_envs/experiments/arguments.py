"""Turns the arguments of `compare` and `dp-bandit run` into an experiment."""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Literal

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.calibration import PrivacyRequest, with_privacy
from dp_bandit_envs.algorithms.specs import (
    AlgorithmSpec,
    GameSpec,
    is_gains_file,
    is_single_algorithm,
    read_algorithm,
    read_game,
    read_import,
    read_sweep,
)
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import LedgerError, WrongTypeError
from dp_bandit_envs.experiments.experiment import Experiment
from dp_bandit_envs.seeding import Seed, chosen_seed
from dp_bandit_envs.simulation.simulation import MOST_TRIALS, SPACINGS
from dp_bandit_envs.wrappers.layers import Boundary, layers_of

TEXT = (str, bytes, bytearray, memoryview)
"""Sequences that are not lists of numbers (Python would convert bytes to numbers)."""


def experiment_from(
    environments: Any,
    algorithms: Any,
    *,
    epsilon: Any = None,
    delta: float | None = None,
    at_guarantee: bool | Literal["person"] = False,
    rounds_per_person: int | None = None,
    horizon: Any = None,
    n_arms: Any = None,
    trials: int = 100,
    seed: Seed = "auto",
    checkpoints: str = "linear",
    persons: str | None = None,
    ledger: Any = None,
) -> Experiment:
    """Return the experiment of these arguments: those of `compare`, and two for a file of gains.

    `persons` is the largest number of records per person, or the name of the column of persons; `ledger` is the
    `Ledger` that charges the games on the file.
    """
    horizons = [checks.integer("horizon", rounds, at_least=1) for rounds in as_list("horizon", horizon)]
    arms = [checks.integer("n_arms", k, at_least=2) for k in as_list("n_arms", n_arms)]
    privacy = {"at_guarantee": at_guarantee, "rounds_per_person": rounds_per_person}
    epsilons = [checks.epsilon(level) for level in as_list("epsilon", epsilon)]
    levels: list[float | None] = [*epsilons]
    requests = [PrivacyRequest.checked(level, delta, **privacy) for level in levels or [None]]
    experiment = Experiment(
        name="compare",
        games=(),
        algorithms=(),
        horizon=horizons[0] if len(horizons) == 1 else None,
        trials=checks.integer("trials", trials, at_least=1, at_most=MOST_TRIALS),
        seed=chosen_seed(seed, is_real=False),
        checkpoints=_spacing(checkpoints),
    )
    games = [
        game
        for environment in _list_games(environments)
        for game in games_of_sizes(_game_with(environment, persons, ledger), arms, horizons)
    ]
    if ledger is not None and len(games) > 1:
        raise LedgerError(
            f"ledger is for one game on one file, so that all of it counts, or nothing; received {len(games)}"
            " games. Play each in a command of its own."
        )
    specs = _read_algorithms(algorithms)  # after the games, whose modules may register algorithms
    games = [dataclasses.replace(game, algorithms=_algorithms_in(game, specs, requests, experiment)) for game in games]
    _refuse_duplicates("environments", [game.key for game in games])
    _refuse_unused(games, epsilons, None if at_guarantee else delta)
    shared = games[0].algorithms or ()
    names = "-".join(["run", *(game.key for game in games), *(spec.label for spec in shared)])
    experiment = dataclasses.replace(experiment, name=re.sub(r"[^\w.=-]+", "-", names)[:120], games=tuple(games))
    return dataclasses.replace(experiment, seed=chosen_seed(seed, experiment.is_real))


def _spacing(checkpoints: Any) -> str:
    if not isinstance(checkpoints, str):
        raise WrongTypeError(
            f"checkpoints must be 'linear' or 'log', the spacing of 100 rounds; received {checks.shown(checkpoints)}."
            " simulate takes a number of rounds or a list of them."
        )
    return checks.one_of("checkpoints", checkpoints, SPACINGS)


def _game_with(environment: Any, persons: str | None, ledger: Any) -> GameSpec:
    """Return a game; `persons` and `ledger` are for a file of gains."""
    if ledger is not None and not is_gains_file(environment):
        raise LedgerError(f"ledger is for a file of gains, such as my.csv; received the environment {environment!r}.")
    game = read_game(environment, persons)
    if game.factory is not None and any(isinstance(layer, Boundary) for layer in layers_of(game.make())):
        raise WrongTypeError(
            f"{game.title} must make an environment without privacy wrappers here, as each algorithm brings its own;"
            " use simulate for it, or give the wrappers to Algorithm('name', MyAgent, lambda env: ...)."
        )
    return dataclasses.replace(game, ledger=ledger)


def as_list(name: str, numbers: Any) -> list[Any]:
    """Return one number or several as a list; [] for None.

    Raises:
        ValueError: If a number is given twice, or a list is empty.
    """
    if numbers is None:
        return []
    if isinstance(numbers, (Set, Iterator)):
        raise WrongTypeError(f"{name} must be a number or a list; received a {type(numbers).__name__}. Use list(...).")
    is_list = isinstance(numbers, (Sequence, np.ndarray)) and not isinstance(numbers, TEXT)
    listed = list(numbers) if is_list else [numbers]
    if not listed:
        raise ValueError(f"{name} must be a number or several; received none.")
    if (double := _first_duplicate(listed)) is not None:
        raise ValueError(f"{name} must have each value once; received {double} twice.")
    return listed


def _first_duplicate(values: Sequence[Any]) -> Any:
    return next((one for index, one in enumerate(values) if one in values[:index]), None)


def _list_games(environments: Any) -> list[Any]:
    if isinstance(environments, Mapping):
        raise WrongTypeError(
            "environments must be one or a list; received a mapping. Give a game and its arguments as a pair:"
            " ('Stochastic', {'n_arms': 3})."
        )
    pair = isinstance(environments, tuple) and len(environments) == 2 and isinstance(environments[1], Mapping)
    is_single = isinstance(environments, str) or hasattr(environments, "__array__")
    is_single = is_single or pair or not isinstance(environments, Iterable)
    listed = [environments] if is_single else list(environments)
    if not listed:
        raise ValueError("environments must name at least one; received none.")
    return listed


def _read_algorithms(algorithms: Any) -> list[AlgorithmSpec]:
    if isinstance(algorithms, Mapping):
        for label in algorithms:
            if not isinstance(label, str) or not label.strip():
                raise WrongTypeError(f"an algorithm's name for readers must be text; received {label!r}.")
        specs = [spec for label, algorithm in algorithms.items() for spec in _specs_of(algorithm, label)]
    else:
        specs = _labelled([algorithms] if is_single_algorithm(algorithms) else list(algorithms))
    if not specs:
        raise ValueError("algorithms must name at least one; received none.")
    _refuse_duplicates("algorithms", [spec.label for spec in specs])
    return specs


def _labelled(algorithms: Sequence[Any]) -> list[AlgorithmSpec]:
    """Return the specs of algorithms; a name shared by several, such as `MyAgent`, gets its module: `anna:MyAgent`."""
    pairs = [(algorithm, spec) for algorithm in algorithms for spec in _specs_of(algorithm)]
    specs = [spec for _, spec in pairs]
    names = [spec.label for spec in specs]
    for index, (algorithm, spec) in enumerate(pairs):
        if names.count(spec.label) > 1 and (module := _module_of(algorithm)):
            label = f"{module}:{spec.label}"
            specs[index] = dataclasses.replace(spec, label=label, base_label=label)
    return specs


def _specs_of(algorithm: Any, label: str | None = None) -> list[AlgorithmSpec]:
    """Return the spec of an algorithm, or several of a text that has lists of values."""
    return read_sweep(algorithm, label) if isinstance(algorithm, str) else [read_algorithm(algorithm, label)]


def _module_of(algorithm: Any) -> str:
    """Return the module of a class, a function or a text `module:Name`; empty for other objects."""
    if isinstance(algorithm, str):
        return algorithm.partition(":")[0] if read_import(algorithm) is not None else ""
    return (getattr(algorithm, "__module__", None) or "") if callable(algorithm) else ""


def _algorithms_in(
    game: GameSpec, specs: list[AlgorithmSpec], requests: list[PrivacyRequest], experiment: Experiment
) -> tuple[AlgorithmSpec, ...]:
    env = experiment.make_game(game)
    if env.adversary.ledger is not None and game.ledger is None:
        raise LedgerError(
            "compare plays no data with a ledger, as a budget is for games that are meant to count. Use simulate, or"
            " leave the ledger out."
        )
    return tuple(filled for spec in specs for filled in specs_at(spec, requests, env))


def _refuse_unused(games: Sequence[GameSpec], epsilons: list[float], delta: float | None) -> None:
    specs = [spec for game in games for spec in game.algorithms or ()]
    if epsilons and all(spec.asked is None for spec in specs):
        PrivacyRequest(epsilons[0]).refuse_for({spec.base_label: spec.build() for spec in specs})
    if delta is not None and all(spec.parameters.get("delta") != delta for spec in specs):
        PrivacyRequest(delta=delta).refuse_for({spec.base_label: spec.build() for spec in specs})


def _refuse_duplicates(what: str, names: list[str]) -> None:
    if (double := _first_duplicate(names)) is not None:
        raise ValueError(f"{what} must have different names; received {double!r} twice. Give each a name of its own.")


def games_of_sizes(game: GameSpec, arms: Sequence[int | None], horizons: Sequence[int | None]) -> list[GameSpec]:
    """Return a game in each of several sizes, titled and named by the varying size.

    Args:
        game: The game.
        arms: Numbers of arms; empty for its own.
        horizons: Numbers of rounds; empty for its own. Of several, each game has one among its arguments; a single
            horizon is the experiment's.
    """
    games = []
    for k in arms or [None]:
        for t in horizons or [None]:
            game.with_arguments(n_arms=k, horizon=t)  # which raises if the experiment's horizon is not for it
            extra = {"n_arms": k, "horizon": t if len(horizons) > 1 else None}
            extra = {name: size for name, size in extra.items() if size is not None}
            sizes = ([f"K = {k}"] if len(arms) > 1 else []) + ([f"T = {t:,}"] if len(horizons) > 1 else [])
            key = "-".join([game.key, *(f"{name}={size}" for name, size in extra.items())])
            title = ", ".join([game.title, *sizes])
            of_size = game.with_arguments(**extra)
            games.append(dataclasses.replace(of_size, key=key, title=title, environment=game.title))
    return games


def specs_at(spec: AlgorithmSpec, requests: Sequence[PrivacyRequest], env: BanditEnv) -> Iterator[AlgorithmSpec]:
    """Yield an algorithm's spec for each request in a game: once, if it takes no epsilon; see `with_privacy`."""
    for request in requests:
        filled = with_privacy(spec, request, env)
        if filled.asked is None:
            yield filled
            return
        label = spec.label_at(filled.asked) if len(requests) > 1 else spec.label
        yield dataclasses.replace(filled, label=label)
