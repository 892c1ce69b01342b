"""An experiment: some algorithms in some games, described in plain values, with its guarantees and its results."""

import dataclasses
import functools
import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm, make_algorithm
from dp_bandit_envs.algorithms.specs import NamedGame
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.experiments.store import DESCRIBED, MADE_BY
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.privacy.guarantee import (
    UNITS,
    PrivacyGuarantee,
    ShownEpsilon,
    for_unit,
    format_levels,
    label_of,
    rounds_of,
    shown_epsilon,
)
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.provenance import code_digest, foreign_code, made_by
from dp_bandit_envs.simulation.simulation import named_players
from dp_bandit_envs.text import written_value

FORMAT = 3
"""The format version of results folders."""
PLAIN = (bool, int, float, str)
FEW = 1_000
"""The most numbers of a list that are stored as they are, such as the means of arms."""


@dataclasses.dataclass(frozen=True)
class AlgorithmSpec:
    """An algorithm by name, with its parameters as plain JSON values, and the label of its results.

    It plays the experiment's number of games, or `trials` if that is larger; the games in common are the same.

    Attributes:
        name: Its name.
        parameters: Its parameters.
        label: The name of its results; None for its name.
        trials: The least number of its games.
        shown_as: The algorithm's name in a comparison of several epsilons, where labels differ; None for the label.
        asked: The epsilon that it was asked for in such a comparison; None for its own.
        maker: Makes an algorithm that is in no table, from the parameters. It is not stored.
        calibrated: Whether the parameters were found for the guarantee that was asked for. It is not stored.
    """

    name: str
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    label: str | None = None
    trials: int = 0
    shown_as: str | None = None
    asked: float | None = None
    maker: Callable[..., Algorithm] | None = dataclasses.field(default=None, repr=False)
    calibrated: bool = False

    def make(self) -> Algorithm:
        """Make the algorithm."""
        if self.maker is None:
            extra = {} if self.label is None else {"label": self.label}
            return make_algorithm(self.name, **self.parameters, **extra)
        made = self.maker(**self.parameters)
        player = made.player
        if any(made.parameters.get(name) != value for name, value in self.parameters.items()):
            # The same maker at two epsilons must not draw the same noise, whether it declares its epsilon or not.
            player = f"{player} {written_value(dict(self.parameters))}"
        # Nor does it share noise with an algorithm of that name in the table.
        return dataclasses.replace(made, name=self.label or self.name, player=f"own {player}")

    def configuration(self) -> dict[str, Any]:
        """Return all of it as plain JSON values, but for what is not stored."""
        stored = [field.name for field in dataclasses.fields(self) if field.name not in ("maker", "calibrated")]
        plain = {name: getattr(self, name) for name in stored}
        if self.maker is None:
            return {**plain, "parameters": dict(self.parameters)}
        made = self.make()
        agents = [make() for make in (made.make_agent, made.make_point_agent) if make is not None]
        declared = {**made.parameters, **self.parameters}
        plain["parameters"] = {name: plain_value(value) for name, value in declared.items()}
        return {**plain, "made": [code_digest(self.maker), written_value(agents)]}

    def code(self) -> list[Any]:
        """Return the classes and functions of a third party's that may make it."""
        if self.maker is None:
            return [ALGORITHMS[checks.known_name("algorithm", self.name, ALGORITHMS)]]
        made = self.make()
        return [one for one in (made.make_agent, made.make_point_agent, made.wrapping) if hasattr(one, "__qualname__")]


@dataclasses.dataclass(frozen=True)
class GameSpec(NamedGame):
    """One game, drawn in one panel of the figure. A horizon is only among its arguments if the experiment has none.

    Stored configurations have the keys `panels` for games and `contestants` for algorithms, so fields keep these names.

    Attributes:
        contestants: The algorithms that play it; None for those of the experiment.
        environment: Its name without number of arms and horizon, in a comparison over these; "" for the title.
        ledger: Counts the games on its data, of an experiment whose only game it is. It changes no result, and is not
            stored.
    """

    contestants: tuple[AlgorithmSpec, ...] | None = None
    environment: str = ""
    ledger: Any = None

    def configuration(self) -> dict[str, Any]:
        """Return all of it as plain JSON values; contestants only where the panel has its own."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in ("key", "title", "env_id", "environment")}
        plain["env_kwargs"] = {name: plain_value(value) for name, value in self.env_kwargs.items()}
        if self.maker is not None:
            plain["made"] = code_digest(self.maker)
        if self.contestants is not None:
            plain["contestants"] = [one.configuration() for one in self.contestants]
        return plain


@dataclasses.dataclass(frozen=True)
class Experiment:
    """What to run. Together with the code and the data files it determines every number.

    Attributes:
        name: The experiment's name.
        panels: The games.
        contestants: The algorithms of every panel that has none of its own.
        horizon: Number of rounds T, or None for each game's own.
        trials: Number of games of each algorithm in each panel.
        seed: The seed; None for a secret one, drawn from the operating system when it is run and written nowhere.
        checkpoints: The spacing of the 100 rounds that are recorded, `"linear"` or `"log"`.
    """

    name: str
    panels: tuple[GameSpec, ...]
    contestants: tuple[AlgorithmSpec, ...]
    horizon: int | None
    trials: int
    seed: int | None = 0
    checkpoints: str = "linear"

    @functools.cached_property
    def files(self) -> dict[str, DataFile]:
        """The data files that the panels name (gains, or edges of a graph), as read at the first access."""
        texts = [
            value
            for panel in self.panels
            for key, value in panel.env_kwargs.items()
            # The name of a column may be that of a file, too.
            if isinstance(value, str) and key != "persons"
        ]
        return {text: DataFile.read(text) for text in texts if _is_file(text)}

    def env_kwargs(self, panel: GameSpec) -> dict[str, Any]:
        """Return a panel's arguments with files' content instead of their names, so that what is hashed is played."""
        counted = {} if panel.ledger is None else {"ledger": panel.ledger}
        return counted | {
            key: self.files.get(value, value) if isinstance(value, str) and key != "persons" else value
            for key, value in panel.env_kwargs.items()
        }

    def named(self, panel: GameSpec) -> NamedGame:
        """Return a panel's game with files' content instead of their names."""
        return dataclasses.replace(panel, env_kwargs=self.env_kwargs(panel))

    def game(self, panel: GameSpec) -> BanditEnv:
        """Make the game of a panel, with its own horizon if the experiment has none."""
        extra: dict[str, Any] = {} if self.horizon is None else {"horizon": self.horizon}
        game = self.named(panel).with_arguments(**extra).make().unwrapped
        assert isinstance(game, BanditEnv)
        return game

    def configuration(self) -> dict[str, Any]:
        """Return all of it as plain JSON values, data files by their content."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            **plain,
            "panels": [panel.configuration() for panel in self.panels],
            "contestants": [contestant.configuration() for contestant in self.contestants],
            "format": FORMAT,
            DESCRIBED: described(self),
            MADE_BY: {**made_by(), **foreign_code(self._playing(), self._given())},
            **({"data_sha256": {name: file.sha256 for name, file in self.files.items()}} if self.files else {}),
        }

    def _playing(self) -> Iterator[Any]:
        """Yield the classes and functions that play, and may be a third party's."""
        for panel in self.panels:
            yield type(self.game(panel).adversary)
            for player in self.players(panel):
                yield type(player.agent())
            for one in self.contestants_of(panel):
                yield from one.code()

    def _given(self) -> Iterator[Any]:
        """Yield objects that hold what may be a third party's."""
        for panel in self.panels:
            yield from (*panel.env_kwargs.values(), panel.maker)
        for one in self.all_contestants:
            yield (one.maker, dict(one.parameters))

    @property
    def all_contestants(self) -> list[AlgorithmSpec]:
        """The algorithms of all panels, in order."""
        return [one for panel in self.panels for one in self.contestants_of(panel)]

    def digest(self) -> str:
        """Return eight hexadecimal digits that identify the settings."""
        self.check()
        return hashlib.sha256(repr(self.configuration()).encode()).hexdigest()[:8]

    def check(self) -> None:
        """Raise any error in the settings now, before anything is written."""
        checks.integer("trials", self.trials, at_least=1)
        if self.seed is not None:
            checks.integer("seed", self.seed, at_least=0)
        for panel in self.panels:
            game = self.game(panel)
            for player in named_players(self.players(panel)).values():
                reason = player.refusal(game)
                if reason is not None:
                    raise WrongGameError(f"{reason} The game is {panel.title}: play it in a command of its own.")
                player.wrap(game)
                player.guarantee_in(game)

    def players(self, panel: GameSpec, trial: int = 0) -> list[Algorithm]:
        """Make the algorithms that play in a trial of a panel; in trial 0 all of them play."""
        return [one.make() for one in self.contestants_of(panel) if trial < max(one.trials, self.trials)]

    def contestants_of(self, panel: GameSpec) -> tuple[AlgorithmSpec, ...]:
        """Return the algorithms of a panel."""
        return self.contestants if panel.contestants is None else panel.contestants

    @property
    def is_real(self) -> bool:
        """Whether a panel is played on real data, so that the seed should be secret."""
        return any(self.game(panel).adversary.is_real for panel in self.panels)

    @property
    def more_trials(self) -> str:
        """The algorithms that play more games than the others, as in "1,000 of DP-KLUCB and DP-IMED"; "" if none."""
        found: dict[int, dict[str, None]] = {}
        for panel in self.panels:
            for one in self.contestants_of(panel):
                if one.trials > self.trials:
                    found.setdefault(one.trials, {})[one.make().name] = None
        return "; ".join(f"{trials:,} of {', '.join(names)}" for trials, names in found.items())

    def stretches(self, panel: GameSpec) -> list[tuple[int, int]]:
        """Return the trials of a panel as ranges (first, end) in which the same algorithms play."""
        ends = sorted({self.trials, *(max(one.trials, self.trials) for one in self.contestants_of(panel))})
        return list(zip([0, *ends], ends, strict=False))

    @functools.cached_property
    def horizons(self) -> dict[str, int]:
        """Number of rounds in each panel, by its key: to make its game anew, all of a file of gains is read."""
        return {panel.key: self.game(panel).horizon for panel in self.panels}

    def rounds_in_a_trial(self, panel: GameSpec, trial: int = 0) -> int:
        """Return the number of rounds that all algorithms together play in a trial of a panel."""
        return len(self.players(panel, trial)) * self.horizons[panel.key]

    @property
    def rounds(self) -> int:
        """The total number of rounds."""
        return sum(
            (end - first) * self.rounds_in_a_trial(panel, first)
            for panel in self.panels
            for first, end in self.stretches(panel)
        )


@dataclasses.dataclass(frozen=True)
class Results:
    """The raw numbers of an experiment.

    Attributes:
        experiment: What was run.
        arrays: `"panel/algorithm/measure"` to an array `(trials, checkpoints)`, for pulls `(trials, n_arms)`; and
            `"panel/checkpoints"`. Each is read from the folder at its first use.
    """

    experiment: Experiment
    arrays: Mapping[str, NDArray[Any]]

    @property
    def names(self) -> list[str]:
        """The labels of all algorithms, in order of appearance."""
        return list(dict.fromkeys(name for panel in self.experiment.panels for name in self.names_in(panel)))

    def names_in(self, panel: GameSpec) -> list[str]:
        """Return the labels of the algorithms that play in a panel, in order."""
        return [player.name for player in self.experiment.players(panel)]

    def regret(self, panel: str, algorithm: str, measure: str = "external_regret") -> FloatArray:
        """Return a measure of regret, one of `MEASURES`, shape `(trials, checkpoints)`."""
        key = f"{panel}/{algorithm}/{measure}"
        # Where means stay, the dynamic regret is the pseudo-regret.
        stays = measure == "dynamic_regret" and key not in self.arrays
        return self.arrays[f"{panel}/{algorithm}/pseudo_regret" if stays else key]

    def rounds(self, panel: str) -> IntArray:
        """Return the checkpoints of a panel."""
        return self.arrays[f"{panel}/checkpoints"]


def described(experiment: Experiment) -> list[dict[str, Any]]:
    """Return one entry a game, as plain JSON values: its sizes, and each algorithm in it with its guarantee.

    Results can be read with it without the code that made them.
    """
    return [
        {
            "key": panel.key,
            "title": panel.title,
            "environment": panel.environment or panel.title,
            "n_arms": game.adversary.n_arms,
            "horizon": game.horizon,
            "is_real": game.adversary.is_real,
            "arm_order": game.adversary.arm_order,
            "results": [
                _result(one, player, game)
                for one, player in zip(experiment.contestants_of(panel), experiment.players(panel), strict=True)
            ],
        }
        for panel, game in ((panel, experiment.game(panel)) for panel in experiment.panels)
    ]


def _result(spec: AlgorithmSpec, player: Algorithm, game: BanditEnv) -> dict[str, Any]:
    guarantee = player.guarantee_in(game)
    return {
        "name": player.name,
        "algorithm": spec.shown_as or player.name,
        "asked": None if spec.asked is None else _plain_number(spec.asked),
        "level": _plain_level(shown_epsilon(guarantee)),
        "model": guarantee.model,
        "covers": guarantee.covers,
        "guarantee": str(guarantee),
        "first_release": player.first_release_in(game),
        "units": {unit: _plain_level(level) for unit, level in _units_in(guarantee).items()},
    }


def _plain_level(level: ShownEpsilon) -> list[float | str]:
    return [_plain_number(level.epsilon), level.delta, level.exact]


def _plain_number(number: float) -> float | str:
    """Return a number as JSON can hold it; `float` reads both."""
    return number if math.isfinite(number) else str(number)


def levels_in(experiment: Experiment, panel: GameSpec) -> dict[str, ShownEpsilon]:
    """Return the level of each algorithm of a panel, by the label of its results."""
    game = experiment.game(panel)
    return {player.name: shown_epsilon(player.guarantee_in(game)) for player in experiment.players(panel)}


def labels_in(experiment: Experiment, panel: GameSpec) -> dict[str, str]:
    """Return each algorithm's label in one panel: its name and its level there."""
    return {name: label_of(name, [level]) for name, level in levels_in(experiment, panel).items()}


def labels_of(experiments: Iterable[Experiment]) -> dict[str, str]:
    """Return each algorithm's label in a legend: its name and its levels over all panels."""
    return {name: label_of(name, levels) for name, levels in _levels_of(experiments).items()}


def words_of(experiments: Iterable[Experiment]) -> dict[str, str]:
    """Return the levels of each algorithm over all panels, in words."""
    return {name: format_levels(levels) for name, levels in _levels_of(experiments).items()}


def units_of(experiments: Iterable[Experiment]) -> dict[str, dict[str, str]]:
    """Return what each algorithm's guarantee is worth for a record, and for a person, over all panels, in words.

    By the unit's name; without a unit for which no panel's data say in how many rounds it can serve.
    """
    found: dict[str, dict[str, dict[ShownEpsilon, None]]] = {}
    for experiment in experiments:
        for panel in experiment.panels:
            game = experiment.game(panel)
            for player in experiment.players(panel):
                for unit, level in _units_in(player.guarantee_in(game)).items():
                    found.setdefault(unit, {}).setdefault(player.name, {})[level] = None
    return {
        unit: {name: format_levels(levels) for name, levels in found[unit].items()} for unit in UNITS if unit in found
    }


def _levels_of(experiments: Iterable[Experiment]) -> dict[str, list[ShownEpsilon]]:
    found: dict[str, dict[ShownEpsilon, None]] = {}
    for experiment in experiments:
        for panel in experiment.panels:
            for name, level in levels_in(experiment, panel).items():
                found.setdefault(name, {})[level] = None
    return {name: list(levels) for name, levels in found.items()}


def _units_in(guarantee: PrivacyGuarantee) -> dict[str, ShownEpsilon]:
    """Return the level for a record and for a person, where the data say in how many rounds these can serve."""
    known = [unit for unit in UNITS if guarantee.model != "none" and rounds_of(guarantee, unit) is not None]
    return {unit: shown_epsilon(for_unit(guarantee, unit)) for unit in known}


def plain_value(value: Any) -> Any:
    """Return a value as JSON can hold it: as it is, or as text that differs for different values."""
    flat = isinstance(value, (list, tuple)) and len(value) <= FEW and all(isinstance(one, PLAIN) for one in value)
    if value is None or flat or isinstance(value, PLAIN):
        return list(value) if isinstance(value, tuple) else value
    # Anything larger may be a table of private gains: a digest.
    return f"{type(value).__name__} {code_digest(value)}"


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except ValueError:  # a null character
        return False
