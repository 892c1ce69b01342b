"""Sums of blocks of an arm's gains, each released once, with one draw of noise."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import grid_of, noise_scale, to_grid
from dp_bandit_envs.privacy.sums.mechanism import for_rounds
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """What is known and what was released.

    Attributes:
        total, filled: Sum and number of the gains in each arm's open block, `(n_arms,)`.
        block: The number of the open block, `(n_arms,)`.
        sums, counts: The released sums and how many gains they cover, `(n_arms,)`.
        lengths: The lengths of the blocks; the last is that of all that follow.
        scale: Of the noise of one block.
        grid: The step between noisy block sums; 0 without noise.
        keep: Whether blocks are added up; otherwise only the last one is told.
    """

    total: FloatArray
    filled: IntArray
    block: IntArray
    sums: FloatArray
    counts: IntArray
    lengths: IntArray
    scale: float
    grid: float
    keep: bool


def tell(
    state: State, gain: Sequence[float], observed: Sequence[int], rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Fill the open blocks; release those that are full."""
    for arm in range(len(state.counts)):
        if not observed[arm]:
            continue
        state.total[arm] += gain[arm]
        state.filled[arm] += 1
        if state.filled[arm] == state.lengths[min(state.block[arm], len(state.lengths) - 1)]:
            noisy = state.total[arm]
            if state.scale > 0.0:
                noisy = to_grid(noisy + rng.laplace(0.0, state.scale), state.grid)
            if state.keep:
                state.sums[arm] += noisy
                state.counts[arm] += state.filled[arm]
            else:
                state.sums[arm] = noisy
                state.counts[arm] = state.filled[arm]
            state.total[arm] = 0.0
            state.filled[arm] = 0
            state.block[arm] += 1
    return state.sums, state.counts


@dataclasses.dataclass(frozen=True)
class BlockSums:
    """One draw of Laplace noise for each block.

    Args:
        epsilon: Privacy parameter, in (0, inf].
        lengths: The lengths of an arm's blocks, each at least 1; the last is that of all that follow.
        keep: Whether blocks are added up; otherwise only the last one is told.
        sensitivity: By how much one changed round moves all sums together, in L1.
    """

    epsilon: float
    lengths: tuple[int, ...]
    keep: bool
    sensitivity: float = 1.0

    @property
    def tell(self) -> Callable[..., Any]:
        """The function above."""
        return tell

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """Epsilon, because a gain is in one block only."""
        if math.isinf(self.epsilon):
            return PrivacyGuarantee.none("epsilon is inf, so there is no noise")
        own = PrivacyGuarantee(epsilon=self.epsilon, model="local" if self.lengths == (1,) else "central")
        return for_rounds(own, self.sensitivity, "a gain is in one block, whose sum is released once (Laplace)")

    def new_state(self, n_arms: int) -> State:
        """Return the state before the first round."""
        scale = noise_scale(self.sensitivity, self.epsilon)
        zeros = np.zeros(n_arms, np.int64)
        return State(
            np.zeros(n_arms),
            zeros.copy(),
            zeros.copy(),
            np.zeros(n_arms),
            zeros,
            np.array(self.lengths, np.int64),
            scale,
            grid_of(scale),
            self.keep,
        )


def geometric_blocks(ratio: float, horizon: int, *, first: int = 1, totals: bool = True) -> tuple[int, ...]:
    """Return the lengths of blocks that grow, until they reach the horizon.

    Args:
        ratio: At least 1; with 1, all blocks have the first one's length.
        horizon: Number of rounds.
        first: The length of the first block; more than the horizon is as good as one more.
        totals: Whether the arm's total number of gains is what is multiplied by the ratio at each release (1, 2, 4, 8
            for 2: blocks 1, 1, 2, 4); otherwise the length of the block (1, 2, 4, 8, with totals 1, 3, 7, 15).
    """
    first = min(first, horizon + 1)
    if ratio == 1:
        return (first,)
    lengths, total = [first], first
    while total < horizon:
        last = total if totals else lengths[-1]
        # A block longer than the game is never full.
        grown = math.ceil(min(ratio * last, last + horizon + 1))
        lengths.append(max(1, grown - total) if totals else grown)
        total += lengths[-1]
    return tuple(lengths)
