"""The stages of the compiled loop that know a feedback graph: a round reveals a whole row of arms."""

from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.play_block import Progress


class Rows(NamedTuple):
    """The rows of a feedback graph: `revealed[starts[arm]:starts[arm + 1]]` are the arms that an arm reveals."""

    starts: IntArray
    revealed: IntArray


def inner(gain: float, mechanism: Any, rng: np.random.Generator) -> tuple[float, bool]:
    """Hand the gain on; stand for a mechanism below the batching."""
    return gain, True


def outer(gain: float, mechanism: Any, rng: np.random.Generator) -> tuple[float, bool]:
    """Hand the gain on; stand for a mechanism above the batching."""
    return gain, True


def gather(
    graph: Rows,
    gains: FloatArray,
    row: int,
    arm: int,
    own: float,
    progress: Progress,
    mechanism: Any,
    rng: np.random.Generator,
) -> None:
    """Add the gains of the arm's row to the batch; only its own carries a charge."""
    for place in range(graph.starts[arm], graph.starts[arm + 1]):
        each = graph.revealed[place]
        seen, kept = inner(own if each == arm else gains[row, each], mechanism, rng)
        progress.totals[each] += seen
        progress.revealed[each] += kept


def settle(
    graph: Rows, arm: int, batch_size: int, progress: Progress, mechanism: Any, rng: np.random.Generator
) -> None:
    """End a batch: reveal the averages of the arms that every round of it revealed, and empty the batch."""
    for place in range(graph.starts[arm], graph.starts[arm + 1]):
        each = graph.revealed[place]
        if progress.revealed[each] == batch_size:
            average = min(progress.totals[each] / batch_size, 1.0)
            progress.gain[each], progress.observed[each] = outer(average, mechanism, rng)
        progress.totals[each] = 0.0
        progress.revealed[each] = 0
    if batch_size > 1:
        # An earlier graph may have revealed arms that this one does not.
        for each in range(len(progress.totals)):
            progress.totals[each] = 0.0
            progress.revealed[each] = 0


def clear(graph: Rows, arm: int, progress: Progress) -> None:
    """Forget what one step revealed."""
    for place in range(graph.starts[arm], graph.starts[arm + 1]):
        progress.gain[graph.revealed[place]] = 0.0
        progress.observed[graph.revealed[place]] = 0
