"""Honaker's counter: the binary tree, with every node's estimate improved by its children's."""

import functools
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.counters.binary import BinaryCounter, level_above
from dp_bandit_envs.privacy.counters.counter import trailing_zeros
from dp_bandit_envs.privacy.laplace import draw
from dp_bandit_envs.privacy.node_noise import add, copy, fill
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """The state of independent arms.

    Attributes:
        items: Items so far, `(n_arms,)`.
        nodes: Noise of the refined estimate of the node at each set bit, `(n_arms, levels)`.
        upward: At each level, the noise of the estimates at the set bits from this level on, `(n_arms, levels + 1)`;
            the last one is 0.
        scale: The scale of all nodes.
    """

    items: IntArray
    nodes: FloatArray
    upward: FloatArray
    scale: float


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Close every node that ends at this item, from the leaf up; each averages its own draw with its two children."""
    state.items[arm] += 1
    t = state.items[arm]
    nodes, upward = state.nodes[arm], state.upward[arm]
    estimate = draw(state.scale, rng)
    variance = 1.0
    for level in range(trailing_zeros(t)):
        # The left child is stored at this bit; the right one has just been closed. Weights are inverse variances.
        children = nodes[level] + estimate
        above = 1.0 / (1.0 + 1.0 / (2.0 * variance))
        estimate = above * (draw(state.scale, rng) + children / (2.0 * variance))
        variance = above
    nodes[trailing_zeros(t)] = estimate
    noise: float = estimate + upward[level_above(t, len(nodes))]
    upward[trailing_zeros(t)] = noise
    return noise, True


def settle(state: State, arm: int, noise: float) -> None:
    """Let the estimate of the node that ends at this item take what rounding the release changed."""
    t = state.items[arm]
    nodes, upward = state.nodes[arm], state.upward[arm]
    nodes[trailing_zeros(t)] = noise - upward[level_above(t, len(nodes))]
    upward[trailing_zeros(t)] = noise


class Joint(NamedTuple):
    """The state of all coordinates together.

    Attributes:
        items: Rounds so far, `(1,)`.
        nodes: Noise of the refined estimate of the node at each set bit, `(levels, n_values)`.
        upward: At each level, the noise of the estimates at the set bits from this level on, `(levels + 1, n_values)`;
            the last row is 0.
        own: The draw of one node, `(n_values,)`.
        noise: The noise of the present releases, `(n_values,)`.
        scale: The scale of all nodes.
        norm: The norm of own-norm noise.
    """

    items: IntArray
    nodes: FloatArray
    upward: FloatArray
    own: FloatArray
    noise: FloatArray
    scale: float
    norm: int


def insert_all(state: Joint, rng: np.random.Generator) -> bool:
    """Close every node that ends at this round, from the leaf up; see `next_noise`."""
    state.items[0] += 1
    t = state.items[0]
    closed = trailing_zeros(t)
    estimate, own = state.noise, state.own
    fill(estimate, state.scale, state.norm, rng)
    variance = 1.0
    for level in range(closed):
        left = state.nodes[level]
        above = 1.0 / (1.0 + 1.0 / (2.0 * variance))
        of_children = above / (2.0 * variance)
        fill(own, state.scale, state.norm, rng)
        for i in range(len(own)):
            estimate[i] = above * own[i] + of_children * (left[i] + estimate[i])
        variance = above
    copy(state.nodes[closed], estimate)
    add(estimate, estimate, state.upward[level_above(t, len(state.nodes))])
    copy(state.upward[closed], estimate)
    return True


def settle_all(state: Joint, place: int, noise: float) -> None:
    """Do what `settle` does, for one coordinate."""
    t = state.items[0]
    closed = trailing_zeros(t)
    state.nodes[closed, place] = noise - state.upward[level_above(t, len(state.nodes)), place]
    state.upward[closed, place] = noise


@functools.lru_cache(maxsize=64)
def coefficients(level: int) -> list[tuple[float, int]]:
    """Return the weights of the draws in the refined estimate of a node, each with the number of draws that have it."""
    terms = [(1.0, 1)]
    variance = 1.0
    for _ in range(level):
        above = 1.0 / (1.0 + 1.0 / (2.0 * variance))
        terms = [(above, 1), *((above / (2.0 * variance) * weight, 2 * number) for weight, number in terms)]
        variance = above
    return terms


class HonakerCounter(BinaryCounter):
    r"""The binary tree with Honaker's (2015) refinement from below: post-processing that halves the variance.

    The noise of a node is that of `BinaryCounter`, with scale :math:`(\lfloor \lg T \rfloor + 1) / \epsilon`; a node's
    estimate is the average of its own noisy sum and its children's refined ones, weighted by inverse variances:
    :math:`v_0 = 1, v_i = 1 / (1 + 1 / (2 v_{i-1}))`.
    """

    noise = staticmethod(next_noise)
    settled = staticmethod(settle)
    joint_noise = staticmethod(insert_all)
    joint_settled = staticmethod(settle_all)

    def new_state(self, n_arms: int) -> Any:
        """Return the state of `n_arms` counters before their first items."""
        items, upward, scale = super().new_state(n_arms)
        return State(items, np.zeros((n_arms, self.nodes_per_item)), upward, scale)

    def new_joint_state(self, n_values: int, norm: int = 0) -> Any:
        """Return the state of `insert_all` before the first round."""
        levels = self.nodes_per_item
        nodes, upward = np.zeros((levels, n_values)), np.zeros((levels + 1, n_values))
        vectors = np.zeros(n_values), np.zeros(n_values)
        return Joint(np.zeros(1, np.int64), nodes, upward, *vectors, self.scale_of(levels), norm)

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        scale = self.scale_of(self.nodes_per_item)
        bits = [level for level in range(items.bit_length()) if items >> level & 1]
        return [(scale * weight, number) for level in bits for weight, number in coefficients(level)]
