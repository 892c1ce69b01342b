"""Upper confidence bounds on means with Gaussian noise, in episodes: an arm is played until its next release."""

import math
from typing import Final, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.draws import log, square
from dp_bandit_envs.protocols import FloatArray, IntArray, Sums

ROUND: Final = 0
HELD_ARM: Final = 1


class State(NamedTuple):
    """The state of UCB on sums with Gaussian noise.

    Attributes:
        means: Released mean of each arm; inf before its first release, so that it is played first.
        spreads: sqrt(1 / (2 n) + 2 (sigma / n)^2), with n the number of gains in that mean.
        releases: Number of releases of each arm when an arm was last chosen.
        status: `ROUND`, the number of rounds played; `HELD_ARM`, the arm to play until its next release, or -1. One
            array, because compiled code can write to arrays only.
        alpha: The index's parameter.
        variance: sigma^2, the variance of the noise in a sum.
    """

    means: FloatArray
    spreads: FloatArray
    releases: IntArray
    status: IntArray
    alpha: float
    variance: float


def start(n_arms: int, alpha: float, variance: float) -> State:
    """Return the state before the first round."""
    # Spreads of 1, as 0 times an infinite bonus is NaN; means of inf have such arms played first.
    means, spreads = np.full(n_arms, math.inf), np.ones(n_arms)
    return State(means, spreads, np.zeros(n_arms, np.int64), np.array([0, -1]), alpha, variance)


def select(state: State, rng: np.random.Generator) -> int:
    """Return the held arm, or the first arm with the largest index; it is infinite before the first release."""
    if state.status[HELD_ARM] >= 0:
        return int(state.status[HELD_ARM])
    width = math.sqrt(state.alpha * log(max(state.status[ROUND], 1)))
    best = 0
    highest = -math.inf
    for arm in range(len(state.means)):
        index = state.means[arm] + width * state.spreads[arm]
        if index > highest:
            highest = index
            best = arm
    return best


def update(state: State, arm: int, seen: Sums) -> State:
    """Hold the arm until its release; then store the new means of all arms."""
    status, releases = state.status, state.releases
    status[ROUND] += 1
    if seen.releases[arm] == releases[arm]:
        status[HELD_ARM] = arm
        return state
    status[HELD_ARM] = -1
    for each_arm in range(len(releases)):
        if seen.releases[each_arm] != releases[each_arm]:
            releases[each_arm] = seen.releases[each_arm]
            inverse = 1.0 / seen.counts[each_arm]
            state.means[each_arm] = seen.sums[each_arm] * inverse
            state.spreads[each_arm] = math.sqrt(inverse * (0.5 + 2.0 * state.variance * inverse))
    return state


class GaussianUcb(FunctionalAgent):
    r"""UCB in episodes on means with Gaussian noise, with one square root for the noise and the randomness of gains.

    .. math:: \hat\mu_i + \sqrt{\Big(\frac{1}{2 n_i} + \frac{2 \sigma^2}{n_i^2}\Big) \alpha \ln t}

    with t the number of rounds played, :math:`n_i` the number of gains in the released mean and :math:`\sigma` the
    standard deviation of the noise in a sum. A mean of n gains in [0, 1] is sub-Gaussian with variance 1 / (4 n), and
    with the noise 1 / (4 n) + sigma^2 / n^2 (variances of independent sub-Gaussian variables add up), so it is off to
    one side by this bonus with probability at most :math:`t^{-\alpha}`. An arm once chosen is played until its next
    release; the lowest arm wins ties.

    Learns from sums: wrap the environment in `BlockSums(env, epsilon=..., delta=...)`. `play` and `simulate` pass it
    the deviation of that noise through `see_noise`.

    Args:
        alpha: The index's parameter, greater than 0.

    Source: Azize and Basu (2023), AdaC-UCB: episodes that double, and the Gaussian mechanism.
    Differs from the source in: of the source only the abstract was available; this index is derived above.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import GaussianUcb
        >>> from dp_bandit_envs.wrappers import BlockSums
        >>> game = gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=5000)
        >>> arms = play(BlockSums(game, epsilon=1, delta=1e-6), GaussianUcb(), seed=0).arms
        >>> print(f"the best arm in {(arms == 1).mean():.0%} of all rounds")
        the best arm in 95% of all rounds
    """

    functions = Functions(select, update)
    learns_from = Sums
    waits = True
    tries_in_order = True

    def __init__(self, *, alpha: SupportsFloat = 3.1) -> None:
        self.alpha = checks.greater_than("alpha", alpha, 0)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        return start(n_arms, self.alpha, square(self.noise.scale))
