"""Runs the missing part of an experiment as one queue of trials, saves chunks of them, and joins all results."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dp_bandit_envs import files
from dp_bandit_envs.algorithms.specs import GameSpec
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.experiments.configurations import DESCRIBED, Cell, cells_of, stored_cells, union, why_not_joined
from dp_bandit_envs.experiments.entries import ArrayPart, RenamedArrays, measures_of
from dp_bandit_envs.experiments.experiment import Experiment, Results
from dp_bandit_envs.experiments.store import CHUNKS, RESULTS, Archive, ResultsFolder, read_finished
from dp_bandit_envs.simulation.engines import SimulationSetup, always_compiled, is_small_simulation
from dp_bandit_envs.simulation.results import KeptResults, ResultTable, TrialResults
from dp_bandit_envs.simulation.simulation import jobs_for, prepare
from dp_bandit_envs.simulation.workers import Task, compile_ahead, run_tasks

CHUNK = 32
"""The number of trials in a chunk of short games."""
LEAST_CHUNK = 16
"""The number of trials in a chunk of long games, so that several cores have work; both are whole blocks of lanes."""
TASK_ROUNDS = 2**27
"""The most rounds in a task, unless one chunk has more: about a second's work, so that an interruption loses little."""
MOST_CHUNKS = 16
"""The most chunks in a task; while it is played, they are all in memory."""
Progress = Callable[[str | None, int], None]
"""Called with the title of the game that was played (None for results already saved) and a number of rounds."""
Stored = tuple[Mapping[str, Any], Archive]
"""The configuration and the arrays of finished results."""


def run(
    experiment: Experiment,
    folder: ResultsFolder,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Results:
    """Run the part that is missing in the folder, save it chunk by chunk, and return all results.

    A finished folder can grow: missing algorithms, games and trials are played in a subfolder, and when all are
    finished, the joined results replace the old results.

    Args:
        experiment: The experiment.
        folder: The folder that belongs to it, or can grow to it. It is locked during the run.
        jobs: Number of trials to run in parallel.
        progress: Called with a game's title and the rounds played, or with None and the rounds saved already.

    Raises:
        ResultsError: If another command runs in the folder, a saved file is damaged, or a run with a secret seed has
            begun there: it cannot be resumed, as the seed is not stored.
        ClusterError: As for `simulate`.
    """
    stored = folder.finished()
    if stored is None or folder.has_grown or _missing(experiment, folder, stored[0]).rounds:
        with folder.locked():
            folder.end_growth()
            stored = folder.finished()  # another command may just have finished
            if stored is None:
                _play(experiment, folder, jobs, progress)
                stored = folder.finished()
            elif (missing := _missing(experiment, folder, stored[0])).rounds:
                folder.refuse_unless_it_grows(stored[0])
                _grow(missing, folder, stored, jobs, progress)
                stored = folder.finished()
            elif progress is not None:
                progress(None, experiment.rounds)
        if stored is None:
            raise _removed(folder)
    elif progress is not None:
        progress(None, experiment.rounds)
    configuration, archive = stored
    if (chunks := folder.path / CHUNKS).is_dir():
        archive.check()  # read every byte again before the chunks are deleted
        files.remove_folder(chunks, ".npz")
    return Results(experiment, StoredArrays(folder.path, folder.configuration, configuration, archive))


def _missing(experiment: Experiment, folder: ResultsFolder, stored: Mapping[str, Any]) -> Experiment:
    there = stored_cells(stored, folder.configuration)
    saved = {
        (cell.game["key"], cell.result["name"]): there[cell.prefix].trials
        for cell in cells_of(folder.configuration)
        if cell.prefix in there
    }
    return experiment.without(saved)


class StoredArrays(RenamedArrays):
    """The arrays that a configuration names, from a finished folder that may contain more, and may grow meanwhile.

    Args:
        path: The folder.
        wanted: The configuration.
        stored: The folder's configuration.
        archive: The folder's arrays.
    """

    def __init__(self, path: Path, wanted: Mapping[str, Any], stored: Mapping[str, Any], archive: Archive) -> None:
        self._path, self._wanted, self._stored = path, wanted, stored
        super().__init__(archive, _names_in(wanted, stored, archive))

    def __getitem__(self, name: str) -> NDArray[Any]:
        try:
            return super().__getitem__(name)
        except ResultsError:
            stored, archive = read_finished(self._path)
            if stored == self._stored or why_not_joined(stored, self._wanted):
                raise
            self._stored, self._arrays, self._names = stored, archive, _names_in(self._wanted, stored, archive)
            return super().__getitem__(name)


def _names_in(wanted: Mapping[str, Any], stored: Mapping[str, Any], archive: Archive) -> dict[str, ArrayPart]:
    """Return where a stored archive, which may have other names and more trials, has the arrays of a configuration."""
    if stored == wanted:
        return {name: (name, None) for name in archive}
    there = stored_cells(stored, wanted)
    names: dict[str, ArrayPart] = {}
    for cell in cells_of(wanted):
        other = there[cell.prefix]
        names.setdefault(f"{cell.game['key']}/checkpoints", (f"{other.game['key']}/checkpoints", None))
        for measure in measures_of(archive, other.prefix):
            names[cell.prefix + measure] = (other.prefix + measure, cell.trials)
    return names


def _grow(missing: Experiment, folder: ResultsFolder, stored: Stored, jobs: int, progress: Progress | None) -> None:
    """Play the missing part in a subfolder, join it with the stored results, and replace them."""
    growing = folder.growing(union(stored[0], folder.configuration))
    if progress is not None:
        progress(None, missing.without({}).rounds - missing.rounds)
    if not growing.has(RESULTS):
        _play(missing, growing, jobs, progress, stored)
    folder.end_growth()


def _play(
    experiment: Experiment,
    folder: ResultsFolder,
    jobs: int,
    progress: Progress | None,
    stored: Stored | None = None,
) -> None:
    if experiment.seed is None and any((folder.path / CHUNKS).glob("*.npz")):
        raise ResultsError(
            f"{folder.path}: a run with a secret seed cannot be continued, as the seed went with its process. Delete"
            " the folder, or choose another one with --out; its games have spent their privacy all the same."
        )
    # Few games are played in this process, and those of all other games with them.
    few = jobs == 1 or all(is_small_simulation(horizon, experiment.trials) for horizon in experiment.horizons.values())
    with contextlib.nullcontext() if few else always_compiled():
        queue = _Queue(experiment, folder, progress)
    try:
        jobs = jobs_for(queue.reasons, jobs)
        compile_ahead(queue.engines, jobs, in_threads=queue.in_threads)
        played = run_tasks(queue.tasks(), jobs, in_threads=queue.in_threads, left=queue.left)
        with contextlib.closing(played):
            for chunks, trials, columns in played:
                queue.put(chunks, trials, columns)
    finally:
        queue.refund()
    folder.save(RESULTS, _joined(experiment, folder, stored))


def _joined(
    experiment: Experiment, folder: ResultsFolder, stored: Stored | None = None
) -> Iterator[tuple[str, list[NDArray[Any]]]]:
    """Yield the arrays of all games in the folder's configuration, from stored results and chunks."""
    specs = {game.key: game for game in experiment.games}
    there = {} if stored is None else stored_cells(stored[0], folder.configuration)
    for game in folder.configuration[DESCRIBED]:
        spec = specs.get(game["key"])
        chunks = [] if spec is None else [(chunk, _load(chunk, folder)) for chunk in chunks_of(experiment, spec)]
        arrays: dict[str, list[tuple[Archive, str]]] = {}
        for result in game["results"]:
            cell = Cell(game, result)
            sources = []
            if stored is not None and (other := there.get(cell.prefix)) is not None:
                sources.append((stored[1], other.prefix, f"{other.game['key']}/checkpoints"))
            for chunk, archive in chunks:
                if chunk.has(experiment, result["name"]):
                    sources.append((archive, f"{result['name']}/", "checkpoints"))
            first, prefix, checkpoints = sources[0]
            arrays.setdefault(f"{game['key']}/checkpoints", [(first, checkpoints)])
            for measure in measures_of(first, prefix):
                arrays[cell.prefix + measure] = [(archive, start + measure) for archive, start, _ in sources]
        # One array at a time, as all of them may not fit into memory.
        for name, pieces in arrays.items():
            yield name, [archive.read(key) for archive, key in pieces]


def _load(chunk: "Chunk", folder: ResultsFolder) -> Archive:
    archive = chunk.load(folder)
    if archive is None:
        raise _removed(folder)
    return archive


def _removed(folder: ResultsFolder) -> ResultsError:
    return ResultsError(f"{folder.path}: saved results were removed while this command ran. Run it again.")


@dataclasses.dataclass(frozen=True)
class Chunk:
    """Trials of one game that are saved together."""

    game: GameSpec
    first_trial: int
    trials: int

    @property
    def end(self) -> int:
        """The trial after its last."""
        return self.first_trial + self.trials

    @property
    def name(self) -> str:
        """Its name in the folder."""
        return f"{CHUNKS}/{self.game.key}-{self.first_trial:06d}"

    def has(self, experiment: Experiment, label: str) -> bool:
        """Return whether an algorithm is played in it."""
        specs = {spec.label: spec for spec in experiment.algorithms_of(self.game)}
        return label in specs and self.first_trial in experiment.missing_trials(self.game, specs[label])

    def load(self, folder: ResultsFolder) -> Archive | None:
        """Return its results, or None if the folder lacks them; raise if they are damaged or of another origin."""
        return folder.load(self.name, first_trial=self.first_trial, trials=self.trials)

    def save(self, folder: ResultsFolder, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write its results."""
        pieces = ((key, [array]) for key, array in arrays.items())
        folder.save(self.name, pieces, first_trial=self.first_trial, trials=self.trials)


def chunks_of(experiment: Experiment, game: GameSpec) -> list[Chunk]:
    """Return the chunks of a game to play, in the order of trials."""
    chunks = []
    for start, end in experiment.trial_ranges(game):
        size = CHUNK if CHUNK * experiment.rounds_in_a_trial(game, start) <= TASK_ROUNDS else LEAST_CHUNK
        chunks += [Chunk(game, first, min(size, end - first)) for first in range(start, end, size)]
    return chunks


def joined_to_one_task(experiment: Experiment, chunks: Iterable[Chunk]) -> Iterator[list[Chunk]]:
    """Yield consecutive chunks of short games together, within one range of a game's trials.

    Args:
        experiment: Their experiment.
        chunks: The chunks; each is read when the previous chunks have been yielded or joined.
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
    follows = (chunk.game, chunk.first_trial, first.trials) == (last.game, last.end, last.trials)
    # Where a range begins, the players change.
    if not follows or any(start == chunk.first_trial for start, _ in experiment.trial_ranges(chunk.game)):
        return False
    rounds = experiment.rounds_in_a_trial(first.game, first.first_trial)
    return len(chunks) < MOST_CHUNKS and (chunk.end - first.first_trial) * rounds <= TASK_ROUNDS


class _Queue:
    """All trials of an experiment that are not in the folder, and the chunks that are being played.

    Attributes:
        left: The number of trials that are not in the folder, once for each work of a game.
        in_threads: Whether all of it is compiled.
        engines: Who plays them.
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
        self._chunks = [chunk for game in experiment.games for chunk in chunks_of(experiment, game)]
        self._prepared: dict[tuple[str, int], SimulationSetup] = {}
        self._open: dict[str, tuple[dict[str, ResultTable], int]] = {}
        missing = [(self._prepare(chunk), chunk) for chunk in self._chunks if not folder.has(chunk.name)]
        self.left = sum(len(prepared.engines) * chunk.trials for prepared, chunk in missing)
        self.engines = [engine for prepared in self._prepared.values() for engine in prepared.engines]
        self.in_threads = all(prepared.in_threads for prepared, _ in missing)
        self.reasons = [reason for prepared, _ in missing for reason in prepared.reasons.values()]

    def tasks(self) -> Iterator[Task]:
        """Yield the unsaved tasks; a task's owner is the list of its chunks."""
        missing = (chunk for chunk in self._chunks if not self._is_saved(chunk))
        # What is played in Python takes so long that each chunk is a task.
        tasks = joined_to_one_task(self._experiment, missing) if self.in_threads else ([chunk] for chunk in missing)
        for chunks in tasks:
            prepared = self._prepare(chunks[0])
            for chunk in chunks:
                self._open[chunk.name] = prepared.tables(chunk.trials), len(prepared.players) * chunk.trials
            yield from prepared.tasks(range(chunks[0].first_trial, chunks[-1].end), chunks)

    def put(self, chunks: Sequence[Chunk], trials: range, columns: Mapping[str, KeptResults]) -> None:
        """Store the results of a task's trials; save each of its chunks when it is complete."""
        for chunk in chunks:
            first, end = max(trials.start, chunk.first_trial), min(trials.stop, chunk.end)
            if first < end:
                rows = slice(first - trials.start, end - trials.start)
                self._put(chunk, first, {name: _of_trials(column, rows) for name, column in columns.items()})

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
            self._progress(chunk.game.title, played * prepared.game.horizon)
        if games == 0:
            arrays: dict[str, NDArray[Any]] = {"checkpoints": prepared.checkpoints}
            for name, table in tables.items():
                arrays.update({f"{name}/{measure}": array for measure, array in table.measures.items()})
            chunk.save(self._folder, arrays)
            del self._open[chunk.name]

    def refund(self) -> None:
        """Refund games that have not begun to the ledger."""
        for prepared in self._prepared.values():
            prepared.refund()

    def _is_saved(self, chunk: Chunk) -> bool:
        saved = chunk.load(self._folder)
        if saved is None:
            return False
        saved.check()
        if self._progress is not None:
            self._progress(None, chunk.trials * self._experiment.rounds_in_a_trial(chunk.game, chunk.first_trial))
        return True

    def _prepare(self, chunk: Chunk) -> SimulationSetup:
        """Return the setup of a chunk, prepared once for all trials with the same players."""
        experiment, game = self._experiment, chunk.game
        ranges = experiment.trial_ranges(game)
        first, end = max((first, end) for first, end in ranges if first <= chunk.first_trial)
        if (game.key, first) not in self._prepared:
            common = {name: getattr(experiment, name) for name in ("horizon", "seed", "checkpoints")}
            players = experiment.players_in(game, first)
            prepared = prepare(experiment.with_data(game), players, **common, trials=end - first)
            self._prepared[game.key, first] = prepared.reserved(end - first)
        return self._prepared[game.key, first]


def _of_trials(column: KeptResults, rows: slice) -> TrialResults:
    assert isinstance(column, TrialResults)
    return column.changed(lambda array: array[rows])
