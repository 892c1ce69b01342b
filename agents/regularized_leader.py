"""Follow the regularised leader on released sums: the private online linear optimisation of Agarwal and Singh."""

import math
from collections.abc import Callable
from typing import NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalPointAgent, Functions
from dp_bandit_envs.draws import exp, log
from dp_bandit_envs.protocols import FloatArray, Sums


class State(NamedTuple):
    """The released sums `(dimension,)`, 0 before the first release, their squared length `(1,)`, and the rate."""

    sums: FloatArray
    square: FloatArray
    rate: float


def start(dimension: int, rate: float) -> State:
    """Return the state before the first round."""
    return State(np.zeros(dimension), np.zeros(1), rate)


def select_in_ball(state: State, point: FloatArray, rng: np.random.Generator) -> None:
    """Play rate * S, scaled down to length 1 if longer."""
    factor, square = state.rate, state.square[0]
    if square * factor * factor > 1.0:
        factor = 1.0 / math.sqrt(square)
    for coordinate in range(len(point)):
        point[coordinate] = factor * state.sums[coordinate]


def select_in_cube(state: State, point: FloatArray, rng: np.random.Generator) -> None:
    """Play rate * S, each coordinate cut to [-1, 1]."""
    for coordinate in range(len(point)):
        point[coordinate] = min(max(state.rate * state.sums[coordinate], -1.0), 1.0)


def select_in_simplex(state: State, point: FloatArray, rng: np.random.Generator) -> None:
    """Play the mixture in proportion to exp(rate * S)."""
    largest = state.sums[0]
    for coordinate in range(1, len(point)):
        largest = max(largest, state.sums[coordinate])
    total = 0.0
    for coordinate in range(len(point)):
        point[coordinate] = exp(state.rate * (state.sums[coordinate] - largest))
        total += point[coordinate]
    for coordinate in range(len(point)):
        point[coordinate] /= total


def update(state: State, arm: int, seen: Sums) -> State:
    """Keep the released sums and their squared length, for the ball."""
    square = 0.0
    for index in range(len(state.sums)):
        total = seen.sums[index]
        state.sums[index] = total
        square += total * total
    state.square[0] = square
    return state


SELECT: dict[str, Callable[..., None]] = {
    "ball": select_in_ball,
    "cube": select_in_cube,
    "simplex": select_in_simplex,
}


RATES: dict[str, Callable[[int, int], float]] = {
    "ball": lambda dimension, horizon: math.sqrt(1 / horizon),
    "cube": lambda dimension, horizon: math.sqrt(dimension / horizon),
    "simplex": lambda dimension, horizon: math.sqrt(8 * log(max(dimension, 2)) / horizon),
}
"""The learning rate with the smallest bound without noise on each set, in a game of T rounds."""


class RegularizedLeader(FunctionalPointAgent):
    r"""Plays the best point for the released sums S minus a regulariser.

    .. math:: x_{t+1} = \arg\max_{x \in X} \langle x, S_t \rangle - R(x) / a

    On the ball and the cube, R is half the squared L2 norm, and the point is a S projected onto the set. On the
    simplex, R is the negative entropy, and the point is the softmax of a S. Before the first release it plays the point
    that minimises R.

    Args:
        learning_rate: a, greater than 0, or a function of `(set_name, dimension, horizon)` that returns it. By default
            1 / sqrt(T) on the ball, sqrt(d / T) on the cube and sqrt(8 ln d / T) on the simplex, which minimise the
            regret bound without noise.

    Source: Agarwal and Singh (2017), algorithms 1 and 2, with an explicit rate, which the paper leaves open.
    """

    learns_from = Sums
    learning_rate: float | Callable[[str, int, int], float] | None

    def __init__(self, *, learning_rate: SupportsFloat | Callable[[str, int, int], float] | None = None) -> None:
        if learning_rate is None or callable(learning_rate):
            self.learning_rate = learning_rate
        else:
            self.learning_rate = checks.greater_than("learning_rate", learning_rate, 0)

    @property
    def functions(self) -> Functions:  # type: ignore[override]
        """The functions for the decision set that was seen."""
        return Functions(self.for_set(SELECT), update)

    def initial_state(self, dimension: int, horizon: int) -> State:
        """Return the state before the first step."""
        rate, usual = self.learning_rate, self.for_set(RATES)
        if callable(rate):
            assert self.decision_set is not None
            rate = rate(self.decision_set.name, dimension, max(horizon, 1))
        return start(dimension, usual(dimension, max(horizon, 1)) if rate is None else rate)
