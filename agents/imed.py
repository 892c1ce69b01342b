"""IMED: plays the arm whose being the best is least contradicted by the data, with or without noise."""

import math
from typing import Final, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.draws import log
from dp_bandit_envs.protocols import FloatArray, IntArray, Sums
from dp_bandit_envs.theory.divergences import private_divergence

HELD_ARM: Final = 0
ARMS_UNRELEASED: Final = 1


class State(NamedTuple):
    """The state of IMED.

    Attributes:
        means: Released mean of each arm, clipped to [0, 1].
        counts: Number n of gains in that mean; 0 before the first release.
        logs: ln n.
        releases: Number of releases of each arm.
        status: `HELD_ARM`, the arm to play until its next release, or -1; `ARMS_UNRELEASED`, the number of arms without
            a release. One array, because compiled code can write to arrays only.
        epsilon: Privacy parameter of the divergence.
        lazy: Whether an arm is held until its next release.
    """

    means: FloatArray
    counts: IntArray
    logs: FloatArray
    releases: IntArray
    status: IntArray
    epsilon: float
    lazy: bool


def start(n_arms: int, epsilon: float, lazy: bool) -> State:
    """Return the state before the first round."""
    status = np.array([-1, n_arms])
    counts, releases = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    return State(np.zeros(n_arms), counts, np.zeros(n_arms), releases, status, epsilon, lazy)


def select(state: State, rng: np.random.Generator) -> int:
    """Return the held arm, the first without a release, or the first with the smallest index."""
    means, counts, status = state.means, state.counts, state.status
    if status[HELD_ARM] >= 0:
        return int(status[HELD_ARM])
    if status[ARMS_UNRELEASED] > 0:
        for arm in range(len(counts)):
            if counts[arm] == 0:
                return arm
    largest = means[0]
    for mean in means:
        largest = max(largest, mean)
    best = 0
    lowest = math.inf
    for arm in range(len(counts)):
        # The divergence is at least 0, so an arm whose ln n is already too large is skipped.
        if state.logs[arm] < lowest:
            index = counts[arm] * private_divergence(means[arm], largest, state.epsilon) + state.logs[arm]
            if index < lowest:
                lowest = index
                best = arm
    return best


def update(state: State, arm: int, seen: Sums) -> State:
    """Store the released sums."""
    counts, status = state.counts, state.status
    if state.lazy and seen.releases[arm] == state.releases[arm]:
        status[HELD_ARM] = arm
        return state
    status[HELD_ARM] = -1
    for each_arm in range(len(counts)):
        n = seen.counts[each_arm]
        state.releases[each_arm] = seen.releases[each_arm]
        if n != counts[each_arm]:
            status[ARMS_UNRELEASED] -= counts[each_arm] == 0
            counts[each_arm] = n
            state.logs[each_arm] = log(n)
        if n > 0:
            state.means[each_arm] = min(max(seen.sums[each_arm] / n, 0.0), 1.0)
    return state


class Imed(FunctionalAgent):
    r"""Plays the arm with the smallest index of minimum empirical divergence.

    .. math:: n_i \, d_\epsilon(\text{clip}(\hat\mu_i), \max_j \text{clip}(\hat\mu_j)) + \ln n_i

    It needs no round number and no confidence level. Arms without a release are played first, in order; the lowest arm
    wins ties.

    Learns from running sums: wrap the environment in `ExactSums`, `HybridSums` or `BlockSums`.

    Args:
        epsilon: Privacy parameter of d, in (0, inf]; inf for IMED, with the divergence of Bernoulli arms.
        lazy: Whether a chosen arm is played until its next release.

    Source: Honda and Takemura (2015), IMED; Azize, Wu, Honda, Orabona, Ito and Basu (2025), DP-IMED.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import Imed
        >>> from dp_bandit_envs.wrappers import ExactSums
        >>> env = ExactSums(gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000))
        >>> game = play(env, Imed(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of all rounds")
        the best arm in 99% of all rounds
    """

    functions = Functions(select, update)
    learns_from = Sums
    waits = True
    tries_in_order = True

    def __init__(self, *, epsilon: SupportsFloat = math.inf, lazy: bool = False) -> None:
        self.epsilon = checks.epsilon(epsilon)
        self.lazy = checks.boolean("lazy", lazy)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        return start(n_arms, self.epsilon / self.noise.sensitivity, self.lazy)
