"""Recorded outcomes played again: each arm pays its own past outcomes in random order, reshuffled when used up."""

from collections.abc import Hashable, Sequence
from typing import SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.gain_files import floats
from dp_bandit_envs.errors import StepOutsideGameError, WrongTypeError
from dp_bandit_envs.privacy.participation import use_of_pools
from dp_bandit_envs.protocols import FloatArray


class OutcomePools(Adversary):
    """An adversary made from one pool of recorded gains for each arm.

    In round t arm i pays the t-th outcome of its shuffled pool; when a pool is used up it is shuffled again. If the
    horizon exceeds a pool, its outcomes are used in several rounds: up to T / (outcomes of the arm), rounded up. The
    guarantees of this project protect one round, so for an outcome used in r rounds epsilon is r times as large (group
    privacy); see `data_use` and the guarantee's `for_record()` and `for_person()`. The number of outcomes per arm and
    their persons are public. Without persons, outcomes count as made up, and the seed need not be secret. Use `Replay`
    for real data.

    Args:
        pools: For each arm its recorded gains, each of shape `(outcomes,)` with at least one, in [0, 1].
        horizon: Number of rounds T, at least 1; by default the number of outcomes over all arms.
        persons: The largest number of outcomes per person, or for each arm the person of each outcome; None if unknown.
    """

    def __init__(
        self,
        pools: Sequence[FloatArray],
        horizon: SupportsIndex | None = None,
        *,
        persons: SupportsIndex | Sequence[Sequence[Hashable]] | None = None,
    ) -> None:
        if isinstance(pools, (str, bytes)) or not hasattr(pools, "__len__") or getattr(pools, "shape", None) == ():
            raise WrongTypeError(
                f"pools must be a list of gains for each arm; received {checks.kind_of(pools)}. Use Replay for files."
            )
        self._pools = [floats(pool) for pool in pools]
        for arm, pool in enumerate(self._pools):
            wrong = np.flatnonzero(~((pool >= 0) & (pool <= 1)))
            if pool.ndim != 1 or not pool.size or wrong.size:
                where = f"; entry {wrong[0] + 1}" if pool.ndim == 1 and wrong.size else "; it"
                raise ValueError(
                    f"the pool of arm {arm} must be a list of at least one gain, all in [0, 1]{where} is not."
                )
            pool.flags.writeable = False  # copies share it
        super().__init__(len(pools), sum(map(len, self._pools)) if horizon is None else horizon)
        self.means = self._means = np.array([pool.mean() for pool in self._pools])
        self.data_use = use_of_pools([len(pool) for pool in self._pools], self.horizon, persons)

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self.enter_ledger()
        # A stream for each arm, so that the order in which pools run out does not matter.
        self._streams = rng.spawn(self.n_arms)
        self.means = self._means[self.draw_order(rng)]
        self._ahead = [np.empty(0) for _ in self._pools]
        self._round = 0

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        self._round += rounds
        if self._round > self.horizon:
            raise StepOutsideGameError(
                f"a game of {type(self).__name__} ends after its {self.horizon} rounds, for which data_use says how"
                " often a record serves; more were asked for. Make it with a longer horizon."
            )
        gains = np.empty((rounds, self.n_arms))
        for arm, (pool, stream) in enumerate(zip(self._pools, self._streams, strict=True)):
            missing = rounds - len(self._ahead[arm])
            shuffles = [stream.permutation(pool) for _ in range(-(-missing // len(pool)))]
            ahead = np.concatenate([self._ahead[arm], *shuffles])
            gains[:, arm], self._ahead[arm] = ahead[:rounds], ahead[rounds:]
        return gains if self.order is None else gains[:, self.order]
