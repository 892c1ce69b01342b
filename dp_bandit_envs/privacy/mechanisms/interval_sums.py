r"""Sums of all of an arm's gains, released at the ends of intervals with less and less noise (DP-UCB-INT).

When an arm has revealed n gains, and n is the end :math:`W_j` of an interval, its mean is released with noise of scale
:math:`n^{v/2 - 1}`. Every release covers all gains so far, so the releases compose: release j is :math:`W_j^{-v/2}`-DP,
and together they are rho-zCDP with :math:`\rho = \frac{1}{2} \sum_j W_j^{-v}`, which is finite because v > 1. The
epsilon stated is that of their exact composition (`privacy.laplace_composition`), which is about a quarter less.
"""

import functools
import math
from typing import Any, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.items import distance_l1, to_item
from dp_bandit_envs.privacy.laplace import grid_of, noisy
from dp_bandit_envs.privacy.laplace_composition import LaplaceComposition
from dp_bandit_envs.privacy.mechanism import Below, Mechanism, Noise
from dp_bandit_envs.protocols import FloatArray, IntArray

INTERVALS = ("lemma", "uniform")
MODES = ("once", "redraw")
PAPER_DELTA = math.exp(-10)


class State(NamedTuple):
    """The exact sums, and the intervals with their noise.

    Attributes:
        exact: Sums of the gains so far, `(n_arms,)`.
        inserted: Numbers of gains so far, `(n_arms,)`.
        passed: How many ends each arm has reached, `(n_arms,)`.
        ends: The ends of the intervals, ascending, followed by one that is never reached.
        scales: Laplace scale of the sum released at each end.
        grids: The step between sums that can be released there; 0 without noise.
    """

    exact: FloatArray
    inserted: IntArray
    passed: IntArray
    ends: IntArray
    scales: FloatArray
    grids: FloatArray


def release(state: State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Add a gain to its arm's sum; release the sum if the arm reaches an end."""
    state.exact[arm] += to_item(gain)
    state.inserted[arm] += 1
    end = state.passed[arm]
    if state.inserted[arm] != state.ends[end]:
        return 0.0, 0
    state.passed[arm] += 1
    return noisy(state.exact[arm], state.scales[end], state.grids[end], rng), state.inserted[arm]


def redraw(state: State, arm: int, rng: np.random.Generator) -> tuple[float, int]:
    """Draw the noise of an arm's last release again until the arm's next gain, as algorithm 3 is printed."""
    end = state.passed[arm] - 1
    if end < 0 or state.inserted[arm] != state.ends[end]:
        return 0.0, 0
    return noisy(state.exact[arm], state.scales[end], state.grids[end], rng), state.inserted[arm]


class IntervalSums(Mechanism):
    r"""Releases an arm's mean over all of its gains at the ends of growing intervals, with less and less noise.

    After :math:`n = W_1, W_2, \ldots` gains the mean gets Laplace noise of scale :math:`n^{v/2 - 1}`; `sum` is n times
    the noisy mean, and `count` is n. Each release covers all gains so far and is :math:`n^{-v/2}`-DP. Together they are
    rho-zCDP with :math:`\rho = \frac{1}{2} \sum_j W_j^{-v}`, and (epsilon, delta)-DP with an epsilon from the exact
    composition of their losses. A round's gain is added to the sum of one arm only.

    Args:
        epsilon: Target for all releases together, in (0, inf]; the paper's input parameter is computed from it by
            corollary 3.2. The guarantee states the epsilon spent, which is smaller.
        v: Exponent that sets how fast the noise falls, in (1, 1.5].
        delta: The delta of the target, in (0, 1).
        release: `"once"` draws the noise of each release once. `"redraw"` draws it again in every round, as algorithm 3
            of the paper is printed; it has no guarantee, and exists to show what such releases reveal.
        intervals: `"lemma"` for those of lemma B.1, `"uniform"` for ceil(1 / input) gains each.

    Protects: one round's gains of all arms, centrally.

    Source: Tossou and Dimitrakakis (2016), algorithm 3, theorem 3.4, lemma B.1.
    """

    release = staticmethod(release)
    releases_sums = True

    def __init__(
        self,
        *,
        epsilon: SupportsFloat,
        v: SupportsFloat = 1.1,
        delta: SupportsFloat = PAPER_DELTA,
        release: str = "once",
        intervals: str = "lemma",
    ) -> None:
        self.epsilon, self.delta, self.v = checks.epsilon(epsilon), checks.delta(delta), checked_v(v)
        self.mode = checks.one_of("release", release, MODES)
        self.intervals = checks.one_of("intervals", intervals, INTERVALS)

    @property
    def idle(self) -> Any:
        """`redraw` for arms that a round does not reveal, in that mode; otherwise None."""
        return redraw if self.mode == "redraw" else None

    def ends(self, horizon: int) -> IntArray:
        """Return the numbers of gains at which an arm's sum is released, up to the horizon."""
        if horizon > checks.MOST_ROUNDS_IN_MEMORY:
            raise ValueError(
                f"IntervalSums needs a horizon of at most {checks.MOST_ROUNDS_IN_MEMORY:,} rounds, as it stores their"
                f" intervals; received {horizon:,}. Use HybridSums or BlockSums."
            )
        return interval_ends(*self._ends_key(horizon)).copy()  # the cache keeps its own

    def _ends_key(self, horizon: int) -> tuple[float, float, int, str]:
        return paper_input(self.epsilon, self.delta, self.v), self.v, horizon, self.intervals

    def new_state(self, below: Below) -> State:
        """Return empty sums."""
        ends = self.ends(below.horizon)
        # A power may be rounded down; the next double errs towards more noise.
        powers: FloatArray = np.nextafter(ends.astype(float) ** (self.v / 2), np.inf)
        scales: FloatArray = np.zeros(len(ends)) if math.isinf(self.epsilon) else distance_l1(below) * powers
        return State(
            np.zeros(below.n_values),
            np.zeros(below.n_values, np.int64),
            np.zeros(below.n_values, np.int64),
            np.append(ends, np.iinfo(np.int64).max),
            scales,
            np.array([grid_of(scale) for scale in scales]),
        )

    def noise(self, below: Below) -> Noise:
        """Return the factor of the noise; its scale differs from release to release."""
        return Noise(below.sensitivity)

    def guarantee(self, below: Below) -> PrivacyGuarantee:
        """Return what the releases spend, at most the target; or the guarantee below, if there is one."""
        if self.mode == "redraw":
            return PrivacyGuarantee.none(
                "the noise on the same mean is drawn again in every round, so averaging the releases reveals the mean;"
                " algorithm 3 is printed so, and its proof counts one draw"
            )
        if math.isinf(self.epsilon):
            return PrivacyGuarantee.none("epsilon is inf, so there is no noise")
        releases = len(self.ends(below.horizon))
        spent = _spent(*self._ends_key(below.horizon), self.delta)
        if spent.rho == 0:
            return PrivacyGuarantee(epsilon=0.0, theorem="the game is too short for a release")
        influence = (
            "influences the sum of one arm"
            if below.sensitivity <= 1
            else f"changes all sums together by at most {below.sensitivity:.4g}, which multiplies the noise"
        )
        return PrivacyGuarantee(
            epsilon=spent.epsilon,
            delta=0.0 if spent.epsilon == spent.pure else self.delta,
            rho=spent.rho,
            pure=spent.pure,
            theorem=(
                f"{releases} releases of an arm's mean, each with one draw of noise, number j"
                f" W_j^(-v/2)-DP, composed exactly; a round {influence} (corrected theorem 3.4 of Tossou and"
                f" Dimitrakakis 2016; target {self.epsilon:g}; proof in dp_bandit_envs.privacy.laplace_composition)"
            ),
        )


class Spent(NamedTuple):
    """What all releases spend: rho, a pure epsilon, and the smaller of this and an epsilon at delta."""

    rho: float
    pure: float
    epsilon: float


@functools.lru_cache(maxsize=256)
def _spent(epsilon_in: float, v: float, horizon: int, intervals: str, delta: float) -> Spent:
    """Return what the releases of `interval_ends` spend."""
    # A power may be rounded down; its inverse is the distance of neighbours in scales.
    distances = interval_ends(epsilon_in, v, horizon, intervals) ** (-v / 2) * (1 + 1e-14)
    together = LaplaceComposition(distances)
    rho = math.fsum(distances**2) / 2 * (1 + 1e-12)
    return Spent(rho, together.pure, min(together.pure, together.epsilon(delta)))


def paper_input(epsilon: float, delta: float, v: float) -> float:
    r"""Return the input parameter for a target, corollary 3.2 of Tossou and Dimitrakakis (2016), at most 1.

    .. math:: \epsilon_{in} = \Big( \sqrt{\frac{L + 4 \epsilon'}{8 \zeta(v)}} - \sqrt{\frac{L}{8 \zeta(v)}} \Big)^2,
              \quad L = \ln(1 / \delta')
    """
    if math.isinf(epsilon):
        return 1.0
    log, divisor = -math.log(delta), 8 * zeta(v)
    # The difference of the roots, written without cancellation.
    root = 4 * epsilon / divisor / (math.sqrt((log + 4 * epsilon) / divisor) + math.sqrt(log / divisor))
    return min(1.0, root**2)


def zeta(v: float) -> float:
    """Return the Riemann zeta function for v > 1, by the Euler-Maclaurin formula."""
    first = 20.0
    head = math.fsum(math.pow(n, -v) for n in range(1, 20))
    tail = math.pow(first, 1 - v) / (v - 1) + math.pow(first, -v) / 2 + v * math.pow(first, -v - 1) / 12
    return head + tail - v * (v + 1) * (v + 2) * math.pow(first, -v - 3) / 720


@functools.lru_cache(maxsize=64)
def interval_ends(epsilon_in: float, v: float, horizon: int, intervals: str) -> IntArray:
    r"""Return the ends :math:`W_1 < W_2 < \ldots` up to the horizon.

    `"lemma"`: :math:`W_{j+1}` is the first y with :math:`\sum_{i = W_j + 1}^y i^{-v} \ge y^{-v} / \epsilon_{in}`, so
    that the releases spend no more than :math:`\epsilon_{in} \sum_i i^{-v}`. `"uniform"`: every
    :math:`\lceil 1 / \epsilon_{in} \rceil` gains.
    """
    if epsilon_in * horizon < 1e-9:
        # One interval would be as long as a thousand million games.
        return np.array([], np.int64)
    if intervals == "uniform":
        step = math.ceil(1 / epsilon_in)
        return np.arange(step, horizon + 1, step)
    terms = np.arange(1, horizon + 1, dtype=float) ** -v
    before = np.concatenate([[0.0], np.cumsum(terms)])
    # y ends the interval after W if before[y] - terms(y) / epsilon_in >= before[W]; the left side grows with y.
    reach = before[1:] - terms / epsilon_in
    ends = []
    last = 0
    while True:
        # At epsilon_in = 1 the two sides are equal in every round, up to rounding.
        following = last + 1 + int(np.searchsorted(reach[last:], before[last] - 1e-12))
        if following > horizon:
            break
        ends.append(following)
        last = following
    return np.array(ends, np.int64)


def checked_v(v: SupportsFloat) -> float:
    """Return v as a float, or raise if it is not in (1, 1.5]."""
    exponent = checks.real("v", v)
    if not 1 < exponent <= 1.5:
        raise ValueError(f"v must be in (1, 1.5]; received {v!r}.")
    return exponent
