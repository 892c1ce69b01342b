"""Noisy-Hedge: fresh noise on every round's gains, a baseline."""

import functools
import math
from collections.abc import Callable
from typing import Any, SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.hedge import Hedge
from dp_bandit_envs.agents.regularized_leader import RegularizedLeader
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.leaders import set_of
from dp_bandit_envs.privacy.laplace import default_bound, noise_scale
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.experts_bounds import noisy_hedge_rate, noisy_hedge_regret_bound
from dp_bandit_envs.theory.leader_bounds import fresh_noise_bound, fresh_noise_rate
from dp_bandit_envs.wrappers import ExactSums, LaplaceClipRescale

L1_DISTANCES: dict[str, Callable[[int], float]] = {
    "simplex": float,
    "ball": lambda dimension: 2 * math.sqrt(dimension),
    "cube": lambda dimension: 2.0,
}
"""The L1 distance of two gain vectors, which the noise is scaled to, by dimension."""


def noisy_hedge(*, epsilon: SupportsFloat = 1.0) -> Algorithm:
    """Noisy-Hedge: Hedge on gains that get fresh Laplace noise of scale K / epsilon in every round, on every arm.

    Rule: all K gains of a round get Laplace noise of scale K / epsilon, are clipped ln T times the scale outside their
    range and rescaled, which the learning rate undoes. `Hedge` plays by their sums; on points `RegularizedLeader` does,
    with noise of scale D / epsilon in every coordinate and D the L1 distance of two gain vectors.

    Private because a changed round moves the gains by at most K in L1, to which the noise is scaled, and they are
    released once. Nobody ever stores a true gain, so this is local privacy.

    A baseline, and no paper's best: its regret is of order sqrt(T ln K) K / epsilon, so that privacy is never free,
    where sums from a counter get the noise once, not T times. On the ball and on the cube it is of order
    d sqrt(T) / epsilon. The previous best of Agarwal and Singh's table 1 for experts is sqrt(T ln K) / epsilon, the
    order of `DP-Hedge`; Thakurta and Smith (2013) read sums from a tree, too.

    Differs from the source in: there is none; this is the Laplace mechanism on each round, with clipping, and Hedge.
    """
    epsilon = checks.epsilon(epsilon)

    def wrapping(env: Environment) -> Environment:
        return ExactSums(LaplaceClipRescale(env, epsilon=epsilon, outside="clip"))

    def bound(env: Environment) -> float:
        name, dimension = set_of(env)
        horizon, scale = env.get_wrapper_attr("horizon"), noise_scale(L1_DISTANCES[name](dimension), epsilon)
        game: Any = env.unwrapped
        if game.adversary.memory:
            return math.inf
        if name == "simplex":
            return noisy_hedge_regret_bound(dimension, horizon, noisy_hedge_rate(dimension, horizon, scale), scale)
        rate = fresh_noise_rate(name, dimension, horizon, scale)
        return fresh_noise_bound(name, dimension, horizon, rate, scale)

    return Algorithm(
        name="Noisy-Hedge",
        make_agent=lambda: Hedge(learning_rate=functools.partial(_rate, epsilon, "simplex")),
        make_point_agent=lambda: RegularizedLeader(learning_rate=functools.partial(_rate, epsilon)),
        wrapping=wrapping,
        feedback="full",
        bound_in=bound,
        parameters={"epsilon": epsilon},
        reference="Dwork and Roth (2014), theorem 3.6 (Laplace mechanism), on each round; bound derived",
    )


def _rate(epsilon: float, set_name: str, dimension: int, horizon: int) -> float:
    """Return the rate for rescaled gains, which are shrunk by 1 + 2 b ln T / (width of the range)."""
    scale = noise_scale(L1_DISTANCES[set_name](dimension), epsilon)
    if set_name == "simplex":
        return noisy_hedge_rate(dimension, horizon, scale) * (1 + 2 * default_bound(scale, horizon))
    return fresh_noise_rate(set_name, dimension, horizon, scale) * (1 + default_bound(scale, horizon))
