"""The stages of the compiled loop for games whose actions are points, with full information.

With bandit feedback, what is revealed is the payoff: the stages of `play_block` reveal it as the gain of arm 0.
"""

from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.decisions import payoff
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation.full_feedback import clear, keep
from dp_bandit_envs.simulation.play_block import Progress, Streams

__all__ = ["Points", "choose", "clear", "gain_of", "reveal"]


class Points(NamedTuple):
    """The point to play, shape `(dimension,)`, and the range of payoffs; replaces the feedback graph."""

    point: FloatArray
    low: float
    high: float


def select(state: Any, point: FloatArray, rng: np.random.Generator) -> None:
    """Placeholder for the agent's own function, which writes the point to play."""
    raise NotImplementedError


def contains(point: FloatArray) -> bool:
    """Placeholder for that of the decision set."""
    raise NotImplementedError


def choose(points: Points, state: Any, rng: np.random.Generator) -> int:
    """Let the agent write its point; arm 0 stands for it."""
    select(state, points.point, rng)
    if not contains(points.point):
        raise ValueError("select wrote a point outside of the decision set, or NaN.")
    return 0


def gain_of(points: Points, gains: FloatArray, row: int, arm: int) -> float:
    """Return the payoff of the point."""
    return payoff(gains[row], points.point, points.low, points.high)  # type: ignore[arg-type]


def reveal(
    points: Points, gains: FloatArray, row: int, arm: int, own: float, states: Any, streams: Streams, progress: Progress
) -> None:
    """Release all coordinates of the gain vector."""
    for each in range(len(progress.gains)):
        keep(each, gains[row, each], states, streams, progress)
