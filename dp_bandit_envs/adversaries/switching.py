"""The switching-cost adversary: one arm is better by a tiny gap, and a round in which the agent switches pays 0."""

from typing import SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.arithmetic import exp, log
from dp_bandit_envs.protocols import FloatArray


class SwitchingCost(Adversary):
    r"""One arm is better by a tiny gap, and a round in which the agent switches pays 0.

    All gains follow one multi-scale random walk, which hides the gap:

    .. math:: g_t(i) = 1 - \mathrm{clip}(W_t + 1/2 - \text{gap} \cdot [i = \chi], 0, 1), \quad
              W_t = W_{\rho(t)} + \xi_t, \quad \xi_t \sim N(0, \sigma^2), \quad W_0 = 0

    for t = 1, ..., T, with :math:`\rho(t)` = t with its lowest set bit cleared, :math:`\sigma = 1 / (9 \log_2 T)`,
    gap = :math:`K^{1/3} T^{-1/3} \sigma` and the best arm :math:`\chi` uniform. An agent that does not switch cannot
    see in the walk which arm is better, and in a round with a change of arm the gain is 0 (memory 1). The first round
    is not a change.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 2.

    Source: Dekel, Ding, Koren and Peres (2014), Bandits with Switching Costs: T^(2/3) Regret, STOC, figure 1, with the
    charge of Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4.

    Differs from the source in: gains instead of losses, so the best arm's numbers are larger rather than smaller; and
    the charge for a switch is the gain of that round (Tossou and Dimitrakakis 2017, section 2.1), not 1.
    """

    memory = 1

    def __init__(self, n_arms: SupportsIndex = 4, horizon: SupportsIndex = 2**18) -> None:
        super().__init__(n_arms, horizon)
        checks.integer("horizon", horizon, at_least=2)
        self.sigma = log(2.0) / (9 * log(self.horizon))
        self.gap = exp(log(self.n_arms / self.horizon) / 3) * self.sigma

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self._rng = rng
        self.best_arm = int(rng.integers(self.n_arms))
        self._round = 0
        # Entry i: the walk at the current round number with its bits below i cleared. The parent of a later round is
        # either in the same block or one of these.
        self._walk_at = [0.0] * (self.horizon.bit_length() + 1)

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        losses = self.next_walk(rounds)[:, np.newaxis].repeat(self.n_arms, axis=1) + 0.5
        losses[:, self.best_arm] -= self.gap
        return 1 - np.clip(losses, 0, 1)

    def next_walk(self, rounds: int) -> FloatArray:
        """Return the walk W_t of the next `rounds` rounds, shape `(rounds,)`."""
        walk = self._rng.normal(0, self.sigma, rounds)
        first, last = self._round + 1, self._round + rounds
        # A parent has more trailing zeros than its child, so rounds with more trailing zeros come first.
        for bit in range(last.bit_length() - 1, -1, -1):
            step = 1 << bit
            t = (first - 1 + step) // (2 * step) * 2 * step + step  # the first round >= `first` with this lowest bit
            if t > last:
                continue
            if t - step < first:
                walk[t - first] += self._walk_at[bit + 1]
                t += 2 * step
            walk[t - first :: 2 * step] += walk[t - step - first : max(last + 1 - step - first, 0) : 2 * step]
        self._round = last
        self._walk_at = [self._kept(bit, first, last, walk) for bit in range(len(self._walk_at))]
        return walk

    def _kept(self, bit: int, first: int, last: int, walk: FloatArray) -> float:
        prefix = last >> bit << bit
        return float(walk[prefix - first]) if prefix >= first else self._walk_at[bit]
