"""Thompson sampling with Gaussian posteriors: plays the arm with the largest normal draw around its mean."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.protocols import FloatArray, IntArray, Sums

Setting = Callable[[int, int], Any]
"""Returns a setting for `(n_arms, horizon)`."""


class State(NamedTuple):
    """The state of Gaussian Thompson sampling.

    Attributes:
        means: Mean of each arm's draw, s / (n + 1).
        deviations: Its standard deviation, sqrt(c / (n + 1)).
        counts: Number n of its gains.
        variance: c.
        pulls: Number of gains below which an arm is played without a draw.
    """

    means: FloatArray
    deviations: FloatArray
    counts: IntArray
    variance: float
    pulls: int


def select(state: State, rng: np.random.Generator) -> int:
    """Return the first arm with too few gains, or else the arm with the largest draw."""
    if state.pulls > 0:
        for arm in range(len(state.counts)):
            if state.counts[arm] < state.pulls:
                return arm
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
    state.counts[arm] = seen.counts[arm]
    state.means[arm] = seen.sums[arm] * inverse
    state.deviations[arm] = math.sqrt(state.variance * inverse)
    return state


class GaussianThompsonSampling(FunctionalAgent):
    r"""Draws a number for each arm around the mean of its gains and plays the arm with the largest draw.

    .. math:: \theta_i \sim N\Big(\frac{s_i}{n_i + 1}, \frac{c}{n_i + 1}\Big)

    with :math:`s_i` the sum of the arm's :math:`n_i` gains, and c = 1 in the first source. For the privacy of its own
    randomness see docs/notes/thompson-privacy.md.

    Learns from running sums: wrap the environment in `ExactSums`, `HybridSums` or `BlockSums`.

    Args:
        pulls: Number of gains, at least 0, that each arm gets first, in order, without draws; or a function of
            `(n_arms, horizon)` that returns it.
        variance: c, at least 0, or such a function.

    Source: Agrawal and Goyal (2013), Further Optimal Regret Bounds for Thompson Sampling, algorithm 2; Ou, Avella
    Medina and Cummings (2024) for `pulls` and `variance`.

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

    def __init__(self, *, pulls: SupportsIndex | Setting = 0, variance: SupportsFloat | Setting = 1.0) -> None:
        sizes = ("n_arms", "horizon")
        self.pulls: int | Setting = (
            checks.function("pulls", pulls, *sizes) if callable(pulls) else checks.integer("pulls", pulls, at_least=0)
        )
        self.variance: float | Setting = (
            checks.function("variance", variance, *sizes)
            if callable(variance)
            else checks.at_least("variance", variance, 0)
        )
        self.tries_in_order = self.pulls != 0

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step: normal draws of variance c around 0."""
        pulls = self.pulls(n_arms, horizon) if callable(self.pulls) else self.pulls
        variance = self.variance(n_arms, horizon) if callable(self.variance) else self.variance
        pulls, variance = checks.integer("pulls", pulls, at_least=0), checks.at_least("variance", variance, 0)
        deviations = np.full(n_arms, math.sqrt(variance))
        return State(np.zeros(n_arms), deviations, np.zeros(n_arms, np.int64), variance, pulls)
