"""The smooth binary counter: only leaves with as many ones as zeros, so that every release has the same variance."""

import math
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.counters.counter import Counter, trailing_zeros
from dp_bandit_envs.privacy.laplace import draw
from dp_bandit_envs.privacy.node_noise import add, copy, fill
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """The leaf of the next release `(n_arms,)`, noise at each of its ones `(n_arms, height)`, and the scale."""

    leaf: IntArray
    nodes: FloatArray
    scale: float


def start(n_arms: int, height: int, scale: float) -> State:
    """Return the state of counters for fewer than C(height, height / 2) items."""
    first = (1 << height // 2) - 1
    return State(np.full(n_arms, first, np.int64), np.zeros((n_arms, height)), scale)


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Move to the next leaf with the same number of ones; a one needs a new node if anything above it changed."""
    leaf = state.leaf[arm]
    # The next larger number with the same number of ones (Gosper).
    lowest = leaf & -leaf
    ripple = leaf + lowest
    following = ripple | ((leaf ^ ripple) // lowest >> 2)
    state.leaf[arm] = following
    nodes = state.nodes[arm]
    changed = leaf ^ following
    noise = 0.0
    for level in range(len(nodes)):
        if (following >> level) & 1 == 0:
            nodes[level] = 0.0
        elif changed >> level != 0:
            # This bit or a higher one is new, so its left sibling is a node that no release has used yet.
            nodes[level] = draw(state.scale, rng)
        noise += nodes[level]
    return noise, True


class Joint(NamedTuple):
    """The state of all coordinates together.

    Attributes:
        leaf: The leaf of the next release, `(1,)`.
        upward: At each of its ones, the noise of the nodes from this level on, `(height + 1, n_values)`; the last row
            is 0.
        noise: The noise of the present releases, `(n_values,)`.
        scale: The scale of all nodes.
        norm: The norm of own-norm noise.
    """

    leaf: IntArray
    upward: FloatArray
    noise: FloatArray
    scale: float
    norm: int


def insert_all(state: Joint, rng: np.random.Generator) -> bool:
    """Move to the next leaf, and renew the nodes at its ones from the highest that changed down; see `next_noise`."""
    leaf = state.leaf[0]
    lowest = leaf & -leaf
    ripple = leaf + lowest
    following = ripple | ((leaf ^ ripple) // lowest >> 2)
    state.leaf[0] = following
    height = len(state.upward) - 1
    # The highest bit that changed is a new one: the carry of `ripple`.
    top = trailing_zeros(ripple & ~leaf)
    rest = following >> (top + 1)
    above = top + 1 + trailing_zeros(rest) if rest > 0 else height
    noise = state.noise
    copy(noise, state.upward[above])
    for level in range(top, -1, -1):
        if (following >> level) & 1 == 1:
            node = state.upward[level]
            fill(node, state.scale, state.norm, rng)
            add(noise, noise, node)
            copy(node, noise)
    return True


class SmoothBinaryCounter(Counter):
    r"""The smooth binary mechanism of Andersson and Pagh (2023): the same noise in every release.

    A tree of the smallest even height h with :math:`\binom{h}{h/2} > T`, of which only the leaves with h / 2 ones are
    used. A release adds up the left siblings on the path to its leaf, one for each of h / 2 ones; an item is counted in
    one left node for each of its own leaf's h / 2 zeros. Laplace scale :math:`(h / 2) / \epsilon`, variance
    :math:`2 (h / 2)^3 / \epsilon^2`.
    """

    noise = staticmethod(next_noise)
    joint_noise = staticmethod(insert_all)

    needs_horizon = True

    def new_state(self, n_arms: int) -> State:
        """Return the state of `n_arms` counters before their first items."""
        assert self.horizon is not None
        height = 2
        while math.comb(height, height // 2) <= self.horizon:
            height += 2
        self.nodes_per_item = height // 2
        return start(n_arms, height, self.scale_of(self.nodes_per_item))

    def new_joint_state(self, n_values: int, norm: int = 0) -> Any:
        """Return the state of `insert_all` before the first round."""
        first = np.array([(1 << self.nodes_per_item) - 1], np.int64)
        upward = np.zeros((2 * self.nodes_per_item + 1, n_values))
        return Joint(first, upward, np.zeros(n_values), self.scale_of(self.nodes_per_item), norm)

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        return [(self.scale_of(self.nodes_per_item), self.nodes_per_item if items else 0)]

    def _sum_of_variances(self, items: int) -> float:
        return items * self._variance(items)
