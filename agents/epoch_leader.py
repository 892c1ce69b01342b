"""Plays one arm per epoch, drawn by the gains of the previous epoch; epochs double in length."""

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
        weights: Weight of each arm, from the previous epoch.
        status: `ROUND`, the number of rounds played; `END`, the last round of the current epoch; `ARM`, the arm of this
            epoch, -1 if it is still to be drawn. One array, because compiled code can write to arrays only.
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
    """Add the gains; at the end of an epoch turn the totals into weights and reset them."""
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
    r"""Plays one arm in each epoch of 1, 1, 2, 4, 8, ... rounds, drawn by the total gain S of the previous epoch.

    .. math:: p_i \propto \exp(\epsilon S_i / 2)

    This is the exponential mechanism: one round changes each S by at most 1 and influences a single draw, so the whole
    sequence of arms is epsilon-DP. Gains must be independent across rounds; an adversary that knows the epochs can
    mislead it in each of them. Requires full information (the gains of all arms in every round).

    Args:
        epsilon: Privacy parameter, in (0, inf]; `math.inf` plays the leader of the previous epoch, ties broken at
            random.

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
