"""An experiment: some algorithms in some games, run in chunks that are saved as they are done."""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import dp_bandit_envs
from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation import simulate
from dp_bandit_envs.simulation.simulation import named_players

FORMAT = 1
"""Goes up when the same configuration no longer gives the same results."""
CHUNK = 24
"""Trials in a chunk at most."""
CHUNK_ROUNDS = 2**25
"""Rounds in a chunk, about a second's work, so that little is lost."""
LEAST_CHUNK = 4
"""Trials in a chunk of long games, so that several cores have work: at ten million rounds half a minute's."""
MEASURES = ("external_regret", "policy_regret", "pseudo_regret", "collected", "switches", "pulls")
Progress = Callable[[str, int], None]


@dataclasses.dataclass(frozen=True)
class Contestant:
    """An algorithm by name, with its parameters as plain JSON values, and the label of its results."""

    name: str
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    label: str | None = None

    def make(self) -> Algorithm:
        """Make the algorithm."""
        extra = {} if self.label is None else {"label": self.label}
        return make_algorithm(self.name, **self.parameters, **extra)


@dataclasses.dataclass(frozen=True)
class Panel:
    """One game.

    Attributes:
        key: Names it in files.
        title: Names it for readers.
        env_id: A registered id.
        env_kwargs: Arguments for it besides the horizon, as plain JSON values.
        contestants: Who plays in it; None for the experiment's.
    """

    key: str
    title: str
    env_id: str
    env_kwargs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    contestants: tuple[Contestant, ...] | None = None

    def game(self, horizon: int | None) -> BanditEnv:
        """Make the game, with its own horizon for None."""
        extra: dict[str, Any] = {} if horizon is None else {"horizon": horizon}
        game = gym.make(self.env_id, **self.env_kwargs, **extra).unwrapped
        assert isinstance(game, BanditEnv)
        return game

    def configuration(self) -> dict[str, Any]:
        """Return all of it as plain JSON values; contestants only where the panel has its own."""
        plain = dataclasses.asdict(self)
        if self.contestants is None:
            del plain["contestants"]
        return plain


@dataclasses.dataclass(frozen=True)
class Experiment:
    """What to run; together with the package's version it determines every number.

    Attributes:
        name: Names the experiment.
        panels: The games.
        contestants: The algorithms in every panel that has none of its own.
        horizon: Number of rounds T, or None for each game's own.
        trials: Number of games of each algorithm in each panel.
        seed: The seed.
        checkpoints: How the 100 rounds that are written down are spaced, `"linear"` or `"log"`.
    """

    name: str
    panels: tuple[Panel, ...]
    contestants: tuple[Contestant, ...]
    horizon: int | None
    trials: int
    seed: int = 0
    checkpoints: str = "linear"

    def configuration(self) -> dict[str, Any]:
        """Return all of it as plain JSON values, data files by their content."""
        plain = dataclasses.asdict(self)
        texts = [value for panel in self.panels for value in panel.env_kwargs.values() if isinstance(value, str)]
        # Gains, or the edges of a graph.
        files = [text for text in texts if Path(text).is_file()]
        digests = {file: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files}
        return {
            **plain,
            "panels": [panel.configuration() for panel in self.panels],
            "contestants": [dataclasses.asdict(contestant) for contestant in self.contestants],
            "format": FORMAT,
            "version": dp_bandit_envs.__version__,
            **({"data_sha256": digests} if digests else {}),
        }

    def digest(self) -> str:
        """Return eight letters that differ between settings."""
        self.check()
        return hashlib.sha256(repr(self.configuration()).encode()).hexdigest()[:8]

    def check(self) -> None:
        """Raise what would be raised later, before anything is written."""
        checks.integer("trials", self.trials, at_least=1)
        checks.integer("seed", self.seed, at_least=0)
        for panel in self.panels:
            game = panel.game(self.horizon)
            for player in named_players(self.players(panel)).values():
                player.wrap(game)
                player.guarantee(n_arms=game.n_arms, horizon=game.horizon, sensitivity=game.sensitivity)

    def players(self, panel: Panel) -> list[Algorithm]:
        """Make the algorithms that play in a panel."""
        chosen = self.contestants if panel.contestants is None else panel.contestants
        return [contestant.make() for contestant in chosen]

    def rounds_in_a_trial(self, panel: Panel) -> int:
        """Return how many rounds all algorithms together play in one trial of a panel."""
        return len(self.players(panel)) * panel.game(self.horizon).horizon

    @property
    def rounds(self) -> int:
        """How many rounds are played in all."""
        return sum(self.trials * self.rounds_in_a_trial(panel) for panel in self.panels)

    @property
    def chunks(self) -> list[tuple[Panel, int, int]]:
        """Every panel with the first trial and the number of trials of each of its chunks."""
        chunks = []
        for panel in self.panels:
            size = min(CHUNK, max(LEAST_CHUNK, CHUNK_ROUNDS // self.rounds_in_a_trial(panel)))
            starts = range(0, self.trials, size)
            chunks += [(panel, start, min(size, self.trials - start)) for start in starts]
        return chunks


@dataclasses.dataclass(frozen=True)
class Results:
    """The raw numbers of an experiment.

    Attributes:
        experiment: What was run.
        arrays: `"panel/algorithm/measure"` to an array `(trials, checkpoints)`, for pulls `(trials, n_arms)`; and
            `"panel/checkpoints"`.
    """

    experiment: Experiment
    arrays: dict[str, NDArray[Any]]

    @property
    def names(self) -> list[str]:
        """The labels of all algorithms, in order of appearance."""
        return list(dict.fromkeys(name for panel in self.experiment.panels for name in self.names_in(panel)))

    def names_in(self, panel: Panel) -> list[str]:
        """Return the labels of the algorithms that play in a panel, in order."""
        return [player.name for player in self.experiment.players(panel)]

    def regret(self, panel: str, algorithm: str, measure: str = "external_regret") -> FloatArray:
        """Return a measure of regret, one of `MEASURES`, shape `(trials, checkpoints)`."""
        return self.arrays[f"{panel}/{algorithm}/{measure}"]

    def rounds(self, panel: str) -> IntArray:
        """Return the checkpoints of a panel."""
        return self.arrays[f"{panel}/checkpoints"]


def run(experiment: Experiment, folder: ResultsFolder, *, jobs: int = 1, progress: Progress | None = None) -> Results:
    """Run what the folder does not hold yet, save it chunk by chunk, and return everything.

    Args:
        experiment: What to run.
        folder: The folder that belongs to it.
        jobs: Trials to run at a time.
        progress: Called with a panel's title and a number of rounds that were played, or found in the folder (then
            with the title "saved").
    """
    whole = folder.load("results")
    if whole is not None:
        folder.remove_chunks()  # a power cut may have left some
        if progress is not None:
            progress("saved", experiment.rounds)
        return Results(experiment, whole)
    folder.begin_chunks()
    parts: dict[str, list[NDArray[Any]]] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for panel, first, trials in experiment.chunks:
        name = f"chunks/{panel.key}-{first:06d}"
        chunk = folder.load(name)
        if chunk is None:
            chunk = _run_chunk(experiment, panel, first, trials, jobs, progress)
            folder.save(name, chunk)
        elif progress is not None:
            progress("saved", trials * experiment.rounds_in_a_trial(panel))
        labels = [player.name for player in experiment.players(panel)]
        _check_chunk(chunk, trials, labels, folder.path / f"{name}.npz")
        arrays[f"{panel.key}/checkpoints"] = chunk.pop("checkpoints")
        for key, array in chunk.items():
            parts.setdefault(f"{panel.key}/{key}", []).append(array)
    arrays |= {key: np.concatenate(pieces) for key, pieces in parts.items()}
    folder.save("results", arrays)
    folder.remove_chunks()
    return Results(experiment, arrays)


def _check_chunk(chunk: dict[str, NDArray[Any]], trials: int, labels: list[str], file: Path) -> None:
    needed = {"checkpoints", *(f"{label}/{measure}" for label in labels for measure in ("external_regret", "pulls"))}
    if not needed <= set(chunk) or any(len(array) != trials for key, array in chunk.items() if key != "checkpoints"):
        raise ResultsError(
            f"{file}: must hold {trials} trials of {', '.join(labels)}; it does not. Delete it and run the same command"
            " again: only what it held is simulated anew."
        )


def _run_chunk(
    experiment: Experiment, panel: Panel, first: int, trials: int, jobs: int, progress: Progress | None
) -> dict[str, NDArray[Any]]:
    reported = 0

    def report(done: int, _: int) -> None:
        nonlocal reported
        if progress is not None:
            progress(panel.title, (done - reported) * horizon)
        reported = done

    horizon = panel.game(experiment.horizon).horizon
    simulation = simulate(
        panel.env_id,
        experiment.players(panel),
        horizon=experiment.horizon,
        trials=trials,
        seed=experiment.seed,
        checkpoints=experiment.checkpoints,
        jobs=jobs,
        env_kwargs=panel.env_kwargs,
        first_trial=first,
        progress=report,
    )
    arrays: dict[str, NDArray[Any]] = {"checkpoints": simulation.checkpoints}
    for name, outcome in simulation.items():
        for measure in MEASURES:
            values = getattr(outcome, measure)
            if values is not None:
                arrays[f"{name}/{measure}"] = values
    return arrays
