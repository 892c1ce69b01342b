"""EXP2: exponential weights for gains that are linear in the arms' features, with optimal exploration."""

from typing import Final, NamedTuple, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.optimal_design import SLACK, factorise, optimal_design, solve
from dp_bandit_envs.draws import exp
from dp_bandit_envs.protocols import FloatArray, Gains
from dp_bandit_envs.theory.argument_ranges import RATES
from dp_bandit_envs.theory.linear_bounds import exp2_rates

SMALLEST: Final = 1e-12
"""Pivots are at least this: with exploration they are at least its rate, so only rounding errors could be smaller."""


class State(NamedTuple):
    """The state of EXP2; tables are flat, row after row.

    Attributes:
        scores: The learning rate times the estimated cumulative gain of each arm, `(n_arms,)`.
        chances: Probability of each arm in the next round, `(n_arms,)`.
        design: The exploration's probability of each arm, `(n_arms,)`.
        points: Features in the basis that makes their second moment under `design` the identity, `(n_arms * rank,)`;
            empty without features.
        table: Buffer for the second moment under `chances` and its Cholesky factor, `(rank * rank,)`.
        solution: Buffer, `(rank,)`.
        learning_rate: a.
        mixing: Share of the rounds that explore, gamma in (0, 1].
        bound: A released gain v is read as the noisy gain v (2 bound + 1) - bound.
    """

    scores: FloatArray
    chances: FloatArray
    design: FloatArray
    points: FloatArray
    table: FloatArray
    solution: FloatArray
    learning_rate: float
    mixing: float
    bound: float


def start(design: FloatArray, points: FloatArray, learning_rate: float, mixing: float, bound: float) -> State:
    """Return the state before the first round: all estimates are 0."""
    n_arms, rank = points.shape
    chances = (1 - mixing) / n_arms + mixing * design
    room, solution = np.zeros(rank * rank), np.zeros(rank)
    return State(np.zeros(n_arms), chances, design, points.ravel(), room, solution, learning_rate, mixing, bound)


def select(state: State, rng: np.random.Generator) -> int:
    """Draw an arm from the probabilities."""
    left = rng.random()
    last = len(state.chances) - 1
    for arm in range(last):
        left -= state.chances[arm]
        if left < 0.0:
            return arm
    return last


def update_arms(state: State, arm: int, seen: Gains) -> State:
    """Subtract loss / probability from the estimate of the arm played, if its gain was released."""
    if seen.observed[arm] != 0:
        loss = 1.0 - (seen.gains[arm] * (2.0 * state.bound + 1.0) - state.bound)
        state.scores[arm] -= state.learning_rate * loss / state.chances[arm]
        weigh(state)
    return state


def update_features(state: State, arm: int, seen: Gains) -> State:
    """Add the estimate A_k P^-1 A_arm z to the score of every arm k, with z the payoff around 1 / 2."""
    if seen.observed[arm] != 0:
        payoff = (seen.gains[arm] - 0.5) * (2.0 * state.bound + 1.0)
        rank = len(state.solution)
        factorise_moments(state)
        for column in range(rank):
            state.solution[column] = state.points[arm * rank + column]
        solve(state.table, state.solution, rank)
        for each_arm in range(len(state.scores)):
            estimate = 0.0
            for column in range(rank):
                estimate += state.points[each_arm * rank + column] * state.solution[column]
            state.scores[each_arm] += state.learning_rate * payoff * estimate
        weigh(state)
    return state


def factorise_moments(state: State) -> None:
    """Write the Cholesky factor of P = sum_k p_k A_k A_k' into the lower half of `table`."""
    table, points, rank = state.table, state.points, len(state.solution)
    for index in range(rank * rank):
        table[index] = 0.0
    for arm in range(len(state.chances)):
        for row in range(rank):
            weight = state.chances[arm] * points[arm * rank + row]
            for column in range(row + 1):
                table[row * rank + column] += weight * points[arm * rank + column]
    factorise(table, rank, SMALLEST)


def weigh(state: State) -> None:
    """Compute the next probabilities: exponential weights of the scores, mixed with the exploration."""
    scores, chances = state.scores, state.chances
    largest = scores[0]
    for score in scores:
        largest = max(largest, score)
    total = 0.0
    for arm in range(len(scores)):
        chances[arm] = exp(scores[arm] - largest)
        total += chances[arm]
    share = (1.0 - state.mixing) / total
    for arm in range(len(scores)):
        chances[arm] = share * chances[arm] + state.mixing * state.design[arm]


class Exp2(FunctionalAgent):
    r"""EXP2 (expanded EXP): exponential weights of estimated gains, mixed with a G-optimal design mu of the features A.

    .. math:: p = (1 - \gamma) q + \gamma \mu, \quad q_k \propto \exp(a \sum_s \hat g_{k,s}), \quad
              \hat g_k = A_k P^{-1} A_I z, \quad P = \sum_k p_k A_k A_k^T

    with z the noisy payoff of the arm played, less 1 / 2. P is inverted in the span of A, in the basis that makes the
    second moment of the design the identity, so every eigenvalue is at least gamma. With K arms and features of rank d,
    a round takes about K d^2 / 2 + d^3 / 6 multiplications and K exponentials. Without features, each arm is its own
    axis, and the algorithm is EXP3 with uniform exploration on losses: O(K). Above a `LaplaceClipRescale` it undoes the
    rescaling to keep estimates unbiased.

    Args:
        rates: `"smallest-bound"`, or the simpler rates of the `"paper"`; see `exp2_rates`.
        learning_rate: a, greater than 0; by default as `rates` says.
        exploration_rate: gamma, in (0, 1]; by default as `rates` says. Other rates have no regret bound.

    Source: Bubeck, Cesa-Bianchi and Kakade (2012), Towards Minimax Policies for Online Linear Optimization with Bandit
    Feedback, COLT, section 3, with a G-optimal design instead of John's; Agarwal and Singh (2017), algorithm 5.
    """

    features: FloatArray | None = None

    def __init__(
        self,
        *,
        rates: str = "smallest-bound",
        learning_rate: SupportsFloat | None = None,
        exploration_rate: SupportsFloat | None = None,
    ) -> None:
        self.rates = checks.one_of("rates", rates, RATES)
        self.learning_rate = None if learning_rate is None else checks.greater_than("learning_rate", learning_rate, 0)
        self.exploration_rate = None
        if exploration_rate is not None:
            self.exploration_rate = checks.in_range("exploration_rate", exploration_rate, 0, 1)
            checks.greater_than("exploration_rate", exploration_rate, 0)

    def see_features(self, features: ArrayLike | None) -> None:
        """Receive the arms' features, shape `(n_arms, dimension)`, or None; called before `begin`."""
        self.features = None if features is None else np.array(features, np.float64)

    @property
    def functions(self) -> Functions:  # type: ignore[override]
        """The functions for games with or without features."""
        return Functions(select, update_arms if self.features is None else update_features)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        if self.features is None:
            design, points = np.full(n_arms, 1 / n_arms), np.zeros((n_arms, 0))
            rank, leverage, largest_payoff = n_arms, float(n_arms), 1.0
        else:
            if len(self.features) != n_arms:
                raise ValueError(f"features must have {n_arms} rows, one for each arm; received {len(self.features)}.")
            design, points, _ = optimal_design(self.features)
            rank, leverage, largest_payoff = points.shape[1], SLACK * points.shape[1], 0.5
        scale, bound = self.noise.scale, self.noise.bound
        learning_rate, exploration_rate = exp2_rates(
            self.rates, n_arms, rank, leverage, largest_payoff, max(horizon, 1), scale, bound
        )
        learning_rate = learning_rate if self.learning_rate is None else self.learning_rate
        exploration_rate = exploration_rate if self.exploration_rate is None else self.exploration_rate
        return start(design, points, learning_rate, exploration_rate, bound)

    def probabilities(self) -> FloatArray:
        """Return the probability of each arm in the next step, shape `(n_arms,)`."""
        self._check_begun()
        return np.array(self._state.chances)
