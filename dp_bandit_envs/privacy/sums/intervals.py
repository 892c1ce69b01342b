r"""Means of all of an arm's gains, released at the ends of intervals with less and less noise (DP-UCB-INT).

When an arm has revealed n gains, and n is an end W of an interval, its mean gets noise of scale :math:`n^{v/2 - 1}`.
Every release covers all gains so far, so a gain pays in each of them: release j is :math:`W_j^{-v/2}`-DP, and together
they are rho-zCDP with :math:`\rho = \frac{1}{2} \sum_j W_j^{-v}`, which v > 1 keeps finite.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.guarantee import REPLACE_ONE_ROUND, PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import grid_of, to_grid
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """What is known and what was released.

    Attributes:
        exact: Sums of the gains so far, `(n_arms,)`.
        inserted: Numbers of gains so far, `(n_arms,)`.
        passed: How many ends each arm has reached, `(n_arms,)`.
        sums, counts: The released sums and how many gains they cover, `(n_arms,)`.
        ends: The ends of the intervals, ascending, followed by one that is never reached.
        scales: The noise of the sum released at each end.
        grids: The step between sums that can be released there; 0 without noise.
        redraw: Whether the noise is drawn again in every round that an arm waits at an end, as in the paper.
    """

    exact: FloatArray
    inserted: IntArray
    passed: IntArray
    sums: FloatArray
    counts: IntArray
    ends: IntArray
    scales: FloatArray
    grids: FloatArray
    redraw: bool


def tell(
    state: State, gain: Sequence[float], observed: Sequence[int], rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Add what was revealed; release the sums of arms that reach an end."""
    for arm in range(len(state.counts)):
        if observed[arm]:
            state.exact[arm] += gain[arm]
            state.inserted[arm] += 1
            reached = state.inserted[arm] == state.ends[state.passed[arm]]
            state.passed[arm] += reached
        else:
            reached = state.redraw and state.inserted[arm] > 0 and state.inserted[arm] == state.counts[arm]
        if reached:
            end = state.passed[arm] - 1
            noisy = state.exact[arm]
            if state.scales[end] > 0.0:
                noisy = to_grid(noisy + rng.laplace(0.0, state.scales[end]), state.grids[end])
            state.sums[arm] = noisy
            state.counts[arm] = state.inserted[arm]
    return state.sums, state.counts


@dataclasses.dataclass(frozen=True)
class IntervalSums:
    """Noise of scale n^(v/2 - 1) on the mean, at the ends of intervals.

    Args:
        epsilon: Target for all releases together, in (0, inf].
        delta: The delta that goes with it, in (0, 1).
        v: In (1, 1.5].
        horizon: The most gains of one arm.
        intervals: `"lemma"` for the intervals of lemma B.1 (its second form), which begin shorter; `"uniform"` for
            intervals of ceil(1 / input) rounds, as in algorithm 3.
        redraw: Whether the noise is drawn again in every round, as algorithm 3 is printed.
        sensitivity: By how much one changed round moves all sums together, in L1.
    """

    epsilon: float
    delta: float
    v: float
    horizon: int
    intervals: str = "lemma"
    redraw: bool = False
    sensitivity: float = 1.0

    @property
    def tell(self) -> Callable[..., Any]:
        """The function above."""
        return tell

    @functools.cached_property
    def ends(self) -> IntArray:
        """The numbers of gains at which an arm's mean is released, up to the horizon."""
        ends = interval_ends(paper_input(self.epsilon, self.delta, self.v), self.v, self.horizon, self.intervals)
        return ends.copy()  # the cache keeps its own

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """What the releases up to the horizon spend, which is no more than the target."""
        if self.redraw:
            return PrivacyGuarantee.none(
                "the noise on the same mean is drawn again in every round, so its average tells the mean; algorithm 3"
                " is printed so, and its proof counts one draw"
            )
        if math.isinf(self.epsilon):
            return PrivacyGuarantee.none("epsilon is inf, so there is no noise")
        spent = math.fsum(self.ends**-self.v)
        pure = math.fsum(self.ends ** (-self.v / 2)) * (1 + 1e-12)
        rho = spent / 2 * (1 + 1e-12)
        if rho == 0:
            return PrivacyGuarantee(epsilon=0.0, theorem="the game is too short for a release")
        enters = "the sum of one arm" if self.sensitivity <= 1 else f"sums by {self.sensitivity:.4g}, and so does noise"
        zcdp = rho + 2 * math.sqrt(rho * -math.log(self.delta))
        return PrivacyGuarantee(
            epsilon=min(zcdp, pure),
            delta=0.0 if pure <= zcdp else self.delta,
            rho=rho,
            neighbours=REPLACE_ONE_ROUND,
            theorem=(
                f"{len(self.ends)} releases of an arm's mean, number j with W_j^(-v/2)-DP and one draw; a round enters"
                f" {enters} (corrected theorem 3.4 of Tossou and Dimitrakakis 2016; target {self.epsilon:g})"
            ),
        )

    def new_state(self, n_arms: int) -> State:
        """Return the state before the first round."""
        ends = self.ends
        # A power is rounded to either side; the next double is on the side of more noise.
        powers: FloatArray = np.nextafter(ends.astype(float) ** (self.v / 2), np.inf)
        scales: FloatArray = np.zeros(len(ends)) if math.isinf(self.epsilon) else self.sensitivity * powers
        zeros = np.zeros(n_arms, np.int64)
        return State(
            np.zeros(n_arms),
            zeros.copy(),
            zeros.copy(),
            np.zeros(n_arms),
            zeros,
            np.append(ends, np.iinfo(np.int64).max),
            scales,
            np.array([grid_of(scale) for scale in scales]),
            self.redraw,
        )


def paper_input(epsilon: float, delta: float, v: float) -> float:
    r"""Return the input parameter for a target, corollary 3.2 of Tossou and Dimitrakakis (2016), at most 1.

    .. math:: \epsilon_{in} = \Big( \sqrt{\frac{L + 4 \epsilon'}{8 \zeta(v)}} - \sqrt{\frac{L}{8 \zeta(v)}} \Big)^2,
              \quad L = \ln(1 / \delta')
    """
    if math.isinf(epsilon):
        return 1.0
    log, share = -math.log(delta), 8 * zeta(v)
    # The difference of the roots without the loss of digits.
    root = 4 * epsilon / share / (math.sqrt((log + 4 * epsilon) / share) + math.sqrt(log / share))
    return min(1.0, root**2)


def zeta(v: float) -> float:
    """Return the Riemann zeta function for v > 1, by the Euler-Maclaurin formula."""
    first = 20.0
    head = math.fsum(math.pow(n, -v) for n in range(1, 20))
    tail = math.pow(first, 1 - v) / (v - 1) + math.pow(first, -v) / 2 + v * math.pow(first, -v - 1) / 12
    return head + tail - v * (v + 1) * (v + 2) * math.pow(first, -v - 3) / 720


@functools.lru_cache(maxsize=64)
def interval_ends(share: float, v: float, horizon: int, intervals: str) -> IntArray:
    r"""Return the ends W_1 < W_2 < ... up to the horizon.

    `"lemma"`: W_{n+1} is the first y with :math:`\sum_{i = W_n + 1}^y i^{-v} \ge y^{-v} / \epsilon_{in}`, so that the
    releases spend no more than :math:`\epsilon_{in} \sum_i i^{-v}`. `"uniform"`: every ceil(1 / input) gains.
    """
    if share * horizon < 1e-9:
        # An interval would be a thousand million games long.
        return np.array([], np.int64)
    if intervals == "uniform":
        step = math.ceil(1 / share)
        return np.arange(step, horizon + 1, step)
    terms = np.arange(1, horizon + 1, dtype=float) ** -v
    before = np.concatenate([[0.0], np.cumsum(terms)])
    # y closes the interval after W if before[y] - terms(y) / share >= before[W]; the left side grows with y.
    reach = before[1:] - terms / share
    ends = []
    last = 0
    while True:
        # At input 1 the two sides are equal in every round, but for rounding.
        following = last + 1 + int(np.searchsorted(reach[last:], before[last] - 1e-12))
        if following > horizon:
            break
        ends.append(following)
        last = following
    return np.array(ends, np.int64)
