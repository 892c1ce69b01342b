r"""Sums of all of an arm's gains, released at the ends of intervals with decreasing noise (DP-UCB-INT).

When an arm has revealed n gains, and n is the end :math:`W_j` of an interval, its mean is released with noise of scale
:math:`n^{v/2 - 1}`. Every release covers all of the arm's gains, so the releases compose: release j is
:math:`W_j^{-v/2}`-DP, and together they are rho-zCDP with :math:`\rho = \frac{1}{2} \sum_j W_j^{-v}`, which is finite
because v > 1. The stated epsilon comes from their exact composition (`privacy.accounting`) and is about a quarter
smaller.
"""

import math
from typing import Any, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.accounting import delta_for_exact_draws, distance_of_all, epsilon_with_draws
from dp_bandit_envs.privacy.facts import InputFacts, Noise, distance_l1, to_item
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.interval_ends import checked_v, interval_ends, interval_loss, paper_input
from dp_bandit_envs.privacy.laplace import MARGIN, noisy
from dp_bandit_envs.privacy.secure_draws import ChoosesDraws, distance_on_grid
from dp_bandit_envs.protocols import FloatArray, IntArray

INTERVALS = ("lemma", "uniform", "pure")
MODES = ("once", "redraw")
PAPER_DELTA = math.exp(-10)


class State(NamedTuple):
    """The exact sums, and the intervals with their noise.

    Attributes:
        exact: Sums of the gains, `(n_arms,)`.
        inserted: Numbers of gains, `(n_arms,)`.
        passed: Number of ends that each arm has reached, `(n_arms,)`.
        ends: The ends of the intervals, ascending, followed by a sentinel.
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
    """Redraw the noise of an arm's last release in every round until its next gain, as algorithm 3 is printed."""
    end = state.passed[arm] - 1
    if end < 0 or state.inserted[arm] != state.ends[end]:
        return 0.0, 0
    return noisy(state.exact[arm], state.scales[end], state.grids[end], rng), state.inserted[arm]


class IntervalSums(ChoosesDraws):
    r"""Releases an arm's mean over all of its gains at the ends of growing intervals, with decreasing noise.

    After :math:`n = W_1, W_2, \ldots` gains the mean gets Laplace noise of scale :math:`n^{v/2 - 1}`; `sum` is n times
    the noisy mean, and `count` is n. Each release covers all of the arm's gains and is :math:`n^{-v/2}`-DP. Together
    they are rho-zCDP with :math:`\rho = \frac{1}{2} \sum_j W_j^{-v}`, and (epsilon, delta)-DP with an epsilon from the
    exact composition of their losses. A round's gain is added to the sum of one arm only.

    Args:
        epsilon: Target for all releases together, in (0, inf]; the paper's input parameter follows by corollary 3.2.
            The guarantee states the smaller epsilon that is spent.
        v: Exponent of the noise's decay, in (1, 1.5].
        delta: The delta of the target, in (0, 1).
        release: `"once"` draws the noise of each release once. `"redraw"` redraws it in every round, as algorithm 3 of
            the paper is printed. It has no guarantee and is there to demonstrate the leak.
        intervals: `"lemma"` for y of lemma B.1; `"pure"` for x, with a pure target and the input of corollary 3.1;
            `"uniform"` for ceil(1 / input) gains each.
        draws: `"fast"`, repeatable; or `"secure"`, exact noise without a seed (`privacy.secure_draws`).

    Protects: one round's gains of all arms, in the central model.

    Source: Tossou and Dimitrakakis (2016), algorithm 3, theorem 3.4, lemma B.1.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs.wrappers import IntervalSums
        >>> env = IntervalSums(gym.make("DPBandit-Stochastic-v0", n_arms=2, horizon=1000), epsilon=1, delta=1e-6)
        >>> print(f"epsilon = {env.guarantee.epsilon_at(1e-6):.2f}")
        epsilon = 0.22
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
        draws: str = "fast",
    ) -> None:
        self._use_draws(draws)
        self.epsilon, self.delta, self.v = checks.epsilon(epsilon), checks.delta(delta), checked_v(v)
        self.mode = checks.one_of("release", release, MODES)
        self.intervals = checks.one_of("intervals", intervals, INTERVALS)
        self._check_draws()

    def _check_draws(self) -> None:
        if self._secure and self.mode == "redraw":
            raise ValueError("draws='secure' is for release='once'; received release='redraw', which hides nothing.")

    @property
    def idle(self) -> Any:
        """`redraw` for arms that a round does not reveal, in that mode; otherwise None."""
        return redraw if self.mode == "redraw" else None

    def ends(self, horizon: int) -> IntArray:
        """Return the numbers of gains after which an arm's sum is released, up to the horizon."""
        if horizon > checks.MOST_ROUNDS_IN_MEMORY:
            raise ValueError(
                f"IntervalSums needs a horizon of at most {checks.MOST_ROUNDS_IN_MEMORY:,} rounds, as it stores their"
                f" intervals; received {horizon:,}. Use HybridSums or BlockSums."
            )
        return interval_ends(*self._ends_key(horizon)).copy()  # the cache keeps its own

    def _ends_key(self, horizon: int) -> tuple[float, float, int, str]:
        epsilon_in = paper_input(self.epsilon, self.delta, self.v, horizon, self.intervals)
        return epsilon_in, self.v, horizon, self.intervals

    def new_state(self, inputs: InputFacts) -> State:
        """Return empty sums."""
        ends = self.ends(inputs.horizon)
        scales, grids = self._scales_and_grids(ends, inputs)
        zeros, never = np.zeros(inputs.n_values, np.int64), np.iinfo(np.int64).max
        return State(np.zeros(inputs.n_values), zeros, zeros.copy(), np.append(ends, never), scales, grids)

    def _scales_and_grids(self, ends: IntArray, inputs: InputFacts) -> tuple[FloatArray, FloatArray]:
        powers: FloatArray = ends.astype(float) ** (self.v / 2) * MARGIN
        scales: FloatArray = np.zeros(len(ends)) if math.isinf(self.epsilon) else distance_l1(inputs) * powers
        grids = np.array([self._grid(float(scale), float(inputs.horizon)) for scale in scales])
        if self._secure:
            apart = np.array([distance_on_grid(distance_l1(inputs), float(grid), inputs) for grid in grids])
            scales = scales if math.isinf(self.epsilon) else np.nextafter(apart * powers, np.inf)
        return scales, grids

    def first_release(self, inputs: InputFacts) -> int:
        """Return the first end of an interval."""
        ends = self.ends(inputs.horizon)
        return int(ends[0]) if len(ends) else inputs.horizon + 1

    def noise(self, inputs: InputFacts) -> Noise:
        """Return the factor of the noise; its scale differs from release to release."""
        return Noise(inputs.sensitivity)

    def guarantee(self, inputs: InputFacts) -> PrivacyGuarantee:
        """Return the guarantee of the releases, at most the target; or the guarantee below, if there is one."""
        pairs = zip(*self._scales_and_grids(self.ends(inputs.horizon), inputs), strict=True)
        # Each release has a grid of its own, so scales are counted in its steps.
        steps = [(float(scale / grid), inputs.gains_in_a_round) for scale, grid in pairs if grid > 0]
        return self._guarantee_with_draws(inputs, 0.0 if self._secure else distance_of_all(steps, 1.0))

    def _guarantee_with_draws(self, inputs: InputFacts, off: float) -> PrivacyGuarantee:
        """Return the guarantee for draws at this distance from exact noise."""
        if self.mode == "redraw":
            return PrivacyGuarantee.none(
                "the noise on the same mean is drawn again in every round, so averaging the releases reveals the mean;"
                " algorithm 3 is printed so, and its proof counts one draw"
            )
        if math.isinf(self.epsilon):
            return PrivacyGuarantee.none("epsilon is inf, so there is no noise")
        releases = len(self.ends(inputs.horizon))
        key = self._ends_key(inputs.horizon)
        loss = interval_loss(*key)
        if loss.rho == 0:
            return PrivacyGuarantee(epsilon=0.0, theorem="the game is too short for a release")
        epsilon = loss.pure if self.intervals == "pure" else epsilon_with_draws(loss.epsilon, self.delta, off)
        if epsilon > max(self.epsilon, loss.epsilon(self.delta)):
            # With draws the target is missed, unless a pure epsilon meets it, where delta is for the draws alone.
            if loss.pure > self.epsilon and not inputs.is_private:
                delta_for_exact_draws(loss.epsilon(self.delta), self.delta, off)
            epsilon = loss.pure
        influence = (
            "influences the sum of one arm"
            if inputs.sensitivity <= 1
            else f"changes all sums together by at most {inputs.sensitivity:.4g}, which multiplies the noise"
        )
        return PrivacyGuarantee(
            epsilon=epsilon,
            delta=0.0 if epsilon == loss.pure else self.delta,
            rho=loss.rho,
            pure=loss.pure,
            draw_distance=off,
            noise_law=loss.noise_law,
            theorem=(
                f"{releases} releases of an arm's mean, each with one draw of noise, number j"
                f" W_j^(-v/2)-DP, composed exactly; a round {influence} (corrected theorem 3.4 of Tossou and"
                f" Dimitrakakis 2016; target {self.epsilon:g}; proof in docs/notes/accounting.md)"
            ),
        )
