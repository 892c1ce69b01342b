"""EXP3: exponential weights for exploration and exploitation, in gain form."""

import math
from typing import NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.draws import exp, log
from dp_bandit_envs.protocols import FloatArray, Gains

MOST_AHEAD = 50.0
"""How far the largest score may be ahead of the reference when `tidy` is called: e^50 leaves ample room in a double."""


class State(NamedTuple):
    """The state of EXP3.

    Attributes:
        scores: eta times the estimated cumulative gain of each arm, with eta = exploration_rate / n_arms.
        weights: exp(scores - reference), stored so that a round computes only one exponential.
        reference: A score near the largest. It is raised with the scores, so that weights never overflow.
        exploration_rate: gamma in (0, 1].
    """

    scores: FloatArray
    weights: FloatArray
    reference: float
    exploration_rate: float


def start(n_arms: int, exploration_rate: float) -> State:
    """Return the state before the first round: all estimates are 0."""
    return State(np.zeros(n_arms), np.ones(n_arms), 0.0, exploration_rate)


def probability(state: State, arm: int) -> float:
    """Return the probability of an arm, equation 2.1."""
    total = 0.0
    for weight in state.weights:
        total += weight
    gamma = state.exploration_rate
    share: float = (1.0 - gamma) * state.weights[arm] / total
    return share + gamma / len(state.weights)


def select(state: State, rng: np.random.Generator) -> int:
    """Draw an arm: with probability gamma any arm, otherwise one in proportion to its weight."""
    weights = state.weights
    n_arms = len(weights)
    total = 0.0
    for weight in weights:
        total += weight
    gamma = state.exploration_rate
    scale = (1.0 - gamma) / total
    floor = gamma / n_arms
    left = rng.random()
    for arm in range(n_arms - 1):
        left -= scale * weights[arm] + floor
        if left < 0.0:
            return arm
    return n_arms - 1


def update(state: State, arm: int, seen: Gains) -> State:
    """Add gain / probability to the estimate of the arm played, if its gain was released."""
    if seen.observed[arm] == 0:
        return state
    scores, weights = state.scores, state.weights
    n_arms = len(weights)
    score = scores[arm] + state.exploration_rate / n_arms * seen.gains[arm] / probability(state, arm)
    scores[arm] = score
    weights[arm] = exp(score - state.reference)
    return state


def tidy(state: State) -> State:
    """Raise the reference before weights overflow: no score grows by more than 1 in a step, as p >= gamma / K."""
    scores, weights = state.scores, state.weights
    largest = scores[0]
    for score in scores:
        largest = max(largest, score)
    if largest - state.reference < MOST_AHEAD:
        return state
    for arm in range(len(scores)):
        weights[arm] = exp(scores[arm] - largest)
    return State(scores, weights, largest, state.exploration_rate)


class Exp3(FunctionalAgent):
    r"""EXP3 in gain form: probabilities mix a softmax of estimated gains with uniform exploration.

    .. math:: p_i = (1 - \gamma) \frac{\exp(\frac{\gamma}{K} \tilde G_i)}{\sum_j \exp(\frac{\gamma}{K} \tilde G_j)}
              + \frac{\gamma}{K}, \quad \tilde G_i = \sum_s \frac{g_{i,s}}{p_{i,s}} [I_s = i]

    A withheld gain leaves the state unchanged.

    Args:
        exploration_rate: :math:`\gamma`, in (0, 1]; by default min(1, sqrt(K ln K / ((e - 1) T))), with T the number of
            steps that the agent will see.

    Source: Auer, Cesa-Bianchi, Freund and Schapire (2003); Tossou and Dimitrakakis (2017), equation 2.1, algorithm 1.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import Exp3, play
        >>> env = gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000)
        >>> game = play(env, Exp3(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of all rounds")
        the best arm in 91% of all rounds
    """

    functions = Functions(select, update, tidy)

    def __init__(self, *, exploration_rate: SupportsFloat | None = None) -> None:
        if exploration_rate is not None:
            rate = checks.real("exploration_rate", exploration_rate)
            if not 0 < rate <= 1:
                raise ValueError(f"exploration_rate must be in (0, 1]; received {exploration_rate!r}.")
            exploration_rate = rate
        self.exploration_rate = exploration_rate

    def rate(self, n_arms: int, horizon: int) -> float:
        """Return the exploration rate in a game of `horizon` steps."""
        return default_exploration_rate(n_arms, horizon) if self.exploration_rate is None else self.exploration_rate

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        return start(n_arms, self.rate(n_arms, horizon))

    def probabilities(self) -> FloatArray:
        """Return the probability of each arm in the next step, shape `(n_arms,)`."""
        self._check_begun()
        return np.array([probability(self._state, arm) for arm in range(len(self._state.weights))])


def default_exploration_rate(n_arms: int, horizon: int) -> float:
    """Return min(1, sqrt(K ln K / ((e - 1) T))), which makes the regret at most 2 sqrt((e - 1) T K ln K)."""
    return min(1.0, math.sqrt(n_arms * log(n_arms) / ((math.e - 1) * max(horizon, 1))))
