"""The stages of the compiled loop for full information, where a round reveals the gains of all arms."""

from typing import Any

from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation.play_block import Progress, Streams, pass_on


def reveal(
    graph: Any, gains: FloatArray, row: int, arm: int, own: float, states: Any, streams: Streams, progress: Progress
) -> None:
    """Release the gains of all arms; only the gain of the arm played is charged."""
    for each in range(len(progress.gains)):
        keep(each, own if each == arm else gains[row, each], states, streams, progress)


def keep(each: int, gain: float, states: Any, streams: Streams, progress: Progress) -> None:
    """Keep what is released of a gain until the end of the batch. Placeholder for `add_at_once`."""
    value, count = pass_on(states, each, gain, streams)
    if count != 0:
        progress.gains[each] = value
        progress.observed[each] = 1


def clear(graph: Any, arm: int, batch_size: int, progress: Progress) -> None:
    """Clear what one step released."""
    for each in range(len(progress.gains)):
        progress.gains[each] = 0.0
        progress.observed[each] = 0
