"""`MiniBatchAverage` for many games at once."""

from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.privacy.rounding import divide_up
from dp_bandit_envs.protocols import IntArray, Observation
from dp_bandit_envs.wrappers.mini_batch_average import average, batch_guarantee, check_batch_size
from dp_bandit_envs.wrappers.vector.boundary import VectorEnv, VectorPrivacyBoundary


class MiniBatchAverage(VectorPrivacyBoundary):
    """Plays each chosen arm for a batch of rounds; see `dp_bandit_envs.wrappers.MiniBatchAverage`.

    Args:
        env: Vector bandit environments, or another vector privacy wrapper around them.
        batch_size: Rounds in a batch (tau), from 1 to the horizon.
    """

    def __init__(self, env: VectorEnv, *, batch_size: SupportsIndex) -> None:
        super().__init__(env)
        self.batch_size = check_batch_size(batch_size, self._horizon_below)
        self.sensitivity = divide_up(self._sensitivity_below, self.batch_size)
        self.horizon = self._horizon_below // self.batch_size
        self.guarantee = batch_guarantee(self._guarantee_below)

    def _begin(self, streams: list[np.random.Generator]) -> None:
        pass

    def _advance(self, arms: IntArray) -> tuple[Observation, NDArray[np.bool_], NDArray[np.bool_]]:
        totals = np.zeros((self.num_envs, self.n_arms))
        counts = np.zeros((self.num_envs, self.n_arms), np.int64)
        for _ in range(self.batch_size):
            observation, terminated, truncated = self._step_below(arms)
            totals += observation["gain"]
            counts += observation["observed"]
            if (terminated | truncated).any():
                break
        return average(totals, counts, self.batch_size), terminated, truncated
