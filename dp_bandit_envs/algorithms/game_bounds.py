"""Regret bounds in one game, whose actions may be points or whose arms may have features."""

import math
from typing import TYPE_CHECKING, Any

from dp_bandit_envs.protocols import Environment, plays_points

if TYPE_CHECKING:
    from dp_bandit_envs.algorithms.algorithm import Algorithm


def regret_bound_in(algorithm: "Algorithm", env: Environment) -> float:
    """Return an upper bound on the expected external regret in a game, in units of gain; inf where none is known.

    Args:
        algorithm: The algorithm.
        env: The game, without the algorithm's wrappers; a DPBandit environment.
    """
    game: Any = env.unwrapped
    memory, payoff = game.adversary.memory, game.adversary.payoff
    # With memory, the known bounds assume switching charges, under which a fixed arm collects its gains.
    if algorithm.refusal(env) is not None or (memory > 0 and payoff is not None):
        return math.inf
    points = plays_points(env)
    if algorithm.bound_in is not None and memory == 0:
        low, high = game.decision_set.payoffs if points else (0.0, 1.0)
        return cut(algorithm.bound_in(env), game.horizon, high - low)
    if points:
        return math.inf
    return algorithm.regret_bound(n_arms=game.n_arms, horizon=game.horizon, memory=memory, sensitivity=game.sensitivity)


def cut(bound: float, horizon: int, width: float = 1.0) -> float:
    """Return the bound, but at most what T rounds can cost; inf, where none is known, stays inf."""
    return bound if math.isinf(bound) else min(bound, horizon * width)
