"""The hybrid counter: logarithmic at powers of two, a binary tree in between; for any number of items."""

import dataclasses
import functools
from typing import Any, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.counters.counter import Counter, trailing_zeros, unit_scale
from dp_bandit_envs.privacy.counters.digits import octaves
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import draw
from dp_bandit_envs.protocols import FloatArray, IntArray

MOST_LEVELS = 62


class State(NamedTuple):
    """The state of the two parts.

    Attributes:
        items: Items so far, `(n_arms,)`.
        base: Noise of the closed part, at the last power of two, `(n_arms,)`.
        upward: At each level, the base and the noise of the tree's nodes from this level on, `(n_arms, levels)`.
        levels: The tree's number of levels now, `(n_arms,)`.
        unit: Laplace scale for one node at the epsilon of one part.
    """

    items: IntArray
    base: FloatArray
    upward: FloatArray
    levels: IntArray
    unit: float


def start(n_arms: int, unit: float) -> State:
    """Return the state of counters for any number of items."""
    levels = np.zeros(n_arms, np.int64)
    return State(levels.copy(), np.zeros(n_arms), np.zeros((n_arms, MOST_LEVELS + 1)), levels, unit)


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Begin a new tree at a power of two; otherwise close a node of the present one."""
    state.items[arm] += 1
    t = state.items[arm]
    # 2^k < t < 2^(k+1): the tree holds at most 2^k - 1 items, so k levels.
    if t & (t - 1) == 0:
        return grow(state, arm, state.unit, rng), True
    return close_node(state, arm, t, state.levels[arm] * state.unit, rng), True


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


class HybridCounter(Counter):
    """The hybrid mechanism of Chan, Shi and Song (2011) for an unknown horizon.

    An item is counted in one draw of the logarithmic part and in up to k nodes of the tree of 2^k - 1 items, which has
    k levels. Both parts are released, so they compose: each gets half of epsilon.

    Args:
        epsilon: Privacy parameter of both parts together.
        budget: `"split"`; or `"paper"`, which gives each part all of epsilon, as Tossou and Dimitrakakis (2016) do
            (lemma B.2). That is 2 epsilon-DP and no better, and the guarantee says so.
        horizon: Not needed.
        rng: The stream of the noise.
    """

    noise = staticmethod(next_noise)

    def __init__(self, *, epsilon: SupportsFloat, budget: str = "split", **arguments: Any) -> None:
        self.budget = checks.one_of("budget", budget, ("split", "paper"))
        super().__init__(epsilon=epsilon, **arguments)

    nodes_per_item = MOST_LEVELS + 1

    def new_state(self, n_arms: int) -> State:
        """Return the state of `n_arms` counters before their first items."""
        return start(n_arms, self._unit)

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        levels = max(items.bit_length() - 1, 0)
        in_tree = (items - (1 << levels)).bit_count() if items else 0
        return [(self._unit, items.bit_length()), (levels * self._unit, in_tree)]

    def _sum_of_variances(self, items: int) -> float:
        squares = sum((place + 1) * numbers + place * place * ones for place, numbers, ones in octaves(items))
        return 2 * self._unit * self._unit * squares

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """The guarantee for all releases together."""
        reason = "one draw of the logarithmic part and k nodes of scale k, with half of epsilon each"
        if self.budget == "paper":
            reason = "each of the two parts has all of epsilon, as in the paper, so they compose to 2 epsilon"
        holds = super().guarantee
        if holds.model == "none":
            return holds
        return dataclasses.replace(holds, epsilon=self._total_epsilon, theorem=f"{reason} (HybridCounter)")

    @functools.cached_property
    def _unit(self) -> float:
        return unit_scale(2 if self.budget == "split" else 1, self.epsilon, MOST_LEVELS)

    @property
    def _total_epsilon(self) -> float:
        return self.epsilon if self.budget == "split" else 2 * self.epsilon
