r"""The square-root counter: Gaussian noise, correlated by nearly the square root of the prefix-sum matrix.

L is lower triangular and Toeplitz, close to that square root, with entries that are sums of a few exponentials. The
square root has entries :math:`f_k = \frac{1}{\pi} \int_0^1 \frac{u^k}{\sqrt{u (1 - u)}} du`. With :math:`u = e^{-e^s}`
the trapezoidal rule in s gives :math:`l_k = \sum_i w_i \theta_i^k`, the entries of L. The other factor C, with L C
equal to the prefix-sum matrix, is exact for this L. Its generating function is :math:`C(x) = \frac{1}{(1 - x) L(x)}`.
Written as a function of z = 1 / x, it is :math:`\frac{1}{(z - 1) \sum_i w_i / (z - \theta_i)}`, with poles at 1 and
between adjacent :math:`\theta_i`, all with positive residues. So its entries are sums of exponentials too, and all sums
here have positive terms and lose no digits.

Source: McMahan, Xu and Zhang (2024), A Hassle-free Algorithm for Private Learning in Practice, for noise from a sum of
exponentials (BLT); they choose them by optimisation.
"""

import functools
import math
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs.privacy.counters.counter import Counter
from dp_bandit_envs.privacy.gaussian import draw_normal
from dp_bandit_envs.privacy.laplace import grid_of
from dp_bandit_envs.privacy.node_noise import fill_normal
from dp_bandit_envs.protocols import FloatArray

COARSER = 32
"""The ratio of its grid to other counters' grids."""
STEP = 2.0
"""Distance of the trapezoidal rule's nodes in s; smaller steps do not bring the variance down."""
HIGHEST = 0.5
"""The largest s: there u is e^-1.6."""
BELOW = 6.0
"""How far the smallest s reaches below -ln T, so that entries up to T are close to the square root's."""


# ---- sums of exponentials ------------------------------------------------------------------------------------------


class Exponentials(NamedTuple):
    r"""Entries :math:`a_0` = first and :math:`a_k = \sum_i w_i (1 - g_i)^{k - 1}` for k = 1, 2, ...

    Attributes:
        first: Entry 0.
        weights: w, `(terms,)`, greater than 0.
        gaps: g, `(terms,)`, in [0, 1); stored as gaps so that bases close to 1 keep their digits.
    """

    first: float
    weights: FloatArray
    gaps: FloatArray

    def sum_of_squares(self, entries: int) -> float:
        """Return the sum of the squares of the first entries, at least 1 of them."""
        pairs, gaps = self._pairs()
        return float(self.first**2 + (pairs * geometric(gaps, entries - 1)).sum())

    def sum_of_sums(self, most: int) -> float:
        """Return the sum of `sum_of_squares(n)` over n = 1, ..., most."""
        pairs, gaps = self._pairs()
        return float(most * self.first**2 + (pairs * sum_of_geometric(gaps, most - 1)).sum())

    def _pairs(self) -> tuple[FloatArray, FloatArray]:
        gaps = self.gaps[:, np.newaxis] + self.gaps - self.gaps[:, np.newaxis] * self.gaps
        return self.weights[:, np.newaxis] * self.weights, gaps


def geometric(gaps: FloatArray, terms: int) -> FloatArray:
    """Return 1 + p + ... + p^(terms - 1) for p = 1 - gap in [0, 1]."""
    safe = np.where(gaps > 0, np.minimum(gaps, 1 - 1e-16), 1.0)
    sums: FloatArray = np.where(gaps > 0, -np.expm1(terms * np.log1p(-np.minimum(safe, 1 - 1e-16))) / safe, terms)
    return sums


def sum_of_geometric(gaps: FloatArray, most: int) -> FloatArray:
    """Return the sum of `geometric(gaps, n)` over n = 1, ..., most."""
    # (most - p geometric(most)) / gap cancels where gap * most is small; there a series in gap * most is used.
    small = gaps * (most + 1) < 1e-3
    g = np.where(small, 1.0, gaps)
    long = (most - (1 - g) * geometric(g, most)) / g
    n = float(most)
    # The sum over n of sum_j binomial(n, j + 1) (-gap)^j is sum_j binomial(most + 1, j + 2) (-gap)^j.
    term, short = n * (n + 1) / 2, np.zeros_like(gaps)
    factor = np.ones_like(gaps)
    for j in range(8):
        short = short + term * factor
        factor = -factor * gaps
        term = term * max(n - 1 - j, 0.0) / (j + 3)
    return np.where(small, short, long)


def number_of_terms(horizon: int) -> int:
    """Return the number of exponentials for T items: 8 at 2^10, 12 at 2^20, and 19 from 2^40 on."""
    return 1 + math.ceil((math.log(min(horizon, 2**40)) + BELOW + HIGHEST) / STEP)


def exponentials(horizon: int) -> tuple[FloatArray, FloatArray]:
    r"""Return :math:`\theta` in (0, 1), descending, and w > 0 of L, each `(terms,)`."""
    x = np.exp(HIGHEST - STEP * np.arange(number_of_terms(horizon)))[::-1]
    weights: FloatArray = STEP / math.pi * x / np.sqrt(np.expm1(x))
    return np.exp(-x), weights


def of_releases(decay: FloatArray, weights: FloatArray) -> Exponentials:
    """Return the entries of L."""
    return Exponentials(float(weights.sum()), weights * decay, 1 - decay)


def of_items(decay: FloatArray, weights: FloatArray) -> Exponentials:
    """Return the entries of C."""
    gaps = 1 - decay
    low, high = gaps[:-1].copy(), gaps[1:].copy()
    # Between two neighbours sum_i w_i / (z - theta_i) falls from inf to -inf in z, so it grows in the gap 1 - z.
    for _ in range(200):
        middle = np.sqrt(low * high)
        above = (weights / (gaps - middle[:, np.newaxis])).sum(axis=1) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    roots = np.sqrt(low * high)
    slopes = (weights / (gaps - roots[:, np.newaxis]) ** 2).sum(axis=1)
    residues = np.concatenate([[1 / (weights / gaps).sum()], 1 / (roots * slopes)])
    return Exponentials(float(1 / weights.sum()), residues, np.concatenate([[0.0], roots]))


# ---- the counter ---------------------------------------------------------------------------------------------------


class State(NamedTuple):
    """The state of independent arms.

    Attributes:
        sums: For each exponential, the decayed sum of all draws but the last, `(n_arms, terms)`.
        decay: The factor of a draw's decay per item, `(terms,)`.
        weights: The exponentials' weights in a release, `(terms,)`.
        last_draw: The last draw, `(n_arms,)`.
        before: The noise of the last release without the last draw, `(n_arms,)`.
        first: The sum of the weights.
        scale: The standard deviation of a draw.
    """

    sums: FloatArray
    decay: FloatArray
    weights: FloatArray
    last_draw: FloatArray
    before: FloatArray
    first: float
    scale: float


class SquareRootJointState(NamedTuple):
    """The state of all coordinates together.

    Attributes:
        sums: As in `State`, `(terms, n_values)`.
        last_draw, before: As in `State`, `(n_values,)`.
        noise: The noise of the present releases, `(n_values,)`.
        decay, weights, first, scale: As in `State`.
    """

    sums: FloatArray
    decay: FloatArray
    weights: FloatArray
    last_draw: FloatArray
    before: FloatArray
    noise: FloatArray
    first: float
    scale: float


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Add the last draw to every exponential, decay each by one item, sum them by weight, and make a new draw."""
    sums, decay, weights = state.sums[arm], state.decay, state.weights
    last, before = state.last_draw[arm], 0.0
    for term in range(len(decay)):
        sums[term] = decay[term] * (sums[term] + last)
        before += weights[term] * sums[term]
    state.before[arm] = before
    state.last_draw[arm] = draw_normal(state.scale, rng)
    return before + state.first * state.last_draw[arm], True


def settle(state: State, arm: int, noise: float) -> None:
    """Assign the rounding error of the release to the last draw."""
    state.last_draw[arm] = (noise - state.before[arm]) / state.first


def insert_all(state: SquareRootJointState, rng: np.random.Generator) -> bool:
    """Do as `insert`, for all coordinates, with a draw for each."""
    last, before = state.last_draw, state.before
    before[:] = 0.0
    for term in range(len(state.decay)):
        sums, decay, weight = state.sums[term], state.decay[term], state.weights[term]
        for i in range(len(last)):
            sums[i] = decay * (sums[i] + last[i])
            before[i] += weight * sums[i]
    fill_normal(last, state.scale, 0, rng)
    for i in range(len(last)):
        state.noise[i] = before[i] + state.first * last[i]
    return True


def settle_all(state: SquareRootJointState, coordinate: int, noise: float) -> None:
    """Do as `settle`, for one coordinate."""
    state.last_draw[coordinate] = (noise - state.before[coordinate]) / state.first


class SquareRootCounter(Counter):
    r"""Nearly the square-root factorisation of Fichtenberger, Henzinger and Upadhyay (2023), with Gaussian noise.

    The prefix-sum matrix is :math:`M = L C`. L is lower triangular and Toeplitz, with entries
    :math:`l_k = \sum_i w_i \theta_i^k` of q terms, close to the square root of M; C makes the product exactly M (see
    the module). An item's column of C has L2 norm at most :math:`\sqrt{\sum_{k < T} c_k^2}`; times
    :math:`\sigma(\epsilon, \delta)`, this is the standard deviation of independent Gaussian noise z. The Gaussian
    mechanism releases C times the items plus z; multiplying by L is post-processing and gives releases with noise
    :math:`L z`. Compared with the exact square root of M, the mean variance is at most 0.3% larger for any T up to 2^40
    (for T below 1,000 it may be smaller, by at most 0.7%). The largest variance is at most 0.1% larger. Memory is q
    numbers per arm or coordinate (8 for T = 2^10, 12 for T = 2^20); time is one draw and q additions per item.

    Args:
        epsilon: Privacy parameter, in (0, inf].
        delta: Privacy failure probability, in (0, 1).
        horizon: Number of items T.
        more: As in `Counter`: `rng` and `values`.

    Source: Fichtenberger, Henzinger and Upadhyay (2023), Constant Matters; McMahan, Xu and Zhang (2024) for the
    exponentials.
    """

    noise = staticmethod(next_noise)
    settled = staticmethod(settle)
    joint_noise = staticmethod(insert_all)
    joint_settled = staticmethod(settle_all)
    noises = ("gaussian",)
    weighs_draws = True

    needs_horizon = True
    nodes_per_item = 0

    def __init__(
        self,
        *,
        epsilon: SupportsFloat,
        delta: SupportsFloat = 1e-6,
        horizon: SupportsIndex | None = None,
        **more: Any,
    ) -> None:
        super().__init__(epsilon=epsilon, horizon=horizon, delta=delta, **more)

    def new_state(self, n_arms: int) -> State:
        """Return the state of `n_arms` counters before their first items."""
        decay, weights = self._terms
        sums, last_draw, before = np.zeros((n_arms, len(decay))), np.zeros(n_arms), np.zeros(n_arms)
        return State(sums, decay.copy(), weights.copy(), last_draw, before, float(weights.sum()), self._scale)

    def new_joint_state(self, n_values: int, norm: int = 0) -> Any:
        """Return the state of `insert_all` before the first round."""
        decay, weights = self._terms
        sums, vectors = np.zeros((len(decay), n_values)), (np.zeros(n_values), np.zeros(n_values), np.zeros(n_values))
        return SquareRootJointState(sums, decay.copy(), weights.copy(), *vectors, float(weights.sum()), self._scale)

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return an empty result: the terms of a release have different weights, see `variance`."""
        return []

    def item_draws(self) -> list[tuple[float, int]]:
        """Return the standard deviation and number of the draws that one item influences: all later draws."""
        assert self.horizon is not None
        return [(self._scale, self.horizon)]

    @functools.cached_property
    def grid(self) -> float:
        """The step between the numbers that can be released; 0 without noise."""
        return self.grid_for(1.0)

    def grid_for(self, factor: float) -> float:
        """Return the grid, 1/8 to 1/16 of the standard deviation of a draw.

        Rounding to it adds a thousandth to the variance on average. An item influences all later draws, and a finer
        grid would reveal more of the draws' own step size: see `privacy.accounting`.
        """
        return COARSER * grid_of(factor * self._scale)

    @property
    def noise_scales(self) -> FloatArray:
        """The standard deviation of the Gaussian noise in the current release, shape `(1,)`."""
        return np.array([math.sqrt(self.variance(self.released))])

    def _variance(self, items: int) -> float:
        return self._scale**2 * self._releases.sum_of_squares(items) if items else 0.0

    def _sum_of_variances(self, items: int) -> float:
        return self._scale**2 * self._releases.sum_of_sums(items)

    @property
    def _reason(self) -> str:
        return "Gaussian mechanism on nearly the square root of the matrix of sums"

    @functools.cached_property
    def _terms(self) -> tuple[FloatArray, FloatArray]:
        assert self.horizon is not None
        return exponentials(self.horizon)

    @functools.cached_property
    def _releases(self) -> Exponentials:
        return of_releases(*self._terms)

    @property
    def _scale(self) -> float:
        return self.sigma * self._longest

    @functools.cached_property
    def _longest(self) -> float:
        assert self.horizon is not None
        # All terms are positive, so rounding changes the sum by a few 1e-14 of itself.
        return math.sqrt(of_items(*self._terms).sum_of_squares(self.horizon)) * (1 + 1e-12)
