"""IMED: plays the arm for which it would be least surprising to be the best, with or without noise in its sums."""

import math
from typing import Final, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.observations import Sums
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.theory.divergences import private_divergence

HELD: Final = 0
UNRELEASED: Final = 1


class State(NamedTuple):
    """What IMED knows.

    Attributes:
        means: Released mean of each arm, moved into [0, 1].
        counts: Number of gains in it; 0 before the first release.
        logs: ln n.
        releases: How many releases the arm has had.
        numbers: The arm to stay with until its next release, or -1; how many arms have had no release.
        epsilon: Privacy parameter of the divergence.
        lazy: Whether an arm is held until its next release.
    """

    means: FloatArray
    counts: IntArray
    logs: FloatArray
    releases: IntArray
    numbers: IntArray
    epsilon: float
    lazy: bool


def start(n_arms: int, epsilon: float, lazy: bool) -> State:
    """Return the state before the first round."""
    numbers = np.array([-1, n_arms])
    counts, releases = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    return State(np.zeros(n_arms), counts, np.zeros(n_arms), releases, numbers, epsilon, lazy)


def select(state: State, rng: np.random.Generator) -> int:
    """Return the held arm, the first without a release, or the first with the smallest index."""
    means, counts, numbers = state.means, state.counts, state.numbers
    if numbers[HELD] >= 0:
        return int(numbers[HELD])
    if numbers[UNRELEASED] > 0:
        for arm in range(len(counts)):
            if counts[arm] == 0:
                return arm
    largest = means[0]
    for mean in means:
        largest = max(largest, mean)
    best = 0
    lowest = math.inf
    for arm in range(len(counts)):
        # The divergence only adds to ln n, so an arm that is too high already need not be looked at.
        if state.logs[arm] < lowest:
            index = counts[arm] * private_divergence(means[arm], largest, state.epsilon) + state.logs[arm]
            if index < lowest:
                lowest = index
                best = arm
    return best


def update(state: State, arm: int, seen: Sums) -> State:
    """Take over released sums."""
    counts, numbers = state.counts, state.numbers
    if state.lazy and seen.releases[arm] == state.releases[arm]:
        numbers[HELD] = arm
        return state
    numbers[HELD] = -1
    for each in range(len(counts)):
        n = seen.counts[each]
        state.releases[each] = seen.releases[each]
        if n != counts[each]:
            numbers[UNRELEASED] -= counts[each] == 0
            counts[each] = n
            state.logs[each] = math.log(n)
        if n > 0:
            state.means[each] = min(max(seen.sums[each] / n, 0.0), 1.0)
    return state


class Imed(FunctionalAgent):
    r"""Plays the arm with the smallest index of minimum empirical divergence.

    .. math:: n_i \, d_\epsilon(\text{clip}(\hat\mu_i), \max_j \text{clip}(\hat\mu_j)) + \ln n_i

    It needs neither the round nor a confidence level. Arms without a release come first, lowest number first; the
    lowest number wins ties.

    Learns from running sums: put `ExactSums`, `HybridSums` or `BlockSums` around the environment.

    Args:
        epsilon: Privacy parameter of d, in (0, inf]; inf for IMED, with the divergence of Bernoulli arms.
        lazy: Whether an arm is played until its next release.

    Source: Honda and Takemura (2015), IMED; Azize, Wu, Honda, Orabona, Ito and Basu (2025), DP-IMED.
    """

    functions = Functions(select, update)
    learns_from = Sums
    waits = True

    def __init__(self, *, epsilon: SupportsFloat = math.inf, lazy: bool = False) -> None:
        self.epsilon = checks.epsilon(epsilon)
        self.lazy = checks.boolean("lazy", lazy)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        return start(n_arms, self.epsilon / self.noise.sensitivity, self.lazy)
