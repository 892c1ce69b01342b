"""The hybrid counter: logarithmic at powers of two, a binary tree in between; for any number of items."""

import dataclasses
import functools
import math
from typing import Any, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.counters.counter import Counter, trailing_zeros
from dp_bandit_envs.privacy.counters.digits import octaves
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import draw
from dp_bandit_envs.privacy.node_noise import add, copy, fill
from dp_bandit_envs.protocols import FloatArray, IntArray

MOST_LEVELS = 62


class State(NamedTuple):
    """The state of the two parts.

    Attributes:
        items: Items so far, `(n_arms,)`.
        base: Noise of the closed part, at the last power of two, `(n_arms,)`.
        upward: At each level, the base and the noise of the tree's nodes from this level on, `(n_arms, levels)`.
        levels: The tree's number of levels now, `(n_arms,)`.
        scales: The scale of a node at each number of levels, `(levels + 1,)`.
    """

    items: IntArray
    base: FloatArray
    upward: FloatArray
    levels: IntArray
    scales: FloatArray


class Joint(NamedTuple):
    """The state of all coordinates together.

    Attributes:
        items: Rounds so far, `(1,)`.
        base: Noise of the closed part, at the last power of two, `(n_values,)`.
        upward: At each set bit of the tree, the noise of the base and of the nodes from this level on,
            `(levels, n_values)`.
        levels: The tree's number of levels now, `(1,)`.
        noise: The noise of the present releases, `(n_values,)`.
        scales: The scale of a node at each number of levels, `(levels + 1,)`.
        norm: The norm of own-norm noise.
    """

    items: IntArray
    base: FloatArray
    upward: FloatArray
    levels: IntArray
    noise: FloatArray
    scales: FloatArray
    norm: int


def start(n_arms: int, scales: FloatArray) -> State:
    """Return the state of counters for any number of items."""
    levels = np.zeros(n_arms, np.int64)
    return State(levels.copy(), np.zeros(n_arms), np.zeros((n_arms, MOST_LEVELS + 1)), levels, scales)


def start_all(n_values: int, norm: int, horizon: int | None, scales: FloatArray) -> Joint:
    """Return the joint state for this number of rounds, or for any."""
    levels = MOST_LEVELS if horizon is None else horizon.bit_length()
    upward = np.zeros((levels, n_values))
    numbers = np.zeros(1, np.int64), np.zeros(1, np.int64)
    return Joint(numbers[0], np.zeros(n_values), upward, numbers[1], np.zeros(n_values), scales, norm)


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Begin a new tree at a power of two; otherwise close a node of the present one."""
    state.items[arm] += 1
    t = state.items[arm]
    # 2^k < t < 2^(k+1): the tree holds at most 2^k - 1 items, so k levels.
    if t & (t - 1) == 0:
        return grow(state, arm, state.scales[1], rng), True
    return close_node(state, arm, t, state.scales[state.levels[arm]], rng), True


def insert_all(state: Joint, rng: np.random.Generator) -> bool:
    """Begin a new tree at a power of two; otherwise close a node of the present one."""
    state.items[0] += 1
    t = state.items[0]
    if t & (t - 1) == 0:
        grow_all(state, state.scales[1], rng)
    else:
        close_nodes(state, t, state.scales[state.levels[0]], rng)
    return True


def settle(state: State, arm: int, noise: float) -> None:
    """Let the last draw take what rounding the release changed."""
    t = state.items[arm]
    if t & (t - 1) == 0:
        state.base[arm] = noise
    for covered in range(trailing_zeros(t) + 1):
        state.upward[arm, covered] = noise


def settle_all(state: Joint, place: int, noise: float) -> None:
    """Do what `settle` does, for one coordinate."""
    t = state.items[0]
    if t & (t - 1) == 0:
        state.base[place] = noise
    else:
        state.upward[trailing_zeros(t), place] = noise


def grow(state: State, arm: int, scale: float, rng: np.random.Generator) -> float:
    """At t = 2^k, add one draw to the base, forget the tree, and begin one of k levels; return the base's noise."""
    upward = state.upward[arm]
    state.base[arm] += draw(scale, rng)
    levels = trailing_zeros(state.items[arm])
    state.levels[arm] = levels
    for level in range(levels + 1):
        upward[level] = state.base[arm]
    base: float = state.base[arm]
    return base


def close_node(state: State, arm: int, t: int, scale: float, rng: np.random.Generator) -> float:
    """Draw the node at the lowest one of t, drop those it covers, and return the sum of the tree's nodes and the base.

    The sums from each level up make this O(1) on average, and O(lg t) at most.
    """
    upward = state.upward[arm]
    level = trailing_zeros(t)
    noise: float = upward[level + 1] + draw(scale, rng)
    for covered in range(level + 1):
        upward[covered] = noise
    return noise


def grow_all(state: Joint, scale: float, rng: np.random.Generator) -> None:
    """At t = 2^k, add one draw to the base of each coordinate, and begin a tree of k levels; see `grow`."""
    fill(state.noise, scale, state.norm, rng)
    add(state.base, state.base, state.noise)
    copy(state.noise, state.base)
    state.levels[0] = trailing_zeros(state.items[0])


def close_nodes(state: Joint, t: int, scale: float, rng: np.random.Generator) -> None:
    """Draw the node at the lowest one of t for each coordinate, and add the nodes above it; see `close_node`."""
    rest = t & (t - 1)
    fill(state.noise, scale, state.norm, rng)
    above = state.base if rest & (rest - 1) == 0 else state.upward[trailing_zeros(rest)]
    add(state.noise, state.noise, above)
    copy(state.upward[trailing_zeros(t)], state.noise)


def scales_by_levels(counter: Counter, shares: int) -> FloatArray:
    """Return the scale of a node in a tree of k levels, each of which has k `shares`, for k = 0, ..., MOST_LEVELS."""
    return np.array([counter.scale_of(k * shares) for k in range(MOST_LEVELS + 1)])


class HybridCounter(Counter):
    """The hybrid mechanism of Chan, Shi and Song (2011) for an unknown horizon.

    An item is counted in one draw of the logarithmic part and in up to k nodes of the tree of 2^k - 1 items, which has
    k levels. Both parts are released, so they compose: each gets half of epsilon.

    Args:
        epsilon: Privacy parameter of both parts together.
        budget: `"split"`; or `"paper"`, which gives each part all of epsilon, as Tossou and Dimitrakakis (2016) do
            (lemma B.2). That is 2 epsilon-DP and no better, and the guarantee says so; not for Gaussian draws.
        horizon: Not needed.
        rng: The stream of the noise.
    """

    noise = staticmethod(next_noise)
    settled = staticmethod(settle)
    joint_noise = staticmethod(insert_all)
    draws_once = True
    joint_settled = staticmethod(settle_all)

    def __init__(self, *, epsilon: SupportsFloat, budget: str = "split", **arguments: Any) -> None:
        self.budget = checks.one_of("budget", budget, ("split", "paper"))
        if self.budget == "paper" and arguments.get("delta") is not None:
            raise ValueError("budget='paper' is for Laplace draws; received a delta too. Use budget='split'.")
        super().__init__(epsilon=epsilon, **arguments)

    nodes_per_item = MOST_LEVELS + 1

    def new_state(self, n_arms: int) -> State:
        """Return the state of `n_arms` counters before their first items."""
        return start(n_arms, self._scales.copy())

    def new_joint_state(self, n_values: int, norm: int = 0) -> Any:
        """Return the state of `insert_all` before the first round."""
        return start_all(n_values, norm, self.horizon, self._scales.copy())

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        levels = max(items.bit_length() - 1, 0)
        in_tree = (items - (1 << levels)).bit_count() if items else 0
        scales = self._scales
        return [(float(scales[1]), items.bit_length()), (float(scales[levels]), in_tree)]

    def item_draws(self) -> list[tuple[float, int]]:
        """Return the scales of the draws that one item influences: one of the logarithmic part and one a level."""
        levels = MOST_LEVELS if self.horizon is None else self.horizon.bit_length() - 1
        return [(float(self._scales[1]), 1), (float(self._scales[levels]), levels)]

    def _sum_of_variances(self, items: int) -> float:
        of_node = [self._squared(float(scale)) for scale in self._scales]
        return math.fsum(
            of_node[1] * ((place + 1) * numbers) + of_node[place] * ones for place, numbers, ones in octaves(items)
        )

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """The guarantee for all releases together."""
        reason = "one draw of the logarithmic part and k nodes of scale k, with half of epsilon each"
        if self.budget == "paper":
            reason = "each of the two parts has all of epsilon, as in the paper, so they compose to 2 epsilon"
        if self.delta is not None:
            reason = "one Gaussian draw of variance 2 sigma^2 in the logarithmic part and k nodes of 2 k sigma^2"
        holds = super().guarantee
        if holds.model == "none":
            return holds
        return dataclasses.replace(holds, epsilon=self._total_epsilon, theorem=f"{reason} (HybridCounter)")

    @functools.cached_property
    def _scales(self) -> FloatArray:
        return scales_by_levels(self, 2 if self.budget == "split" else 1)

    @property
    def _total_epsilon(self) -> float:
        return self.epsilon if self.budget == "split" else 2 * self.epsilon
