"""An experiment: some algorithms in some games, and its results."""

import dataclasses
import functools
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.experiments.description import described
from dp_bandit_envs.experiments.results_folder import DESCRIBED, MADE_BY
from dp_bandit_envs.experiments.specs import AlgorithmSpec, GameSpec
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.provenance import foreign_code, made_by
from dp_bandit_envs.simulation.simulation import named_players

FORMAT = 3
"""The format version of results folders."""


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

    def game(self, panel: GameSpec) -> BanditEnv:
        """Make the game of a panel, with its own horizon if the experiment has none."""
        extra: dict[str, Any] = {} if self.horizon is None else {"horizon": self.horizon}
        game = gym.make(panel.env_id, **self.env_kwargs(panel), **extra).unwrapped
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
            **self._digests_of_files(),
        }

    def _digests_of_files(self) -> dict[str, dict[str, str]]:
        """Return a digest of each data file."""
        if not self.files:
            return {}
        return {"data_sha256": {name: file.sha256 for name, file in self.files.items()}}

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
            yield from panel.env_kwargs.values()
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

    def rounds_in_a_trial(self, panel: GameSpec, trial: int = 0) -> int:
        """Return the number of rounds that all algorithms together play in a trial of a panel."""
        return len(self.players(panel, trial)) * self.game(panel).horizon

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
        return self.arrays[f"{panel}/{algorithm}/{measure}"]

    def rounds(self, panel: str) -> IntArray:
        """Return the checkpoints of a panel."""
        return self.arrays[f"{panel}/checkpoints"]


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except ValueError:  # a null character
        return False
