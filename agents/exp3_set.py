"""EXP3-SET: exponential weights on a feedback graph, for gains that an adversary chose."""

import math
from typing import NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.graphs import FeedbackGraph
from dp_bandit_envs.observations import Gains
from dp_bandit_envs.protocols import FloatArray, IntArray

STALE = 64
"""After how many rounds the total of the weights is added up anew."""
FAR = 10.0
"""How far the smallest loss may move before that: e^-10 is still large beside the rounding of a total near 1."""


class State(NamedTuple):
    """What EXP3-SET knows.

    Attributes:
        losses: eta times the estimated cumulative loss of each arm.
        weights: exp(smallest loss so far - losses), up to a common factor.
        total: The sum of the weights, and the reference that is subtracted from losses, and rounds since it was added
            up, `(3,)`.
        starts, revealers: The arms that reveal each arm, as in `FeedbackGraph`.
        learning_rate: eta.
        settled: Whether eta is fixed; otherwise the first graph fixes it.
    """

    losses: FloatArray
    weights: FloatArray
    total: FloatArray
    starts: IntArray
    revealers: IntArray
    learning_rate: float
    settled: bool


def start(n_arms: int, learning_rate: float, settled: bool) -> State:
    """Return the state before the first round: all estimates are 0, and no graph yet."""
    alone = np.arange(n_arms + 1)
    total = np.array([float(n_arms), 0.0, 0.0])
    return State(np.zeros(n_arms), np.ones(n_arms), total, alone, np.arange(n_arms), learning_rate, settled)


def select(state: State, rng: np.random.Generator) -> int:
    """Draw an arm in proportion to its weight."""
    left = rng.random() * state.total[0]
    last = len(state.weights) - 1
    for arm in range(last):
        left -= state.weights[arm]
        if left < 0.0:
            return arm
    return last


def update(state: State, arm: int, seen: Gains) -> State:
    """Add loss / chance to be revealed to the estimate of every arm that was."""
    losses, weights, total = state.losses, state.weights, state.total
    before = total[0]
    # All chances are those of this round, so weights must not change before all are worked out.
    for each in range(len(losses)):
        if seen.observed[each] != 0:
            chance = 0.0
            for place in range(state.starts[each], state.starts[each + 1]):
                chance += weights[state.revealers[place]]
            # By its weights this arm could not be revealed: the call is not one of a game, or a chance is below floats.
            if chance > 0.0:
                losses[each] += state.learning_rate * (1.0 - seen.gains[each]) * before / chance
    smallest = math.inf
    for each in range(len(losses)):
        if seen.observed[each] != 0:
            fresh = math.exp(total[1] - losses[each])
            total[0] += fresh - weights[each]
            weights[each] = fresh
        smallest = min(smallest, losses[each])
    total[2] += 1.0
    # Differences that were added one by one lose digits, and weights must not vanish.
    if total[2] >= STALE or smallest > total[1] + FAR:
        total[1] = smallest
        total[2] = 0.0
        sum_of_all = 0.0
        for each in range(len(losses)):
            weights[each] = math.exp(smallest - losses[each])
            sum_of_all += weights[each]
        total[0] = sum_of_all
    return state


class Exp3Set(FunctionalAgent):
    r"""Exponential weights in which every revealed loss is divided by the chance that it was revealed.

    .. math:: p_i \propto \exp(-\eta \hat L_i), \quad
              \hat L_j = \sum_t \frac{1 - g_{j,t}}{q_{j,t}} [j \text{ revealed}], \quad
              q_{j,t} = \sum_{i \text{ reveals } j} p_{i,t}

    With self-loops its regret is at most :math:`\ln K / \eta + \eta \alpha T / 2` on undirected graphs of independence
    number alpha, whatever the gains. It looks at the graph of a round after the arm is chosen only.

    Args:
        learning_rate: eta, greater than 0; by default sqrt(2 ln K / (alpha T)), with alpha the size of an independent
            set that is found greedily in the first graph.

    Source: Alon, Cesa-Bianchi, Gentile and Mansour (2013), From Bandits to Experts: A Tale of Domination and
    Independence, NIPS, algorithm EXP3-SET; Alon, Cesa-Bianchi, Gentile, Mannor, Mansour and Shamir (2017), SICOMP.
    """

    functions = Functions(select, update)

    def __init__(self, *, learning_rate: SupportsFloat | None = None) -> None:
        self.learning_rate = None if learning_rate is None else checks.greater_than("learning_rate", learning_rate, 0)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step; without a graph, that of EXP3 with losses."""
        self._horizon = horizon
        rate = math.sqrt(2 * math.log(n_arms) / (n_arms * max(horizon, 1)))
        settled = self.learning_rate is not None
        return start(n_arms, rate if self.learning_rate is None else self.learning_rate, settled)

    def with_graph(self, state: State, graph: FeedbackGraph) -> State:
        """Return the state with the feedback graph of the next round; the first one sets the learning rate."""
        known = state._replace(starts=graph.revealer_starts, revealers=graph.revealers)
        if state.settled:
            return known
        alpha = graph.independent_arms
        return known._replace(
            settled=True, learning_rate=math.sqrt(2 * math.log(graph.n_arms) / (alpha * max(self._horizon, 1)))
        )
