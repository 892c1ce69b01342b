"""The oblivious adversary: coins as in the fully oblivious one, but each outcome is repeated for 200 rounds."""

from typing import NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.fully_oblivious import Biases, FullyOblivious
from dp_bandit_envs.adversaries.fully_oblivious import next_round as draw
from dp_bandit_envs.protocols import FloatArray


class Held(NamedTuple):
    """The coins, the number of rounds from one draw to the next, and the last draw, shape `(n_arms,)`."""

    biases: Biases
    period: int
    gains: FloatArray


def next_round(state: Held, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Write the gains of the last draw, which round 1 and every multiple of the period make anew."""
    if t == 1 or t % state.period == 0:
        draw(state.biases, t, state.gains, rng)
    for arm in range(len(row)):
        row[arm] = state.gains[arm]


class Oblivious(FullyOblivious):
    """Coins as in the fully oblivious game, but each outcome is repeated for 200 rounds.

    Gains are drawn as by `FullyOblivious` in round 1 and in every round that is a multiple of `period`, and repeated
    in between. The paper does not say what happens before the first multiple of 200.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        gap: Half the width of the intervals, and the gap between the means (the paper's varepsilon), in [0, 0.25].
        period: Number of rounds from one draw to the next, at least 1.

    Source: Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4.
    """

    next_round = staticmethod(next_round)  # type: ignore[assignment]

    def __init__(
        self,
        n_arms: SupportsIndex = 4,
        horizon: SupportsIndex = 2**18,
        *,
        gap: SupportsFloat = 0.05,
        period: SupportsIndex = 200,
    ) -> None:
        super().__init__(n_arms, horizon, gap=gap)
        self.period = checks.integer("period", period, at_least=1, at_most=checks.MOST_ROUNDS)

    def first_round_state(self, rng: np.random.Generator) -> Held:
        """Return the coins, before the first draw."""
        return Held(Biases(self._lowest, 2 * self.gap), self.period, np.zeros(self.n_arms))
