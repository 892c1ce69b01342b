"""The deterministic adversary: fixed periodic gains, chosen so that the best arm looks worse than it is."""

import numpy as np

from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.protocols import FloatArray


def next_round(state: tuple[()], t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Write the gains of round t."""
    for arm in range(len(row)):
        row[arm] = 0.0
    row[0] = 0.38
    row[1] = 1.0 if t % 2 == 0 else 0.0
    if len(row) > 2:
        row[2] = 1.0 if t % 3 == 0 else 0.0


class Deterministic(RoundByRound):
    """Fixed periodic gains that make the best arm look worse than it is.

    Arm 0 always pays 0.38, arm 1 pays 1 in every even round, arm 2 pays 1 in every third round, and the others pay 0.
    Arm 1 is the best, with 1/2 a round on average.

    Source: Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4.
    """

    next_round = staticmethod(next_round)

    def first_round_state(self, rng: np.random.Generator) -> tuple[()]:
        """Return nothing: gains depend on the round only."""
        return ()
