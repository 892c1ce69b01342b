"""EXP3-SET: exponential weights on a feedback graph, for gains chosen by an adversary."""

import math
from typing import NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.draws import exp, log
from dp_bandit_envs.graphs import FeedbackGraph
from dp_bandit_envs.protocols import FloatArray, Gains, IntArray

MOST_AGE = 64
"""Number of rounds between recomputations of the total weight, because rounding errors accumulate."""
MOST_DRIFT = 10.0
"""Increase of the smallest loss that triggers this earlier: e^-10 is still far above the rounding error of a sum near
1."""

TOTAL = 0
REFERENCE = 1
AGE = 2


class State(NamedTuple):
    """The state of EXP3-SET.

    Attributes:
        losses: eta times the estimated cumulative loss of each arm.
        weights: exp(scale[REFERENCE] - losses).
        scale: `TOTAL`, the sum of the weights; `REFERENCE`, the smallest loss when they were last recomputed; `AGE`,
            the number of rounds since then. One array, because compiled code can write to arrays only.
        starts, revealers: The arms that reveal each arm, as in `FeedbackGraph`.
        learning_rate: eta.
        settled: Whether eta is fixed; otherwise the first graph fixes it.
    """

    losses: FloatArray
    weights: FloatArray
    scale: FloatArray
    starts: IntArray
    revealers: IntArray
    learning_rate: float
    settled: bool


def start(n_arms: int, learning_rate: float, settled: bool) -> State:
    """Return the state before the first round: all estimates are 0, and every arm reveals only itself."""
    starts = np.arange(n_arms + 1)
    scale = np.array([float(n_arms), 0.0, 0.0])
    return State(np.zeros(n_arms), np.ones(n_arms), scale, starts, np.arange(n_arms), learning_rate, settled)


def select(state: State, rng: np.random.Generator) -> int:
    """Draw an arm in proportion to its weight."""
    left = rng.random() * state.scale[TOTAL]
    last = len(state.weights) - 1
    for arm in range(last):
        left -= state.weights[arm]
        if left < 0.0:
            return arm
    return last


def update(state: State, arm: int, seen: Gains) -> State:
    """Add loss / probability of being revealed to the estimate of every revealed arm."""
    losses, weights, scale = state.losses, state.weights, state.scale
    before = scale[TOTAL]
    # Where an arm is revealed that reveals itself alone, there is no graph, and every round reveals every arm.
    full = False
    for each_arm in range(len(losses)):
        first = state.starts[each_arm]
        alone = state.starts[each_arm + 1] == first + 1 and state.revealers[first] == each_arm
        full |= each_arm != arm and seen.observed[each_arm] != 0 and alone
    # All probabilities are those of this round, so weights must not change before all have been computed.
    for each_arm in range(len(losses)):
        if seen.observed[each_arm] != 0:
            chance = before
            if not full:
                chance = 0.0
                for index in range(state.starts[each_arm], state.starts[each_arm + 1]):
                    chance += weights[state.revealers[index]]
            # 0 if no arm reveals this one (which no game produces), or if the probability underflowed.
            if chance > 0.0:
                losses[each_arm] += state.learning_rate * (1.0 - seen.gains[each_arm]) * before / chance
    smallest = math.inf
    for each_arm in range(len(losses)):
        if seen.observed[each_arm] != 0:
            fresh = exp(scale[REFERENCE] - losses[each_arm])
            scale[TOTAL] += fresh - weights[each_arm]
            weights[each_arm] = fresh
        smallest = min(smallest, losses[each_arm])
    scale[AGE] += 1.0
    # Incremental updates lose digits, and weights must not underflow.
    if scale[AGE] >= MOST_AGE or smallest > scale[REFERENCE] + MOST_DRIFT:
        scale[REFERENCE] = smallest
        scale[AGE] = 0.0
        sum_of_all = 0.0
        for each_arm in range(len(losses)):
            weights[each_arm] = exp(smallest - losses[each_arm])
            sum_of_all += weights[each_arm]
        scale[TOTAL] = sum_of_all
    return state


class Exp3Set(FunctionalAgent):
    r"""Exponential weights that divide each revealed loss by the probability that it is revealed.

    .. math:: p_i \propto \exp(-\eta \hat L_i), \quad
              \hat L_j = \sum_t \frac{1 - g_{j,t}}{q_{j,t}} [j \text{ revealed}], \quad
              q_{j,t} = \sum_{i \text{ reveals } j} p_{i,t}

    On undirected graphs with self-loops its regret is at most :math:`\ln K / \eta + \eta \alpha T / 2`, with alpha the
    independence number, whatever the gains. It uses the graph of a round only after the arm is chosen. In a game with
    full information and no graph, q is 1.

    Args:
        learning_rate: eta, greater than 0; by default sqrt(2 ln K / (alpha T)), with alpha the size of a greedily
            chosen independent set of the first graph.

    Source: Alon, Cesa-Bianchi, Gentile and Mansour (2013), From Bandits to Experts: A Tale of Domination and
    Independence, NIPS, algorithm EXP3-SET; Alon, Cesa-Bianchi, Gentile, Mannor, Mansour and Shamir (2017), SICOMP.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import Exp3Set
        >>> env = gym.make("DPBandit-Graph-v0", graph="star", n_arms=4, horizon=1000)
        >>> game = play(env, Exp3Set(), seed=0)
        >>> print(f"the best arm in {(game.arms == 3).mean():.0%} of all rounds")
        the best arm in 88% of all rounds
    """

    functions = Functions(select, update)

    def __init__(self, *, learning_rate: SupportsFloat | None = None) -> None:
        self.learning_rate = None if learning_rate is None else checks.greater_than("learning_rate", learning_rate, 0)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step; without a graph, the state of EXP3 with losses."""
        self._horizon = horizon
        rate = math.sqrt(2 * log(n_arms) / (n_arms * max(horizon, 1)))
        settled = self.learning_rate is not None
        return start(n_arms, rate if self.learning_rate is None else self.learning_rate, settled)

    def with_graph(self, state: State, graph: FeedbackGraph) -> State:
        """Return the state with the feedback graph of the next round; the first graph sets the learning rate."""
        graph_state = state._replace(starts=graph.revealer_starts, revealers=graph.revealers)
        if state.settled:
            return graph_state
        alpha = graph.independent_arms
        return graph_state._replace(
            settled=True, learning_rate=math.sqrt(2 * log(graph.n_arms) / (alpha * max(self._horizon, 1)))
        )
