"""The construction of Agarwal and Singh's algorithm 4: Laplace noise on the number that a round reveals."""

import math
from collections.abc import Callable

from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.privacy.laplace import noise_scale
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.batch_sizes import capped_batch_size
from dp_bandit_envs.theory.linear_bounds import clip_bound
from dp_bandit_envs.wrappers import LaplaceClipRescale, MiniBatchAverage

BoundOnPoints = Callable[[str, int, int, float, float], float]
"""A regret bound for (set, dimension, payoffs seen, noise scale, clip bound)."""
Clip = Callable[[float, int], float]
"""How far outside its range a noisy payoff may be, for (noise scale, payoffs seen)."""


def with_noise(env: Environment, epsilon: float, *, batch_size: int = 1, clip: Clip = clip_bound) -> Environment:
    """Return the environment with Laplace noise on its payoffs, or on their averages, clipped.

    Args:
        env: A game that reveals one number a round.
        epsilon: Privacy parameter, in (0, inf].
        batch_size: Rounds in a batch, at least 1; in shorter games, the horizon.
        clip: Says where noisy payoffs are clipped; by default so far outside that 1 / T of the games have any such.
    """
    tau = capped_batch_size(batch_size, env.get_wrapper_attr("horizon"))
    if tau > 1:
        env = MiniBatchAverage(env, batch_size=tau)
    scale = noise_scale(env.get_wrapper_attr("sensitivity"), epsilon)
    bound = clip(scale, env.get_wrapper_attr("horizon"))
    return LaplaceClipRescale(env, epsilon=epsilon, bound=bound, outside="clip")


def bound_on_points(bound: BoundOnPoints, epsilon: float = math.inf, batch_size: int = 1) -> Callable[..., float]:
    """Return a regret bound in games of points, from that of the agent on the averages that it sees.

    A batch plays one point on the average gain vector, so tau batches' regret is tau times that of the averages; the
    rounds of the last, unfinished batch cost the width of the range at most.
    """

    def in_game(env: Environment) -> float:
        game = env.unwrapped
        assert isinstance(game, PointEnv)
        low, high = game.decision_set.payoffs
        tau = capped_batch_size(batch_size, game.horizon)
        steps = game.horizon // tau
        scale = noise_scale(game.sensitivity / tau, epsilon)
        of_steps = bound(game.decision_set.name, game.dimension, steps, scale, clip_bound(scale, steps))
        return tau * of_steps + (game.horizon - steps * tau) * (high - low)

    return in_game


def learner_on_points(
    *,
    name: str,
    agent: Callable[[], object],
    sets: tuple[str, ...],
    bound: BoundOnPoints | None,
    epsilon: float | None = None,
    batch_size: int = 1,
    parameters: dict[str, object],
    reference: str,
) -> Algorithm:
    """Return an agent for points that learns from payoffs, with Laplace noise on them if `epsilon` is given."""
    noise = math.inf if epsilon is None else epsilon

    def wrapping(env: Environment) -> Environment:
        return env if epsilon is None else with_noise(env, epsilon, batch_size=batch_size)

    return Algorithm(
        name=name,
        make_agent=None,
        make_point_agent=agent,  # type: ignore[arg-type]
        feedback="payoff",
        decision_sets=sets,
        wrapping=wrapping,
        bound_in=None if bound is None else bound_on_points(bound, noise, batch_size),
        parameters=parameters,
        reference=reference,
    )
