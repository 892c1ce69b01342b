"""Segment trees: one tree with a root for each segment (2^(j-1), 2^j] of time; for any number of items."""

import dataclasses
import functools

import numpy as np

from dp_bandit_envs.privacy.counters.counter import Counter, unit_scale
from dp_bandit_envs.privacy.counters.digits import octaves
from dp_bandit_envs.privacy.counters.hybrid import MOST_LEVELS, State, close_node, grow, start
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Close a node of the present segment's tree; at a power of two that node is the root.

    The state is the hybrid counter's; its base holds the noise of the roots of closed segments.
    """
    state.items[arm] += 1
    t = state.items[arm]
    # The segment (2^j, 2^(j+1)] has a tree of 2^j leaves and j + 1 levels; item 1 is a segment of its own.
    scale = (state.levels[arm] + 1) * state.unit
    if t & (t - 1) == 0:
        return grow(state, arm, scale, rng), True
    return close_node(state, arm, t, scale, rng), True


class SegmentTreesCounter(Counter):
    r"""One tree for each doubling of time, each with the full epsilon, because an item is in one segment only.

    In segment :math:`(2^j, 2^{j+1}]` an item is counted in one node on each of j + 1 levels, of Laplace scale
    :math:`(j + 1) / \epsilon`; a closed segment contributes its root. The idea is that of the hybrid mechanism, but
    epsilon is not split between two parts, so the variance is less than half.
    """

    noise = staticmethod(next_noise)

    nodes_per_item = MOST_LEVELS

    def new_state(self, n_arms: int) -> State:
        """Return the state of `n_arms` counters before their first items."""
        return start(n_arms, self._unit)

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        if items == 0:
            return []
        unit = self._unit
        full = items.bit_length() - 1
        closed = [(unit, 1)] + [((depth + 1) * unit, 1) for depth in range(full)]
        return [*closed, ((full + 1) * unit, (items - (1 << full)).bit_count())]

    def _sum_of_variances(self, items: int) -> float:
        squares, closed = 0, 1
        for place, numbers, ones in octaves(items):
            squares += closed * numbers + (place + 1) ** 2 * ones
            closed += (place + 1) ** 2
        return 2 * self._unit * self._unit * squares

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """The guarantee for all releases together."""
        reason = "an item of segment j is counted in j + 1 nodes of scale (j + 1) / epsilon, and in no other segment"
        holds = super().guarantee
        return holds if holds.model == "none" else dataclasses.replace(holds, theorem=f"{reason} (SegmentTreesCounter)")

    @functools.cached_property
    def _unit(self) -> float:
        return unit_scale(1, self.epsilon, MOST_LEVELS)
