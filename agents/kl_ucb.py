"""KL-UCB: the largest mean that an arm's gains do not rule out, with or without noise in their sums."""

import math
from typing import Final, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.noise_width import NoiseWidth, WidthFor, checked_width, smooth, weight
from dp_bandit_envs.observations import Sums
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.theory.divergences import private_divergence, private_upper

ROUND: Final = 0
HELD: Final = 1
UNRELEASED: Final = 2


class State(NamedTuple):
    """What KL-UCB knows.

    Attributes:
        means: Released mean of each arm.
        counts: Number of gains in it; 0 before the first release.
        weights: w(n) of the extra term.
        releases: How many releases the arm has had, as far as `lazy` needs it.
        numbers: Rounds played so far; the arm to stay with until its next release, or -1; how many arms have had no
            release.
        level: c in c ln t.
        epsilon: Privacy parameter of the divergence.
        lazy: Whether an arm is held until its next release.
        width: The extra term.
    """

    means: FloatArray
    counts: IntArray
    weights: FloatArray
    releases: IntArray
    numbers: IntArray
    level: float
    epsilon: float
    lazy: bool
    width: NoiseWidth


def start(n_arms: int, level: float, epsilon: float, lazy: bool, width: NoiseWidth) -> State:
    """Return the state before the first round."""
    numbers = np.array([0, -1, n_arms])
    counts, releases = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    return State(np.zeros(n_arms), counts, np.zeros(n_arms), releases, numbers, level, epsilon, lazy, width)


def select(state: State, rng: np.random.Generator) -> int:
    """Return the held arm, the first without a release, or the arm with the largest index.

    An index is solved for only where it beats the largest so far, which its divergence from that one tells.
    """
    counts, numbers, epsilon = state.counts, state.numbers, state.epsilon
    if numbers[HELD] >= 0:
        return int(numbers[HELD])
    if numbers[UNRELEASED] > 0:
        for arm in range(len(counts)):
            if counts[arm] == 0:
                return arm
    log = math.log(numbers[ROUND])
    level = state.level * log
    reach = state.width.slope * log + state.width.offset
    best = 0
    highest = -1.0
    for arm in range(len(counts)):
        mean = min(max(state.means[arm] + reach * state.weights[arm], 0.0), 1.0)
        share = level / counts[arm]
        # At 1, where the divergence is infinite, indices are equal in floating point and must be worked out.
        if highest < 0.0 or highest >= 1.0 or mean > highest or private_divergence(mean, highest, epsilon) < share:
            index = private_upper(mean, share, epsilon)
            if index > highest or (index >= 1.0 and counts[arm] < counts[best]):
                highest = index
                best = arm
    return best


def update(state: State, arm: int, seen: Sums) -> State:
    """Take over released sums, and work out anew what depends on counts that have changed."""
    counts, numbers = state.counts, state.numbers
    numbers[ROUND] += 1
    if state.lazy and seen.releases[arm] == state.releases[arm]:
        numbers[HELD] = arm
        return state
    numbers[HELD] = -1
    for each in range(len(counts)):
        n = seen.counts[each]
        if state.lazy:
            state.releases[each] = seen.releases[each]
        if n != counts[each]:
            numbers[UNRELEASED] -= counts[each] == 0
            counts[each] = n
            state.weights[each] = weight(state.width, n, 0)
        if n > 0:
            state.means[each] = seen.sums[each] / n
    return state


class KlUcb(FunctionalAgent):
    r"""Plays the arm with the largest mean q that its released mean does not rule out.

    .. math:: \max \{ q : d_\epsilon(\text{clip}(\hat\mu_i + \text{width}(n_i, t)), q) \le \frac{c \ln t}{n_i} \}

    with t the number of rounds played so far. Without privacy d is the Kullback-Leibler divergence of Bernoulli arms;
    with epsilon it is the smaller divergence that noise leaves, in which the noise needs no width of its own. Arms
    without a release come first, lowest number first. Of several arms that may still have mean 1, the one with the
    fewest gains is played; otherwise the lowest number wins ties.

    Learns from running sums: put `ExactSums`, `HybridSums` or `BlockSums` around the environment.

    Args:
        level: c, greater than 0.
        epsilon: Privacy parameter of d, in (0, inf]; inf for KL-UCB.
        width: The extra term for noise, from `dp_bandit_envs.agents.noise_width`, not from a counter's table.
        lazy: Whether an arm is played until its next release.

    Source: Garivier and Cappé (2011), KL-UCB with c = 1 (their 3 ln ln t left out, as they do in experiments); Azize
    and Basu (2022), AdaP-KLUCB; Azize, Wu, Honda, Orabona, Ito and Basu (2025), DP-KLUCB.
    """

    functions = Functions(select, update)
    learns_from = Sums
    waits = True

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
        width = smooth(self.width(n_arms, horizon, sensitivity), "KlUcb")
        return start(n_arms, self.level, self.epsilon / sensitivity, self.lazy, width)
