"""Hedge: exponential weights over released sums, for games that reveal the gains of all arms."""

import math
from collections.abc import Callable
from typing import NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.draws import exp, log
from dp_bandit_envs.protocols import FloatArray, Sums

MOST_DRIFT = 50.0
"""How far the largest score may move before all weights are recomputed: e^50 leaves ample room in a double."""

TOTAL = 0
REFERENCE = 1

Rate = SupportsFloat | Callable[[int, int], float]


class State(NamedTuple):
    """The state of Hedge.

    Attributes:
        sums: The released sum of each arm that its weight was computed from, in units of gain.
        weights: exp(learning_rate * (sums - scale[REFERENCE])).
        scale: `TOTAL`, the sum of the weights; `REFERENCE`, a sum near the largest. One array, because compiled code
            can write to arrays only.
        learning_rate: a, in 1 / gain.
    """

    sums: FloatArray
    weights: FloatArray
    scale: FloatArray
    learning_rate: float


def start(n_arms: int, learning_rate: float) -> State:
    """Return the state before the first round: all weights are equal."""
    return State(np.zeros(n_arms), np.ones(n_arms), np.array([float(n_arms), 0.0]), learning_rate)


def draw_weighted(weights: FloatArray, rng: np.random.Generator) -> int:
    """Draw an arm in proportion to its weight."""
    total = 0.0
    for weight in weights:
        total += weight
    left = rng.random() * total
    last = len(weights) - 1
    for arm in range(last):
        left -= weights[arm]
        if left < 0.0:
            return arm
    # Rounding may leave a little; an arm of weight 0 is never played.
    while weights[last] == 0.0:
        last -= 1
    return last


def select(state: State, rng: np.random.Generator) -> int:
    """Draw an arm in proportion to its weight."""
    weights = state.weights
    left = rng.random() * state.scale[TOTAL]
    last = 0
    for arm in range(len(weights)):
        left -= weights[arm]
        if left < 0.0:
            return arm
        # Rounding may leave a little; an arm of weight 0 is never played.
        if weights[arm] > 0.0:
            last = arm
    return last


def update(state: State, arm: int, seen: Sums) -> State:
    """Recompute the weights of the arms whose sums changed."""
    sums, weights, scale, rate = state.sums, state.weights, state.scale, state.learning_rate
    largest = -math.inf
    for each_arm in range(len(sums)):
        largest = max(largest, seen.sums[each_arm])
    # Noise may move the largest sum either way, and weights must neither overflow nor all underflow.
    afresh = abs(rate * (largest - scale[REFERENCE])) > MOST_DRIFT
    if afresh:
        scale[REFERENCE] = largest
    reference = scale[REFERENCE]
    total = 0.0
    for each_arm in range(len(sums)):
        if afresh or seen.sums[each_arm] != sums[each_arm]:
            sums[each_arm] = seen.sums[each_arm]
            weights[each_arm] = exp(rate * (sums[each_arm] - reference))
        total += weights[each_arm]
    scale[TOTAL] = total
    return state


class Hedge(FunctionalAgent):
    r"""Draws an arm from the softmax of a times the released sums.

    .. math:: p_i = \frac{\exp(a S_i)}{\sum_j \exp(a S_j)}

    On exact sums its regret against an oblivious adversary is at most :math:`\ln K / a + a T / 8`. It learns from sums:
    wrap the environment in `ExactSums`, or in a counter for private sums, with noise of any size. Requires full
    information (the gains of all arms in every round).

    Args:
        learning_rate: a in 1 / gain, at least 0, or a function of `(n_arms, horizon)` that returns it. By default
            sqrt(8 ln K / T), with T the number of steps that the agent will see.

    Source: Freund and Schapire (1997), A Decision-Theoretic Generalization of On-Line Learning, JCSS; rate and
    constants from Cesa-Bianchi and Lugosi (2006), theorem 2.2.
    """

    functions = Functions(select, update)
    learns_from = Sums
    feedback = "full"

    def __init__(self, *, learning_rate: Rate | None = None) -> None:
        self.learning_rate = checked_rate(learning_rate)

    def rate(self, n_arms: int, horizon: int) -> float:
        """Return the learning rate in a game of `horizon` steps."""
        return rate_in(self.learning_rate, n_arms, horizon)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        return start(n_arms, self.rate(n_arms, horizon))

    def probabilities(self) -> FloatArray:
        """Return the probability of each arm in the next step, shape `(n_arms,)`."""
        self._check_begun()
        chances: FloatArray = np.array(self._state.weights) / self._state.scale[TOTAL]
        return chances


def default_learning_rate(n_arms: int, horizon: int) -> float:
    """Return sqrt(8 ln K / T), which makes the regret at most sqrt(T ln K / 2)."""
    return math.sqrt(8 * log(n_arms) / max(horizon, 1))


def checked_rate(learning_rate: Rate | None) -> float | Callable[[int, int], float] | None:
    """Return a learning rate that may be a function of `(n_arms, horizon)`, or raise."""
    if learning_rate is None:
        return None
    if callable(learning_rate):
        rate: Callable[[int, int], float] = checks.function("learning_rate", learning_rate, "n_arms", "horizon")
        return rate
    return checks.at_least("learning_rate", learning_rate, 0)


def rate_in(learning_rate: float | Callable[[int, int], float] | None, n_arms: int, horizon: int) -> float:
    """Return the learning rate of a game with `n_arms` arms and `horizon` steps."""
    if learning_rate is None:
        return default_learning_rate(n_arms, horizon)
    if callable(learning_rate):
        return checks.at_least("learning_rate", learning_rate(n_arms, horizon), 0)
    return learning_rate
