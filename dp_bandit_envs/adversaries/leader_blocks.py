"""Blocks of rounds, each with its own leader, while one steady arm is the best of the whole game."""

from typing import NamedTuple, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.protocols import FloatArray, IntArray


class BlockMeans(NamedTuple):
    """The state of a game.

    Attributes:
        leaders: The leader of each block, `(blocks,)`.
        steady: The arm that is the best of the whole game, `(1,)`.
        length: Rounds of a block.
        low, high, middle: The means of most arms, of a leader, and of the steady arm.
    """

    leaders: IntArray
    steady: IntArray
    length: int
    low: float
    high: float
    middle: float


def next_round(state: BlockMeans, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Toss a coin for each arm, from one uniform number."""
    leader = state.leaders[(t - 1) // state.length]
    for arm in range(len(row)):
        mean = state.high if arm == leader else state.low
        mean = state.middle if arm == state.steady[0] else mean
        row[arm] = 1.0 if rng.random() < mean else 0.0


class LeaderBlocks(RoundByRound):
    """Every block of rounds has its own leader, but one steady arm is the best of the whole game.

    Every arm is a coin. Most have mean (1 - gap) / 2; in each of `blocks` equal blocks one arm, the leader, has mean (1
    + gap) / 2. One steady arm has mean 1/2 + gap / 8 in all rounds, also if it was drawn as a leader, so an agent that
    follows a leader falls behind it when the block ends. Leaders are uniform and independent; they and the steady arm
    are drawn for each game. Intended for experts: `gym.make("DPBandit-Experts-v0", gains="Leaders", n_arms=20)`.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        blocks: Number of blocks, at least 1; a block has ceil(T / blocks) rounds, the last block the remaining rounds.
        gap: Gap between a leader and most arms, in (0, 1].

    Source: this project; segments with different best experts as in Herbster and Warmuth (1998), Tracking the Best
    Expert, Machine Learning 32(2).
    """

    next_round = staticmethod(next_round)

    def __init__(
        self,
        n_arms: SupportsIndex = 4,
        horizon: SupportsIndex = 2**18,
        *,
        blocks: SupportsIndex = 8,
        gap: SupportsFloat = 0.2,
    ) -> None:
        super().__init__(n_arms, horizon)
        self.blocks = checks.integer("blocks", blocks, at_least=1, at_most=checks.MOST_ARMS)
        self.gap = checks.in_range("gap", gap, 0, 1)
        checks.greater_than("gap", self.gap, 0)

    def first_round_state(self, rng: np.random.Generator) -> BlockMeans:
        """Draw the leaders and the steady arm."""
        self.draw_order(rng)
        leaders, steady = rng.integers(self.n_arms, size=self.blocks), rng.integers(self.n_arms, size=1)
        length = -(-self.horizon // self.blocks)
        return BlockMeans(leaders, steady, length, (1 - self.gap) / 2, (1 + self.gap) / 2, 0.5 + self.gap / 8)

    def means_at(self, rounds: ArrayLike) -> FloatArray:
        """Return the arms' means in rounds of this game, counted from 1, shape `(len(rounds), n_arms)`."""
        state: BlockMeans = self._state
        leaders = state.leaders[(np.asarray(rounds) - 1) // state.length]
        means: FloatArray = np.where(leaders[:, np.newaxis] == np.arange(self.n_arms), state.high, state.low)
        means[:, state.steady[0]] = state.middle
        return means
