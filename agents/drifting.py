"""Confidence bounds that forget, for means that change: over a window, with a discount, or with restarts.

All three learn from the gain of the arm played only.
"""

import math
from typing import Final, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.perturbed_leader import leader
from dp_bandit_envs.draws import log
from dp_bandit_envs.protocols import FloatArray, Gains, IntArray, Sums
from dp_bandit_envs.theory.divergences import private_upper

BONUS: Final = 0.6
"""xi of SW-UCB and D-UCB, whose theorems need more than 1/2."""
LARGE: Final = 1e100
"""Weights of recent gains grow up to here, and all are then divided by it."""
ROUND: Final = 0
HELD_ARM: Final = 1
INDEXES: Final = ("mean", "kl")


class Window(NamedTuple):
    """The state of `SlidingWindow`.

    Attributes:
        arms, gains: The arms and gains of the last rounds, in a circle, `(window,)`; arm -1 for a round without a
            release.
        sums, counts: Sum and number of each arm's gains in the window, `(n_arms,)`.
        indices: Index of each arm; inf without a gain in the window.
        status: `ROUND`, the number of rounds played.
        bonus: xi, or 3 for the factor of ln ln t if `divergence`.
        divergence: Whether the index is KL-UCB's.
    """

    arms: IntArray
    gains: FloatArray
    sums: FloatArray
    counts: IntArray
    indices: FloatArray
    status: IntArray
    bonus: float
    divergence: bool


def select_in_window(state: Window, rng: np.random.Generator) -> int:
    """Return the first arm with the largest index."""
    return leader(state.indices)


def update_window(state: Window, arm: int, seen: Gains) -> Window:
    """Overwrite the oldest gain with the new one; recompute indices whose count or logarithm changed."""
    slot = state.status[ROUND] % len(state.arms)
    state.status[ROUND] += 1
    t = state.status[ROUND]
    left = state.arms[slot] if t > len(state.arms) else -1
    if left >= 0:
        state.counts[left] -= 1
        # No rounding is left behind by gains that are gone.
        state.sums[left] = state.sums[left] - state.gains[slot] if state.counts[left] > 0 else 0.0
    state.arms[slot] = -1
    if seen.observed[arm] != 0:
        state.arms[slot] = arm
        state.gains[slot] = seen.gains[arm]
        state.counts[arm] += 1
        state.sums[arm] += seen.gains[arm]
    exploration = log(min(t, len(state.arms)))
    if state.divergence:
        exploration += state.bonus * log(max(exploration, 1.0))
    if t <= len(state.arms):
        for each_arm in range(len(state.indices)):
            state.indices[each_arm] = index_in_window(state, each_arm, exploration)
    else:
        if left >= 0:
            state.indices[left] = index_in_window(state, left, exploration)
        state.indices[arm] = index_in_window(state, arm, exploration)
    return state


def index_in_window(state: Window, arm: int, exploration: float) -> float:
    """Return an arm's index: the upper confidence bound of its mean in the window, or KL-UCB's if `divergence`.

    Args:
        state: The state.
        arm: The arm.
        exploration: ln min(t, window), plus the ln ln term for KL-UCB.
    """
    n = state.counts[arm]
    if n == 0:
        return math.inf
    mean = state.sums[arm] / n
    if state.divergence:
        return private_upper(min(max(mean, 0.0), 1.0), exploration / n, math.inf)
    index: float = mean + math.sqrt(state.bonus * exploration / n)
    return index


class SlidingWindow(FunctionalAgent):
    r"""UCB or KL-UCB on the gains of the last w rounds.

    Let :math:`n_i` and :math:`\hat\mu_i` be the number and the mean of an arm's gains in the last w rounds, and m =
    min(t, w). The index is :math:`\hat\mu_i + \sqrt{\xi \ln m / n_i}`, or, with `index="kl"`, the largest q for which
    :math:`n_i \, \mathrm{kl}(\hat\mu_i, q) \le \ln m + 3 \ln \ln m`. An arm without a gain in the window is played
    first; the lowest arm wins ties.

    Args:
        window: w, at least 1; None for ceil(2 sqrt(T ln T / S)), or for `"kl"` ceil(sqrt(T ln T / S)).
        shifts: Number S of changes to tune for, at least 1.
        index: `"mean"` or `"kl"`.
        bonus: xi, at least 0; not used with `"kl"`.

    Source: Garivier and Moulines (2011), SW-UCB; Gajane (2023), SW-KLUCB-CF, above randomized response.
    """

    functions = Functions(select_in_window, update_window)
    waits = True
    tries_in_order = True

    def __init__(
        self,
        *,
        window: SupportsIndex | None = None,
        shifts: SupportsIndex = 5,
        index: str = "mean",
        bonus: SupportsFloat = BONUS,
    ) -> None:
        self.window = None if window is None else checks.integer("window", window, at_least=1)
        self.shifts = checks.integer("shifts", shifts, at_least=1)
        self.index = checks.one_of("index", index, INDEXES)
        self.bonus = checks.at_least("bonus", bonus, 0)

    def initial_state(self, n_arms: int, horizon: int) -> Window:
        """Return the state before the first step."""
        window, sums, indices = self.window_in(horizon), np.zeros(n_arms), np.full(n_arms, math.inf)
        bonus, divergence = (self.bonus, False) if self.index == "mean" else (3.0, True)
        counts, status = np.zeros(n_arms, np.int64), np.zeros(1, np.int64)
        return Window(np.full(window, -1), np.zeros(window), sums, counts, indices, status, bonus, divergence)

    def window_in(self, horizon: int) -> int:
        """Return the window w, at most `horizon`."""
        chosen = math.ceil((2 if self.index == "mean" else 1) * math.sqrt(horizon * log(horizon) / self.shifts))
        return min(max(1, self.window or chosen), horizon)


class DiscountedUcbState(NamedTuple):
    """The state of `DiscountedUcb`.

    Attributes:
        means, roots: Mean of each arm, and 1 / sqrt of its weight; inf and 1 before its first gain.
        sums, weights: Discounted sum and weight of each arm's gains, in units of the weight of the next gain.
        next: The weight of the next gain, and the total weight of all gains, `(2,)`.
        discount: gamma.
        bonus: xi.
    """

    means: FloatArray
    roots: FloatArray
    sums: FloatArray
    weights: FloatArray
    next: FloatArray
    discount: float
    bonus: float


def select_discounted(state: DiscountedUcbState, rng: np.random.Generator) -> int:
    """Return the first arm with the largest index; an arm without a gain comes first."""
    means, roots = state.means, state.roots
    # A weight in units of the last gain's is `weights` over `last`.
    last = state.next[0] * state.discount
    spread = 2.0 * math.sqrt(state.bonus * log(max(state.next[1], 1.0)) * last)
    best = 0
    highest = -math.inf
    for arm in range(len(means)):
        index = means[arm] + spread * roots[arm]
        if index > highest:
            highest = index
            best = arm
    return best


def update_discounted(state: DiscountedUcbState, arm: int, seen: Gains) -> DiscountedUcbState:
    """Add the gain of the arm played; raising the weight of later gains is cheaper than discounting all sums."""
    weight = state.next[0]
    state.next[1] = state.next[1] * state.discount
    if seen.observed[arm] != 0:
        state.sums[arm] += weight * seen.gains[arm]
        state.weights[arm] += weight
        state.means[arm] = state.sums[arm] / state.weights[arm]
        state.roots[arm] = 1.0 / math.sqrt(state.weights[arm])
        state.next[1] += 1.0
    state.next[0] = weight / state.discount
    if state.next[0] > LARGE:
        state.next[0] /= LARGE
        for each_arm in range(len(state.sums)):
            if state.weights[each_arm] > 0.0:
                state.sums[each_arm] /= LARGE
                state.weights[each_arm] = max(state.weights[each_arm] / LARGE, 1e-200)
                state.roots[each_arm] = 1.0 / math.sqrt(state.weights[each_arm])
    return state


class DiscountedUcb(FunctionalAgent):
    r"""UCB on discounted gains: a gain from s rounds ago has weight :math:`\gamma^s`.

    Plays the arm with the largest :math:`\hat\mu_i + 2 \sqrt{\xi \ln n / n_i}`, where :math:`\hat\mu_i` is the
    discounted mean, :math:`n_i` the discounted number of an arm's gains and n the sum of all :math:`n_i`. The lowest
    arm wins ties.

    Args:
        discount: gamma, in (0, 1); None for 1 - sqrt(S / T) / 4.
        shifts: Number S of changes to tune for, at least 1.
        bonus: xi, at least 0.

    Source: Garivier and Moulines (2011), D-UCB.
    """

    functions = Functions(select_discounted, update_discounted)
    waits = True
    tries_in_order = True

    def __init__(
        self, *, discount: SupportsFloat | None = None, shifts: SupportsIndex = 5, bonus: SupportsFloat = BONUS
    ) -> None:
        self.discount = None if discount is None else checks.real("discount", discount)
        if self.discount is not None and not 0 < self.discount < 1:
            raise ValueError(f"discount must be in (0, 1); received {discount!r}. UCB forgets nothing.")
        self.shifts = checks.integer("shifts", shifts, at_least=1)
        self.bonus = checks.at_least("bonus", bonus, 0)

    def initial_state(self, n_arms: int, horizon: int) -> DiscountedUcbState:
        """Return the state before the first step."""
        means, roots, sums, weights = np.full(n_arms, math.inf), np.ones(n_arms), np.zeros(n_arms), np.zeros(n_arms)
        return DiscountedUcbState(
            means, roots, sums, weights, np.array([1.0, 0.0]), self.discount_in(horizon), self.bonus
        )

    def discount_in(self, horizon: int) -> float:
        """Return gamma for a game of `horizon` rounds."""
        return 1 - math.sqrt(min(self.shifts, horizon) / horizon) / 4 if self.discount is None else self.discount


class RestartedUcbState(NamedTuple):
    """The state of `RestartedUcb`.

    Attributes:
        means, inverses: The released mean of each arm and 1 / n for its n gains; inf and 1 before a release.
        releases: Number of releases of each arm.
        status: `ROUND`, the rounds played since the last restart; `HELD_ARM`, the arm to play until its next release.
        period: Rounds from one restart to the next.
        exploration: alpha.
        slope: alpha / epsilon, the factor of ln t in the noise width.
    """

    means: FloatArray
    inverses: FloatArray
    releases: IntArray
    status: IntArray
    period: int
    exploration: float
    slope: float


def select_restarted(state: RestartedUcbState, rng: np.random.Generator) -> int:
    """Return the held arm, or the first arm with the largest index."""
    if state.status[HELD_ARM] >= 0:
        return int(state.status[HELD_ARM])
    log_t = log(max(state.status[ROUND], 1))
    spread, reach = state.exploration / 2.0 * (log_t + log(2.0)), state.slope * log_t
    best = 0
    highest = -math.inf
    for arm in range(len(state.means)):
        index = state.means[arm] + math.sqrt(spread * state.inverses[arm]) + reach * state.inverses[arm]
        if index > highest:
            highest = index
            best = arm
    return best


def update_restarted(state: RestartedUcbState, arm: int, seen: Sums) -> RestartedUcbState:
    """Hold the arm until its release, store the release, and reset the state at the end of a period."""
    status = state.status
    status[ROUND] += 1
    status[HELD_ARM] = arm
    if seen.releases[arm] != state.releases[arm]:
        status[HELD_ARM] = -1
        state.releases[arm] = seen.releases[arm]
        state.inverses[arm] = 1.0 / seen.counts[arm]
        state.means[arm] = seen.sums[arm] * state.inverses[arm]
    if status[ROUND] == state.period:
        status[ROUND] = 0
        status[HELD_ARM] = -1
        for each_arm in range(len(state.means)):
            state.means[each_arm] = math.inf
            state.inverses[each_arm] = 1.0
    return state


class RestartedUcb(FunctionalAgent):
    r"""AdaP-UCB that restarts every H rounds, on sums that restart at the same times.

    Plays an arm until its next release, and then the arm with the largest
    :math:`\hat\mu_i + \sqrt{\alpha \ln(2 t) / (2 n_i)} + \alpha \ln t / (\epsilon n_i)`. Here t is the number of rounds
    since the last restart. Learns from running sums: see `dp_bandit_envs.privacy.mechanisms.block_sums.RestartedSums`.

    Args:
        epsilon: Privacy parameter of the sums, in (0, inf].
        period: H, at least 1; None for ceil(T^(2/3)).
        alpha: alpha, greater than 0.

    Source: Azize and Basu (2022), AdaP-UCB; restarts as in Besbes, Gur and Zeevi (2014).
    """

    functions = Functions(select_restarted, update_restarted)
    learns_from = Sums
    waits = True
    tries_in_order = True

    def __init__(
        self, *, epsilon: SupportsFloat = math.inf, period: SupportsIndex | None = None, alpha: SupportsFloat = 3.1
    ) -> None:
        self.epsilon, self.alpha = checks.epsilon(epsilon), checks.greater_than("alpha", alpha, 0)
        self.period = None if period is None else checks.integer("period", period, at_least=1)

    def initial_state(self, n_arms: int, horizon: int) -> RestartedUcbState:
        """Return the state before the first step."""
        period = self.period or restart_period(horizon)
        slope = self.alpha * self.noise.sensitivity / self.epsilon
        means, releases = np.full(n_arms, math.inf), np.zeros(n_arms, np.int64)
        return RestartedUcbState(means, np.ones(n_arms), releases, np.array([0, -1]), period, self.alpha, slope)


def restart_period(horizon: int) -> int:
    """Return ceil(T^(2/3)): the smallest integer whose cube is at least T^2."""
    period: int = max(1, round(horizon ** (2 / 3)) - 1)
    while period**3 < horizon**2:
        period += 1
    return period
