"""KL-UCB: its index is the largest mean that an arm's gains do not rule out, with or without noise in their sums."""

import math
from typing import Final, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.noise_width import NONE, NoiseWidth, WidthFor, checked_width, smooth, weight, width_in
from dp_bandit_envs.draws import log
from dp_bandit_envs.protocols import FloatArray, IntArray, Sums
from dp_bandit_envs.theory.divergences import below_kl_upper, private_divergence, private_upper

ROUND: Final = 0
HELD_ARM: Final = 1
ARMS_UNRELEASED: Final = 2
LAST_ARM: Final = 3
NEARLY: Final = 1.0 + 1e-6
"""Above 1 by more than rounding in a divergence, so that equal arms are recognised."""
SLACK: Final = 1e-12
"""More than rounding in a divergence that is made of logarithms."""


class State(NamedTuple):
    """The state of KL-UCB.

    Attributes:
        means: Released mean of each arm.
        counts: Number n of gains in that mean; 0 before the first release.
        entropies: Of each arm, m ln m + (1 - m) ln(1 - m) for its mean m; updated only without privacy and noise width.
        weights: w(n) of the noise width.
        releases: Number of releases of each arm; updated only if `lazy`.
        status: `ROUND`, the number of rounds played; `HELD_ARM`, the arm to play until its next release, or -1;
            `ARMS_UNRELEASED`, the number of arms without a release; `LAST_ARM`, the arm played last. One array, because
            compiled code can write to arrays only.
        level: c in c ln t.
        epsilon: Privacy parameter of the divergence.
        lazy: Whether an arm is held until its next release.
        width: The noise width.
    """

    means: FloatArray
    counts: IntArray
    entropies: FloatArray
    weights: FloatArray
    releases: IntArray
    status: IntArray
    level: float
    epsilon: float
    lazy: bool
    width: NoiseWidth


def start(n_arms: int, level: float, epsilon: float, lazy: bool, width: NoiseWidth) -> State:
    """Return the state before the first round."""
    status = np.array([0, -1, n_arms, 0])
    counts, releases = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    means, entropies, weights = (np.zeros(n_arms) for _ in range(3))
    return State(means, counts, entropies, weights, releases, status, level, epsilon, lazy, width)


def select(state: State, rng: np.random.Generator) -> int:
    """Return the held arm, the first without a release, or the arm with the largest index.

    The arm played last is tried first, as it often has the largest index; without privacy this is checked without
    computing an index. Other indices are computed only if one divergence shows that they reach the current maximum.
    """
    counts, status, epsilon = state.counts, state.status, state.epsilon
    if status[HELD_ARM] >= 0:
        return int(status[HELD_ARM])
    if status[ARMS_UNRELEASED] > 0:
        for arm in range(len(counts)):
            if counts[arm] == 0:
                return arm
    log_t = log(status[ROUND])
    level = state.level * log_t
    reach = state.width.slope * log_t + state.width.offset
    first = int(status[LAST_ARM])
    if is_plain(state) and leads(state, first, below_kl_upper(state.means[first], level / counts[first]), level):
        return first
    best = first
    highest = private_upper(_mean(state, first, reach), level / counts[first], epsilon)
    for arm in range(len(counts)):
        mean = _mean(state, arm, reach)
        share = level / counts[arm]
        # At 1 the divergence is infinite, so indices must be computed.
        near = highest >= 1.0 or mean >= highest or private_divergence(mean, highest, epsilon) <= NEARLY * share
        if arm != first and near:
            index = private_upper(mean, share, epsilon)
            lower = arm < best if index < 1.0 or counts[arm] == counts[best] else counts[arm] < counts[best]
            if index > highest or (index == highest and lower):
                highest = index
                best = arm
    return best


def is_plain(state: State) -> bool:
    """Return whether this is plain KL-UCB, without privacy and noise width."""
    return state.epsilon == math.inf and state.width.kind == NONE


def leads(state: State, first: int, q: float, level: float) -> bool:
    """Return whether an arm's index is above q in (0, 1), and all others below it, by more than rounding."""
    counts, means, entropies = state.counts, state.means, state.entropies
    log_q, log_rest = log(q), log(1.0 - q)
    lower = 0
    for arm in range(len(counts)):
        n, mean = counts[arm], min(max(means[arm], 0.0), 1.0)
        over = n * (entropies[arm] - mean * log_q - (1.0 - mean) * log_rest) - level
        slack = SLACK * (level + n)
        lower += (mean < q) & (over > slack) & (arm != first)
        lower += (mean < q) & (over < -slack) & (arm == first)
    return lower == len(counts)


def _mean(state: State, arm: int, reach: float) -> float:
    """Return an arm's mean plus noise width, clipped to [0, 1]."""
    mean: float = state.means[arm] + reach * state.weights[arm]
    return min(max(mean, 0.0), 1.0)


def update(state: State, arm: int, seen: Sums) -> State:
    """Store the released sums, and recompute what depends on a count where it has changed."""
    counts, means, status, plain = state.counts, state.means, state.status, is_plain(state)
    status[ROUND] += 1
    status[LAST_ARM] = arm
    if state.lazy and seen.releases[arm] == state.releases[arm]:
        status[HELD_ARM] = arm
        return state
    status[HELD_ARM] = -1
    if state.lazy:
        for each_arm in range(len(counts)):
            state.releases[each_arm] = seen.releases[each_arm]
    for each_arm in range(len(counts)):
        n = seen.counts[each_arm]
        if n != counts[each_arm]:
            status[ARMS_UNRELEASED] -= counts[each_arm] == 0
            counts[each_arm] = n
            state.weights[each_arm] = weight(state.width, n, 0)
        if n > 0:
            mean = seen.sums[each_arm] / n
            if plain and mean != means[each_arm]:
                share = min(max(mean, 0.0), 1.0)
                state.entropies[each_arm] = weighed_log(share) + weighed_log(1.0 - share)
            means[each_arm] = mean
    return state


def weighed_log(share: float) -> float:
    """Return x ln x; 0 for 0."""
    return share * log(share) if share > 0.0 else 0.0


class KlUcb(FunctionalAgent):
    r"""Plays the arm with the largest mean q that its released mean does not rule out.

    .. math:: \max \{ q : d_\epsilon(\text{clip}(\hat\mu_i + \text{width}(n_i, t)), q) \le \frac{c \ln t}{n_i} \}

    with t the number of rounds played. Without privacy, d is the Kullback-Leibler divergence of Bernoulli arms. With a
    finite epsilon it is the smaller private divergence, which accounts for the noise, so no width is needed. Arms
    without a release are played first, in order. Among arms that may still have mean 1, the arm with the fewest gains
    is played; otherwise the lowest arm wins ties.

    Learns from running sums: wrap the environment in `ExactSums`, `HybridSums` or `BlockSums`.

    Args:
        level: c, greater than 0.
        epsilon: Privacy parameter of d, in (0, inf]; inf for KL-UCB.
        width: The noise width, from `dp_bandit_envs.agents.noise_width` (not `counter_width`).
        lazy: Whether a chosen arm is played until its next release.

    Source: Garivier and Cappé (2011), KL-UCB with c = 1 (without their 3 ln ln t, as in their experiments); Azize
    and Basu (2022), AdaP-KLUCB; Azize, Wu, Honda, Orabona, Ito and Basu (2025), DP-KLUCB.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import KlUcb
        >>> from dp_bandit_envs.wrappers import ExactSums
        >>> env = ExactSums(gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000))
        >>> game = play(env, KlUcb(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of all rounds")
        the best arm in 99% of all rounds
    """

    functions = Functions(select, update)
    learns_from = Sums
    waits = True
    tries_in_order = True

    def __init__(
        self,
        *,
        level: SupportsFloat = 1.0,
        epsilon: SupportsFloat = math.inf,
        width: WidthFor | None = None,
        lazy: bool = False,
    ) -> None:
        self.level = checks.greater_than("level", level, 0)
        self.epsilon = checks.epsilon(epsilon)
        self.width = checked_width(width)
        self.lazy = checks.boolean("lazy", lazy)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        sensitivity = self.noise.sensitivity
        width = smooth(width_in(self.width, n_arms, horizon, sensitivity), "KlUcb")
        return start(n_arms, self.level, self.epsilon / sensitivity, self.lazy, width)
