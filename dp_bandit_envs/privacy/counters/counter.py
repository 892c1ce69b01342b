"""Continual release of sums: the interface of every counter.

A counter releases a noisy running sum of numbers in [0, 1] after every item. All counters here are matrix mechanisms:
the noise does not depend on the data. A release is the exact sum plus the noise of some nodes, and an item counted in m
nodes with Laplace noise of scale b has epsilon = m / b. Items may be chosen adaptively, from earlier releases, at no
extra cost, because the density of the outputs is the shifted density of the noise.

The noise of each counter is written once, as plain functions over arrays with one row for each arm:

    start(n_arms, ...) -> State            next_noise(state, arm, rng) -> (noise, fresh)

`next_noise` advances the counter of one arm by one item and returns the noise of its release, and whether there is a
new release after this item (see `Counter.after_every_item`). Wrappers and simulator use the same functions. A release
is rounded to a grid, and the rounding error is assigned to the draws that are new in it:

    settle(state, arm, noise)

stores the noise of the release after rounding, for use in later releases. So every draw is rounded in one release (in
two, for some nodes of the k-ary counter), and later releases use the rounded draw; `privacy.accounting` relies on this.

If every coordinate gets an item in every round, all coordinates share one position, and a node is a vector:

    insert_all(state, rng) -> fresh

advances that position and writes the noise of the release of each coordinate into `state.noise`, and

    settle_all(state, place, noise)

settles one coordinate. The cost is about one draw and one addition per coordinate. Both forms release the same
mechanism's noise, from different streams.
"""

import abc
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.functions import bind
from dp_bandit_envs.draws import Stream, with_formulas
from dp_bandit_envs.privacy.accounting import (
    DominatingNoise,
    delta_for_exact_draws,
    distance_of_all,
    gaussian_law,
    one_laplace,
)
from dp_bandit_envs.privacy.facts import number_or_nan, to_item
from dp_bandit_envs.privacy.gaussian import concentrated, draw_normal, gaussian_sigma
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import DEVIATION, grid_of, noise_scale, to_grid
from dp_bandit_envs.privacy.node_noise import NOISES, fill_normal
from dp_bandit_envs.protocols import FloatArray

REPLACE_ONE_ITEM = "replace one item"


class Counter(abc.ABC):
    """A private running sum of numbers in [0, 1].

    Protects: one item (neighbours differ in the value of one item) in the central model, over all releases together.

    Args:
        epsilon: Privacy parameter, in (0, inf]; `math.inf` means no noise.
        horizon: Number of items T; some counters do not need it.
        rng: A NumPy generator, used with the formulas of `dp_bandit_envs.draws`; by default seeded by the operating
            system.
        delta: Privacy failure probability, in (0, 1), for Gaussian draws; None for Laplace draws.
        values: Number of coordinates of an item. Each has its own fast draws, which use a little of delta; 0 for exact
            draws.

    Attributes:
        sigma: Standard deviation of the Gaussian mechanism at L2 distance 1, for (epsilon, delta minus the part of fast
            draws); 0 without `delta`.
        nodes_per_item: The largest number of nodes that count one item.
        inserted: Number of items inserted.
        released: Number of items that the current release covers.
    """

    needs_horizon: ClassVar[bool] = False
    noise: Any
    """The counter's `next_noise`, as a static method; if it is an ordinary method, it runs in Python, not compiled."""
    settled: Any = None
    """The counter's `settle`, as a static method; None if all its draws are counted as draws of every item."""
    joint_noise: Any = None
    """The counter's `insert_all`, as a static method; None if it has none."""
    joint_settled: Any = None
    """The counter's `settle_all`, as a static method."""
    noises: ClassVar[tuple[str, ...]] = NOISES
    """The kinds of noise that its nodes can have, the default first; see `dp_bandit_envs.privacy.node_noise`."""
    after_every_item: ClassVar[bool] = True
    """Whether there is a new release after every item."""
    draws_once: ClassVar[bool] = False
    """Whether an item takes one draw, so that `joint_noise` draws the same numbers as `noise`; not inherited."""
    ahead_of_items: ClassVar[bool] = False
    """Whether nodes can be drawn, and used in a release, before all of their items are in."""
    weighs_draws: ClassVar[bool] = False
    """Whether releases multiply draws by fractions; draws of whole numbers of steps are then no exact form."""
    dominated_by: ClassVar[Literal["response", "laplace", "levels"]] = "response"
    """What is known of its Laplace draws: that they are epsilon-DP; that no draw is used before its items are in, so
    that one draw at epsilon dominates them; or also that all items are in one node of the same scale a level."""
    most_items: ClassVar[int] = checks.MOST_ROUNDS
    """The longest horizon."""
    nodes_per_item: int

    def __init_subclass__(cls, **options: Any) -> None:
        """Reset `settled` and the dominating noise for a subclass with its own noise, and answer wrong calls."""
        super().__init_subclass__(**options)
        checks.answer_wrong_calls_of(cls, "__init__")
        for noise, settled in (("noise", "settled"), ("joint_noise", "joint_settled")):
            if noise in vars(cls) and settled not in vars(cls):
                setattr(cls, settled, None)
        if "noise" in vars(cls) and "dominated_by" not in vars(cls):
            cls.dominated_by = "response"

    def __init__(
        self,
        *,
        epsilon: SupportsFloat,
        horizon: SupportsIndex | None = None,
        rng: np.random.Generator | None = None,
        delta: SupportsFloat | None = None,
        values: SupportsIndex = 1,
    ) -> None:
        self.epsilon = checks.epsilon(epsilon)
        self.delta = None if delta is None else checks.delta(delta)
        self.sigma = 0.0 if self.delta is None else gaussian_sigma(self.epsilon, self.delta)
        if self.delta is not None:
            self.noise = gaussian_form(self.noise)
        self.horizon = (
            None if horizon is None else checks.integer("horizon", horizon, at_least=1, at_most=self.most_items)
        )
        if self.needs_horizon and self.horizon is None:
            raise ValueError(
                f"{type(self).__name__} must know its horizon; received none. Use horizon=..., or a counter for an"
                " unknown horizon: SegmentTreesCounter."
            )
        self._rng = Stream(np.random.SFC64()) if rng is None else with_formulas(checks.generator("rng", rng))
        self.inserted = self.released = 0
        self._exact = self._total = 0.0
        self.state = self.new_state(1)
        if self.sigma > 0 and self.delta is not None:
            # Within an octave of sigma the distance changes with the grid, by less than a factor of 2.
            room = 2 * self.distance_of_draws(checks.integer("values", values, at_least=0))
            self.sigma = gaussian_sigma(self.epsilon, delta_for_exact_draws(self.epsilon, self.delta, room))
            for depends_on_sigma in ("grid", "_scales"):
                vars(self).pop(depends_on_sigma, None)
            self.state = self.new_state(1)

    @abc.abstractmethod
    def new_state(self, n_arms: int) -> Any:
        """Return the state of `n_arms` counters before their first items."""

    def new_joint_state(self, n_values: int, norm: int = 0) -> Any:
        """Return the state of `insert_all` before the first round.

        Args:
            n_values: Number of coordinates d.
            norm: The norm of own-norm noise, a value of `NORM_CODES`; other noise does not use it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no joint form")

    def scale_of(self, shares: int) -> float:
        """Return the scale of a node; the reciprocals of the shares of an item's nodes must sum to at most 1.

        Laplace scale shares / epsilon; or standard deviation sqrt(shares) sigma, as an item's nodes compose to one
        Gaussian mechanism if the reciprocals of their variances add up to at most 1 / sigma^2.
        """
        if self.delta is None:
            return node_scale(shares, self.epsilon)
        return math.sqrt(shares) * self.sigma

    @abc.abstractmethod
    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the scales of the draws in the release after `items` items, each with its number of terms.

        These are Laplace scales, or standard deviations of Gaussian draws.
        """

    def noisiest(self, places: int, ones: int) -> list[tuple[float, int]]:
        """Return the scales of the noisiest release among those after t items with a given number of ones in base 2.

        This is the t whose remaining one bits are at the lowest levels, where nodes are at least as noisy as above.

        Args:
            places: t is in [2^places, 2^(places + 1)).
            ones: Number of one bits of t, from 1 to places + 1.
        """
        return self.scales((1 << places) + (1 << ones - 1) - 1)

    def peaks(self, items: int) -> list[int]:
        """Return some numbers of items up to this one; after one of them the variance is largest.

        For counters whose variance is a sum over the ones in base 2. A smaller number has a 0 at some place where this
        one has a 1; among numbers with the same higher places, the variance is largest with ones at all lower places.
        """
        return [items, *((items >> place << place) - 1 for place in range(items.bit_length()) if items >> place & 1)]

    def insert(self, value: SupportsFloat) -> None:
        """Add an item in [0, 1]."""
        number = number_or_nan(value)
        if not 0 <= number <= 1:
            raise ValueError("an item must be in [0, 1]; the one received is not (withheld, as it may be private).")
        if self.horizon is not None and self.inserted >= self.horizon:
            raise ValueError(f"at most {self.horizon} items fit this counter's horizon; received one more.")
        self.inserted += 1
        self._exact += to_item(number)
        noise, fresh = self.noise(self.state, 0, self._rng)
        if fresh:
            self.released = self.inserted
            self._total = to_grid(self._exact + float(noise), self.grid)
            if self.settled is not None:
                self.settled(self.state, 0, self._total - self._exact)

    def release(self) -> float:
        """Return the noisy sum of the first `released` items; repeated calls return the same number."""
        return self._total

    @functools.cached_property
    def grid(self) -> float:
        """The step between the numbers that can be released; 0 without noise.

        On a grid, the set of possible releases does not depend on the items; see `privacy.laplace.to_grid`.
        """
        return self.grid_for(1.0 if self.delta is not None else DEVIATION)

    def grid_for(self, factor: float) -> float:
        """Return the grid of a release of one node, whose standard deviation is a multiple of its scale."""
        return grid_of(factor * min((scale for scale, number in self.scales(1) if number), default=0.0))

    @property
    def noise_scales(self) -> FloatArray:
        """The scales, or standard deviations, of the independent terms in the current release."""
        return np.array([scale for scale, number in self.scales(self.released) for _ in range(number)])

    def variance(self, items: int) -> float:
        """Return the variance of the release after `items` items, from 0 to the horizon."""
        number = checks.integer("items", items, at_least=0)
        if self.horizon is not None and number > self.horizon:
            raise ValueError(f"items must be at most the horizon of {self.horizon}; received {items}.")
        return self._variance(number)

    def mean_variance(self, items: SupportsIndex) -> float:
        """Return the mean of the release's variance over 1, ..., `items` items, from 1 to the horizon.

        Exact up to rounding of floats; the counters of this package compute it without a loop over all times.
        """
        number = checks.integer("items", items, at_least=1)
        self.variance(number)
        return self._sum_of_variances(number) / number

    def _sum_of_variances(self, items: int) -> float:
        return math.fsum(map(self._variance, range(1, items + 1)))

    def _variance(self, items: int) -> float:
        return math.fsum(self._squared(scale) * number for scale, number in self.scales(items))

    def _squared(self, scale: float) -> float:
        """Return the variance of a draw."""
        return 2 * scale * scale if self.delta is None else scale * scale

    def error_width(self, failure_probability: SupportsFloat) -> float:
        """Return a width that the current release's error exceeds with at most this probability, in (0, 1).

        It is less than 1.6 times the smallest such width up to a probability of 0.2; above, it can be 2.4 times as
        large.
        """
        probability = checks.probability("failure_probability", failure_probability)
        if self.delta is not None:
            return normal_width(self.variance(self.released), probability)
        return laplace_width(self.scales(self.released), probability)

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """The guarantee for all releases together."""
        if math.isinf(self.epsilon):
            return PrivacyGuarantee.none("epsilon is inf, so there is no noise")
        return PrivacyGuarantee(
            epsilon=self._spent,
            delta=self.delta or 0.0,
            rho=None if self.delta is None else concentrated(self.sigma),
            covers="releases",
            noise_law=self.noise_law,
            neighbours=REPLACE_ONE_ITEM,
            theorem=f"{self._reason} ({type(self).__name__})",
            draw_distance=self.distance_of_draws(),
        )

    @property
    def _spent(self) -> float:
        return self.epsilon

    @property
    def _reason(self) -> str:
        """The reason why all releases spend no more."""
        kind = "Laplace" if self.delta is None else "Gaussian"
        return f"an item is counted in at most {self.nodes_per_item} {kind} nodes"

    @property
    def noise_law(self) -> DominatingNoise:
        """The draws that dominate the effect of one item; see docs/notes/accounting.md."""
        if self.delta is not None:
            return gaussian_law(self.sigma)
        if self.dominated_by == "levels":
            return DominatingNoise(laplace=((self.epsilon / self.nodes_per_item, self.nodes_per_item),))
        if self.dominated_by == "laplace":
            return one_laplace(self._spent)
        return DominatingNoise(responses=((self._spent, 1),))

    def distance_of_draws(self, values: int = 1) -> float:
        """Return the distance of the fast draws that one item influences from exact ones, in [0, 1]."""
        draws = [(scale, number * values) for scale, number in self.item_draws()]
        return distance_of_all(draws, self.grid, normal=self.delta is not None, used_twice=self.ahead_of_items)

    def item_draws(self) -> list[tuple[float, int]]:
        """Return the scales of the draws that one item influences, each with the largest number of such draws."""
        return [(self.scale_of(self.nodes_per_item), self.nodes_per_item)]


def gaussian_form(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a counter's plain function with normal instead of Laplace draws."""
    return bind(function, {"draw": draw_normal, "fill": fill_normal}, missing_ok=True)


@functools.lru_cache(maxsize=4096)
def node_scale(nodes: int, epsilon: float) -> float:
    """Return the scale of Laplace noise for `nodes` nodes that share epsilon; 0 for epsilon = inf."""
    return noise_scale(float(nodes), epsilon)


def laplace_width(scales: Sequence[tuple[float, int]], failure_probability: float) -> float:
    r"""Return w with :math:`P(|\sum_i \mathrm{Lap}(b_i)| > w)` at most the failure probability.

    .. math:: w = \min_{0 < s < 1 / b} \frac{1}{s} \Big( \ln \frac{2}{\gamma} + \ln(1 - s b)
              - \sum_i \ln(1 - b_i^2 s^2) \Big), \quad b = \max_i b_i

    The sum comes from the Chernoff bound: :math:`1 / (1 - b_i^2 s^2)` is the moment generating function of a draw. The
    term before it uses the overshoot: beyond w the density of the sum falls no faster than the density of its widest
    draw, so :math:`E[e^{s (S - w)} \mid S > w] \ge 1 / (1 - s b)`. For a single draw the width is exact.

    Args:
        scales: Scales b, each with the number of terms that have it; scales of 0 and numbers of 0 are ignored.
        failure_probability: gamma, in (0, 1).
    """
    terms = [(scale, number) for scale, number in scales if scale > 0 and number > 0]
    if not terms:
        return 0.0
    terms.sort(reverse=True)
    widest, of_widest = terms[0]
    # One widest draw's -ln(1 - x^2) and the overshoot's ln(1 - x) make -ln(1 + x).
    others = [(widest, of_widest - 1), *terms[1:]] if of_widest > 1 else terms[1:]
    log = math.log(2) - math.log(failure_probability)

    def bound(share: float) -> float:
        s = share / widest
        return (
            log - math.log1p(share) - math.fsum(number * math.log1p(-((scale * s) ** 2)) for scale, number in others)
        ) / s

    # The bound falls and then rises in s; golden section on (0, 1) finds the lowest point.
    ratio = (math.sqrt(5) - 1) / 2
    low, high = 0.0, 1.0
    for _ in range(80):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if bound(left) < bound(right):
            high = right
        else:
            low = left
    return bound((low + high) / 2)


def normal_width(variance: float, failure_probability: float) -> float:
    """Return a width that a normal variable exceeds in absolute value with at most this probability.

    P(|N| > w) <= exp(-w^2 / 2) for the standard normal, without a factor 2 (Craig's form of the tail).
    """
    return math.sqrt(variance * 2 * -math.log(failure_probability))
