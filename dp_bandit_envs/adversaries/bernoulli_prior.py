"""The Bayesian bandit: Bernoulli arms whose means are drawn anew for each game."""

from typing import SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.protocols import FloatArray


class BernoulliPrior(Adversary):
    """Gains are independent Bernoulli draws; each arm's mean is drawn from a Beta prior at the start of a game.

    The mean of the pseudo-regret over many games is the Bayesian regret. `means` is None until a game begins.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        alpha, beta: Parameters of the prior, each greater than 0; (1, 1) is uniform.

    Source: Russo and Van Roy (2016), section 2, for the Bayesian regret.
    """

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

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1: draw the means; every random number of the game comes from `rng`."""
        self._rng = rng
        self.means = self._means = rng.beta(self.alpha, self.beta, self.n_arms)

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`, 0 or 1."""
        return (self._rng.random((rounds, self.n_arms)) < self._means).astype(float)
