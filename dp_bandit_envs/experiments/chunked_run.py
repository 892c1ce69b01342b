"""Runs an experiment in chunks, saves each as it is finished, and joins them."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.experiments.experiment import Experiment, GameSpec, Results
from dp_bandit_envs.experiments.results_archive import Archive
from dp_bandit_envs.experiments.results_folder import CHUNKS, ResultsFolder
from dp_bandit_envs.simulation import simulate

CHUNK = 24
"""The largest number of trials in a chunk."""
CHUNK_ROUNDS = 2**25
"""The number of rounds in a chunk: about a second's work, so that an interruption loses little."""
LEAST_CHUNK = 4
"""The smallest number of trials in a chunk, so that several cores have work: half a minute at ten million rounds."""
JOINED_BYTES = 2**28
"""The most bytes of arrays to join in one pass over the chunks; a pass joins at least one array."""
RESULTS = "results"
MEASURES = ("external_regret", "policy_regret", "pseudo_regret", "collected", "switches", "pulls")
Progress = Callable[[str | None, int], None]
"""Called with the title of the panel that was played (None for results already saved) and a number of rounds."""


class _ChunkGoneError(Exception):
    """A chunk that was saved is no longer in the folder."""


@dataclasses.dataclass(frozen=True)
class Chunk:
    """Trials of one panel that are simulated and saved together."""

    panel: GameSpec
    first_trial: int
    trials: int

    def load(self, folder: ResultsFolder) -> Archive | None:
        """Return its results, or None if they are not in the folder; raise if they are damaged or of another origin."""
        return folder.load(self._name, first_trial=self.first_trial, trials=self.trials)

    def save(self, folder: ResultsFolder, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write its results."""
        pieces = ((key, [array]) for key, array in arrays.items())
        folder.save(self._name, pieces, first_trial=self.first_trial, trials=self.trials)

    @property
    def _name(self) -> str:
        return f"{CHUNKS}/{self.panel.key}-{self.first_trial:06d}"


def chunks_of(experiment: Experiment, panel: GameSpec) -> list[Chunk]:
    """Return the chunks of a panel, in the order of trials."""
    chunks = []
    for start, end in experiment.stretches(panel):
        size = min(CHUNK, max(LEAST_CHUNK, CHUNK_ROUNDS // experiment.rounds_in_a_trial(panel, start)))
        chunks += [Chunk(panel, first, min(size, end - first)) for first in range(start, end, size)]
    return chunks


def run(experiment: Experiment, folder: ResultsFolder, *, jobs: int = 1, progress: Progress | None = None) -> Results:
    """Run what the folder does not contain yet, save it chunk by chunk, and return all results.

    Args:
        experiment: What to run.
        folder: The folder that belongs to it.
        jobs: Number of trials to run in parallel.
        progress: Called with a panel's title and the number of rounds played, or with None and the number of rounds
            whose results were already in the folder.
    """
    whole = folder.load(RESULTS)
    if whole is None:
        whole = _run_chunks(experiment, folder, jobs, progress)
    elif progress is not None:
        progress(None, experiment.rounds)
    if folder.has_chunks:
        whole.check()  # read every byte again before the chunks are deleted
        folder.remove_chunks()
    return Results(experiment, whole)


def _run_chunks(experiment: Experiment, folder: ResultsFolder, jobs: int, progress: Progress | None) -> Archive:
    """Run and save what the folder does not contain yet, join it, and return all results."""
    for panel in experiment.panels:
        for chunk in chunks_of(experiment, panel):
            saved = _checked(chunk.load(folder))
            if saved is not None:
                if progress is not None:
                    progress(None, chunk.trials * experiment.rounds_in_a_trial(panel, chunk.first_trial))
            elif (whole := folder.load(RESULTS)) is not None:
                return whole  # another process has joined the chunks
            else:
                chunk.save(folder, _run_chunk(experiment, chunk, jobs, progress))
    # If a chunk is missing, another process has joined and removed the chunks.
    with contextlib.suppress(_ChunkGoneError):
        folder.save(RESULTS, _joined(experiment, folder))
    whole = folder.load(RESULTS)
    if whole is None:
        raise ResultsError(
            f"{folder.path}: saved results were removed while this command ran. Run it again; only they are simulated"
            " again."
        )
    return whole


def _checked(saved: Archive | None) -> Archive | None:
    """Read and check a whole chunk; return None if there is none, or if another process has removed it."""
    if saved is not None:
        try:
            saved.check()
        except FileNotFoundError:
            return None
    return saved


def _joined(experiment: Experiment, folder: ResultsFolder) -> Iterator[tuple[str, list[NDArray[Any]]]]:
    """Yield the arrays of all panels in pieces, a few at a time, because together they may not fit into memory."""
    try:
        yield from _pieces(experiment, folder)
    except FileNotFoundError:
        raise _ChunkGoneError from None


def _pieces(experiment: Experiment, folder: ResultsFolder) -> Iterator[tuple[str, list[NDArray[Any]]]]:
    """Yield each array of each panel as its pieces from the chunks."""

    def load(chunk: Chunk) -> Archive:
        archive = chunk.load(folder)
        if archive is None:
            raise FileNotFoundError
        return archive

    for panel in experiment.panels:
        chunks = chunks_of(experiment, panel)
        first = load(chunks[0])
        yield f"{panel.key}/checkpoints", [first.read("checkpoints")]
        left = [key for key in first if key != "checkpoints"]
        while left:
            size, number = 0, 0
            while number < len(left) and (number == 0 or size < JOINED_BYTES):
                size += first.read(left[number]).nbytes * len(chunks)
                number += 1
            keys, left = left[:number], left[number:]
            pieces: dict[str, list[NDArray[Any]]] = {key: [] for key in keys}
            for archive in map(load, chunks):
                for key in keys:
                    if key in archive:  # some algorithms play more games than others
                        pieces[key].append(archive.read(key))
            for key in keys:
                yield f"{panel.key}/{key}", pieces.pop(key)


def _run_chunk(experiment: Experiment, chunk: Chunk, jobs: int, progress: Progress | None) -> dict[str, NDArray[Any]]:
    panel, reported = chunk.panel, 0

    def report(done: int, _: int) -> None:
        nonlocal reported
        if progress is not None:
            progress(panel.title, (done - reported) * horizon)
        reported = done

    horizon = experiment.game(panel).horizon
    simulation = simulate(
        panel.env_id,
        experiment.players(panel, chunk.first_trial),
        horizon=experiment.horizon,
        trials=chunk.trials,
        seed=experiment.seed,
        checkpoints=experiment.checkpoints,
        jobs=jobs,
        env_kwargs=experiment.env_kwargs(panel),
        first_trial=chunk.first_trial,
        progress=report,
    )
    arrays: dict[str, NDArray[Any]] = {"checkpoints": simulation.checkpoints}
    for name, outcome in simulation.items():
        for measure in MEASURES:
            values = getattr(outcome, measure)
            if values is not None:
                arrays[f"{name}/{measure}"] = values
    return arrays
