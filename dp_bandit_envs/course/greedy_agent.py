"""The agent to beat in lab 9: the best average so far, and any arm in one round of ten."""

from typing import NamedTuple

import numpy as np

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.observations import Gains
from dp_bandit_envs.protocols import FloatArray


class State(NamedTuple):
    """Sums of the released gains and how many they are, `(n_arms,)` each; the share of rounds with any arm."""

    sums: FloatArray
    counts: FloatArray
    share: float


def select(state: State, rng: np.random.Generator) -> int:
    """Choose any arm in a share of the rounds, otherwise the one with the best average; new arms come first."""
    n_arms = len(state.sums)
    if rng.random() < state.share:
        return int(rng.random() * n_arms)
    best, highest = 0, -1.0
    for arm in range(n_arms):
        average = state.sums[arm] / state.counts[arm] if state.counts[arm] > 0 else 2.0
        if average > highest:
            best, highest = arm, average
    return best


def update(state: State, arm: int, seen: Gains) -> State:
    """Add what was released."""
    if seen.observed[arm] == 1:
        state.sums[arm] += seen.gains[arm]
        state.counts[arm] += 1.0
    return state


class Greedy(FunctionalAgent):
    """Epsilon-greedy, whose epsilon is called `share` here, as epsilon means privacy.

    Args:
        share: The share of rounds with any arm, in [0, 1].
    """

    functions = Functions(select, update)

    def __init__(self, share: float = 0.1) -> None:
        self.share = share

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first round."""
        return State(np.zeros(n_arms), np.zeros(n_arms), self.share)
