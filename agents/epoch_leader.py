"""Plays in epochs that double: in each, one arm that is drawn by its gains in the epoch before."""

import math
from typing import NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.hedge import draw_weighted
from dp_bandit_envs.draws import exp
from dp_bandit_envs.protocols import FloatArray, Gains, IntArray

ROUND = 0
END = 1
ARM = 2


class State(NamedTuple):
    """The state of the epoch leader.

    Attributes:
        totals: Gain of each arm in the current epoch.
        weights: Weight of each arm, from the epoch before.
        status: `ROUND`, the number of rounds so far; `END`, the round with which the current epoch ends; `ARM`, the arm
            of this epoch, -1 if it is still to be drawn. One array, because compiled code can write to arrays only.
        rate: epsilon / 2, in 1 / gain.
    """

    totals: FloatArray
    weights: FloatArray
    status: IntArray
    rate: float


def start(n_arms: int, epsilon: float) -> State:
    """Return the state before the first round: the first epoch is one round, of a uniform arm."""
    return State(np.zeros(n_arms), np.ones(n_arms), np.array([0, 1, -1]), epsilon / 2.0)


def select(state: State, rng: np.random.Generator) -> int:
    """Return the arm of this epoch; draw it in the first round."""
    status = state.status
    if status[ARM] < 0:
        status[ARM] = draw_weighted(state.weights, rng)
    return int(status[ARM])


def update(state: State, arm: int, seen: Gains) -> State:
    """Add the gains; at the end of an epoch turn them into weights and forget them."""
    totals, weights, status = state.totals, state.weights, state.status
    for each_arm in range(len(totals)):
        totals[each_arm] += seen.gains[each_arm]
    status[ROUND] += 1
    if status[ROUND] < status[END]:
        return state
    largest = -math.inf
    for each_arm in range(len(totals)):
        largest = max(largest, totals[each_arm])
    for each_arm in range(len(totals)):
        behind = largest - totals[each_arm]
        # Apart, because an infinite rate times 0 is no number.
        weights[each_arm] = exp(-state.rate * behind) if behind > 0.0 else 1.0
        totals[each_arm] = 0.0
    status[END] *= 2
    status[ARM] = -1
    return state


class EpochLeader(FunctionalAgent):
    r"""Plays one arm in each epoch of 1, 1, 2, 4, 8 and so on rounds, drawn by its gain S in the epoch before.

    .. math:: p_i \propto \exp(\epsilon S_i / 2)

    This is the exponential mechanism: a round changes every S by at most 1 and counts in a single draw, so all arms
    together are epsilon-DP. Gains must be independent over the rounds; an adversary that knows the epochs can make one
    look bad in every one. Only games that reveal the gains of all arms in every round are for it.

    Args:
        epsilon: Privacy parameter, in (0, inf]; `math.inf` plays the leader of the epoch before, ties at random.

    Source: Asi, Feldman, Koren and Talwar (2023), Private Online Prediction from Experts: Separations and Faster Rates,
    COLT, the algorithm for stochastic adversaries.
    """

    functions = Functions(select, update)
    feedback = "full"

    def __init__(self, *, epsilon: SupportsFloat = 1.0) -> None:
        self.epsilon = checks.epsilon(epsilon)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        return start(n_arms, self.epsilon)
