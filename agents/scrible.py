"""SCRiBLe: bandit feedback on a ball or a cube, explored along the axes of the Dikin ellipsoid."""

import math
from collections.abc import Callable
from typing import ClassVar, Final, Literal, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalPointAgent, Functions
from dp_bandit_envs.compiling.functions import bind
from dp_bandit_envs.protocols import FloatArray, Gains
from dp_bandit_envs.theory.linear_bounds import noise_of_payoffs, scrible_rate

FARTHEST: Final = 1e9
"""Scores are cut here; the ball's centre point is then within 1e-9 of its surface, and no number overflows."""


class State(NamedTuple):
    """The state of SCRiBLe.

    Attributes:
        scores: The learning rate times the estimated cumulative gain vector, `(dimension,)`.
        direction: sign * sqrt(eigenvalue) * eigenvector of the point played last, `(dimension,)`.
        push: Learning rate * d * (1 + bound): a released payoff of 1 adds this to the scores along `direction`. A
            released payoff v stands for the noisy payoff v (1 + bound).
    """

    scores: FloatArray
    direction: FloatArray
    push: float


def start(dimension: int, rate: float, bound: float) -> State:
    """Return the state before the first round: all estimates are 0."""
    return State(np.zeros(dimension), np.zeros(dimension), rate * dimension * (1.0 + bound))


def select_in_ball(state: State, point: FloatArray, rng: np.random.Generator) -> None:
    """Play x + sign * eigenvector / sqrt(eigenvalue) for a uniform axis of the barrier's Hessian at x.

    With scores a and S = sqrt(1 + |a|^2), the minimiser of the barrier less the scores is x = a / (1 + S). The Hessian
    has the eigenvalue S (1 + S) along a and 1 + S across it. Its axes are the columns of the Householder reflection
    that takes the first axis to -+a / |a|; column 0 lies along a.
    """
    scores, direction = state.scores, state.direction
    dimension = len(point)
    square = 0.0
    for score in scores:
        square += score * score
    length = math.sqrt(square)
    stretch = math.sqrt(1.0 + square)
    drawn = min(int(rng.random() * 2.0 * dimension), 2 * dimension - 1)
    axis = drawn // 2
    sign = 1.0 if drawn % 2 == 0 else -1.0
    root = math.sqrt((stretch if axis == 0 else 1.0) * (1.0 + stretch))
    # The reflection is I - w w' / (1 + |u_0|) with w = e_0 + sign(u_0) u, where u = a / |a|, or e_0 for a = 0.
    first = scores[0] / length if length > 0.0 else 1.0
    flip = 1.0 if first >= 0.0 else -1.0
    head = 1.0 + math.fabs(first)
    share = 1.0
    if axis > 0:
        share = flip * scores[axis] / length / head if length > 0.0 else 0.0
    for coordinate in range(dimension):
        normal = head
        if coordinate > 0:
            normal = flip * scores[coordinate] / length if length > 0.0 else 0.0
        eigenvector = -share * normal
        if coordinate == axis:
            eigenvector += 1.0
        point[coordinate] = scores[coordinate] / (1.0 + stretch) + sign * eigenvector / root
        direction[coordinate] = sign * eigenvector * root


def select_in_cube(state: State, point: FloatArray, rng: np.random.Generator) -> None:
    """Play x + sign * e_i / sqrt(eigenvalue) for a uniform axis i; each coordinate is like a ball of dimension 1."""
    scores, direction = state.scores, state.direction
    dimension = len(point)
    for coordinate in range(dimension):
        point[coordinate] = scores[coordinate] / (1.0 + math.sqrt(1.0 + scores[coordinate] * scores[coordinate]))
        direction[coordinate] = 0.0
    drawn = min(int(rng.random() * 2.0 * dimension), 2 * dimension - 1)
    axis = drawn // 2
    sign = 1.0 if drawn % 2 == 0 else -1.0
    stretch = math.sqrt(1.0 + scores[axis] * scores[axis])
    root = math.sqrt(stretch * (1.0 + stretch))
    point[axis] += sign / root
    direction[axis] = sign * root


def update(state: State, arm: int, seen: Gains) -> State:
    """Learn from the payoff z, if it was released: the estimate is d z sign sqrt(eigenvalue) eigenvector."""
    if seen.observed[0] != 0:
        learn(state, seen.gains[0])
    return state


def learn(state: State, payoff: float) -> None:
    """Add the estimate from a released payoff, times the learning rate, to the scores."""
    for coordinate in range(len(state.scores)):
        score = state.scores[coordinate] + state.push * payoff * state.direction[coordinate]
        state.scores[coordinate] = min(max(score, -FARTHEST), FARTHEST)


SELECT: dict[str, Callable[..., None]] = {"ball": select_in_ball, "cube": select_in_cube}


class Scrible(FunctionalPointAgent):
    r"""SCRiBLe: regularisation by a self-concordant barrier R, and exploration in the metric of its Hessian H.

    .. math:: x_t = \arg\max_x \langle x, a \sum_s \hat g_s \rangle - R(x), \quad
              y_t = x_t \pm \lambda_i^{-1/2} v_i, \quad \hat g_t = \pm d z_t \lambda_i^{1/2} v_i

    with a uniform axis i of :math:`H(x_t) = \sum_i \lambda_i v_i v_i^T` and a fair sign; :math:`y_t` is played (it
    always lies in the set), and :math:`z_t` is its payoff. R is :math:`-\ln(1 - |x|^2)` on the ball and
    :math:`-\sum_i \ln(1 - x_i^2)` on the cube. A round takes O(d) steps.

    Above a `LaplaceClipRescale` it undoes the rescaling to keep estimates unbiased: a released payoff v is read as v (1
    + b). `play` and `simulate` pass the wrapper's bound b through `see_noise`.

    Args:
        learning_rate: a, greater than 0; by default the one with the smallest `scrible_regret_bound` for the noise.

    Source: Abernethy, Hazan and Rakhlin (2008), Competing in the Dark, COLT, algorithm 1; the closed forms on the ball
    and the cube are derived here.
    """

    feedback: ClassVar[Literal["full", "payoff"]] = "payoff"

    def __init__(self, *, learning_rate: SupportsFloat | None = None) -> None:
        self.learning_rate = None if learning_rate is None else checks.greater_than("learning_rate", learning_rate, 0)

    @property
    def functions(self) -> Functions:  # type: ignore[override]
        """The functions for the decision set that was seen."""
        return Functions(self.for_set(SELECT), update)

    def initial_state(self, dimension: int, horizon: int) -> State:
        """Return the state before the first step."""
        scale, bound = self.noise.scale, self.noise.bound
        rate = self.learning_rate
        if rate is None:
            rate = scrible_rate(self._set_name, dimension, max(horizon, 1), scale, bound)
        return start(dimension, rate, bound)

    @property
    def _set_name(self) -> str:
        return str(self.for_set({name: name for name in SELECT}))


class StateOnVectors(NamedTuple):
    """SCRiBLe's state, and the point played last, shape `(dimension,)`."""

    inner: State
    point: FloatArray


def select_own(state: State, point: FloatArray, rng: np.random.Generator) -> None:
    """Placeholder; replaced by SCRiBLe's own function for a set."""


def select_and_keep(state: StateOnVectors, point: FloatArray, rng: np.random.Generator) -> None:
    """Play as SCRiBLe does, and store the point."""
    select_own(state.inner, point, rng)
    for coordinate in range(len(point)):
        state.point[coordinate] = point[coordinate]


def update_on_vectors(state: StateOnVectors, arm: int, seen: Gains) -> StateOnVectors:
    """Learn from the product of the released vector and the point."""
    payoff = 0.0
    for coordinate in range(len(state.point)):
        if seen.observed[coordinate] == 0:
            return state
        payoff += seen.gains[coordinate] * state.point[coordinate]
    learn(state.inner, payoff)
    return state


SELECT_AND_KEEP = {name: bind(select_and_keep, {"select_own": own}) for name, own in SELECT.items()}


class ScribleOnVectors(Scrible):
    r"""SCRiBLe on the payoffs :math:`\langle g_t + Z_t, x_t \rangle` of noisy gain vectors, as Agarwal and Singh print.

    It needs full information and a wrapper that adds noise to vectors, but learns from one number per round, as if it
    saw only payoffs. Noise on the payoff itself has a variance that is up to d times smaller; see `Scrible`.

    Args:
        learning_rate: Greater than 0; by default the one with the smallest bound for the noise in payoffs.

    Source: Agarwal and Singh (2017), algorithm 4, around Abernethy, Hazan and Rakhlin (2008).
    """

    feedback: ClassVar[Literal["full", "payoff"]] = "full"

    @property
    def functions(self) -> Functions:  # type: ignore[override]
        """The functions for the decision set that was seen."""
        return Functions(self.for_set(SELECT_AND_KEEP), update_on_vectors)

    def initial_state(self, dimension: int, horizon: int) -> StateOnVectors:  # type: ignore[override]
        """Return the state before the first step."""
        name, rate = self._set_name, self.learning_rate
        if rate is None:
            rounds = max(horizon, 1)
            scale, most = noise_of_payoffs(name, dimension, self.noise.scale, rounds)
            rate = scrible_rate(name, dimension, rounds, scale, most)
        return StateOnVectors(start(dimension, rate, self.noise.bound), np.zeros(dimension))
