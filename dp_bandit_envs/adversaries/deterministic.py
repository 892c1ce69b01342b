"""The deterministic adversary: fixed periodic gains, chosen so that the best arm looks worse than it is."""

from typing import NamedTuple

import numpy as np

from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.protocols import FloatArray


class Rhythms(NamedTuple):
    """Each arm's gain in every round, and its extra gains in every second and every third round, each `(n_arms,)`."""

    every: FloatArray
    second: FloatArray
    third: FloatArray


def next_round(state: Rhythms, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Write the gains of round t."""
    second, third = 1.0 if t % 2 == 0 else 0.0, 1.0 if t % 3 == 0 else 0.0
    for arm in range(len(row)):
        row[arm] = state.every[arm] + second * state.second[arm] + third * state.third[arm]


class Deterministic(RoundByRound):
    """Periodic gains that make the best arm look worse than it is.

    One arm always pays 0.38, one pays 1 in every even round, one pays 1 in every third round, and the others pay 0. The
    second of them is the best, with 1/2 per round on average. The arms are assigned at random in each game; if the
    order of arms is given, these are arms 0, 1 and 2.

    Source: Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4.
    """

    next_round = staticmethod(next_round)
    _arm_order = "random"

    def first_round_state(self, rng: np.random.Generator) -> Rhythms:
        """Return the rhythms in a random order of arms."""
        order = self.draw_order(rng)
        return Rhythms(0.38 * (order == 0), 1.0 * (order == 1), 1.0 * (order == 2))
