"""The deterministic adversary: fixed periodic gains, chosen so that the best arm looks worse than it is."""

import numpy as np

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.protocols import FloatArray


class Deterministic(Adversary):
    """Fixed periodic gains that make the best arm look worse than it is.

    Arm 0 always pays 0.38, arm 1 pays 1 in every even round, arm 2 pays 1 in every third round, and the others pay 0.
    Arm 1 is the best, with 1/2 a round on average.

    Source: Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4.
    """

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; nothing is random."""
        self._round = 0

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        t = np.arange(self._round + 1, self._round + rounds + 1)
        self._round += rounds
        gains = np.zeros((rounds, self.n_arms))
        gains[:, 0] = 0.38
        gains[:, 1] = t % 2 == 0
        if self.n_arms > 2:
            gains[:, 2] = t % 3 == 0
        return gains
