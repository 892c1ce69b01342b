"""The stages of the compiled loop for a feedback graph, where a round reveals a row of arms."""

from typing import Any, NamedTuple

from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.play_block import Progress, Streams, pass_on


class Rows(NamedTuple):
    """The rows of a feedback graph: `revealed[starts[arm]:starts[arm + 1]]` are the arms that an arm reveals."""

    starts: IntArray
    revealed: IntArray


def reveal(
    graph: Rows, gains: FloatArray, row: int, arm: int, own: float, states: Any, streams: Streams, progress: Progress
) -> None:
    """Release the gains of the arm's row; only the gain of the arm played is charged."""
    for place in range(graph.starts[arm], graph.starts[arm + 1]):
        each = graph.revealed[place]
        value, count = pass_on(states, each, own if each == arm else gains[row, each], streams)
        if count != 0:
            progress.gains[each] = value
            progress.observed[each] = 1


def clear(graph: Rows, arm: int, batch_size: int, progress: Progress) -> None:
    """Clear what one step released."""
    if batch_size == 1:
        for place in range(graph.starts[arm], graph.starts[arm + 1]):
            progress.gains[graph.revealed[place]] = 0.0
            progress.observed[graph.revealed[place]] = 0
    else:
        # The graph may have changed within the batch.
        for each in range(len(progress.gains)):
            progress.gains[each] = 0.0
            progress.observed[each] = 0
