"""Upper confidence bounds on released sums: UCB and, with an extra term for noise, its private forms.

`LocalUcb` is UCB under local privacy: its bonus covers the Laplace noise that every gain carries.
"""

import math
from typing import Final, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.noise_width import NoiseWidth, WidthFor, checked_width, log_width, no_width, weight, width_in
from dp_bandit_envs.draws import log
from dp_bandit_envs.protocols import FloatArray, IntArray, Sums
from dp_bandit_envs.theory.stochastic_bounds import LDP_FORCED, ldp_laplace_bonus, ldp_paper_bonus

ROUND: Final = 0
WIDTH_STEP: Final = 1
HELD_ARM: Final = 2
CONSTANTS: Final = ("paper", "improved")
"""Those of LDP-UCB-L."""


class State(NamedTuple):
    """The state of UCB.

    Attributes:
        means: Released mean of each arm; inf before its first release, so that it is played first.
        counts: Number n of gains in that mean; 0 before the first release.
        inverses, roots: 1 / n and 1 / sqrt(n).
        weights: w(n) of the noise width.
        releases: Number of releases of each arm; updated only if `lazy`.
        status: `ROUND`, the number of rounds played; `WIDTH_STEP`, the width's step of t; `HELD_ARM`, the arm to play
            until its next release, or -1. One array, because compiled code can write to arrays only.
        exploration: alpha.
        log_factor: ln f.
        lazy: Whether an arm is held until its next release.
        width: The noise width.
        forced: Arms with at most forced ln(t + 1) gains are played first; 0 for none.
    """

    means: FloatArray
    counts: IntArray
    inverses: FloatArray
    roots: FloatArray
    weights: FloatArray
    releases: IntArray
    status: IntArray
    exploration: float
    log_factor: float
    lazy: bool
    width: NoiseWidth
    forced: float


def start(
    n_arms: int, exploration: float, log_factor: float, lazy: bool, width: NoiseWidth, forced: float = 0.0
) -> State:
    """Return the state before the first round."""
    # Ones, as zeros times a bonus that may be infinite are NaN; means of inf have such arms played first.
    inverses, roots, weights = (np.ones(n_arms) for _ in range(3))
    means, status = np.full(n_arms, math.inf), np.array([0, 0, -1])
    counts, releases = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    return State(
        means, counts, inverses, roots, weights, releases, status, exploration, log_factor, lazy, width, forced
    )


def select(state: State, rng: np.random.Generator) -> int:
    """Return the first arm with the largest index; the index is infinite before the first release."""
    means, roots = state.means, state.roots
    # In round 0 all indices are infinite, and the logarithm does not matter.
    spread = math.sqrt(state.exploration * (log(max(state.status[ROUND], 1)) + state.log_factor))
    best = 0
    highest = -math.inf
    for arm in range(len(means)):
        index = means[arm] + spread * roots[arm]
        if index > highest:
            highest = index
            best = arm
    return best


def update(state: State, arm: int, seen: Sums) -> State:
    """Store the released sums, and recompute what depends on a count where it has changed."""
    state.status[ROUND] += 1
    counts, released = state.counts, seen.counts
    for each_arm in range(len(counts)):
        n = released[each_arm]
        if n != counts[each_arm]:
            recount(state, each_arm, n)
    average(state, seen)
    return state


def update_own(state: State, arm: int, seen: Sums) -> State:
    """Update the numbers of the arm played that `select` reads: lanes write every number for all arms."""
    state.status[ROUND] += 1
    n = seen.counts[arm]
    inverse = 1.0 / max(n, 1)
    state.roots[arm] = math.sqrt(inverse)
    state.means[arm] = seen.sums[arm] * inverse if n > 0 else math.inf
    return state


def recount(state: State, arm: int, n: int) -> None:
    """Store the number of gains in an arm's mean, and the values derived from it."""
    inverse = 1.0 / n
    state.counts[arm] = n
    state.inverses[arm] = inverse
    state.roots[arm] = math.sqrt(inverse)


def average(state: State, seen: Sums) -> None:
    """Store the released means. A loop of its own for lanes: LLVM unrolls short loops only."""
    means, counts, inverses, sums = state.means, state.counts, state.inverses, seen.sums
    for arm in range(len(counts)):
        if counts[arm] > 0:
            means[arm] = sums[arm] * inverses[arm]


def select_wide(state: State, rng: np.random.Generator) -> int:
    """Do as `select`, with the noise width in each index."""
    means, roots, weights = state.means, state.roots, state.weights
    log_t = log(max(state.status[ROUND], 1))
    spread = math.sqrt(state.exploration * (log_t + state.log_factor))
    reach = state.width.slope * log_t + state.width.offset
    best = 0
    highest = -math.inf
    for arm in range(len(means)):
        index = means[arm] + spread * roots[arm] + reach * weights[arm]
        if index > highest:
            highest = index
            best = arm
    return best


def select_general(state: State, rng: np.random.Generator) -> int:
    """Return the held arm, or the first with too few gains once all have a release, or what `select_wide` returns."""
    if state.status[HELD_ARM] >= 0:
        return int(state.status[HELD_ARM])
    best = select_wide(state, rng)
    if state.forced > 0.0 and state.counts[best] > 0:
        enough = state.forced * log(state.status[ROUND] + 1)
        for arm in range(len(state.counts)):
            if state.counts[arm] <= enough:
                return arm
    return best


def update_general(state: State, arm: int, seen: Sums) -> State:
    """Hold the arm until its release if `lazy`; otherwise do as `update` does, with weights of the noise width."""
    status, until = state.status, state.width.until
    status[ROUND] += 1
    if state.lazy:
        if seen.releases[arm] == state.releases[arm]:
            status[HELD_ARM] = arm
            return state
        status[HELD_ARM] = -1
        for each_arm in range(len(state.releases)):
            state.releases[each_arm] = seen.releases[each_arm]
    stale = False
    while status[ROUND] > until[status[WIDTH_STEP]]:
        status[WIDTH_STEP] += 1
        stale = True
    for each_arm in range(len(state.counts)):
        n = seen.counts[each_arm]
        if n != state.counts[each_arm] or (stale and n > 0):
            recount(state, each_arm, n)
            state.weights[each_arm] = weight(state.width, n, status[WIDTH_STEP])
    average(state, seen)
    return state


def update_own_general(state: State, arm: int, seen: Sums) -> State:
    """Do as `update_general`, when only the arm played has a new release; weights may change for all arms."""
    status, until = state.status, state.width.until
    status[ROUND] += 1
    if state.lazy:
        if seen.releases[arm] == state.releases[arm]:
            status[HELD_ARM] = arm
            return state
        status[HELD_ARM] = -1
        state.releases[arm] = seen.releases[arm]
    if status[ROUND] > until[status[WIDTH_STEP]]:
        while status[ROUND] > until[status[WIDTH_STEP]]:
            status[WIDTH_STEP] += 1
        for each_arm in range(len(state.counts)):
            if state.counts[each_arm] > 0:
                state.weights[each_arm] = weight(state.width, state.counts[each_arm], status[WIDTH_STEP])
    n = seen.counts[arm]
    if n > 0:
        if n != state.counts[arm]:
            recount(state, arm, n)
            state.weights[arm] = weight(state.width, n, status[WIDTH_STEP])
        state.means[arm] = seen.sums[arm] * state.inverses[arm]
    return state


PLAIN: Final = Functions(select, update, update_own=update_own)
"""The functions of UCB without a noise width, held arms and forced arms; lanes carry them."""


class Ucb(FunctionalAgent):
    r"""Plays the arm with the largest upper confidence bound on its mean.

    .. math:: \hat\mu_i + \sqrt{\frac{\alpha \ln(f t)}{n_i}} + \text{width}(n_i, t)

    with t the number of rounds played and n_i the number of gains in the released mean. Each arm is first played, in
    order, until its first release; the lowest arm wins ties.

    Learns from running sums: wrap the environment in `ExactSums`, `HybridSums`, `IntervalSums` or `BlockSums`.

    Args:
        exploration: alpha, at least 0; 2 for UCB.
        log_factor: f, at least 1; 1 for UCB.
        width: The noise width, from `dp_bandit_envs.agents.noise_width`; by default 0.
        lazy: Whether to play a chosen arm until its next release, as in algorithms that play in blocks.
        forced: At least 0; arms with at most forced ln(t + 1) gains are played first, in order.

    Source: Auer, Cesa-Bianchi and Fischer (2002), UCB1; Tossou and Dimitrakakis (2016), algorithms 1 to 3; Azize and
    Basu (2022), AdaP-UCB.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import Ucb
        >>> from dp_bandit_envs.wrappers import ExactSums
        >>> env = ExactSums(gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000))
        >>> game = play(env, Ucb(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of all rounds")
        the best arm in 97% of all rounds
    """

    functions = Functions(select_general, update_general, update_own=update_own_general)
    learns_from = Sums
    waits = True
    tries_in_order = True

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
        # A subclass may have a state of its own, or functions.
        if type(self) is Ucb and self.width is no_width and not self.lazy and self.forced == 0.0:
            self.functions = PLAIN

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        of_factor = log(self.log_factor)
        width = width_in(self.width, n_arms, horizon, self.noise.sensitivity)
        return start(n_arms, self.exploration, of_factor, self.lazy, width, self.forced)


class LocalUcb(Ucb):
    r"""UCB on sums of gains that each have Laplace noise of scale 1 / epsilon.

    With `constants="paper"` the index is :math:`\hat\mu + \sqrt{2 \ln t / n} + \sqrt{32 \ln t / (\epsilon^2 n)}`, and
    an arm with at most 4 ln(t + 1) gains is played first. The square root does not cover the noise of so few gains.
    With `constants="improved"` it is :math:`\hat\mu + \sqrt{(2 + 16 / \epsilon^2) \ln t / n} + 4 \ln t / (\epsilon n)`,
    which covers the noise of any number of gains, so no arm is forced. For many gains its bonus is up to 39 % below the
    paper's.

    Learns from running sums: wrap the environment in `BlockSums(env, epsilon=..., ratio=1, keep=True)`.

    Args:
        epsilon: Privacy parameter of that wrapper, in (0, inf]; if a round reveals s gains, the bonus uses epsilon / s.
        constants: `"paper"` or `"improved"`.

    Source: Ren, Zhou, Liu and Shroff (2020), LDP-UCB-L.
    """

    def __init__(self, *, epsilon: SupportsFloat = math.inf, constants: str = "paper") -> None:
        super().__init__()
        self.epsilon = checks.epsilon(epsilon)
        self.constants = checks.one_of("constants", constants, CONSTANTS)
        if math.isinf(ldp_laplace_bonus(self.epsilon)[0]):
            raise ValueError(f"epsilon must leave a bonus that fits a float; received {epsilon!r}.")

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        epsilon = self.epsilon / self.noise.sensitivity
        if self.constants == "improved" or math.isinf(epsilon):
            variance, slope = ldp_laplace_bonus(epsilon)
            return start(n_arms, variance, 0.0, False, log_width(slope)(n_arms, horizon, 1.0))
        width = no_width(n_arms, horizon, 1.0)
        return start(n_arms, ldp_paper_bonus(epsilon) ** 2, 0.0, False, width, LDP_FORCED)
