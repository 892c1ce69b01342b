"""Answers with a coin instead of a gain: 1 or 0, more often 1 for larger gains."""

import math
from typing import SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.randomized_response import respond, response_mechanism
from dp_bandit_envs.privacy.sums.mechanism import after_noise_below
from dp_bandit_envs.protocols import Environment, Observation
from dp_bandit_envs.wrappers.boundary import PrivacyBoundary


class RandomizedResponse(PrivacyBoundary):
    r"""Answers with a coin instead of a gain: 1 or 0, more often 1 for larger gains.

    A gain g becomes 1 with probability :math:`\frac{g (e^\epsilon - 1) + 1}{e^\epsilon + 1}`, and 0 otherwise.

    The chance of either answer changes by a factor of at most e^epsilon between any two gains. An arm with mean mu
    becomes one of coins with mean :math:`\frac{1 + \mu (e^\epsilon - 1)}{e^\epsilon + 1}`: the order of the arms stays,
    and gaps shrink by :math:`\frac{e^\epsilon - 1}{e^\epsilon + 1}`. Where one round reveals s > 1 gains, each answer
    gets epsilon / s, also for averages: a coin can flip however little its chances move.

    Args:
        env: A bandit environment, or a privacy wrapper around one that hands on gains.
        epsilon: Privacy parameter, in (0, inf]; at `math.inf` a gain becomes a coin with that mean.

    Protects: one round's gains of all arms, locally.

    Source: Warner (1965); for bandits, Ren, Zhou, Liu and Shroff (2020), Multi-Armed Bandits with Local Differential
    Privacy.
    """

    def __init__(self, env: Environment, *, epsilon: SupportsFloat) -> None:
        super().__init__(env)
        self.mechanism = response_mechanism(checks.epsilon(epsilon), self._values_in_a_round)
        self.guarantee = response_guarantee(float(epsilon), self._values_in_a_round, self._guarantee_below)
        self.sensitivity = max(float(self._values_in_a_round), self._sensitivity_below)
        self.horizon = self._horizon_below

    def _begin(self) -> None:
        pass

    def _advance(self, arm: int) -> tuple[Observation, bool, bool]:
        private, terminated, truncated = self._step_below(arm)
        assert self._rng is not None
        gain, observed = private["gain"], private["observed"]
        answers = np.zeros(self.n_arms)
        for index in observed.nonzero()[0].tolist():
            answers[index], _ = respond(gain.item(index), self.mechanism, self._rng)
        return {"gain": answers, "observed": observed.astype(np.int8)}, terminated, truncated


def response_guarantee(epsilon: float, answers: int, below: PrivacyGuarantee | None) -> PrivacyGuarantee:
    """Return the guarantee of both forms of the wrapper."""
    if math.isinf(epsilon):
        own = PrivacyGuarantee.none("epsilon is inf, so the coins follow the gains")
    else:
        own = PrivacyGuarantee(
            epsilon=epsilon,
            model="local" if below is None else "central",
            theorem=(
                "randomized response: either answer's chance changes by a factor of at most e^epsilon"
                + (
                    f" / {answers} in the exponent, for each of {answers} answers that a round enters"
                    if answers > 1
                    else ""
                )
            ),
        )
    return after_noise_below(own, below)
