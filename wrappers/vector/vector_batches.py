"""`MiniBatchAverage` for many games at once, with all games in one array operation."""

from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.mechanisms.batch_average import rounder_of
from dp_bandit_envs.protocols import IntArray, Observation, VectorEnvironment
from dp_bandit_envs.wrappers.vector.vector_boundary import VectorPrivacyBoundary


class MiniBatchAverage(VectorPrivacyBoundary):
    """Plays each chosen arm for a batch of rounds; see `dp_bandit_envs.wrappers.MiniBatchAverage`.

    Args:
        env: Vector bandit environments, or another vector privacy wrapper around them.
        batch_size: Rounds in a batch (tau), from 1 to the horizon.
    """

    def __init__(self, env: VectorEnvironment, *, batch_size: SupportsIndex) -> None:
        super().__init__(env, mechanisms.MiniBatchAverage(batch_size=batch_size))

    def _advance(self, arms: IntArray) -> tuple[Observation, NDArray[np.bool_], NDArray[np.bool_]]:
        rounder = rounder_of(self._rounds_a_step)
        totals = np.zeros((self.num_envs, self.n_values))
        revealed = np.zeros((self.num_envs, self.n_values), np.int64)
        for _ in range(self._rounds_a_step):
            private, terminated, truncated = self._step_below(arms)
            totals += private["gain"] + rounder - rounder
            revealed += private["observed"]
            if (terminated | truncated).any():
                break
        complete = revealed == self._rounds_a_step
        averages = np.clip(totals / self._rounds_a_step, self._below.values.low, self._below.values.high)
        observation = {"gain": np.where(complete, averages, 0.0), "observed": complete.astype(np.int8)}
        return observation, terminated, truncated
