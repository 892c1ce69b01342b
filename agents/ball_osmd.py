"""Online stochastic mirror descent on the ball, with bandit feedback: play the surface, or explore an axis."""

import math
from typing import NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalPointAgent, Functions
from dp_bandit_envs.protocols import FloatArray, Gains, IntArray
from dp_bandit_envs.theory.linear_bounds import osmd_rate


class State(NamedTuple):
    """The state of OSMD.

    Attributes:
        scores: The learning rate times the estimated cumulative gain vector, drawn back to length `farthest`,
            `(dimension,)`.
        drawn: The axis explored in the last round, from 1 and with its sign; 0 if none was, `(1,)`.
        push: Learning rate * d * (1 + bound); a released payoff v stands for the noisy payoff v (1 + bound).
        farthest: sqrt(T) - 1, so that an axis is explored with a probability of at least 1 / sqrt(T).
    """

    scores: FloatArray
    drawn: IntArray
    push: float
    farthest: float


def start(dimension: int, horizon: int, rate: float, bound: float) -> State:
    """Return the state before the first round: all estimates are 0."""
    push = rate * dimension * (1.0 + bound)
    return State(np.zeros(dimension), np.zeros(1, np.int64), push, math.sqrt(horizon) - 1.0)


def length_of(scores: FloatArray) -> float:
    """Return the L2 norm."""
    square = 0.0
    for score in scores:
        square += score * score
    return math.sqrt(square)


def select(state: State, point: FloatArray, rng: np.random.Generator) -> None:
    """Play scores / |scores| with probability |scores| / (1 + |scores|), otherwise plus or minus a uniform axis."""
    scores, dimension = state.scores, len(point)
    length = length_of(scores)
    if rng.random() * (1.0 + length) < length:
        state.drawn[0] = 0
        for coordinate in range(dimension):
            point[coordinate] = scores[coordinate] / length
        return
    drawn = min(int(rng.random() * 2.0 * dimension), 2 * dimension - 1)
    axis = drawn // 2
    for coordinate in range(dimension):
        point[coordinate] = 0.0
    point[axis] = 1.0 if drawn % 2 == 0 else -1.0
    state.drawn[0] = axis + 1 if drawn % 2 == 0 else -(axis + 1)


def update(state: State, arm: int, seen: Gains) -> State:
    """Add the estimate d z (1 + |scores|) sign e_i, times the learning rate, if an axis i was explored."""
    scores = state.scores
    drawn = state.drawn[0]
    if drawn != 0 and seen.observed[0] != 0:
        step = state.push * (1.0 + length_of(scores)) * seen.gains[0]
        if drawn > 0:
            scores[drawn - 1] += step
        else:
            scores[-drawn - 1] -= step
        length = length_of(scores)
        if length > state.farthest:
            for coordinate in range(len(scores)):
                scores[coordinate] *= state.farthest / length
    return state


class BallOsmd(FunctionalPointAgent):
    r"""Online stochastic mirror descent on the ball with the regulariser :math:`-\ln(1 - |x|) - |x|`.

    With scores :math:`\theta`, it plays :math:`\theta / |\theta|` with probability
    :math:`r = |\theta| / (1 + |\theta|)` and otherwise a uniform axis with a fair sign, whose payoff z it learns from:

    .. math:: \theta \gets \theta + a \frac{d}{1 - r} z (\pm e_i), \quad |\theta| \le \sqrt T - 1

    A round takes O(d) steps. Above a `LaplaceClipRescale` it undoes the rescaling, as `Scrible` does.

    Args:
        learning_rate: a, greater than 0; by default the one with the smallest `osmd_regret_bound` for the noise. A rate
            above 1 / (2 d (1 + b)) has no bound.

    Source: Bubeck, Cesa-Bianchi and Kakade (2012), Towards Minimax Policies for Online Linear Optimization with Bandit
    Feedback, COLT, section 5; quoted from memory, its unbiased estimate and its bound derived again.
    """

    feedback = "payoff"
    functions = Functions(select, update)  # type: ignore[arg-type]

    def __init__(self, *, learning_rate: SupportsFloat | None = None) -> None:
        self.learning_rate = None if learning_rate is None else checks.greater_than("learning_rate", learning_rate, 0)

    def initial_state(self, dimension: int, horizon: int) -> State:
        """Return the state before the first step."""
        self.for_set({"ball": self.decision_set})
        steps, bound = max(horizon, 1), self.noise.bound
        rate = self.learning_rate
        if rate is None:
            rate = osmd_rate(dimension, steps, self.noise.scale, bound)
        return start(dimension, steps, rate, bound)
