"""The square-root counter: Gaussian noise through the square root of the matrix of sums, for (epsilon, delta)."""

import functools
import math
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.counters.counter import REPLACE_ONE_ITEM, Counter
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import grid_of
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """Items so far `(n_arms,)`, and for each arm with an item the noise of all of its releases."""

    items: IntArray
    paths: list[FloatArray | None]


class SquareRootCounter(Counter):
    r"""The square-root factorisation of Fichtenberger, Henzinger and Upadhyay (2023) with Gaussian noise.

    The matrix of sums is :math:`M = R R` with R lower triangular and Toeplitz, with entries
    :math:`f_0 = 1, f_k = f_{k-1} (1 - \frac{1}{2k})`. An item's column of R has L2 norm at most
    :math:`\sqrt{\sum_{k < T} f_k^2}`; this times :math:`\sigma(\epsilon, \delta)` is the standard deviation of
    independent Gaussian noise z, and the noise of the releases is :math:`R z`.

    Takes memory of order T for each arm, and T ln T time once for each: the noise of all releases is drawn at the first
    item.

    Args:
        epsilon: Privacy parameter, in (0, inf].
        delta: Privacy failure probability, in (0, 1).
        horizon: Number of items T.
        rng: The stream of the noise.
    """

    needs_horizon = True
    most_items = checks.MOST_ROUNDS_IN_MEMORY
    nodes_per_item = 0

    def __init__(
        self,
        *,
        epsilon: SupportsFloat,
        delta: SupportsFloat = 1e-6,
        horizon: SupportsIndex | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.delta = checks.delta(delta)
        self.sigma = gaussian_sigma(checks.epsilon(epsilon), self.delta)
        super().__init__(epsilon=epsilon, horizon=horizon, rng=rng)
        assert self.horizon is not None
        k = np.arange(1, self.horizon)
        self._factor = np.concatenate([[1.0], np.cumprod(1 - 1 / (2 * k))])
        self._squares = np.cumsum(self._factor**2)

    def new_state(self, n_arms: int) -> State:
        """Return the state of `n_arms` counters before their first items."""
        return State(np.zeros(n_arms, np.int64), [None] * n_arms)

    def noise(self, state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
        """Insert one item for `arm`; return the noise of the release and that there is a new one."""
        if self.sigma == 0:
            return 0.0, True
        path = state.paths[arm]
        if path is None:
            path = state.paths[arm] = self._path(rng)
        state.items[arm] += 1
        return float(path[state.items[arm] - 1]), True

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return nothing: the noise is Gaussian, see `variance`."""
        return []

    @functools.cached_property
    def grid(self) -> float:
        """The step between the numbers that can be released; 0 without noise."""
        return grid_of(self.sigma)

    @property
    def noise_scales(self) -> FloatArray:
        """The standard deviation of the Gaussian noise in the current release, shape `(1,)`."""
        return np.array([math.sqrt(self.variance(self.released))])

    def _variance(self, items: int) -> float:
        if items == 0:
            return 0.0
        return float(self.sigma**2 * self._squares[-1] * self._squares[items - 1])

    def _sum_of_variances(self, items: int) -> float:
        return float(self.sigma**2 * self._squares[-1] * self._squares[:items].sum())

    def error_width(self, failure_probability: SupportsFloat) -> float:
        """Return a width that the current release's error exceeds with at most this probability, in (0, 1)."""
        probability = checks.real("failure_probability", failure_probability)
        if not 0 < probability < 1:
            raise ValueError(f"failure_probability must be in (0, 1); received {failure_probability!r}.")
        # P(|N| > w) <= exp(-w^2 / 2), without a factor 2 (Craig's form of the tail).
        return math.sqrt(self.variance(self.released) * 2 * math.log(1 / probability))

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """The guarantee for all releases together."""
        if self.sigma == 0:
            return PrivacyGuarantee.none("epsilon is inf, so there is no noise")
        return PrivacyGuarantee(
            epsilon=self.epsilon,
            delta=self.delta,
            rho=1 / (2 * self.sigma**2),
            neighbours=REPLACE_ONE_ITEM,
            theorem="Gaussian mechanism on the square root of the matrix of sums (SquareRootCounter)",
        )

    def _path(self, rng: np.random.Generator) -> FloatArray:
        assert self.horizon is not None
        white = rng.normal(0, self.sigma * math.sqrt(self._squares[-1]), self.horizon)
        # Zero-padded to twice the length, so that the transform's circular convolution equals the plain one.
        length = 2 * self.horizon
        product: Any = np.fft.rfft(white, length) * np.fft.rfft(self._factor, length)
        path: FloatArray = np.fft.irfft(product, length)[: self.horizon]
        return path
