"""The smooth binary counter: only leaves with as many ones as zeros, so that every release has the same variance."""

import math
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.counters.counter import Counter, trailing_zeros
from dp_bandit_envs.privacy.laplace import draw
from dp_bandit_envs.privacy.node_noise import add, copy, fill
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """The state of independent arms.

    Attributes:
        leaf: The leaf of the next release, `(n_arms,)`.
        top: The highest level at which the last release has a new node, `(n_arms,)`.
        upward: At each one of the leaf, the noise of the nodes from this level on, `(n_arms, height + 1)`; the last
            one is 0.
        empty: The part of it that the new nodes below the top have, `(n_arms, height)`.
        scale: The scale of all nodes.
    """

    leaf: IntArray
    top: IntArray
    upward: FloatArray
    empty: FloatArray
    scale: float


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Move to the next leaf, and renew the nodes at its ones from the highest that changed down.

    The highest of them holds the items that end with this one. There are no leaves with so many ones between the two,
    so the others hold no item: their noise is only there to make all releases equally noisy.
    """
    leaf, upward, empty = state.leaf[arm], state.upward[arm], state.empty[arm]
    following, top = next_leaf(leaf)
    state.leaf[arm] = following
    state.top[arm] = top
    noise: float = upward[one_above(following, top, len(empty))] + draw(state.scale, rng)
    upward[top] = noise
    below = 0.0
    for level in range(top - 1, -1, -1):
        if (following >> level) & 1 == 1:
            below += draw(state.scale, rng)
            upward[level] = noise + below
        empty[level] = below
    return noise + below, True


def settle(state: State, arm: int, noise: float) -> None:
    """Let the new node that holds items take what rounding the release changed."""
    top, upward, empty = state.top[arm], state.upward[arm], state.empty[arm]
    own = noise - (empty[0] if top > 0 else 0.0)
    upward[top] = own
    for level in range(top):
        upward[level] = own + empty[level]


def next_leaf(leaf: int) -> tuple[int, int]:
    """Return the next larger number with as many ones (Gosper), and the highest place where it has a new one."""
    lowest = leaf & -leaf
    ripple = leaf + lowest
    return ripple | ((leaf ^ ripple) // lowest >> 2), trailing_zeros(ripple & ~leaf)


def one_above(leaf: int, place: int, height: int) -> int:
    """Return the place of the lowest one above a place; the height if there is none."""
    rest = leaf >> (place + 1)
    return place + 1 + trailing_zeros(rest) if rest > 0 else height


class Joint(NamedTuple):
    """The state of all coordinates together.

    Attributes:
        leaf: The leaf of the next release, `(1,)`.
        top: The highest level at which the last release has new nodes, `(1,)`.
        upward: At each of its ones, the noise of the nodes from this level on, `(height + 1, n_values)`; the last row
            is 0.
        empty: The part of it that the new nodes below the top have, `(height, n_values)`.
        noise: The noise of the present releases, `(n_values,)`.
        scale: The scale of all nodes.
        norm: The norm of own-norm noise.
    """

    leaf: IntArray
    top: IntArray
    upward: FloatArray
    empty: FloatArray
    noise: FloatArray
    scale: float
    norm: int


def insert_all(state: Joint, rng: np.random.Generator) -> bool:
    """Do the same for all coordinates."""
    following, top = next_leaf(state.leaf[0])
    state.leaf[0] = following
    state.top[0] = top
    noise, own = state.noise, state.upward[top]
    fill(own, state.scale, state.norm, rng)
    add(own, own, state.upward[one_above(following, top, len(state.empty))])
    copy(noise, own)
    for level in range(top - 1, -1, -1):
        below = state.empty[level]
        if (following >> level) & 1 == 1:
            fill(below, state.scale, state.norm, rng)
            if level < top - 1:
                add(below, below, state.empty[level + 1])
            add(noise, own, below)
            copy(state.upward[level], noise)
        elif level < top - 1:
            copy(below, state.empty[level + 1])
        else:
            below[:] = 0.0
    return True


def settle_all(state: Joint, place: int, noise: float) -> None:
    """Do what `settle` does, for one coordinate."""
    top = state.top[0]
    own = noise - (state.empty[0, place] if top > 0 else 0.0)
    state.upward[top, place] = own
    for level in range(top):
        state.upward[level, place] = own + state.empty[level, place]


class SmoothBinaryCounter(Counter):
    r"""The smooth binary mechanism of Andersson and Pagh (2023): the same noise in every release.

    A tree of the smallest even height h with :math:`\binom{h}{h/2} > T`, of which only the leaves with m = h / 2 ones
    are used. A release adds up the left siblings on the path to its leaf, one for each of m ones. An item is counted in
    one left node for each of its own leaf's zeros; but of those above the last leaf's first one none is ever released.
    With b the smallest height at which :math:`\binom{b}{m} > T`, there are b - m others at most, where the source
    counts m, up to 1.5 times as many. Laplace scale :math:`(b - m) / \epsilon`, variance
    :math:`2 m (b - m)^2 / \epsilon^2`.
    """

    noise = staticmethod(next_noise)
    settled = staticmethod(settle)
    joint_noise = staticmethod(insert_all)
    joint_settled = staticmethod(settle_all)

    needs_horizon = True

    def new_state(self, n_arms: int) -> State:
        """Return the state of `n_arms` counters before their first items."""
        assert self.horizon is not None
        self.ones = 1
        while math.comb(2 * self.ones, self.ones) <= self.horizon:
            self.ones += 1
        height = self.ones + 1
        while math.comb(height, self.ones) <= self.horizon:
            height += 1
        self.nodes_per_item = height - self.ones
        first, top = np.full(n_arms, (1 << self.ones) - 1, np.int64), np.zeros(n_arms, np.int64)
        upward, empty = np.zeros((n_arms, height + 1)), np.zeros((n_arms, height))
        return State(first, top, upward, empty, self.scale_of(self.nodes_per_item))

    def new_joint_state(self, n_values: int, norm: int = 0) -> Any:
        """Return the state of `insert_all` before the first round."""
        first, top = np.array([(1 << self.ones) - 1], np.int64), np.zeros(1, np.int64)
        height = self.ones + self.nodes_per_item
        upward, empty = np.zeros((height + 1, n_values)), np.zeros((height, n_values))
        return Joint(first, top, upward, empty, np.zeros(n_values), self.scale_of(self.nodes_per_item), norm)

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        return [(self.scale_of(self.nodes_per_item), self.ones if items else 0)]

    def _sum_of_variances(self, items: int) -> float:
        return items * self._variance(items)
