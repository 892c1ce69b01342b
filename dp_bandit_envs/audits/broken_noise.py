"""Mechanisms whose noise is wrong on purpose: too small, shared, missing, or in plain doubles. For teaching only."""

import dataclasses
import math
from typing import Any, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.facts import Below, Noise
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import draw, noise_scale
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms import BlockSums, CounterSums, HybridSums, LaplaceClipRescale, block_sums
from dp_bandit_envs.privacy.mechanisms.counter_sums import in_steps
from dp_bandit_envs.protocols import FloatArray, IntArray


class BrokenHybridBudget(HybridSums):
    """A hybrid counter in which both parts get all of epsilon: the two together show a gain twice as clearly."""

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, budget="paper")

    def guarantee(self, below: Below) -> PrivacyGuarantee:
        """Claim epsilon, as if the two parts did not compose."""
        return dataclasses.replace(super().guarantee(below), epsilon=self.epsilon)


class BrokenTreeLevels(CounterSums):
    """A binary counter whose levels are counted with ln in place of lg: an item is in more nodes than paid for."""

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, counter="binary")

    def new_state(self, below: Below) -> Any:
        """Return the state with the noise of ln T levels."""
        state = super().new_state(below)
        share = max(1.0, math.log(below.horizon)) / below.horizon.bit_length()
        return state._replace(
            counters=in_steps(state.counters, share, 1.0), together=in_steps(state.together, share, 1.0)
        )


class BrokenRange(LaplaceClipRescale):
    """Noise of scale 1 / epsilon for values in [-1, 1]: they differ by 2, so the two ends lie 2 epsilon apart."""

    def noise(self, below: Below) -> Noise:
        """Return the scale for values in [0, 1]."""
        return super().noise(below)._replace(scale=noise_scale(1.0, self.epsilon))


class BrokenNoGrid(LaplaceClipRescale):
    """Noise in plain doubles: some numbers can be released for one gain and never for another."""

    def new_state(self, below: Below) -> Any:
        """Return the parameters without a grid."""
        return super().new_state(below)._replace(grid=0.0)


class SharedState(NamedTuple):
    """Releases of each arm so far `(n_values,)`, all draws so far `(horizon,)`, their number `(1,)`, and the scale."""

    releases: IntArray
    draws: FloatArray
    drawn: IntArray
    scale: float


def release_with_shared_draw(state: SharedState, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Release a gain with the draw of that number, which all arms use."""
    number = state.releases[arm]
    if number == state.drawn[0]:
        state.draws[number] = draw(state.scale, rng)
        state.drawn[0] += 1
    state.releases[arm] += 1
    return gain + state.draws[number], 1


class BrokenSharedDraw(BlockSums):
    """One draw for all arms: the difference of two arms' releases has no noise at all."""

    release: Any = staticmethod(release_with_shared_draw)

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, ratio=1)

    def new_state(self, below: Below) -> Any:
        """Return no draws yet."""
        numbers = np.zeros(below.n_values, np.int64), np.zeros(1, np.int64)
        return SharedState(numbers[0], np.zeros(below.horizon), numbers[1], self.noise(below).scale)


def release_first_exactly(
    state: block_sums.State, arm: int, gain: float, rng: np.random.Generator
) -> tuple[float, int]:
    """Release the first block of each arm without noise."""
    if state.block[arm] == 0:
        state = state._replace(scale=0.0, grid=0.0)
    return block_sums.release(state, arm, gain, rng)


class BrokenFirstMean(BlockSums):
    """The first mean of each arm, which starts its index, has no noise: the first gain is released as it is."""

    release = staticmethod(release_first_exactly)


def release_twice(state: block_sums.State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Take a gain twice."""
    block_sums.release(state, arm, gain, rng)
    return block_sums.release(state, arm, gain, rng)


class BrokenRepeat(BlockSums):
    """A layer below passes each round on twice: a gain is in two noisy sums, each of which was paid for once."""

    release = staticmethod(release_twice)

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, ratio=1, keep=True)


class BrokenGraphNoise(BlockSums):
    """Noise for one arm's sum where a round enters several: all sums of a round together show its gains."""

    def noise(self, below: Below) -> Noise:
        """Return the scale for a sensitivity of 1."""
        return Noise(below.sensitivity, noise_scale(1.0, self.epsilon))


class BatchState(NamedTuple):
    """Sum and number of each arm's gains in its batch `(n_values,)`, gains seen `(1,)`, and the constants of a game."""

    total: FloatArray
    filled: IntArray
    seen: IntArray
    batch_size: int
    horizon: int
    scale: float


def release_last_batch(state: BatchState, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Release the average of a full batch, and at the end of the game that of the rest."""
    state.total[arm] += gain
    state.filled[arm] += 1
    state.seen[0] += 1
    if state.filled[arm] < state.batch_size and state.seen[0] < state.horizon:
        return 0.0, 0
    average = state.total[arm] / state.filled[arm] + draw(state.scale, rng)
    state.total[arm] = 0.0
    state.filled[arm] = 0
    return average, 1


class BrokenLastBatch(Mechanism):
    """The rest of a game is no full batch, but gets the noise of one: the average of one gain is that gain.

    Args:
        epsilon: Privacy parameter, in (0, inf).
        batch_size: Rounds in a batch (tau), at least 1.
    """

    release = staticmethod(release_last_batch)
    releases_sums = True

    def __init__(self, *, epsilon: SupportsFloat, batch_size: int = 5) -> None:
        self.epsilon, self._tau = checks.epsilon(epsilon), checks.integer("batch_size", batch_size, at_least=1)

    def new_state(self, below: Below) -> Any:
        """Return empty batches, with the noise of full ones."""
        zeros, number = np.zeros(below.n_values, np.int64), np.zeros(1, np.int64)
        scale = noise_scale(below.sensitivity / self._tau, self.epsilon)
        return BatchState(np.zeros(below.n_values), zeros, number, self._tau, below.horizon, scale)

    def guarantee(self, below: Below) -> PrivacyGuarantee:
        """Claim epsilon, as if every batch were full."""
        return PrivacyGuarantee(
            epsilon=self.epsilon, theorem="one round moves an average by 1 / tau (false for the rest)"
        )


class RedrawState(NamedTuple):
    """The last gain of each arm and how many it had, `(n_values,)`, and the scale."""

    last: FloatArray
    counts: IntArray
    scale: float


def release_last(state: RedrawState, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Release a gain with a draw of its own."""
    state.last[arm] = gain
    state.counts[arm] += 1
    return gain + draw(state.scale, rng), state.counts[arm]


def draw_again(state: RedrawState, arm: int, rng: np.random.Generator) -> tuple[float, int]:
    """Release an arm's last gain again, with a new draw."""
    return state.last[arm] + draw(state.scale, rng), state.counts[arm]


class BrokenRedraw(BlockSums):
    """Draws the noise of an arm's last release again in every round, as DP-UCB-INT is printed: the average is exact."""

    release: Any = staticmethod(release_last)
    idle: Any = staticmethod(draw_again)

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, ratio=1)

    def new_state(self, below: Below) -> Any:
        """Return no gains yet."""
        return RedrawState(np.zeros(below.n_values), np.zeros(below.n_values, np.int64), self.noise(below).scale)
