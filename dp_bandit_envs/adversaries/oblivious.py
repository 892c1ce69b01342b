"""The oblivious adversary: coins as in the fully oblivious one, but each outcome is repeated for 200 rounds."""

from typing import SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.fully_oblivious import FullyOblivious
from dp_bandit_envs.protocols import FloatArray


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

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        super().begin(rng)
        self._round = 0
        self._held = super().next_gains(1)

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`, 0 or 1."""
        t = np.arange(self._round + 1, self._round + rounds + 1)
        # Round 1 is the draw of `begin` even when the period is 1.
        draws = t // self.period - max(self._round, 1) // self.period
        self._round += rounds
        held = np.concatenate([self._held, super().next_gains(int(draws[-1]))])
        self._held = held[-1:]
        return held[draws]
