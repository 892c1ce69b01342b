"""The binary counter: a tree over a known number of items, and one noisy node for each bit of the time."""

import math
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.counters.counter import Counter, trailing_zeros
from dp_bandit_envs.privacy.counters.digits import ones
from dp_bandit_envs.privacy.laplace import draw
from dp_bandit_envs.privacy.node_noise import add_twice, fill
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """The state of independent arms.

    Attributes:
        items: Items so far, `(n_arms,)`.
        upward: At each level, the noise of the nodes at the set bits from this level on, `(n_arms, levels + 1)`; the
            last one is 0.
        scale: The scale of all nodes.
    """

    items: IntArray
    upward: FloatArray
    scale: float


class Joint(NamedTuple):
    """The state of all coordinates together.

    Attributes:
        items: Rounds so far, `(1,)`.
        upward: At each level, the noise of the nodes at the set bits from this level on, `(levels + 1, n_values)`; the
            last row is 0.
        noise: The noise of the present releases, `(n_values,)`.
        scale: The scale of all nodes.
        norm: The norm of own-norm noise.
    """

    items: IntArray
    upward: FloatArray
    noise: FloatArray
    scale: float
    norm: int


def start(n_arms: int, levels: int, scale: float) -> State:
    """Return the state of counters for at most 2^levels - 1 items."""
    return State(np.zeros(n_arms, np.int64), np.zeros((n_arms, levels + 1)), scale)


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Close the node that ends at this item, and add it to the sum of those above it."""
    state.items[arm] += 1
    t = state.items[arm]
    upward = state.upward[arm]
    noise: float = upward[level_above(t, len(upward) - 1)] + draw(state.scale, rng)
    upward[trailing_zeros(t)] = noise
    return noise, True


def settle(state: State, arm: int, noise: float) -> None:
    """Let the node that ends at this item take what rounding the release changed."""
    state.upward[arm, trailing_zeros(state.items[arm])] = noise


def level_above(t: int, levels: int) -> int:
    """Return the level of the second lowest one of t in base 2; `levels` if it has only one."""
    rest = t & (t - 1)
    return trailing_zeros(rest) if rest > 0 else levels


def insert_all(state: Joint, rng: np.random.Generator) -> bool:
    """Close the node that ends at this round, and add it to the sum of those above it."""
    state.items[0] += 1
    t = state.items[0]
    above = level_above(t, len(state.upward) - 1)
    fill(state.noise, state.scale, state.norm, rng)
    add_twice(state.upward[trailing_zeros(t)], state.noise, state.upward[above])
    return True


def settle_all(state: Joint, place: int, noise: float) -> None:
    """Do what `settle` does, for one coordinate."""
    state.upward[trailing_zeros(state.items[0]), place] = noise


class BinaryCounter(Counter):
    r"""The binary mechanism of Chan, Shi and Song (2011) for a known horizon.

    An item is counted in one node on each of :math:`h = \lfloor \lg T \rfloor + 1` levels, so a node has Laplace scale
    :math:`h / \epsilon`; a release after t items adds up as many nodes as t has ones in base 2. With levels counted by
    the natural logarithm, as in some published code, the noise is too small by a factor of 1.44.
    """

    noise: Any = staticmethod(next_noise)
    settled: Any = staticmethod(settle)
    joint_noise: Any = staticmethod(insert_all)
    joint_settled: Any = staticmethod(settle_all)

    needs_horizon = True

    def new_state(self, n_arms: int) -> Any:
        """Return the state of `n_arms` counters before their first items."""
        assert self.horizon is not None
        self.nodes_per_item = self.horizon.bit_length()
        return start(n_arms, self.nodes_per_item, self.scale_of(self.nodes_per_item))

    def new_joint_state(self, n_values: int, norm: int = 0) -> Any:
        """Return the state of `insert_all` before the first round."""
        upward = np.zeros((self.nodes_per_item + 1, n_values))
        scale = self.scale_of(self.nodes_per_item)
        return Joint(np.zeros(1, np.int64), upward, np.zeros(n_values), scale, norm)

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        return [(self.scale_of(self.nodes_per_item), items.bit_count())]

    def _sum_of_variances(self, items: int) -> float:
        # A release adds up the nodes at its ones, so each level counts as often as it has a one.
        return math.fsum(self._variance(1 << level) * ones(items, level) for level in range(items.bit_length()))
