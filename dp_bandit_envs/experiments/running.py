"""Runs an experiment as one queue of trials, saves each chunk of them as it is finished, and joins the chunks."""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from dp_bandit_envs import files
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.experiments.experiment import Experiment, GameSpec, Results
from dp_bandit_envs.experiments.store import CHUNKS, RESULTS, Archive, ResultsFolder, joined
from dp_bandit_envs.simulation.engines import SimulationSetup, always_compiled, is_small_simulation
from dp_bandit_envs.simulation.results import KeptResults, ResultTable, TrialResults
from dp_bandit_envs.simulation.simulation import jobs_for, prepare
from dp_bandit_envs.simulation.workers import Task, run_tasks

CHUNK = 32
"""The number of trials in a chunk of short games."""
LEAST_CHUNK = 16
"""The number of trials in a chunk of long games, so that several cores have work; both are whole blocks of lanes."""
TASK_ROUNDS = 2**27
"""The most rounds in a task, unless one chunk has more: about a second's work, so that an interruption loses little."""
MOST_CHUNKS = 16
"""The most chunks in a task; while it is played, they are all in memory."""
Progress = Callable[[str | None, int], None]
"""Called with the title of the panel that was played (None for results already saved) and a number of rounds."""


def run(
    experiment: Experiment,
    folder: ResultsFolder,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Results:
    """Run what the folder does not contain yet, save it chunk by chunk, and return all results.

    Args:
        experiment: What to run.
        folder: The folder that belongs to it. It is locked meanwhile, unless its run is finished.
        jobs: Number of trials to run in parallel.
        progress: Called with a panel's title and the rounds played, or with None and the rounds saved already.

    Raises:
        ResultsError: If another command runs in the folder, a saved file is damaged, or a run with a secret seed has
            begun there: it cannot be continued, as the seed is written nowhere.
        ClusterError: As for `simulate`.
    """
    whole = folder.load(RESULTS)
    if whole is None:
        with folder.locked():
            if not folder.has(RESULTS):  # another command may just have finished
                _play(experiment, folder, jobs, progress)
            whole = folder.load(RESULTS)
        if whole is None:
            raise _removed(folder)
    elif progress is not None:
        progress(None, experiment.rounds)
    if (chunks := folder.path / CHUNKS).is_dir():
        whole.check()  # read every byte again before the chunks are deleted
        files.remove_folder(chunks, ".npz")
    return Results(experiment, whole)


def _play(experiment: Experiment, folder: ResultsFolder, jobs: int, progress: Progress | None) -> None:
    if experiment.seed is None and any((folder.path / CHUNKS).glob("*.npz")):
        raise ResultsError(
            f"{folder.path}: a run with a secret seed cannot be continued, as the seed went with its process. Delete"
            " the folder, or choose another one with --out; its games have spent their privacy all the same."
        )
    # Few games are played in this process, and those of all other panels with them.
    few = jobs == 1 or all(is_small_simulation(horizon, experiment.trials) for horizon in experiment.horizons.values())
    with contextlib.nullcontext() if few else always_compiled():
        queue = _Queue(experiment, folder, progress)
    try:
        jobs = jobs_for(queue.reasons, jobs)
        played = run_tasks(queue.tasks(), jobs, in_threads=queue.in_threads, left=queue.left)
        with contextlib.closing(played):
            for chunks, trials, columns in played:
                queue.put(chunks, trials, columns)
    finally:
        queue.refund()
    folder.save(RESULTS, _joined(experiment, folder))


def _joined(experiment: Experiment, folder: ResultsFolder) -> Iterator[tuple[str, list[NDArray[Any]]]]:
    """Yield the arrays of all panels in pieces, a few at a time, because together they may not fit into memory."""

    def load(chunk: "Chunk") -> Archive:
        archive = chunk.load(folder)
        if archive is None:
            raise _removed(folder)
        return archive

    for panel in experiment.panels:
        parts = [functools.partial(load, chunk) for chunk in chunks_of(experiment, panel)]
        for key, pieces in joined(parts, common=("checkpoints",)):
            yield f"{panel.key}/{key}", pieces


def _removed(folder: ResultsFolder) -> ResultsError:
    return ResultsError(f"{folder.path}: saved results were removed while this command ran. Run it again.")


@dataclasses.dataclass(frozen=True)
class Chunk:
    """Trials of one panel that are saved together."""

    panel: GameSpec
    first_trial: int
    trials: int

    @property
    def end(self) -> int:
        """The trial after its last one."""
        return self.first_trial + self.trials

    @property
    def name(self) -> str:
        """Its name in the folder."""
        return f"{CHUNKS}/{self.panel.key}-{self.first_trial:06d}"

    def load(self, folder: ResultsFolder) -> Archive | None:
        """Return its results, or None if they are not in the folder; raise if they are damaged or of another origin."""
        return folder.load(self.name, first_trial=self.first_trial, trials=self.trials)

    def save(self, folder: ResultsFolder, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write its results."""
        pieces = ((key, [array]) for key, array in arrays.items())
        folder.save(self.name, pieces, first_trial=self.first_trial, trials=self.trials)


def chunks_of(experiment: Experiment, panel: GameSpec) -> list[Chunk]:
    """Return the chunks of a panel, in the order of trials."""
    chunks = []
    for start, end in experiment.stretches(panel):
        size = CHUNK if CHUNK * experiment.rounds_in_a_trial(panel, start) <= TASK_ROUNDS else LEAST_CHUNK
        chunks += [Chunk(panel, first, min(size, end - first)) for first in range(start, end, size)]
    return chunks


def joined_to_one_task(experiment: Experiment, chunks: Iterable[Chunk]) -> Iterator[list[Chunk]]:
    """Yield chunks of short games together that follow each other in one stretch of a panel.

    Args:
        experiment: What they belong to.
        chunks: The chunks; each is taken when those before it have been yielded or joined.
    """
    together: list[Chunk] = []
    for chunk in chunks:
        if together and not _continues(experiment, together, chunk):
            yield together
            together = []
        together.append(chunk)
    if together:
        yield together


def _continues(experiment: Experiment, chunks: list[Chunk], chunk: Chunk) -> bool:
    first, last = chunks[0], chunks[-1]
    follows = (chunk.panel, chunk.first_trial, first.trials) == (last.panel, last.end, last.trials)
    # Where a stretch begins, the players change.
    if not follows or any(start == chunk.first_trial for start, _ in experiment.stretches(chunk.panel)):
        return False
    rounds = experiment.rounds_in_a_trial(first.panel, first.first_trial)
    return len(chunks) < MOST_CHUNKS and (chunk.end - first.first_trial) * rounds <= TASK_ROUNDS


class _Queue:
    """All trials of an experiment that are not in the folder, and the chunks that are being played.

    Attributes:
        left: The number of trials that are not in the folder, once for each work of a panel.
        in_threads: Whether all of it is compiled.
        reasons: Why something is played instead of compiled.
    """

    def __init__(
        self,
        experiment: Experiment,
        folder: ResultsFolder,
        progress: Progress | None,
    ) -> None:
        self._experiment, self._folder = experiment, folder
        self._progress = progress
        self._chunks = [chunk for panel in experiment.panels for chunk in chunks_of(experiment, panel)]
        self._prepared: dict[tuple[str, int], SimulationSetup] = {}
        self._open: dict[str, tuple[dict[str, ResultTable], int]] = {}
        missing = [(self._prepare(chunk), chunk) for chunk in self._chunks if not folder.has(chunk.name)]
        self.left = sum(len(prepared.engines) * chunk.trials for prepared, chunk in missing)
        self.in_threads = all(prepared.in_threads for prepared, _ in missing)
        self.reasons = [reason for prepared, _ in missing for reason in prepared.reasons.values()]

    def tasks(self) -> Iterator[Task]:
        """Yield what is not saved; a task's owner is the list of its chunks."""
        missing = (chunk for chunk in self._chunks if not self._is_saved(chunk))
        # What is played in Python takes so long that each chunk is a task.
        joined_chunks = joined_to_one_task(self._experiment, missing) if self.in_threads else ([one] for one in missing)
        for chunks in joined_chunks:
            prepared = self._prepare(chunks[0])
            for chunk in chunks:
                self._open[chunk.name] = prepared.tables(chunk.trials), len(prepared.players) * chunk.trials
            yield from prepared.tasks(range(chunks[0].first_trial, chunks[-1].end), chunks)

    def put(self, chunks: Sequence[Chunk], trials: range, columns: Mapping[str, KeptResults]) -> None:
        """Take the results of trials of a task; save each of its chunks when it is complete."""
        for chunk in chunks:
            first, end = max(trials.start, chunk.first_trial), min(trials.stop, chunk.end)
            if first < end:
                own = slice(first - trials.start, end - trials.start)
                self._put(chunk, first, {name: _of_trials(column, own) for name, column in columns.items()})

    def _put(self, chunk: Chunk, first: int, columns: Mapping[str, TrialResults]) -> None:
        prepared = self._prepare(chunk)
        tables, games = self._open[chunk.name]
        played = 0
        for name, column in columns.items():
            tables[name].put(first - chunk.first_trial, column)
            played += len(column.collected)
        games -= played
        self._open[chunk.name] = tables, games
        if self._progress is not None:
            self._progress(chunk.panel.title, played * prepared.game.horizon)
        if games == 0:
            arrays: dict[str, NDArray[Any]] = {"checkpoints": prepared.checkpoints}
            for name, table in tables.items():
                arrays.update({f"{name}/{measure}": array for measure, array in table.measures.items()})
            chunk.save(self._folder, arrays)
            del self._open[chunk.name]

    def refund(self) -> None:
        """Give a ledger back what has not begun."""
        for prepared in self._prepared.values():
            prepared.refund()

    def _is_saved(self, chunk: Chunk) -> bool:
        saved = chunk.load(self._folder)
        if saved is None:
            return False
        saved.check()
        if self._progress is not None:
            self._progress(None, chunk.trials * self._experiment.rounds_in_a_trial(chunk.panel, chunk.first_trial))
        return True

    def _prepare(self, chunk: Chunk) -> SimulationSetup:
        """Return what is played in a chunk, prepared once for all trials with the same players."""
        experiment, panel = self._experiment, chunk.panel
        first = max(first for first, _ in experiment.stretches(panel) if first <= chunk.first_trial)
        if (panel.key, first) not in self._prepared:
            common = {name: getattr(experiment, name) for name in ("horizon", "seed", "checkpoints")}
            players = experiment.players(panel, first)
            prepared = prepare(experiment.named(panel), players, **common, trials=experiment.trials)
            self._prepared[panel.key, first] = prepared.reserved(experiment.trials)
        return self._prepared[panel.key, first]


def _of_trials(column: KeptResults, own: slice) -> TrialResults:
    """Return the rows of some trials."""
    assert isinstance(column, TrialResults)
    return column.changed(lambda part: part[own])
