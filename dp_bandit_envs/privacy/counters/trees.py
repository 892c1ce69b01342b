r"""Counters on trees of nodes: seven of the nine counters, each with its own rule for the nodes of a release.

An item is counted in one node on each of some levels, and a release adds up nodes that together contain every item
once. The state keeps one number per level, `upward`: the noise of the last release's nodes from this level up. The node
that ends with a new item is added to the nodes above it, which stay from an earlier release:

    node(state, arm, none) -> (level, above, scale)

advances by one item. It returns the level of the new node, the level above which `upward` stays (`none`, where it is 0,
if the node is alone), and the scale of the draw; level -1 without a release. The rules, after t items:

| counter | level | above | scale |
| --- | --- | --- | --- |
| logarithmic | 0, if t is a power of two; else no release | the last release | one |
| binary, padded, Honaker's | zeros at the end of t in base 2 | second lowest one of t, if there is one | one |
| hybrid | as binary | as binary; at a power of two the last one's | by the present tree's depth |
| segment trees | as binary | as hybrid | by the present segment's depth |
| smooth | highest new one of the next leaf | next one of the leaf | one |

The added noise is the node's draw; Honaker's counter refines it by the draws of nodes below. The padded and the smooth
counter also add draws of empty nodes, which contain no item and only fix the law of the release.
"""

import abc
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.functions import bind
from dp_bandit_envs.privacy.counters.counter import Counter
from dp_bandit_envs.privacy.laplace import draw
from dp_bandit_envs.privacy.node_noise import add, add_twice, copy, fill
from dp_bandit_envs.protocols import FloatArray, IntArray

MOST_LEVELS = 62
"""The levels of a tree for an unknown number of items."""
ITEMS, LEVEL, DEPTH = 0, 1, 2
"""Places in `State.position`."""


class State(NamedTuple):
    """A tree for each arm.

    Attributes:
        position: Number of items (in the smooth counter the leaf of the last release), the level of the last node with
            items, and the number of levels of a growing tree, `(n_arms, 3)`.
        upward: At each level, the noise of the nodes from this level up, `(n_arms, levels + 1)`; the last entry is 0.
        empty: Noise of empty nodes in a release, `(n_arms, levels)`: from each level up below `LEVEL` in the smooth
            counter; in total, first, in the padded counter.
        scales: The scale of a node, `(1,)`; for growing trees at each depth.
    """

    position: IntArray
    upward: FloatArray
    empty: FloatArray
    scales: FloatArray


class TreeJointState(NamedTuple):
    """A tree of vectors.

    Attributes:
        position, scales: As in `State`, with one arm.
        upward, empty: As in `State`, `(..., n_values)`; the last row of `empty` is a buffer for one node's draw.
        noise: The noise of the present releases, `(n_values,)`.
        norm: The norm of own-norm noise.
    """

    position: IntArray
    upward: FloatArray
    empty: FloatArray
    scales: FloatArray
    noise: FloatArray
    norm: int


def node(state: Any, arm: int, none: int) -> tuple[int, int, float]:
    """Placeholder; replaced by a counter's rule."""
    raise NotImplementedError


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Add the node that ends with this item to the nodes above it."""
    level, above, scale = node(state, arm, state.upward.shape[1] - 1)
    noise: float = state.upward[arm, above]
    if level < 0:
        return noise, False
    noise += draw(scale, rng)
    state.upward[arm, level] = noise
    state.position[arm, LEVEL] = level
    return noise, True


def settle(state: State, arm: int, noise: float) -> None:
    """Assign the rounding error of the release to the last node."""
    state.upward[arm, state.position[arm, LEVEL]] = noise


def insert_all(state: TreeJointState, rng: np.random.Generator) -> bool:
    """Do as `insert`, for all coordinates."""
    level, above, scale = node(state, 0, len(state.upward) - 1)
    if level < 0:
        return False
    fill(state.noise, scale, state.norm, rng)
    add_twice(state.upward[level], state.noise, state.upward[above])
    state.position[0, LEVEL] = level
    return True


def settle_all(state: TreeJointState, coordinate: int, noise: float) -> None:
    """Do as `settle`, for one coordinate."""
    state.upward[state.position[0, LEVEL], coordinate] = noise


# ---- the rules -----------------------------------------------------------------------------------------------------


def logarithmic_node(state: Any, arm: int, none: int) -> tuple[int, int, float]:
    """Release at powers of two only: a node of all items since the last release is added to that release."""
    state.position[arm, ITEMS] += 1
    t = state.position[arm, ITEMS]
    return (0 if t & (t - 1) == 0 else -1), 0, state.scales[0]


def binary_node(state: Any, arm: int, none: int) -> tuple[int, int, float]:
    """Add up one node per one bit of the time; no release after the last of 2^levels items."""
    state.position[arm, ITEMS] += 1
    t = state.position[arm, ITEMS]
    level = trailing_zeros(t)
    higher = t >> (level + 1)
    above = level + 1 + trailing_zeros(higher) if higher > 0 else none
    return level if level < none else -1, above, state.scales[0]


def hybrid_node(state: Any, arm: int, none: int) -> tuple[int, int, float]:
    """At a power of two do as the logarithmic counter, and begin a tree: 2^k < t < 2^(k + 1) has k levels."""
    level, above, _ = binary_node(state, arm, none)
    if above == none:
        state.position[arm, DEPTH] = level
        return level, level - 1 if level > 0 else none, state.scales[1]
    return level, above, state.scales[state.position[arm, DEPTH]]


def segment_node(state: Any, arm: int, none: int) -> tuple[int, int, float]:
    """Close the tree of segment (2^j, 2^(j + 1)], which has j + 1 levels, with its root; item 1 is its own segment."""
    scale = state.scales[state.position[arm, DEPTH] + 1]
    level, above, _ = hybrid_node(state, arm, none)
    return level, above, scale


def smooth_node(state: Any, arm: int, none: int) -> tuple[int, int, float]:
    """Move to the next leaf: the next larger number with as many one bits (Gosper).

    Its highest new bit is the node whose last item is the current one.
    """
    last = state.position[arm, ITEMS]
    lowest = last & -last
    ripple = last + lowest
    leaf = ripple | ((last ^ ripple) // lowest >> 2)
    state.position[arm, ITEMS] = leaf
    level = trailing_zeros(ripple & ~last)
    higher = leaf >> (level + 1)
    return level, level + 1 + trailing_zeros(higher) if higher > 0 else none, state.scales[0]


def trailing_zeros(number: int) -> int:
    """Return the number of zeros at the end of a positive integer in base 2."""
    zeros = 0
    while number % 2 == 0:
        number //= 2
        zeros += 1
    return zeros


# ---- Honaker's refinement ------------------------------------------------------------------------------------------


def refined_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Average each node that ends with this item with its two children, by inverse variances, from the leaf up.

    A left child is the difference of `upward` at its level and above.
    """
    level, above, scale = node(state, arm, state.upward.shape[1] - 1)
    upward, variance = state.upward[arm], 1.0
    estimate = draw(scale, rng)
    for below in range(level):
        children = upward[below] - upward[below + 1 if below + 1 < level else above] + estimate
        refined = 1.0 / (1.0 + 1.0 / (2.0 * variance))
        estimate = refined * (draw(scale, rng) + children / (2.0 * variance))
        variance = refined
    upward[level] = estimate + upward[above]
    state.position[arm, LEVEL] = level
    return upward[level], True


def insert_all_refined(state: TreeJointState, rng: np.random.Generator) -> bool:
    """Do as `insert_refined`, for all coordinates."""
    level, above, scale = node(state, 0, len(state.upward) - 1)
    estimate, drawn, variance = state.noise, state.empty[-1], 1.0
    fill(estimate, scale, state.norm, rng)
    for below in range(level):
        upward, parents = state.upward[below], state.upward[below + 1 if below + 1 < level else above]
        refined = 1.0 / (1.0 + 1.0 / (2.0 * variance))
        of_children = refined / (2.0 * variance)
        fill(drawn, scale, state.norm, rng)
        for i in range(len(drawn)):
            estimate[i] = refined * drawn[i] + of_children * (upward[i] - parents[i] + estimate[i])
        variance = refined
    add_twice(state.upward[level], estimate, state.upward[above])
    state.position[0, LEVEL] = level
    return True


@functools.lru_cache(maxsize=64)
def weights(level: int) -> list[tuple[float, int]]:
    """Return the weights of the draws in the refined noise of a node, each with its number of draws."""
    terms = [(1.0, 1)]
    variance = 1.0
    for _ in range(level):
        refined = 1.0 / (1.0 + 1.0 / (2.0 * variance))
        terms = [(refined, 1), *((refined / (2.0 * variance) * weight, 2 * number) for weight, number in terms)]
        variance = refined
    return terms


# ---- empty nodes ---------------------------------------------------------------------------------------------------


def padded_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Add a fresh draw for each 0 of the time; these draws are in no other release."""
    noise, fresh = next_noise(state, arm, rng)
    drawn = 0.0
    if fresh:
        for level in range(state.upward.shape[1] - 1):
            if (state.position[arm, ITEMS] >> level) & 1 == 0:
                drawn += draw(state.scales[0], rng)
    state.empty[arm, 0] = drawn
    return noise + drawn, fresh


def settle_padded(state: State, arm: int, noise: float) -> None:
    """Assign the rounding error of the release to the last node with items."""
    state.upward[arm, state.position[arm, LEVEL]] = noise - state.empty[arm, 0]


def insert_all_padded(state: TreeJointState, rng: np.random.Generator) -> bool:
    """Do as `insert_padded`, for all coordinates."""
    fresh = insert_all(state, rng)
    if fresh:
        drawn, node_noise = state.empty[0], state.empty[-1]
        drawn[:] = 0.0
        for level in range(len(state.upward) - 1):
            if (state.position[0, ITEMS] >> level) & 1 == 0:
                fill(node_noise, state.scales[0], state.norm, rng)
                add(drawn, drawn, node_noise)
        add(state.noise, state.noise, drawn)
    return fresh


def settle_all_padded(state: TreeJointState, coordinate: int, noise: float) -> None:
    """Do as `settle_padded`, for one coordinate."""
    state.upward[state.position[0, LEVEL], coordinate] = noise - state.empty[0, coordinate]


def smooth_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Also renew the nodes at a leaf's one bits below the highest new bit.

    They contain no item, as no leaf with so many one bits lies between the previous leaf and this one.
    """
    noise, fresh = next_noise(state, arm, rng)
    upward, empty, drawn = state.upward[arm], state.empty[arm], 0.0
    empty[0] = 0.0
    for below in range(state.position[arm, LEVEL] - 1, -1, -1):
        if (state.position[arm, ITEMS] >> below) & 1 == 1:
            drawn += draw(state.scales[0], rng)
        empty[below] = drawn
        upward[below] = noise + drawn
    return noise + drawn, fresh


def settle_smooth(state: State, arm: int, noise: float) -> None:
    """Assign the rounding error of the release to the last node with items, in all sums that contain it."""
    level, upward, empty = state.position[arm, LEVEL], state.upward[arm], state.empty[arm]
    upward[level] = noise - empty[0]
    for below in range(level):
        upward[below] = upward[level] + empty[below]


def insert_all_smooth(state: TreeJointState, rng: np.random.Generator) -> bool:
    """Do as `insert_smooth`, for all coordinates."""
    fresh = insert_all(state, rng)
    level = state.position[0, LEVEL]
    state.empty[0] = 0.0
    for below in range(level - 1, -1, -1):
        drawn = state.empty[below]
        if (state.position[0, ITEMS] >> below) & 1 == 1:
            fill(drawn, state.scales[0], state.norm, rng)
        else:
            drawn[:] = 0.0
        if below < level - 1:
            add(drawn, drawn, state.empty[below + 1])
        add(state.upward[below], state.upward[level], drawn)
    copy(state.noise, state.upward[0] if level > 0 else state.upward[level])
    return fresh


def settle_all_smooth(state: TreeJointState, coordinate: int, noise: float) -> None:
    """Do as `settle_smooth`, for one coordinate."""
    level, upward, empty = state.position[0, LEVEL], state.upward, state.empty
    upward[level, coordinate] = noise - empty[0, coordinate]
    for below in range(level):
        upward[below, coordinate] = upward[level, coordinate] + empty[below, coordinate]


# ---- the counters --------------------------------------------------------------------------------------------------


class TreeCounter(Counter):
    """A counter on a tree of nodes. Subclasses pass their rule, and the functions that use it, as class arguments.

    Attributes:
        levels: Number of levels.
        start: `State.position` before the first item.
    """

    levels: int
    start: tuple[int, int, int] = (0, 0, 0)
    _rows: int = 0
    """Of `State.empty`."""

    def __init_subclass__(
        cls,
        node: Callable[..., Any] | None = None,
        noise: Callable[..., Any] = next_noise,
        settled: Callable[..., Any] = settle,
        joint_noise: Callable[..., Any] = insert_all,
        joint_settled: Callable[..., Any] = settle_all,
    ) -> None:
        """Make the functions of the rule."""
        super().__init_subclass__()
        if node is not None:
            rule = {"node": node}
            cls.noise, cls.settled = staticmethod(bind(noise, rule)), staticmethod(settled)
            cls.joint_noise, cls.joint_settled = staticmethod(bind(joint_noise, rule)), staticmethod(joint_settled)
            if "dominated_by" not in vars(cls):
                cls.dominated_by = "response"  # what is proved for another rule's draws is not inherited

    @abc.abstractmethod
    def _measure(self, horizon: int) -> None:
        """Set `levels`, `nodes_per_item` and `start` for a number of items; 0 if it is unknown."""

    @functools.cached_property
    def _scales(self) -> FloatArray:
        return np.array([self.scale_of(self.nodes_per_item)])

    def new_state(self, n_arms: int) -> State:
        """Return the state of `n_arms` counters before their first items."""
        self._measure(self.horizon or 0)
        position = np.full((n_arms, 3), self.start, np.int64)
        upward, empty = np.zeros((n_arms, self.levels + 1)), np.zeros((n_arms, self._rows))
        return State(position, upward, empty, self._scales.copy())

    def new_joint_state(self, n_values: int, norm: int = 0) -> TreeJointState:
        """Return the state of `insert_all` before the first round."""
        alone = self.new_state(1)
        upward, empty = np.zeros((self.levels + 1, n_values)), np.zeros((self._rows, n_values))
        return TreeJointState(alone.position, upward, empty, alone.scales, np.zeros(n_values), norm)

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the scales of the draws in the last release up to `items` items, each with its number of terms."""
        return [(float(self._scales[0]), self._nodes_in(items))]

    def _nodes_in(self, items: int) -> int:
        """Return the number of nodes in the last release up to this number of items."""
        return items.bit_count()

    def _sum_of_variances(self, items: int) -> float:
        # A release adds up the nodes at its ones, so each level counts as often as it has a one.
        return math.fsum(self._variance(1 << level) * _ones(items, level) for level in range(items.bit_length()))


class BinaryCounter(TreeCounter, node=binary_node):
    r"""The binary mechanism of Chan, Shi and Song (2011) for a known horizon.

    An item is counted in one node on each of :math:`h = \lfloor \lg T \rfloor + 1` levels, so a node has Laplace scale
    :math:`h / \epsilon`; a release after t items adds up one node per one bit of t. Some published code counts levels
    by the natural logarithm; its noise is too small by a factor of 1.44.
    """

    dominated_by = "levels"
    needs_horizon = True

    def _measure(self, horizon: int) -> None:
        self.levels = self.nodes_per_item = horizon.bit_length()


class HonakerCounter(BinaryCounter, node=binary_node, noise=refined_noise, joint_noise=insert_all_refined):
    r"""The binary tree with Honaker's (2015) refinement from below: post-processing that halves the variance.

    The noise of a node is as in `BinaryCounter`, with scale :math:`(\lfloor \lg T \rfloor + 1) / \epsilon`. A node's
    estimate is the average of its own noisy sum and its children's refined sums, weighted by inverse variances:
    :math:`v_0 = 1, v_i = 1 / (1 + 1 / (2 v_{i-1}))`.
    """

    dominated_by = "levels"
    weighs_draws = True
    _rows = 1

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        scale = float(self._scales[0])
        bits = [level for level in range(items.bit_length()) if items >> level & 1]
        return [(scale * weight, number) for level in bits for weight, number in weights(level)]


class PaddedBinaryCounter(
    BinaryCounter,
    node=binary_node,
    noise=padded_noise,
    settled=settle_padded,
    joint_noise=insert_all_padded,
    joint_settled=settle_all_padded,
):
    r"""The binary mechanism with padding: a release has the noise of :math:`h = \lceil \lg T \rceil` nodes.

    After t items, one node for each zero among the h bits of t is a fresh draw, so the noise of every release has the
    same law. A regret proof needs this; privacy does not, and the noise is larger. If T is a power of two, the last
    item has no release: it would need one more level, and no decision uses it.

    Source: Agarwal and Singh (2017), algorithm 2.
    """

    dominated_by = "levels"
    after_every_item = False
    _rows = 2

    def _measure(self, horizon: int) -> None:
        self.levels = self.nodes_per_item = max(1, (horizon - 1).bit_length())

    def _nodes_in(self, items: int) -> int:
        return self.nodes_per_item if items else 0

    def _sum_of_variances(self, items: int) -> float:
        return items * self._variance(items)


class SmoothBinaryCounter(
    TreeCounter,
    node=smooth_node,
    noise=smooth_noise,
    settled=settle_smooth,
    joint_noise=insert_all_smooth,
    joint_settled=settle_all_smooth,
):
    r"""The smooth binary mechanism of Andersson and Pagh (2023): the same noise in every release.

    A tree of the smallest even height h with :math:`\binom{h}{h/2} > T` that uses only leaves with m = h / 2 one bits.
    A release adds up the left siblings on the path to its leaf, one per one bit (m nodes). An item is counted in one
    left node for each zero bit of its leaf, but nodes above the last leaf's first one bit are never released. With b
    the smallest height with :math:`\binom{b}{m} > T`, at most b - m nodes remain, where the source counts m, up to 1.5
    times as many. Laplace scale :math:`(b - m) / \epsilon`, variance :math:`2 m (b - m)^2 / \epsilon^2`.
    """

    dominated_by = "laplace"
    needs_horizon = True

    def _measure(self, horizon: int) -> None:
        self.ones = 1
        while math.comb(2 * self.ones, self.ones) <= horizon:
            self.ones += 1
        self.levels = self.ones + 1
        while math.comb(self.levels, self.ones) <= horizon:
            self.levels += 1
        self.nodes_per_item, self._rows = self.levels - self.ones, self.levels
        self.start = ((1 << self.ones) - 1, 0, 0)

    def _nodes_in(self, items: int) -> int:
        return self.ones if items else 0

    def _sum_of_variances(self, items: int) -> float:
        return items * self._variance(items)


class LogarithmicCounter(TreeCounter, node=logarithmic_node):
    """The logarithmic mechanism of Chan, Shi and Song (2011): each item is counted in one draw of scale 1 / epsilon.

    The release after 2^k items contains all k + 1 draws; releases occur only at powers of two.
    """

    dominated_by = "laplace"
    nodes_per_item = 1
    after_every_item = False

    def _measure(self, horizon: int) -> None:
        self.levels = 0

    def _nodes_in(self, items: int) -> int:
        return items.bit_length()

    def _sum_of_variances(self, items: int) -> float:
        return self._variance(1) * sum((level + 1) * numbers for level, numbers, _ in _octaves(items))


class GrowingTrees(TreeCounter):
    """A counter for any number of items, with growing trees: in a tree of k levels, each level has k shares."""

    shares: int = 1

    def _measure(self, horizon: int) -> None:
        self.levels = horizon.bit_length() or MOST_LEVELS

    @functools.cached_property
    def _scales(self) -> FloatArray:
        return np.array([self.scale_of(k * self.shares) for k in range(MOST_LEVELS + 1)])

    def _squares(self) -> list[float]:
        """Return the variance of a node in a tree of each depth."""
        return [self._squared(float(scale)) for scale in self._scales]


class HybridCounter(GrowingTrees, node=hybrid_node):
    """The hybrid mechanism of Chan, Shi and Song (2011) for an unknown horizon.

    An item is counted in one draw of the logarithmic part and in up to k nodes of the tree of 2^k - 1 items, which has
    k levels. Both parts are released, so they compose: each gets half of epsilon.

    Args:
        epsilon: Privacy parameter of both parts together.
        budget: `"split"`; or `"paper"`, which gives each part all of epsilon, as Tossou and Dimitrakakis (2016) do
            (lemma B.2). That is 2 epsilon-DP and no better, as the guarantee states; not for Gaussian draws.
        horizon: Not needed.
        rng: The stream of the noise.
    """

    dominated_by = "laplace"
    draws_once = True
    nodes_per_item = MOST_LEVELS + 1

    def __init__(self, *, epsilon: SupportsFloat, budget: str = "split", **arguments: Any) -> None:
        self.budget = checks.one_of("budget", budget, ("split", "paper"))
        if self.budget == "paper" and arguments.get("delta") is not None:
            raise ValueError("budget='paper' is for Laplace draws; received a delta too. Use budget='split'.")
        self.shares = 2 if self.budget == "split" else 1
        super().__init__(epsilon=epsilon, **arguments)

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        levels = max(items.bit_length() - 1, 0)
        in_tree = (items - (1 << levels)).bit_count() if items else 0
        return [(float(self._scales[1]), items.bit_length()), (float(self._scales[levels]), in_tree)]

    def item_draws(self) -> list[tuple[float, int]]:
        """Return the scales of the draws that one item influences: one of the logarithmic part and one per level."""
        levels = MOST_LEVELS if self.horizon is None else self.horizon.bit_length() - 1
        return [(float(self._scales[1]), 1), (float(self._scales[levels]), levels)]

    def _sum_of_variances(self, items: int) -> float:
        of_node = self._squares()
        return math.fsum(
            of_node[1] * ((level + 1) * numbers) + of_node[level] * ones for level, numbers, ones in _octaves(items)
        )

    @property
    def _spent(self) -> float:
        return self.epsilon if self.budget == "split" else 2 * self.epsilon

    @property
    def _reason(self) -> str:
        if self.delta is not None:
            return "one Gaussian draw of variance 2 sigma^2 in the logarithmic part and k nodes of 2 k sigma^2"
        if self.budget == "paper":
            return "each of the two parts has all of epsilon, as in the paper, so they compose to 2 epsilon"
        return "one draw of the logarithmic part and k nodes of scale k, with half of epsilon each"


class SegmentTreesCounter(GrowingTrees, node=segment_node):
    r"""One tree for each doubling of time, each with the full epsilon, because an item is in one segment only.

    In segment :math:`(2^j, 2^{j+1}]` an item is counted in one node on each of j + 1 levels, of Laplace scale
    :math:`(j + 1) / \epsilon`; a closed segment contributes its root. Unlike in the hybrid mechanism, epsilon is not
    split between two parts, so the variance is less than half.
    """

    dominated_by = "laplace"
    nodes_per_item = MOST_LEVELS

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        if items == 0:
            return []
        scales, full = self._scales.tolist(), items.bit_length() - 1
        closed = [(scales[1], 1)] + [(scales[depth + 1], 1) for depth in range(full)]
        return [*closed, (scales[full + 1], (items - (1 << full)).bit_count())]

    def item_draws(self) -> list[tuple[float, int]]:
        """Return the scales of the draws that one item influences, in the last segment: one per level."""
        levels = MOST_LEVELS if self.horizon is None else max(1, (self.horizon - 1).bit_length())
        return [(float(self._scales[levels]), levels)]

    def _sum_of_variances(self, items: int) -> float:
        of_node = self._squares()
        total, closed = 0.0, of_node[1]
        for level, numbers, ones in _octaves(items):
            total += closed * numbers + of_node[level + 1] * ones
            closed += of_node[level + 1]
        return total

    @property
    def _reason(self) -> str:
        size = "scale (j + 1) / epsilon" if self.delta is None else "variance (j + 1) sigma^2"
        return f"an item of segment j is counted in j + 1 nodes of {size}, and in no other segment"


# ---- how often there is a one, exactly -----------------------------------------------------------------------------


def _ones(items: int, level: int) -> int:
    """Return how many of the numbers 0, ..., items have a one bit at `level`."""
    periods, remainder = divmod(items + 1, 2 << level)
    return (periods << level) + max(remainder - (1 << level), 0)


def _octaves(items: int) -> list[tuple[int, int, int]]:
    """Return (k, how many of 1, ..., items are in [2^k, 2^(k + 1)), their total of one bits below k) for each k."""
    octaves = []
    for octave in range(items.bit_length()):
        last = min(items - (1 << octave), (1 << octave) - 1)
        octaves.append((octave, last + 1, sum(_ones(last, level) for level in range(last.bit_length()))))
    return octaves
