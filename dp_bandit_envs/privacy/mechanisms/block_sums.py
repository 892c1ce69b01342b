"""Sums of blocks of an arm's gains, each released once, with one draw of noise."""

import dataclasses
import math
from collections.abc import Iterable
from typing import NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.functions import bind
from dp_bandit_envs.privacy.facts import InputFacts, to_item
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import noisy
from dp_bandit_envs.privacy.mechanism import Release
from dp_bandit_envs.privacy.mechanisms.sum_noise import SumNoise, noisy_normal, noisy_normal_exact
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """The open blocks and the last releases.

    Attributes:
        total, filled: Sum and number of the gains in each arm's open block, `(n_arms,)`.
        block: The number of the open block, `(n_arms,)`.
        sums, counts: The released sums and how many gains they cover, `(n_arms,)`.
        lengths: The lengths of the blocks; the last length repeats.
        scale: Laplace scale, or standard deviation, of the noise in one block's sum.
        grid: The step between noisy block sums; 0 without noise.
        keep: Whether block sums are added up; otherwise only the last block's sum is released.
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


def release(state: State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Add a gain to its arm's open block; release the block if it is full."""
    state.total[arm] += to_item(gain)
    state.filled[arm] += 1
    if state.filled[arm] < state.lengths[min(state.block[arm], len(state.lengths) - 1)]:
        return 0.0, 0
    block_sum = noisy(state.total[arm], state.scale, state.grid, rng)
    if state.keep:
        state.sums[arm] += block_sum
        state.counts[arm] += state.filled[arm]
    else:
        state.sums[arm] = block_sum
        state.counts[arm] = state.filled[arm]
    state.total[arm] = 0.0
    state.filled[arm] = 0
    state.block[arm] += 1
    return state.sums[arm], state.counts[arm]


class BlockSums(SumNoise):
    """Sums each arm's gains in growing blocks; a block's sum is released with noise once the block is full.

    The scale is sensitivity / epsilon for every block: a gain is released once, in one block of one arm, so no
    composition is needed. In one block of n gains, the noise of the mean has scale sensitivity / (epsilon n). With
    `delta` the noise is Gaussian with the same standard deviation in every block, and all releases together are zCDP.

    Args:
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        ratio: Growth factor of an arm's number of released gains per release, at least 1. With 2, blocks have 1, 1, 2,
            4, 8, ... gains; with 1, all have `first` gains; blocks of 1 give local privacy.
        first: The number of gains in an arm's first block, at least 1.
        keep: Whether `sum` and `count` cover all full blocks, each with its own noise; otherwise only the last full
            block.
        lengths: The lengths of the blocks, each at least 1, instead of `ratio` and `first`; the last length repeats.
        delta: Privacy failure probability of Gaussian noise, in (0, 1); by default the noise is Laplace noise.
        draws: `"fast"`, repeatable; or `"secure"`, exact noise without a seed (`privacy.secure_draws`).

    Protects: one round's gains of all arms, in the central model (local, with blocks of 1).

    Source: Azize and Basu (2022) and Hu and Hegde (2022) for doubling blocks (only the last block counts); Azize, Wu,
    Honda, Orabona, Ito and Basu (2025) for geometric blocks with `keep`; Sajed and Sheffet (2019) for `lengths`; Azize
    and Basu (2023) for Gaussian noise.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs.wrappers import BlockSums
        >>> env = BlockSums(gym.make("DPBandit-Stochastic-v0", n_arms=2, horizon=20), epsilon=1)
        >>> observation, info = env.reset(seed=0)
        >>> [int(env.step(1)[0]["count"][1]) for _ in range(9)]
        [1, 1, 1, 2, 2, 2, 2, 4, 4]
    """

    releases_sums = True

    def __init__(
        self,
        *,
        epsilon: SupportsFloat,
        ratio: SupportsFloat = 2.0,
        first: SupportsIndex = 1,
        keep: bool = False,
        lengths: Iterable[int] | None = None,
        delta: SupportsFloat | None = None,
        draws: str = "fast",
    ) -> None:
        self._use_draws(draws)
        if delta is not None:  # without it, other parameters alone determine the noise's stream
            self.delta = checks.delta(delta)
        self.epsilon = checks.epsilon(epsilon)
        self.ratio, self.first = checks.at_least("ratio", ratio, 1), checks.integer("first", first, at_least=1)
        if not math.isfinite(self.ratio):
            raise ValueError(f"ratio must be finite; received {ratio!r}.")
        self.keep = checks.boolean("keep", keep)
        self.lengths = None if lengths is None else checked_lengths(lengths)

    def blocks(self, horizon: int) -> tuple[int, ...]:
        """Return the lengths of an arm's blocks; the last length repeats.

        Args:
            horizon: Number of steps; longer blocks are never full, so their length does not matter.
        """
        if self.lengths is None:
            return geometric_blocks(self.ratio, horizon, first=self.first)
        return tuple(min(length, horizon + 1) for length in self.lengths)

    @property
    def release(self) -> Release:
        """The module's `release`, with normal noise if there is a delta."""
        if self.delta is None:
            return release
        return bind(release, {"noisy": noisy_normal_exact if self._secure else noisy_normal})

    def release_for(self, inputs: InputFacts) -> Release:
        """Return `release`, with exact noise for secure draws."""
        return super().release_for(inputs) if self.delta is None else self.release

    def new_state(self, inputs: InputFacts) -> State:
        """Return empty blocks."""
        scale, grid = self._scale_and_grid(inputs)
        zeros = np.zeros(inputs.n_values, np.int64)
        return State(
            np.zeros(inputs.n_values),
            zeros.copy(),
            zeros.copy(),
            np.zeros(inputs.n_values),
            zeros,
            np.array(self.blocks(inputs.horizon), np.int64),
            scale,
            grid,
            self.keep,
        )

    def first_release(self, inputs: InputFacts) -> int:
        """Return the length of an arm's first block."""
        return self.blocks(inputs.horizon)[0]

    def guarantee(self, inputs: InputFacts) -> PrivacyGuarantee:
        """Return epsilon, because a gain is in one block only; or the guarantee below, if there is one."""
        reason = "a gain is in one block, whose sum is released once"
        guarantee = self._guarantee_once(inputs, reason)
        is_local = self.blocks(inputs.horizon) == (1,) and guarantee.model != "none"
        return dataclasses.replace(guarantee, model="local") if is_local else guarantee


class RestartedState(NamedTuple):
    """The blocks, each arm's round, `(n_arms,)`, and the rounds from one restart to the next."""

    blocks: State
    rounds: IntArray
    period: int


def release_until_restart(state: RestartedState, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Add a gain to its arm's open block, as `release` does, and count the arm's round."""
    total, count = release(state.blocks, arm, gain, rng)
    pass_round(state, arm)
    return total, count


def idle_until_restart(state: RestartedState, arm: int, rng: np.random.Generator) -> tuple[float, int]:
    """Count the round of an arm that was not revealed."""
    pass_round(state, arm)
    return 0.0, 0


def pass_round(state: RestartedState, arm: int) -> None:
    """Count a round; at the end of a period drop the open block, so that the next gain begins the first block."""
    state.rounds[arm] += 1
    if state.rounds[arm] == state.period:
        state.rounds[arm] = 0
        state.blocks.total[arm] = 0.0
        state.blocks.filled[arm] = 0
        state.blocks.block[arm] = 0


class RestartedSums(BlockSums):
    """Block sums that restart with the first block every `period` rounds.

    An open block is then dropped, and its gains are never released. So a gain is still in at most one released sum, and
    epsilon is the same as for one period: periods are disjoint, and restarts do not depend on gains.

    Args:
        epsilon: As for `BlockSums`, whose doubling blocks these are.
        period: Rounds H from one restart to the next, at least 1.
        draws: As for `BlockSums`.

    Protects: one round's gains of all arms, in the central model.
    """

    release = staticmethod(release_until_restart)
    idle = staticmethod(idle_until_restart)

    def __init__(self, *, epsilon: SupportsFloat, period: SupportsIndex, draws: str = "fast") -> None:
        super().__init__(epsilon=epsilon, draws=draws)
        self.period = checks.integer("period", period, at_least=1)

    def new_state(self, inputs: InputFacts) -> RestartedState:  # type: ignore[override]
        """Return empty blocks at round 0."""
        return RestartedState(super().new_state(inputs), np.zeros(inputs.n_values, np.int64), self.period)


def geometric_blocks(ratio: float, horizon: int, *, first: int = 1, totals: bool = True) -> tuple[int, ...]:
    """Return the lengths of growing blocks, until they reach the horizon.

    Args:
        ratio: At least 1; with 1, all blocks have length `first`.
        horizon: Number of rounds.
        first: The length of the first block, effectively at most horizon + 1.
        totals: Whether each release multiplies the arm's total number of gains by the ratio (for 2: totals 1, 2, 4, 8
            from blocks 1, 1, 2, 4); otherwise it multiplies the length of the block (1, 2, 4, 8: totals 1, 3, 7, 15).
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


def checked_lengths(lengths: Iterable[int]) -> tuple[int, ...]:
    """Return lengths, or raise TypeError or ValueError."""
    try:
        lengths = tuple(lengths)
    except TypeError:
        raise TypeError(f"lengths must be a sequence of integers, one for each block; received {lengths!r}.") from None
    if not lengths:
        raise ValueError("lengths must have at least one block; received none.")
    return tuple(checks.integer("a length", length, at_least=1) for length in lengths)
