"""The padded binary counter of Agarwal and Singh: every release has the noise of equally many nodes."""

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
        upward: At each level, the noise of the nodes at the set bits from this level on, `(n_arms, levels + 1)`; the
            last one is 0.
        padding: The noise in the last release that is in no other one, `(n_arms,)`.
        scale: The scale of all nodes.
    """

    items: IntArray
    upward: FloatArray
    padding: FloatArray
    scale: float


class Joint(NamedTuple):
    """The state of all coordinates together.

    Attributes:
        items: Rounds so far, `(1,)`.
        upward: At each level, the noise of the nodes at the set bits from this level on, `(levels + 1, n_values)`; the
            last row is 0.
        noise: The noise of the present releases, `(n_values,)`.
        padding: The part of it that is in no other release, `(n_values,)`.
        own: The draw of one node, `(n_values,)`.
        scale: The scale of all nodes.
        norm: The norm of own-norm noise.
    """

    items: IntArray
    upward: FloatArray
    noise: FloatArray
    padding: FloatArray
    own: FloatArray
    scale: float
    norm: int


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Do what the binary counter does, with a fresh draw for each 0 of the time; nothing after the last item."""
    state.items[arm] += 1
    t = state.items[arm]
    upward = state.upward[arm]
    level, levels = trailing_zeros(t), len(upward) - 1
    if level >= levels:
        return 0.0, False
    noise: float = upward[level_above(t, levels)] + draw(state.scale, rng)
    upward[level] = noise
    padding = 0.0
    for place in range(levels):
        if (t >> place) & 1 == 0:
            padding += draw(state.scale, rng)
    state.padding[arm] = padding
    return noise + padding, True


def settle(state: State, arm: int, noise: float) -> None:
    """Let the node that ends at this item take what rounding the release changed."""
    state.upward[arm, trailing_zeros(state.items[arm])] = noise - state.padding[arm]


def insert_all(state: Joint, rng: np.random.Generator) -> bool:
    """Do the same for all coordinates."""
    state.items[0] += 1
    t = state.items[0]
    level, levels = trailing_zeros(t), len(state.upward) - 1
    if level >= levels:
        return False
    fill(state.noise, state.scale, state.norm, rng)
    add(state.noise, state.noise, state.upward[level_above(t, levels)])
    copy(state.upward[level], state.noise)
    state.padding[:] = 0.0
    for place in range(levels):
        if (t >> place) & 1 == 0:
            fill(state.own, state.scale, state.norm, rng)
            add(state.padding, state.padding, state.own)
    add(state.noise, state.noise, state.padding)
    return True


def settle_all(state: Joint, place: int, noise: float) -> None:
    """Do what `settle` does, for one coordinate."""
    state.upward[trailing_zeros(state.items[0]), place] = noise - state.padding[place]


class PaddedBinaryCounter(BinaryCounter):
    r"""The binary mechanism with padding: a release has the noise of :math:`h = \lceil \lg T \rceil` nodes.

    After t items, h less the number of ones of t are fresh draws, so that the noise of every release has the same law,
    which a proof of regret needs. Privacy does not need it, and the noise is larger. If T is a power of two there is no
    release after the last item, which would need one more level, and which no play uses.

    Source: Agarwal and Singh (2017), algorithm 2.
    """

    noise = staticmethod(next_noise)
    settled = staticmethod(settle)
    joint_noise = staticmethod(insert_all)
    joint_settled = staticmethod(settle_all)
    after_every_item = False

    def new_state(self, n_arms: int) -> Any:
        """Return the state of `n_arms` counters before their first items."""
        assert self.horizon is not None
        self.nodes_per_item = max(1, (self.horizon - 1).bit_length())
        upward = np.zeros((n_arms, self.nodes_per_item + 1))
        return State(np.zeros(n_arms, np.int64), upward, np.zeros(n_arms), self.scale_of(self.nodes_per_item))

    def new_joint_state(self, n_values: int, norm: int = 0) -> Any:
        """Return the state of `insert_all` before the first round."""
        upward = np.zeros((self.nodes_per_item + 1, n_values))
        vectors = np.zeros(n_values), np.zeros(n_values), np.zeros(n_values)
        return Joint(np.zeros(1, np.int64), upward, *vectors, self.scale_of(self.nodes_per_item), norm)

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the scales of the draws in the last release up to `items` items, each with its number of terms."""
        return [(self.scale_of(self.nodes_per_item), self.nodes_per_item if items else 0)]

    def _sum_of_variances(self, items: int) -> float:
        return items * self._variance(items)
