"""What the leaders on noisy sums share: the game's set by name, counters that are kept, and bounds on regret."""

import functools
import math
from typing import Any

from dp_bandit_envs.agents.hedge import default_learning_rate
from dp_bandit_envs.agents.regularized_leader import RATES
from dp_bandit_envs.privacy.counters import Counter, make_counter
from dp_bandit_envs.protocols import Environment, plays_points
from dp_bandit_envs.theory.leader_bounds import equal_noise_bound, growing_noise_bound

EQUAL = ("padded-binary", "smooth-binary")
"""Counters of which every release has the noise of equally many nodes."""


@functools.lru_cache(maxsize=64)
def counter_of(name: str, horizon: int, **options: Any) -> Counter:
    """Return a counter from a few that are kept, as some take long to make; it must not be changed."""
    return make_counter(name, horizon=horizon, **options)


def set_of(env: Environment) -> tuple[str, int]:
    """Return the decision set's name and dimension; experts are the simplex."""
    if plays_points(env):
        decision_set = env.get_wrapper_attr("decision_set")
        return decision_set.name, decision_set.dimension
    return "simplex", env.get_wrapper_attr("n_arms")


def leader_bound(env: Environment, wrapped: Environment, learning_rate: float | None) -> float:
    """Return the regret bound of the regularised leader on the sums of a `CounterSums`; inf where none is known."""
    name, dimension = set_of(env)
    horizon = env.get_wrapper_attr("horizon")
    usual = RATES[name] if plays_points(env) else default_learning_rate
    rate = usual(dimension, horizon) if learning_rate is None else learning_rate
    mechanism = wrapped.get_wrapper_attr("mechanism")
    counter = mechanism.counter(horizon)
    if math.isinf(mechanism.epsilon):
        return equal_noise_bound(name, dimension, horizon, rate, "laplace", 0.0, 1)
    values = env.get_wrapper_attr("values")
    if mechanism.counter_name == "square-root":
        # In short games the noise at the usual rate costs more than in longer ones, so the bound alone would fall.
        found: list[float] = []
        for rounds in [horizon >> halvings for halvings in range(horizon.bit_length())]:
            own_rate = usual(dimension, rounds) if learning_rate is None else learning_rate
            deviation = math.sqrt(mechanism.counter(rounds).variance(rounds)) * values.l2
            most = rounds * values.width
            found.append(min(most, growing_noise_bound(name, dimension, rounds, own_rate, deviation)))
        return max(found)
    if mechanism.counter_name not in EQUAL or mechanism.noise_kind == "gaussian":
        return math.inf
    distance = values.own if mechanism.noise_kind == "own-norm" else env.get_wrapper_attr("sensitivity")
    scale = distance * counter.nodes_per_item / mechanism.epsilon
    return equal_noise_bound(name, dimension, horizon, rate, mechanism.noise_kind, scale, counter.nodes_per_item)
