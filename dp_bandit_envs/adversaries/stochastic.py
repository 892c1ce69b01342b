"""The stochastic adversary: every arm is a coin with its own bias, given or drawn from a prior."""

from typing import NamedTuple, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.protocols import FloatArray


class Coins(NamedTuple):
    """The arms' means, shape `(n_arms,)`."""

    means: FloatArray


def toss(state: Coins, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Write a gain of 0 or 1 for each arm, from one uniform number."""
    for arm in range(len(row)):
        row[arm] = 1.0 if rng.random() < state.means[arm] else 0.0


def number_of_means(means: ArrayLike) -> int:
    """Return the number of arms that means are for, or raise ValueError if there are fewer than 2."""
    if np.size(np.asarray(means)) < 2:
        raise ValueError(f"means must be at least 2 numbers in [0, 1], one for each arm; received {means!r}.")
    return np.size(np.asarray(means))


class Stochastic(RoundByRound):
    """Every arm is a coin with its own bias.

    Gains are independent Bernoulli draws; by default one arm, drawn for each game, has mean 0.55 and the others 0.5. If
    the order of arms is given, it is arm 0.

    Args:
        n_arms: Number of arms K, at least 2; by default the length of `means`, or 4 without `means`.
        horizon: Number of rounds T, at least 1.
        means: The arms' means, shape `(n_arms,)`, in [0, 1]; by default 0.55 for one arm and 0.5 for the others.

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
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"means must be numbers in [0, 1], one for each arm; received {means!r}.") from None
        if n_arms is None:
            n_arms = 4 if means is None else number_of_means(means)
        super().__init__(n_arms, horizon)
        if values is None:
            values = np.full(self.n_arms, 0.5)
            values[0] = 0.55
        if values.shape != (self.n_arms,) or not np.all((values >= 0) & (values <= 1)):
            raise ValueError(f"means must be {self.n_arms} numbers in [0, 1], one for each arm; received {means!r}.")
        self.means = self._means = values
        self.arm_order = "random" if means is None else "given"

    def first_round_state(self, rng: np.random.Generator) -> Coins:
        """Return the means in the order of the game."""
        return Coins(self._means[self.draw_order(rng)])

    def means_of(self, state: Coins) -> FloatArray:
        """Return the means of a game."""
        return state.means


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
        self.draw_order(rng)
        return Coins(np.array([rng.beta(self.alpha, self.beta) for _ in range(self.n_arms)]))

    def means_of(self, state: Coins) -> FloatArray:
        """Return the means that were drawn for a game."""
        return state.means
