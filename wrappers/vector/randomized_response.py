"""`RandomizedResponse` for many games at once."""

from typing import SupportsFloat

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.randomized_response import respond, response_mechanism
from dp_bandit_envs.protocols import IntArray, Observation
from dp_bandit_envs.wrappers.randomized_response import response_guarantee
from dp_bandit_envs.wrappers.vector.boundary import VectorEnv, VectorPrivacyBoundary


class RandomizedResponse(VectorPrivacyBoundary):
    """Coins instead of gains; see `dp_bandit_envs.wrappers.RandomizedResponse`.

    Args:
        env: Vector bandit environments, or a vector privacy wrapper around them that hands on gains.
        epsilon: Privacy parameter of each game, in (0, inf].
    """

    def __init__(self, env: VectorEnv, *, epsilon: SupportsFloat) -> None:
        super().__init__(env)
        self.mechanism = response_mechanism(checks.epsilon(epsilon), self._values_in_a_round)
        self.guarantee = response_guarantee(float(epsilon), self._values_in_a_round, self._guarantee_below)
        self.sensitivity = max(float(self._values_in_a_round), self._sensitivity_below)
        self.horizon = self._horizon_below

    def _begin(self, streams: list[np.random.Generator]) -> None:
        self._coins = streams

    def _advance(self, arms: IntArray) -> tuple[Observation, NDArray[np.bool_], NDArray[np.bool_]]:
        private, terminated, truncated = self._step_below(arms)
        answers = np.zeros((self.num_envs, self.n_arms))
        for game, arm in np.argwhere(private["observed"]).tolist():
            answers[game, arm], _ = respond(private["gain"][game, arm], self.mechanism, self._coins[game])
        return {"gain": answers, "observed": private["observed"].astype(np.int8)}, terminated, truncated
