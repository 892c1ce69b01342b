"""Thompson sampling with Gaussian posteriors: plays the arm with the largest normal draw around its mean."""

import math
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.protocols import FloatArray, Sums


class State(NamedTuple):
    """The state of Gaussian Thompson sampling.

    Attributes:
        means: Mean of each arm's draw, s / (n + 1).
        deviations: Its standard deviation, 1 / sqrt(n + 1).
    """

    means: FloatArray
    deviations: FloatArray


def select(state: State, rng: np.random.Generator) -> int:
    """Return the arm with the largest draw."""
    best = 0
    highest = -math.inf
    for arm in range(len(state.means)):
        draw = state.means[arm] + state.deviations[arm] * rng.standard_normal()
        if draw > highest:
            highest = draw
            best = arm
    return best


def update(state: State, arm: int, seen: Sums) -> State:
    """Recompute mean and deviation of all arms from the released sums."""
    for each_arm in range(len(state.means)):
        if seen.counts[each_arm] > 0:
            update_own(state, each_arm, seen)
    return state


def update_own(state: State, arm: int, seen: Sums) -> State:
    """Do what `update` does, for one arm."""
    inverse = 1.0 / (seen.counts[arm] + 1.0)
    state.means[arm] = seen.sums[arm] * inverse
    state.deviations[arm] = math.sqrt(inverse)
    return state


class GaussianThompsonSampling(FunctionalAgent):
    r"""Draws a number for each arm around the mean of its gains and plays the arm with the largest draw.

    .. math:: \theta_i \sim N\Big(\frac{s_i}{n_i + 1}, \frac{1}{n_i + 1}\Big)

    with :math:`s_i` the sum of the arm's :math:`n_i` gains. For the privacy of its own randomness see
    docs/notes/thompson-privacy.md.

    Learns from running sums: wrap the environment in `ExactSums`, `HybridSums` or `BlockSums`.

    Source: Agrawal and Goyal (2013), Further Optimal Regret Bounds for Thompson Sampling, algorithm 2.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import GaussianThompsonSampling
        >>> from dp_bandit_envs.wrappers import ExactSums
        >>> env = ExactSums(gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000))
        >>> game = play(env, GaussianThompsonSampling(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of all rounds")
        the best arm in 98% of all rounds
    """

    functions = Functions(select, update, update_own=update_own)
    learns_from = Sums

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step: standard normal draws."""
        return State(np.zeros(n_arms), np.ones(n_arms))
