"""The fully oblivious adversary: every arm is a coin whose bias is drawn anew in every round."""

from typing import SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.protocols import FloatArray


class FullyOblivious(Adversary):
    """Coins whose biases are drawn anew in every round.

    In every round each arm draws a bias p, uniform around its centre, and then a gain from Bernoulli(p). The best arm,
    arm 0, has p in [0.5, 0.5 + 2 gap]; the others have p in [0.5 - gap, 0.5 + gap]. Averaged over p the gains are
    Bernoulli(0.5 + gap) and Bernoulli(0.5), independent from round to round: the same law as `Stochastic` with those
    means.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        gap: Half the width of the intervals, and the gap between the means (the paper's varepsilon), in [0, 0.25].

    Source: Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4;
    Audibert and Bubeck (2010), Regret bounds and minimax policies under partial monitoring, JMLR 11.
    """

    def __init__(self, n_arms: SupportsIndex = 4, horizon: SupportsIndex = 2**18, *, gap: SupportsFloat = 0.05) -> None:
        super().__init__(n_arms, horizon)
        self.gap = checks.in_range("gap", gap, 0, 0.25)
        self._lowest = np.full(self.n_arms, 0.5 - self.gap)
        self._lowest[0] = 0.5
        self.means = self._lowest + self.gap

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self._rng = rng

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`, 0 or 1."""
        uniform = self._rng.random((rounds, self.n_arms, 2))
        # p = lowest + 2 gap u and gain = [v < p], rearranged so that only one operation broadcasts over n_arms: its
        # short inner loop is the expensive part.
        threshold = uniform[..., 1] - 2 * self.gap * uniform[..., 0]
        return (threshold < self._lowest).astype(float)
