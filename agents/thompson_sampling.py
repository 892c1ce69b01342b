"""Thompson sampling with Beta posteriors on released sums: each arm is played as often as it is likely to be best."""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.beta_draws import largest
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.noise_width import NoiseWidth, WidthFor, checked_width, smooth, weight
from dp_bandit_envs.observations import Sums
from dp_bandit_envs.protocols import FloatArray, IntArray

ROUND: Final = 0
HELD: Final = 1
UNRELEASED: Final = 2
LAST: Final = 3


class State(NamedTuple):
    """What Thompson sampling knows.

    Attributes:
        alphas, betas: The parameters of each arm's posterior.
        releases: How many releases it has had.
        counts: Number of gains in it; 0 before the first release.
        weights: w(n) of the extra term.
        numbers: Rounds played so far; the arm to stay with until its next release, or -1; how many arms must still have
            their first release before the posteriors decide; the arm played last.
        lazy: Whether an arm is held until its next release.
        width: The extra term.
    """

    alphas: Any
    betas: Any
    releases: IntArray
    counts: IntArray
    weights: FloatArray
    numbers: IntArray
    lazy: bool
    width: NoiseWidth


def start(n_arms: int, lazy: bool, each_first: bool, width: NoiseWidth) -> State:
    """Return the state before the first round: uniform posteriors."""
    numbers = np.array([0, -1, n_arms if each_first else 0, 0])
    counts, releases = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    return State(np.ones(n_arms), np.ones(n_arms), releases, counts, np.zeros(n_arms), numbers, lazy, width)


def select(state: State, rng: np.random.Generator) -> int:
    """Return the held arm, the first that must still have a release, or the arm with the largest draw."""
    numbers = state.numbers
    if numbers[HELD] >= 0:
        return int(numbers[HELD])
    if numbers[UNRELEASED] > 0:
        for arm in range(len(state.counts)):
            if state.counts[arm] == 0:
                return arm
    return largest(state.alphas, state.betas, numbers[LAST], rng)


def update(state: State, arm: int, seen: Sums) -> State:
    """Take over released sums into the posteriors."""
    counts, numbers = state.counts, state.numbers
    numbers[ROUND] += 1
    numbers[LAST] = arm
    if state.lazy and seen.releases[arm] == state.releases[arm]:
        numbers[HELD] = arm
        return state
    numbers[HELD] = -1
    moving = state.width.slope > 0.0
    reach = state.width.slope * math.log(numbers[ROUND]) + state.width.offset if moving else state.width.offset
    for each in range(len(counts)):
        n = seen.counts[each]
        # Nothing new of this arm; its allowance may still grow with the round.
        if n == 0 or (seen.releases[each] == state.releases[each] and not moving):
            continue
        state.releases[each] = seen.releases[each]
        if n != counts[each]:
            numbers[UNRELEASED] -= counts[each] == 0
            counts[each] = n
            state.weights[each] = weight(state.width, n, 0)
        total = min(max(seen.sums[each] + n * reach * state.weights[each], 0.0), float(n))
        state.alphas[each] = 1.0 + total
        state.betas[each] = 1.0 + (n - total)
    return state


class ThompsonSampling(FunctionalAgent):
    r"""Draws a mean for each arm from its posterior and plays the arm with the largest.

    .. math:: \theta_i \sim \mathrm{Beta}(1 + n_i \tilde\mu_i, 1 + n_i (1 - \tilde\mu_i)), \quad
              \tilde\mu_i = \text{clip}(\hat\mu_i + \text{width}(n_i, t))

    For gains of 0 and 1 this is the posterior of a uniform prior; for others the same formula serves.

    Learns from running sums: put `ExactSums`, `HybridSums` or `BlockSums` around the environment.

    Args:
        width: The extra term for noise, from `dp_bandit_envs.agents.noise_width`, not from a counter's table; it is
            worked out anew when an arm is released, and in every round otherwise.
        lazy: Whether an arm is played until its next release.
        each_first: Whether every arm is played until its first release before the posteriors decide, lowest number
            first; otherwise the prior stands for it.

    Source: Thompson (1933); Agrawal and Goyal (2012); Hu and Hegde (2022), DP-TS and Lazy-DP-TS.
    Differs from the source in: gains between 0 and 1 count as fractions, not as coins with that mean.
    """

    functions = Functions(select, update)
    learns_from = Sums

    def __init__(self, *, width: WidthFor | None = None, lazy: bool = False, each_first: bool = False) -> None:
        self.width = checked_width(width)
        self.lazy = checks.boolean("lazy", lazy)
        self.each_first = checks.boolean("each_first", each_first)
        self.waits = self.lazy or self.each_first

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        width = self.width(n_arms, horizon, self.noise.sensitivity)
        return start(n_arms, self.lazy, self.each_first, smooth(width, "ThompsonSampling"))
