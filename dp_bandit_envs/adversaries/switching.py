"""The switching-cost adversary: one arm is better by a tiny gap, and a round with a switch pays 0."""

from typing import NamedTuple, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.draws import exp, log, parted
from dp_bandit_envs.protocols import FloatArray, IntArray

LAST_BIT = 62
"""No round has it, as there are at most 2^62; it stands for round 0."""


class MultiScaleWalk(NamedTuple):
    """The state of a game.

    Attributes:
        walks: Entry b is the walk at the last round whose lowest set bit is b, `(63,)`; the last is W_0 = 0.
        best_arm: Shape `(1,)`.
        sigma, gap: As below.
    """

    walks: FloatArray
    best_arm: IntArray
    sigma: float
    gap: float


def next_round(state: MultiScaleWalk, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Write the gains of round t."""
    walk = next_step(state, t, rng)
    for arm in range(len(row)):
        loss = walk + 0.5 - (state.gap if arm == state.best_arm[0] else 0.0)
        row[arm] = 1.0 - min(max(loss, 0.0), 1.0)


def next_step(state: MultiScaleWalk, t: int, rng: np.random.Generator) -> float:
    """Return the walk in round t, one step from its value at the parent of t, t with its lowest set bit cleared.

    The parent's entry is intact, because rounds between a round and its parent have lower lowest bits than the parent.
    """
    parent = t & (t - 1)
    walk: float = state.walks[lowest_bit(parent | 1 << LAST_BIT)] + rng.normal(0.0, state.sigma)
    state.walks[lowest_bit(t)] = walk
    return walk


def lowest_bit(number: int) -> int:
    """Return the position of the lowest set bit of a number in [1, 2^62]: the exponent of that power of two."""
    return int(parted(float(number & -number))[1]) - 1


def write_step(state: MultiScaleWalk, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Write the walk instead of gains."""
    row[0] = next_step(state, t, rng)


class SwitchingCost(RoundByRound):
    r"""One arm is better by a tiny gap; a round with a switch pays 0.

    All gains follow one multi-scale random walk, which hides the gap:

    .. math:: g_t(i) = 1 - \mathrm{clip}(W_t + 1/2 - \text{gap} \cdot [i = \chi], 0, 1), \quad
              W_t = W_{\rho(t)} + \xi_t, \quad \xi_t \sim N(0, \sigma^2), \quad W_0 = 0

    for t = 1, ..., T, with :math:`\rho(t)` = t with its lowest set bit cleared, :math:`\sigma = 1 / (9 \log_2 T)`, gap
    = :math:`K^{1/3} T^{-1/3} \sigma` and the best arm :math:`\chi` uniform. An agent that does not switch cannot tell
    from the walk which arm is better, and in a round with a change of arm the gain is 0 (memory 1). The first round is
    not a change.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 2.

    Source: Dekel, Ding, Koren and Peres (2014), Bandits with Switching Costs: T^(2/3) Regret, STOC, figure 1, with the
    charge of Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4.

    Differs from the source in: gains instead of losses, so the best arm's numbers are larger rather than smaller; a
    switch costs the gain of that round (Tossou and Dimitrakakis 2017, section 2.1), not 1.
    """

    memory = 1
    next_round = staticmethod(next_round)

    def __init__(self, n_arms: SupportsIndex = 4, horizon: SupportsIndex = 2**18) -> None:
        super().__init__(n_arms, horizon)
        checks.integer("horizon", horizon, at_least=2)
        self.sigma = log(2.0) / (9 * log(self.horizon))
        self.gap = exp(log(self.n_arms / self.horizon) / 3) * self.sigma

    def first_round_state(self, rng: np.random.Generator) -> MultiScaleWalk:
        """Draw the best arm."""
        self.draw_order(rng)
        return MultiScaleWalk(np.zeros(LAST_BIT + 1), np.array([int(rng.integers(self.n_arms))]), self.sigma, self.gap)

    @property
    def best_arm(self) -> int:
        """The best arm of the game."""
        return int(self._state.best_arm[0])

    def next_walk(self, rounds: int) -> FloatArray:
        """Return the walk W_t of the next `rounds` rounds, shape `(rounds,)`, instead of their gains."""
        walk = np.empty((rounds, 1))
        self._draw(write_step, walk)
        return walk[:, 0]
