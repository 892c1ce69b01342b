"""Noisy-Hedge: fresh noise on every round's gains, the form of Thakurta and Smith (2013)."""

import functools
from typing import SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.hedge import Hedge
from dp_bandit_envs.algorithms.algorithm import Algorithm, without_memory
from dp_bandit_envs.privacy.laplace import default_bound, noise_scale
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.experts_bounds import noisy_hedge_rate, noisy_hedge_regret_bound
from dp_bandit_envs.wrappers import ExactSums, LaplaceClipRescale


def noisy_hedge(*, epsilon: SupportsFloat = 1.0) -> Algorithm:
    """Noisy-Hedge: Hedge on gains that get fresh Laplace noise of scale K / epsilon in every round, on every arm.

    Agarwal and Singh (2017) and Tossou and Dimitrakakis (2017) take this form, with the rate of Thakurta and Smith
    (2013), as the best before them. It is the simplest, and local: nobody ever stores a true gain. Its regret is of
    order sqrt(T ln K) K / epsilon, so that privacy is never free; sums from a counter get the noise once, not T times.

    A noisy gain is clipped ln T times the scale outside [0, 1] and rescaled, which the learning rate undoes.

    Differs from the source in: Hedge for its regularised leader; Laplace noise, so that delta is 0; clipping.
    """
    epsilon = checks.epsilon(epsilon)

    def bound(n_arms: int, horizon: int) -> float:
        noise = noise_scale(float(n_arms), epsilon)
        return noisy_hedge_regret_bound(n_arms, horizon, noisy_hedge_rate(n_arms, horizon, noise), noise)

    def wrapping(env: Environment) -> Environment:
        return ExactSums(LaplaceClipRescale(env, epsilon=epsilon, outside="clip"))

    return Algorithm(
        name="Noisy-Hedge",
        make_agent=lambda: Hedge(learning_rate=functools.partial(_rate, epsilon)),
        wrapping=wrapping,
        feedback="full",
        bound=without_memory(bound),
        parameters={"epsilon": epsilon},
        reference="Thakurta and Smith (2013), (Nearly) Optimal Algorithms for Private Online Learning; bound derived",
    )


def _rate(epsilon: float, n_arms: int, horizon: int) -> float:
    """Return the rate for rescaled gains."""
    noise = noise_scale(float(n_arms), epsilon)
    return noisy_hedge_rate(n_arms, horizon, noise) * (1 + 2 * default_bound(noise, horizon))
