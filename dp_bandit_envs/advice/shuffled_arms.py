"""Games in which no arm has a place of its own: an algorithm that begins with arm 0 would otherwise look too good."""

from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.outcome_pools import OutcomePools
from dp_bandit_envs.adversaries.round_by_round import RoundByRound
from dp_bandit_envs.adversaries.stochastic import Coins, toss
from dp_bandit_envs.protocols import FloatArray


class ShuffledCoins(RoundByRound):
    """Every arm is a coin; which arm has which mean is drawn anew for each game.

    Args:
        means: The means, shape `(n_arms,)`, in [0, 1].
        horizon: Number of rounds T, at least 1.
    """

    next_round = staticmethod(toss)

    def __init__(self, means: ArrayLike, horizon: SupportsIndex) -> None:
        self._means = np.array(means, dtype=float)
        super().__init__(self._means.size, horizon)

    def first_round_state(self, rng: np.random.Generator) -> Coins:
        """Shuffle the means."""
        return Coins(rng.permutation(self._means))

    def means_of(self, state: Coins) -> FloatArray:
        """Return the means of a game."""
        return state.means

    @property
    def means(self) -> FloatArray | None:  # type: ignore[override]
        """The means of the game; None before one begins."""
        return self._state.means if hasattr(self, "_state") else None


class ShuffledPools(Adversary):
    """Recorded outcomes played again, as by `OutcomePools`; which arm has which outcomes is drawn anew for each game.

    Args:
        pools: For each arm its recorded gains.
        horizon: Number of rounds T, at least 1.
    """

    def __init__(self, pools: Sequence[FloatArray], horizon: SupportsIndex) -> None:
        super().__init__(len(pools), horizon)
        self._pools = OutcomePools(pools, horizon)

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self._order = rng.permutation(self.n_arms)
        self._pools.begin(rng)
        assert self._pools.means is not None
        self.means = self._pools.means[self._order]

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        return self._pools.next_gains(rounds)[:, self._order]
