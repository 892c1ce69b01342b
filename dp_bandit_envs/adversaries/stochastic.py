"""The stochastic adversary: every arm is a coin with a bias of its own."""

from typing import NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs.adversaries.round_by_round import RoundByRound
from dp_bandit_envs.protocols import FloatArray


class Coins(NamedTuple):
    """The arms' means, shape `(n_arms,)`."""

    means: FloatArray


def toss(state: Coins, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Write a gain of 0 or 1 for each arm, from one uniform number."""
    for arm in range(len(row)):
        row[arm] = 1.0 if rng.random() < state.means[arm] else 0.0


class Stochastic(RoundByRound):
    """Every arm is a coin with a bias of its own.

    Gains are independent Bernoulli draws; arm 0 has mean 0.55 and the others 0.5, unless `means` says otherwise.

    Args:
        n_arms: Number of arms K, at least 2; by default the length of `means`, or 4 without `means`.
        horizon: Number of rounds T, at least 1.
        means: The arms' means, shape `(n_arms,)`, in [0, 1]; by default 0.55 for arm 0 and 0.5 for the others.

    Source: Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4.
    """

    next_round = staticmethod(toss)

    def __init__(
        self,
        n_arms: SupportsIndex | None = None,
        horizon: SupportsIndex = 2**18,
        *,
        means: ArrayLike | None = None,
    ) -> None:
        try:
            values = None if means is None else np.array(means, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"means must be numbers in [0, 1], one for each arm; received {means!r}.") from None
        if n_arms is None:
            n_arms = 4 if values is None else values.size
        super().__init__(n_arms, horizon)
        if values is None:
            values = np.full(self.n_arms, 0.5)
            values[0] = 0.55
        if values.shape != (self.n_arms,) or not np.all((values >= 0) & (values <= 1)):
            raise ValueError(f"means must be {self.n_arms} numbers in [0, 1], one for each arm; received {means!r}.")
        self.means = self._means = values

    def first_round_state(self, rng: np.random.Generator) -> Coins:
        """Return the means."""
        return Coins(self._means)
