"""The Bayesian bandit: Bernoulli arms whose means are drawn anew for each game."""

from typing import SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.round_by_round import RoundByRound
from dp_bandit_envs.adversaries.stochastic import Coins, toss
from dp_bandit_envs.protocols import FloatArray


class BernoulliPrior(RoundByRound):
    """Gains are independent Bernoulli draws; each arm's mean is drawn from a Beta prior at the start of a game.

    The mean of the pseudo-regret over many games is the Bayesian regret. `means` is None until a game begins.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        alpha, beta: Parameters of the prior, each greater than 0; (1, 1) is uniform.

    Source: Russo and Van Roy (2016), section 2, for the Bayesian regret.
    """

    next_round = staticmethod(toss)

    def __init__(
        self,
        n_arms: SupportsIndex = 10,
        horizon: SupportsIndex = 10_000,
        *,
        alpha: SupportsFloat = 1.0,
        beta: SupportsFloat = 1.0,
    ) -> None:
        super().__init__(n_arms, horizon)
        self.alpha = checks.greater_than("alpha", alpha, 0)
        self.beta = checks.greater_than("beta", beta, 0)

    def first_round_state(self, rng: np.random.Generator) -> Coins:
        """Draw the means, arm after arm."""
        return Coins(np.array([rng.beta(self.alpha, self.beta) for _ in range(self.n_arms)]))

    def means_of(self, state: Coins) -> FloatArray:
        """Return the means that were drawn for a game."""
        return state.means

    @property
    def means(self) -> FloatArray | None:  # type: ignore[override]
        """The means of the game; None before one begins."""
        return self._state.means if hasattr(self, "_state") else None
