"""Segment trees: one tree with a root for each segment (2^(j-1), 2^j] of time; for any number of items."""

import dataclasses
import functools
from typing import Any

import numpy as np

from dp_bandit_envs.privacy.counters.counter import Counter
from dp_bandit_envs.privacy.counters.digits import octaves
from dp_bandit_envs.privacy.counters.hybrid import (
    MOST_LEVELS,
    Joint,
    State,
    close_node,
    close_nodes,
    grow,
    grow_all,
    scales_by_levels,
    settle,
    settle_all,
    start,
    start_all,
)
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import FloatArray


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Close a node of the present segment's tree; at a power of two that node is the root.

    The state is the hybrid counter's; its base holds the noise of the roots of closed segments.
    """
    state.items[arm] += 1
    t = state.items[arm]
    # The segment (2^j, 2^(j+1)] has a tree of 2^j leaves and j + 1 levels; item 1 is a segment of its own.
    scale = state.scales[state.levels[arm] + 1]
    if t & (t - 1) == 0:
        return grow(state, arm, scale, rng), True
    return close_node(state, arm, t, scale, rng), True


def insert_all(state: Joint, rng: np.random.Generator) -> bool:
    """Close a node of the present segment's tree for all coordinates; see `next_noise`."""
    state.items[0] += 1
    t = state.items[0]
    scale = state.scales[state.levels[0] + 1]
    if t & (t - 1) == 0:
        grow_all(state, scale, rng)
    else:
        close_nodes(state, t, scale, rng)
    return True


class SegmentTreesCounter(Counter):
    r"""One tree for each doubling of time, each with the full epsilon, because an item is in one segment only.

    In segment :math:`(2^j, 2^{j+1}]` an item is counted in one node on each of j + 1 levels, of Laplace scale
    :math:`(j + 1) / \epsilon`; a closed segment contributes its root. The idea is that of the hybrid mechanism, but
    epsilon is not split between two parts, so the variance is less than half.
    """

    noise = staticmethod(next_noise)
    settled = staticmethod(settle)
    joint_noise = staticmethod(insert_all)
    joint_settled = staticmethod(settle_all)

    nodes_per_item = MOST_LEVELS

    def new_state(self, n_arms: int) -> State:
        """Return the state of `n_arms` counters before their first items."""
        return start(n_arms, self._scales.copy())

    def new_joint_state(self, n_values: int, norm: int = 0) -> Any:
        """Return the state of `insert_all` before the first round."""
        return start_all(n_values, norm, self.horizon, self._scales.copy())

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        if items == 0:
            return []
        scales = self._scales.tolist()
        full = items.bit_length() - 1
        closed = [(scales[1], 1)] + [(scales[depth + 1], 1) for depth in range(full)]
        return [*closed, (scales[full + 1], (items - (1 << full)).bit_count())]

    def item_draws(self) -> list[tuple[float, int]]:
        """Return the scales of the draws that one item influences, in the last segment: one a level."""
        levels = MOST_LEVELS if self.horizon is None else max(1, (self.horizon - 1).bit_length())
        return [(float(self._scales[levels]), levels)]

    def _sum_of_variances(self, items: int) -> float:
        of_node = [self._squared(float(scale)) for scale in self._scales]
        total, closed = 0.0, of_node[1]
        for place, numbers, ones in octaves(items):
            total += closed * numbers + of_node[place + 1] * ones
            closed += of_node[place + 1]
        return total

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """The guarantee for all releases together."""
        size = "scale (j + 1) / epsilon" if self.delta is None else "variance (j + 1) sigma^2"
        reason = f"an item of segment j is counted in j + 1 nodes of {size}, and in no other segment"
        holds = super().guarantee
        return holds if holds.model == "none" else dataclasses.replace(holds, theorem=f"{reason} (SegmentTreesCounter)")

    @functools.cached_property
    def _scales(self) -> FloatArray:
        return scales_by_levels(self, 1)
