"""An experiment: some algorithms in some games, described in plain values, with its guarantees and its results."""

import dataclasses
import functools
import hashlib
import itertools
import math
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Oblivious
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm
from dp_bandit_envs.algorithms.algorithm import hides_own_gains
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, GameSpec
from dp_bandit_envs.compiling.functions import is_builtin
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.experiments.configurations import DATA, DESCRIBED, FORMAT, MADE_BY, in_order
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.privacy.guarantee import (
    UNITS,
    PrivacyGuarantee,
    ShownEpsilon,
    for_unit,
    label_of,
    rounds_of,
    shown_epsilon,
)
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.provenance import code_digest, foreign_code, made_by
from dp_bandit_envs.simulation.simulation import named_players
from dp_bandit_envs.text import written_value

PLAIN = (bool, int, float, str)
FEW = 1_000
"""The longest list of numbers, such as the means of arms, that is stored unchanged."""
BOUNDED = ("external_regret", "pseudo_regret", "dynamic_regret", "policy_regret")
"""The measures that may have a known bound on the mean."""


@dataclasses.dataclass(frozen=True)
class Experiment:
    """The description of a run. Together with the code and the data files it determines every number.

    Attributes:
        name: The experiment's name.
        games: The games.
        algorithms: The algorithms of every game without its own.
        horizon: Number of rounds T, or None for each game's own.
        trials: Number of games of each algorithm in each game.
        seed: The seed; None for a secret seed, drawn from the operating system at run time and not stored.
        checkpoints: The spacing of the 100 recorded rounds, `"linear"` or `"log"`.
        saved: Number of saved trials of an algorithm, by its game's key and its label, which are not played.
    """

    name: str
    games: tuple[GameSpec, ...]
    algorithms: tuple[AlgorithmSpec, ...]
    horizon: int | None
    trials: int
    seed: int | None = 0
    checkpoints: str = "linear"
    saved: Mapping[tuple[str, str], int] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def files(self) -> dict[str, DataFile]:
        """The data files that the games name (gains, or edges of a graph), as read at the first access."""
        texts = [
            argument
            for game in self.games
            for key, argument in game.env_kwargs.items()
            # The name of a column may be that of a file, too.
            if isinstance(argument, str) and key != "persons"
        ]
        return {text: DataFile.read(text) for text in texts if _is_file(text)}

    def without(self, saved: Mapping[tuple[str, str], int]) -> "Experiment":
        """Return the experiment without saved trials; see `saved`."""
        missing = dataclasses.replace(self, saved=saved)
        # As they were when they were described.
        vars(missing).update(files=self.files, horizons=self.horizons)
        return missing

    def with_data(self, game: GameSpec) -> GameSpec:
        """Return a game with files' content instead of their names, so that the hashed data are played."""
        ledger = {} if game.ledger is None else {"ledger": game.ledger}
        env_kwargs = {
            key: self.files.get(argument, argument) if isinstance(argument, str) and key != "persons" else argument
            for key, argument in game.env_kwargs.items()
        }
        return dataclasses.replace(game, env_kwargs=ledger | env_kwargs)

    def make_game(self, game: GameSpec) -> BanditEnv:
        """Make a game, with its own horizon if the experiment has none."""
        extra: dict[str, Any] = {} if self.horizon is None else {"horizon": self.horizon}
        env = self.with_data(game).with_arguments(**extra).make().unwrapped
        assert isinstance(env, BanditEnv)
        return env

    def configuration(self) -> dict[str, Any]:
        """Return the experiment as plain JSON values, data files by their content."""
        # Lambdas share the name "<lambda>"; the sources of what they make tell them apart, in the descriptions.
        foreign = foreign_code(self._playing(), self._arguments())
        return {
            "name": self.name,
            "seed": self.seed,
            "checkpoints": self.checkpoints,
            "format": FORMAT,
            DESCRIBED: [self._description(game) for game in self.games],
            MADE_BY: in_order(made_by(), {name: code for name, code in foreign.items() if "<" not in name}),
            **({DATA: in_order({name: file.sha256 for name, file in self.files.items()})} if self.files else {}),
        }

    def _description(self, game: GameSpec) -> dict[str, Any]:
        """Return a game as plain JSON values: its sizes, and each algorithm in it with its guarantee.

        Results can be read and reported with it without the code that made them.
        """
        env = self.make_game(game)
        parts: list[Any] = [type(env.adversary), *([] if game.factory is None else [game.factory])]
        source = {
            "env_id": game.env_id,
            "env_kwargs": {name: plain_value(one) for name, one in game.env_kwargs.items() if name != "horizon"},
            "made": [code_digest(part) for part in parts if not is_builtin(part)],
        }
        return {
            "key": game.key,
            "title": game.title,
            "environment": game.environment or game.title,
            "n_arms": env.adversary.n_arms,
            "horizon": env.horizon,
            "is_real": env.adversary.is_real,
            "arm_order": env.adversary.arm_order,
            "source": source,
            "results": [
                _describe(spec, self.trials_of(spec), player, env)
                for spec, player in zip(self.algorithms_of(game), self.players(game), strict=True)
            ],
        }

    def _playing(self) -> Iterator[Any]:
        """Yield the classes and functions of players, possibly third-party."""
        for game in self.games:
            yield type(self.make_game(game).adversary)
            for spec, player in zip(self.algorithms_of(game), self.players(game), strict=True):
                yield from _code_of(spec, player)

    def _arguments(self) -> Iterator[Any]:
        """Yield objects that may contain third-party code."""
        for game in self.games:
            yield from (*game.env_kwargs.values(), game.factory)
        for spec in self.all_algorithms:
            yield (spec.factory, dict(spec.parameters))

    @property
    def all_algorithms(self) -> list[AlgorithmSpec]:
        """The algorithms of all games, in order."""
        return [spec for game in self.games for spec in self.algorithms_of(game)]

    def digest(self) -> str:
        """Return eight hexadecimal digits that identify the settings."""
        self.check()
        return hashlib.sha256(repr(self.configuration()).encode()).hexdigest()[:8]

    def check(self) -> None:
        """Raise any error in the settings now, before anything is written."""
        checks.integer("trials", self.trials, at_least=1)
        if self.seed is not None:
            checks.integer("seed", self.seed, at_least=0)
        for game in self.games:
            env = self.make_game(game)
            for player in named_players(self.players(game)).values():
                reason = player.refusal(env)
                if reason is not None:
                    others = ": compare it in the other games alone" if len(self.games) > 1 else ""
                    raise WrongGameError(f"{reason} The game is {game.title}{others}.")
                player.wrap(env)
                player.guarantee_in(env)

    def players(self, game: GameSpec) -> list[Algorithm]:
        """Make the algorithms of a game."""
        return [spec.build_with_own_noise() for spec in self.algorithms_of(game)]

    def players_in(self, game: GameSpec, trial: int) -> list[Algorithm]:
        """Make the algorithms to play in a trial of a game."""
        return [
            spec.build_with_own_noise() for spec in self.algorithms_of(game) if trial in self.missing_trials(game, spec)
        ]

    def algorithms_of(self, game: GameSpec) -> tuple[AlgorithmSpec, ...]:
        """Return the algorithms of a game."""
        return self.algorithms if game.algorithms is None else game.algorithms

    def trials_of(self, spec: AlgorithmSpec) -> int:
        """Return an algorithm's number of games."""
        return max(spec.trials, self.trials)

    def missing_trials(self, game: GameSpec, spec: AlgorithmSpec) -> range:
        """Return the missing trials of an algorithm."""
        return range(self.saved.get((game.key, spec.label), 0), self.trials_of(spec))

    @property
    def is_real(self) -> bool:
        """Whether a game is played on real data, so that the seed should be secret."""
        return any(self.make_game(game).adversary.is_real for game in self.games)

    def trial_ranges(self, game: GameSpec) -> list[tuple[int, int]]:
        """Return the trials of a game to play, as ranges (first, end) with the same algorithms.

        Saved trials are excluded.
        """
        missing = [trials for spec in self.algorithms_of(game) if (trials := self.missing_trials(game, spec))]
        ends = sorted({number for trials in missing for number in (trials.start, trials.stop)})
        return [pair for pair in itertools.pairwise(ends) if any(pair[0] in trials for trials in missing)]

    @functools.cached_property
    def horizons(self) -> dict[str, int]:
        """Number of rounds in each game, by its key; cached, because making a game can read a whole file of gains."""
        return {game.key: self.make_game(game).horizon for game in self.games}

    def rounds_in_a_trial(self, game: GameSpec, trial: int) -> int:
        """Return the total number of rounds of all algorithms in a trial of a game."""
        playing = [spec for spec in self.algorithms_of(game) if trial in self.missing_trials(game, spec)]
        return len(playing) * self.horizons[game.key]

    @property
    def rounds(self) -> int:
        """The total number of rounds to play."""
        return sum(
            (end - first) * self.rounds_in_a_trial(game, first)
            for game in self.games
            for first, end in self.trial_ranges(game)
        )


@dataclasses.dataclass(frozen=True)
class Results:
    """The raw numbers of an experiment.

    Attributes:
        experiment: The experiment.
        arrays: `"game/algorithm/measure"` to an array `(trials, checkpoints)`, for pulls `(trials, n_arms)`; and
            `"game/checkpoints"`. Each is read from the folder at its first use.
    """

    experiment: Experiment
    arrays: Mapping[str, NDArray[Any]]

    @property
    def names(self) -> list[str]:
        """The labels of all algorithms, in order of appearance."""
        return list(dict.fromkeys(name for game in self.experiment.games for name in self.names_in(game)))

    def names_in(self, game: GameSpec) -> list[str]:
        """Return the labels of the algorithms that play a game, in order."""
        return [spec.label for spec in self.experiment.algorithms_of(game)]

    def regret(self, game: str, algorithm: str, measure: str = "external_regret") -> FloatArray:
        """Return a measure of regret from `MEASURES`, shape `(trials, checkpoints)`; `game` is a game's key."""
        key = f"{game}/{algorithm}/{measure}"
        # Where means stay, the dynamic regret is the pseudo-regret.
        stays = measure == "dynamic_regret" and key not in self.arrays
        return self.arrays[f"{game}/{algorithm}/pseudo_regret" if stays else key]

    def rounds(self, game: str) -> IntArray:
        """Return the checkpoints of a game, by its key."""
        return self.arrays[f"{game}/checkpoints"]


def _code_of(spec: AlgorithmSpec, player: Algorithm) -> Iterator[Any]:
    """Yield an algorithm's classes and functions, possibly third-party."""
    yield type(player.agent())
    if spec.factory is None:
        yield ALGORITHMS[checks.known_name("algorithm", spec.name, ALGORITHMS)]
    else:
        makers = (player.make_agent, player.make_point_agent, player.wrapping)
        yield from (maker for maker in makers if hasattr(maker, "__qualname__"))


def _describe(spec: AlgorithmSpec, trials: int, player: Algorithm, env: BanditEnv) -> dict[str, Any]:
    """Return the description of an algorithm's results in a game as plain JSON values, with all facts for a report."""
    guarantee, claimed = player.guarantee_in(env), player.paper_guarantee_in(env)
    for_units = _for_units(guarantee)
    widest = for_units.get("person", for_units.get("record", guarantee))
    paper = f"{claimed.epsilon:.6g}" + (f", delta = {claimed.delta:.2g}" if claimed.delta else "")
    parameters = {name: plain_value(one) for name, one in spec.parameters.items()}
    source: dict[str, Any] = {"player": player.player, "parameters": parameters}
    parts = [part for part in _code_of(spec, player) if not is_builtin(part)]
    if spec.factory is None:
        source["name"] = spec.name
    else:
        agents = [make() for make in (player.make_agent, player.make_point_agent) if make is not None]
        declared = {name: plain_value(one) for name, one in player.parameters.items()}
        source |= {"parameters": {**declared, **parameters}, "agents": written_value(agents)}
        parts.append(spec.factory)
    source["made"] = [code_digest(part) for part in parts]
    return {
        "name": player.name,
        "algorithm": spec.base_label,
        "asked": None if spec.asked is None else _plain_number(spec.asked),
        "trials": trials,
        "parameters": parameters,
        "calibrated": spec.calibrated,
        "level": _plain_level(shown_epsilon(guarantee, spec.asked_delta)),
        "model": guarantee.model,
        "covers": guarantee.covers,
        "guarantee": str(guarantee),
        "paper": paper if player.reference else "",
        "first_release": player.first_release_in(env),
        "units": {unit: _plain_level(shown_epsilon(part, spec.asked_delta)) for unit, part in for_units.items()},
        "all_games": _plain_level(shown_epsilon(widest.for_games(trials))) if env.adversary.is_real else None,
        "bounds": {measure: _plain_number(_bound(player, env, measure)) for measure in BOUNDED},
        "source": source,
    }


def _bound(algorithm: Algorithm, env: BanditEnv, measure: str) -> float:
    """Return an upper bound on the mean of a regret; inf if none is known."""
    means = env.adversary.means
    if measure == "dynamic_regret" and means is None:
        return math.inf
    if measure in ("pseudo_regret", "dynamic_regret") and means is not None:
        # The proofs are for rounds that are independent of each other and reveal the gain of the arm played.
        repeated = isinstance(env.adversary, Oblivious) and env.adversary.period > 1
        if repeated or hides_own_gains(env):
            return math.inf
        return algorithm.pseudo_regret_bound(means=means.tolist(), horizon=env.horizon, sensitivity=env.sensitivity)
    return algorithm.regret_bound_in(env)


def _plain_level(level: ShownEpsilon) -> list[float | str]:
    return [_plain_number(level.epsilon), level.delta, level.exact]


def _plain_number(number: float) -> float | str:
    """Return a number in a JSON form that `float` reads."""
    return number if math.isfinite(number) else str(number)


def labels_of(results: Iterable[Results], games: Container[str] | None = None) -> dict[str, str]:
    """Return each algorithm's label in a legend: its name and its levels over all games, or those with these keys."""
    levels: dict[str, dict[ShownEpsilon, None]] = {}
    for experiment in (of_experiment.experiment for of_experiment in results):
        for game in experiment.games:
            if games is None or game.key in games:
                env = experiment.make_game(game)
                for player in experiment.players(game):
                    levels.setdefault(player.name, {})[shown_epsilon(player.guarantee_in(env))] = None
    return {name: label_of(name, list(of_name)) for name, of_name in levels.items()}


def _for_units(guarantee: PrivacyGuarantee) -> dict[str, PrivacyGuarantee]:
    """Return the guarantee for a record and for a person, if the data define their participation."""
    units = [unit for unit in UNITS if guarantee.model != "none" and rounds_of(guarantee, unit) is not None]
    return {unit: for_unit(guarantee, unit) for unit in units}


def plain_value(argument: Any) -> Any:
    """Return an argument for JSON: unchanged, or as identifying text."""
    is_list = isinstance(argument, (list, tuple)) and len(argument) <= FEW
    if argument is None or isinstance(argument, PLAIN) or (is_list and all(isinstance(one, PLAIN) for one in argument)):
        return list(argument) if isinstance(argument, tuple) else argument
    # Anything larger may be a table of private gains: a digest.
    return f"{type(argument).__name__} {code_digest(argument)}"


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except ValueError:  # a null character
        return False
