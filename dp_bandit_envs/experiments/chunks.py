"""Chunks: trials of one panel of an experiment that are saved together, and played with others as one task."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from dp_bandit_envs.experiments.experiment import Experiment
from dp_bandit_envs.experiments.results_archive import Archive
from dp_bandit_envs.experiments.results_folder import CHUNKS, ResultsFolder
from dp_bandit_envs.experiments.specs import GameSpec

CHUNK = 32
"""The number of trials in a chunk of short games."""
TASK_ROUNDS = 2**27
"""The most rounds in a task, unless one chunk has more: about a second's work, so that an interruption loses little."""
MOST_CHUNKS = 16
"""The most chunks in a task; while it is played, they are all in memory."""
LEAST_CHUNK = 16
"""The number of trials in a chunk of long games, so that several cores have work; both are whole blocks of lanes."""


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
