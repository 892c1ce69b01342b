"""Honaker's counter: the binary tree, with every node's estimate improved by its children's."""

import functools

import numpy as np

from dp_bandit_envs.privacy.counters.binary import BinaryCounter, State
from dp_bandit_envs.privacy.counters.counter import node_scale, trailing_zeros
from dp_bandit_envs.privacy.laplace import draw


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Close every node that ends at this item, from the leaf up; each averages its own draw with its two children.

    The state is the binary counter's; its nodes hold the noise of the refined estimates.
    """
    state.items[arm] += 1
    nodes = state.nodes[arm]
    estimate = draw(state.scale, rng)
    variance = 1.0
    for level in range(trailing_zeros(state.items[arm])):
        # The left child is stored at this bit; the right one has just been closed. Weights are inverse variances.
        children = nodes[level] + estimate
        nodes[level] = 0.0
        above = 1.0 / (1.0 + 1.0 / (2.0 * variance))
        estimate = above * (draw(state.scale, rng) + children / (2.0 * variance))
        variance = above
    nodes[trailing_zeros(state.items[arm])] = estimate
    noise = 0.0
    for node in nodes:
        noise += node
    return noise, True


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

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        scale = node_scale(self.nodes_per_item, self.epsilon)
        bits = [level for level in range(items.bit_length()) if items >> level & 1]
        return [(scale * weight, number) for level in bits for weight, number in coefficients(level)]
