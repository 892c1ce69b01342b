"""Upper confidence bounds on released sums: UCB and, with an extra term for noise, its private forms."""

import math
from typing import Final, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.noise_width import NoiseWidth, WidthFor, checked_width, weight
from dp_bandit_envs.observations import Sums
from dp_bandit_envs.protocols import FloatArray, IntArray

ROUND: Final = 0
STEP: Final = 1
HELD: Final = 2
UNRELEASED: Final = 3


class State(NamedTuple):
    """What UCB knows.

    Attributes:
        means: Released mean of each arm.
        counts: Number of gains in it; 0 before the first release.
        inverses, roots: 1 / n and 1 / sqrt(n); 0 before the first release.
        weights: w(n) of the extra term.
        releases: How many releases the arm has had, as far as `lazy` needs it.
        numbers: Rounds played so far; the extra term's step of t; the arm to stay with until its next release, or -1;
            how many arms have had no release.
        exploration: alpha.
        log_factor: ln f.
        lazy: Whether an arm is held until its next release.
        width: The extra term.
        forced: An arm with at most forced ln(t + 1) gains is played before any index counts; 0 for none.
    """

    means: FloatArray
    counts: IntArray
    inverses: FloatArray
    roots: FloatArray
    weights: FloatArray
    releases: IntArray
    numbers: IntArray
    exploration: float
    log_factor: float
    lazy: bool
    width: NoiseWidth
    forced: float


def start(
    n_arms: int, exploration: float, log_factor: float, lazy: bool, width: NoiseWidth, forced: float = 0.0
) -> State:
    """Return the state before the first round."""
    means, inverses, roots, weights = (np.zeros(n_arms) for _ in range(4))
    numbers = np.array([0, 0, -1, n_arms])
    counts, releases = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    return State(
        means, counts, inverses, roots, weights, releases, numbers, exploration, log_factor, lazy, width, forced
    )


def select(state: State, rng: np.random.Generator) -> int:
    """Return the held arm, the first with no release or too few gains, or the first with the largest index."""
    means, roots, weights, numbers = state.means, state.roots, state.weights, state.numbers
    if numbers[HELD] >= 0:
        return int(numbers[HELD])
    if numbers[UNRELEASED] > 0:
        for arm in range(len(means)):
            if state.counts[arm] == 0:
                return arm
    if state.forced > 0.0:
        enough = state.forced * math.log(numbers[ROUND] + 1)
        for arm in range(len(means)):
            if state.counts[arm] <= enough:
                return arm
    log = math.log(numbers[ROUND])
    spread = math.sqrt(state.exploration * (log + state.log_factor))
    reach = state.width.slope * log + state.width.offset
    best = 0
    highest = -math.inf
    for arm in range(len(means)):
        index = means[arm] + spread * roots[arm] + reach * weights[arm]
        if index > highest:
            highest = index
            best = arm
    return best


def update(state: State, arm: int, seen: Sums) -> State:
    """Take over released sums, and work out anew what depends on counts that have changed."""
    counts, numbers, until = state.counts, state.numbers, state.width.until
    numbers[ROUND] += 1
    if state.lazy and seen.releases[arm] == state.releases[arm]:
        numbers[HELD] = arm
        return state
    numbers[HELD] = -1
    stale = False
    while numbers[ROUND] > until[numbers[STEP]]:
        numbers[STEP] += 1
        stale = True
    for each in range(len(counts)):
        n = seen.counts[each]
        if state.lazy:
            state.releases[each] = seen.releases[each]
        if n != counts[each] or (stale and n > 0):
            numbers[UNRELEASED] -= counts[each] == 0
            counts[each] = n
            state.inverses[each] = 1.0 / n
            state.roots[each] = math.sqrt(state.inverses[each])
            state.weights[each] = weight(state.width, n, numbers[STEP])
        state.means[each] = seen.sums[each] * state.inverses[each]
    return state


class Ucb(FunctionalAgent):
    r"""Plays the arm with the largest upper confidence bound on its mean.

    .. math:: \hat\mu_i + \sqrt{\frac{\alpha \ln(f t)}{n_i}} + \text{width}(n_i, t)

    with t the number of rounds played so far and n_i the number of gains in the released mean. Arms without a release
    come first, lowest number first, each until it has one; the lowest number wins ties.

    Learns from running sums: put `ExactSums`, `HybridSums`, `IntervalSums` or `BlockSums` around the environment.

    Args:
        exploration: alpha, at least 0; 2 for UCB.
        log_factor: f, at least 1; 1 for UCB.
        width: The extra term for noise, from `dp_bandit_envs.agents.noise_width`; by default none.
        lazy: Whether an arm is played until its next release, as in algorithms whose blocks set the pace.
        forced: At least 0; an arm with at most forced ln(t + 1) gains is played first, lowest number first.

    Source: Auer, Cesa-Bianchi and Fischer (2002), UCB1; Tossou and Dimitrakakis (2016), algorithms 1 to 3; Azize and
    Basu (2022), AdaP-UCB.
    """

    functions = Functions(select, update)
    learns_from = Sums
    waits = True

    def __init__(
        self,
        *,
        exploration: SupportsFloat = 2.0,
        log_factor: SupportsFloat = 1.0,
        width: WidthFor | None = None,
        lazy: bool = False,
        forced: SupportsFloat = 0.0,
    ) -> None:
        self.exploration = checks.at_least("exploration", exploration, 0)
        self.log_factor = checks.at_least("log_factor", log_factor, 1)
        self.width = checked_width(width)
        self.lazy = checks.boolean("lazy", lazy)
        self.forced = checks.at_least("forced", forced, 0)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        log = math.log(self.log_factor)
        width = self.width(n_arms, horizon, self.noise.sensitivity)
        return start(n_arms, self.exploration, log, self.lazy, width, self.forced)
