"""The binary counter: a tree over a known number of items, and one noisy node for each bit of the time."""

import math
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.privacy.counters.counter import Counter, node_scale, trailing_zeros
from dp_bandit_envs.privacy.counters.digits import ones
from dp_bandit_envs.privacy.laplace import draw
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """Items so far `(n_arms,)`, noise of the node at each set bit `(n_arms, levels)`, and the scale of all nodes."""

    items: IntArray
    nodes: FloatArray
    scale: float


def start(n_arms: int, levels: int, scale: float) -> State:
    """Return the state of counters for at most 2^levels - 1 items."""
    return State(np.zeros(n_arms, np.int64), np.zeros((n_arms, levels)), scale)


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Close the node that ends at this item, drop the ones it covers, and add up those that are left."""
    state.items[arm] += 1
    level = trailing_zeros(state.items[arm])
    nodes = state.nodes[arm]
    for covered in range(level):
        nodes[covered] = 0.0
    nodes[level] = draw(state.scale, rng)
    noise = 0.0
    for node in nodes:
        noise += node
    return noise, True


class BinaryCounter(Counter):
    r"""The binary mechanism of Chan, Shi and Song (2011) for a known horizon.

    An item is counted in one node on each of :math:`h = \lfloor \lg T \rfloor + 1` levels, so a node has Laplace scale
    :math:`h / \epsilon`; a release after t items adds up as many nodes as t has ones in base 2. With levels counted by
    the natural logarithm, as in some published code, the noise is too small by a factor of 1.44.
    """

    noise = staticmethod(next_noise)

    needs_horizon = True

    def new_state(self, n_arms: int) -> State:
        """Return the state of `n_arms` counters before their first items."""
        assert self.horizon is not None
        self.nodes_per_item = self.horizon.bit_length()
        return start(n_arms, self.nodes_per_item, node_scale(self.nodes_per_item, self.epsilon))

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        return [(node_scale(self.nodes_per_item, self.epsilon), items.bit_count())]

    def _sum_of_variances(self, items: int) -> float:
        # A release adds up the nodes at its ones, so each level counts as often as it has a one.
        return math.fsum(self._variance(1 << level) * ones(items, level) for level in range(items.bit_length()))
