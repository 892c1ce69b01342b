"""Lazy Hedge: Hedge's law in each round, but it keeps its arm in most rounds, so that few draws cost privacy."""

import math
from collections.abc import Callable
from typing import NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.hedge import Rate, checked_rate, draw_weighted, rate_in
from dp_bandit_envs.draws import exp
from dp_bandit_envs.protocols import FloatArray, Gains, IntArray

ARM = 0
DRAWS_LEFT = 1


class State(NamedTuple):
    """The state of lazy Hedge.

    Attributes:
        totals: Cumulative gain of each arm.
        weights: Buffer for the weights of a draw.
        keep: Probability of keeping the arm in the next round, shape `(1,)`.
        status: `ARM`, the arm played last, -1 before the first round; `DRAWS_LEFT`, the remaining number of fresh
            draws. Arrays, because compiled code can write to arrays only.
        learning_rate: a, in 1 / gain.
        fresh_probability: p, the least probability of a fresh draw, in [0, 1].
    """

    totals: FloatArray
    weights: FloatArray
    keep: FloatArray
    status: IntArray
    learning_rate: float
    fresh_probability: float


def start(n_arms: int, learning_rate: float, fresh_probability: float, most_draws: int) -> State:
    """Return the state before the first round."""
    totals, weights, status = np.zeros(n_arms), np.zeros(n_arms), np.array([-1, most_draws])
    return State(totals, weights, np.zeros(1), status, learning_rate, fresh_probability)


def select(state: State, rng: np.random.Generator) -> int:
    """Keep the arm, or draw it afresh; the first arm is uniform and costs no draw, as no gains were seen."""
    status, keep = state.status, state.keep[0]
    if status[ARM] >= 0:
        if status[DRAWS_LEFT] == 0 or (keep > 0.0 and rng.random() < keep):
            return int(status[ARM])
        status[DRAWS_LEFT] -= 1
    status[ARM] = draw(state, rng)
    return int(status[ARM])


def draw(state: State, rng: np.random.Generator) -> int:
    """Draw an arm from the softmax of a times the cumulative gains."""
    totals, weights = state.totals, state.weights
    largest = -math.inf
    for arm in range(len(totals)):
        largest = max(largest, totals[arm])
    for arm in range(len(totals)):
        weights[arm] = exp(state.learning_rate * (totals[arm] - largest))
    return draw_weighted(weights, rng)


def update(state: State, arm: int, seen: Gains) -> State:
    """Add the gains, and store the probability of keeping the arm; a withheld gain counts as 0 in both."""
    totals = state.totals
    for each_arm in range(len(totals)):
        totals[each_arm] += seen.gains[each_arm]
    state.keep[0] = (1.0 - state.fresh_probability) * exp(-state.learning_rate * (1.0 - seen.gains[arm]))
    return state


class LazyHedge(FunctionalAgent):
    r"""Keeps its arm with probability :math:`(1 - p) e^{-a (1 - g)}`, and otherwise draws it from Hedge's law.

    Here g is the gain of the arm just played. Suppose the arm has Hedge's law
    :math:`\pi_t(i) \propto e^{a G_{t-1}(i)}`. Kept arms then have weights in proportion to
    :math:`\pi_t(i) e^{a g_t(i)}`, which is the law of the next round, and fresh arms are drawn from that law. So every
    round has Hedge's law for any p, until `most_draws` are spent; from then on the arm is kept. The expected regret
    against an oblivious adversary is at most :math:`\ln K / a + a T / 8`, plus T times the probability that more than
    `most_draws` draws are needed. Requires full information (the gains of all arms in every round).

    Args:
        learning_rate: a in 1 / gain, at least 0, or a function of `(n_arms, horizon)` that returns it. By default
            sqrt(8 ln K / T), with T the number of steps that the agent will see.
        fresh_probability: p in [0, 1], or such a function; 1 draws in every round, as Hedge does.
        most_draws: Number of draws after the first round, at least 0, or such a function; by default T.

    Source: Geulen, Vöcking and Winkler (2010), Regret Minimization for Online Buffering Problems Using the Weighted
    Majority Algorithm, COLT (the shrinking dartboard). Asi, Feldman, Koren and Talwar (2023), Private Online Prediction
    from Experts: Separations and Faster Rates, COLT.
    Differs from the source in: the arm is kept with a probability that depends on its gain, so that the law is exact.
    """

    functions = Functions(select, update)
    feedback = "full"

    def __init__(
        self,
        *,
        learning_rate: Rate | None = None,
        fresh_probability: Rate = 0.0,
        most_draws: SupportsIndex | Callable[[int, int], int] | None = None,
    ) -> None:
        self.learning_rate = checked_rate(learning_rate)
        self.fresh_probability: SupportsFloat | Callable[[int, int], float] = fresh_probability
        if not callable(fresh_probability):
            self.fresh_probability = checks.in_range("fresh_probability", fresh_probability, 0, 1)
        self.most_draws = most_draws
        if most_draws is not None and not callable(most_draws):
            self.most_draws = checks.integer("most_draws", most_draws, at_least=0, at_most=checks.MOST_ROUNDS)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        size = n_arms, horizon
        fresh, most = self.fresh_probability, self.most_draws
        p = float(fresh(*size) if callable(fresh) else fresh)
        draws = horizon if most is None else int(most(*size) if callable(most) else most)
        return start(n_arms, rate_in(self.learning_rate, *size), p, draws)
