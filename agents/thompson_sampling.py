"""Thompson sampling with Beta posteriors on released sums: plays each arm with the probability that it is best."""

from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents import largest_beta
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.largest_beta import MANY, Search, among_many, changed, one_by_one
from dp_bandit_envs.agents.noise_width import NoiseWidth, WidthFor, checked_width, smooth, weight, width_in
from dp_bandit_envs.draws import log
from dp_bandit_envs.protocols import FloatArray, IntArray, Sums

ROUND: Final = 0
HELD_ARM: Final = 1
ARMS_UNRELEASED: Final = 2
LAST_ARM: Final = 3


class State(NamedTuple):
    """The state of Thompson sampling.

    Attributes:
        alphas, betas: The parameters of each arm's posterior.
        search: State of the search for the largest draw.
        releases: Number of releases of each arm.
        counts: Number of gains in its posterior; 0 before the first release.
        weights: w(n) of the noise width.
        status: `ROUND`, the number of rounds played; `HELD_ARM`, the arm to play until its next release, or -1;
            `ARMS_UNRELEASED`, the number of arms that must still have their first release before posteriors are drawn;
            `LAST_ARM`, the arm played last. One array, because compiled code can write to arrays only.
        lazy: Whether an arm is held until its next release.
        width: The noise width.
    """

    alphas: Any
    betas: Any
    search: Search
    releases: IntArray
    counts: IntArray
    weights: FloatArray
    status: IntArray
    lazy: bool
    width: NoiseWidth


def start(n_arms: int, lazy: bool, each_first: bool, width: NoiseWidth) -> State:
    """Return the state before the first round: uniform posteriors."""
    status = np.array([0, -1, n_arms if each_first else 0, 0])
    counts, releases = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    alphas, betas = np.ones(n_arms), np.ones(n_arms)
    search, weights = largest_beta.start(n_arms), np.zeros(n_arms)
    return State(alphas, betas, search, releases, counts, weights, status, lazy, width)


def select(state: State, rng: np.random.Generator) -> int:
    """Return the held arm, the first arm that still needs a release, or the arm with the largest draw."""
    status = state.status
    if status[HELD_ARM] >= 0:
        return int(status[HELD_ARM])
    if status[ARMS_UNRELEASED] > 0:
        for arm in range(len(state.counts)):
            if state.counts[arm] == 0:
                return arm
    if len(state.counts) < MANY or state.width.slope > 0.0:
        return one_by_one(state.alphas, state.betas, status[LAST_ARM], rng)
    return among_many(state.alphas, state.betas, state.search, rng)


def update(state: State, arm: int, seen: Sums) -> State:
    """Update the posteriors with the released sums."""
    counts, status = state.counts, state.status
    status[ROUND] += 1
    status[LAST_ARM] = arm
    if state.lazy and seen.releases[arm] == state.releases[arm]:
        status[HELD_ARM] = arm
        return state
    status[HELD_ARM] = -1
    moving = state.width.slope > 0.0
    reach = state.width.slope * log(status[ROUND]) + state.width.offset if moving else state.width.offset
    for each_arm in range(len(counts)):
        n = seen.counts[each_arm]
        if n == 0 or seen.releases[each_arm] == state.releases[each_arm]:
            continue
        state.releases[each_arm] = seen.releases[each_arm]
        if n != counts[each_arm]:
            status[ARMS_UNRELEASED] -= counts[each_arm] == 0
            counts[each_arm] = n
            state.weights[each_arm] = weight(state.width, n, 0)
        if not moving:
            renew(state, seen, each_arm, reach)
            changed(state.search, each_arm)
    # A width that grows with the round moves every posterior; those without a release stay uniform.
    for each_arm in range(len(counts) if moving else 0):
        renew(state, seen, each_arm, reach)
    return state


def renew(state: State, seen: Sums, arm: int, reach: float) -> None:
    """Compute an arm's posterior anew."""
    n = state.counts[arm]
    total = min(max(seen.sums[arm] + n * reach * state.weights[arm], 0.0), float(n))
    state.alphas[arm] = 1.0 + total
    state.betas[arm] = 1.0 + (n - total)


class ThompsonSampling(FunctionalAgent):
    r"""Draws a mean for each arm from its posterior and plays the arm with the largest draw.

    .. math:: \theta_i \sim \mathrm{Beta}(1 + n_i \tilde\mu_i, 1 + n_i (1 - \tilde\mu_i)), \quad
              \tilde\mu_i = \text{clip}(\hat\mu_i + \text{width}(n_i, t))

    For gains of 0 and 1 this is the posterior of a uniform prior; other gains use the same formula.

    Learns from running sums: wrap the environment in `ExactSums`, `HybridSums` or `BlockSums`.

    Args:
        width: The noise width, from `dp_bandit_envs.agents.noise_width` (not `counter_width`). Recomputed at each
            release with `lazy`, otherwise in every round.
        lazy: Whether to play a chosen arm until its next release.
        each_first: Whether to play every arm, in order, until its first release before drawing posteriors; otherwise an
            arm without a release is drawn from the prior.

    Source: Thompson (1933); Agrawal and Goyal (2012). Hu and Hegde (2022) for DP-TS and Lazy-DP-TS.
    Differs from the source in: gains between 0 and 1 count as fractions, not as coin flips with that mean.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import ThompsonSampling
        >>> from dp_bandit_envs.wrappers import ExactSums
        >>> env = ExactSums(gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000))
        >>> game = play(env, ThompsonSampling(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of all rounds")
        the best arm in 99% of all rounds
    """

    functions = Functions(select, update)
    learns_from = Sums

    def __init__(self, *, width: WidthFor | None = None, lazy: bool = False, each_first: bool = False) -> None:
        self.width = checked_width(width)
        self.lazy = checks.boolean("lazy", lazy)
        self.each_first = checks.boolean("each_first", each_first)
        self.waits = self.lazy or self.each_first
        self.tries_in_order = self.each_first

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        width = width_in(self.width, n_arms, horizon, self.noise.sensitivity)
        return start(n_arms, self.lazy, self.each_first, smooth(width, "ThompsonSampling"))
