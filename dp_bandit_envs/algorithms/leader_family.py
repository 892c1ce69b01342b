"""Leaders on private sums of gain vectors, with full information: regularised (FTRL) and perturbed (FTPL)."""

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.hedge import Hedge, default_learning_rate
from dp_bandit_envs.agents.perturbed_leader import PerturbedLeader, PerturbedLeaderOfArms
from dp_bandit_envs.agents.regularized_leader import RATES, RegularizedLeader
from dp_bandit_envs.algorithms.algorithm import Algorithm, set_of
from dp_bandit_envs.privacy.counters import Counter, make_counter
from dp_bandit_envs.privacy.gaussian import gaussian_epsilon, gaussian_sigma
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import Environment, plays_points
from dp_bandit_envs.theory.experts_bounds import equal_noise_bound, growing_noise_bound, perturbed_leader_bound
from dp_bandit_envs.wrappers import CounterSums

EQUAL = ("padded-binary", "smooth-binary")
"""Counters whose releases all have the noise of equally many nodes."""
MOST_EPSILON = 500.0
"""The largest epsilon that Gaussian noise is calibrated for."""
LARGEST_L1: dict[str, Callable[[int], float]] = {"simplex": float, "ball": math.sqrt, "cube": lambda dimension: 1.0}
"""The largest L1 norm of a gain vector, which the paper's noise is scaled to, by dimension."""
SHRINKS: dict[str, Callable[[int], float]] = {
    "simplex": lambda dimension: 1.0,
    "ball": lambda dimension: dimension**-0.5,
    "cube": lambda dimension: dimension**-0.25,
}
"""The noise that keeps regret small on each set, over sqrt(T / 2)."""


def as_ftrl(
    *,
    epsilon: SupportsFloat = 1.0,
    counter: str = "padded-binary",
    noise: str = "laplace",
    delta: SupportsFloat | None = None,
    learning_rate: SupportsFloat | None = None,
    paper: bool = False,
) -> Algorithm:
    """AS-FTRL (Agarwal and Singh 2017, algorithms 1 and 2): the regularised leader on private sums of gain vectors.

    Rule: a counter, a padded binary tree, releases the noisy sum of all gain vectors after each round. Each node has
    Laplace noise of scale D m / epsilon in every coordinate, where D is the L1 distance of two gain vectors and m the
    most nodes that contain one round. On experts `Hedge` draws an arm by that sum, on points `RegularizedLeader` plays.

    Private because a changed round moves at most m nodes, each by at most D, and all actions depend on these noisy
    nodes only.

    `counter="k-ary"` and `noise="own-norm"` need much less noise for the same epsilon. `paper=True` uses the noise as
    printed, and the guarantee states its actual epsilon: 2.885 epsilon on the ball and the cube for 2^16 rounds.

    Differs from the source in: noise for the distance of two gain vectors and for the number of nodes, instead of the
        largest norm and ln T; the learning rate, which the paper leaves open; the first play, which uses no noise.
        Algorithm 1, line 3 draws a noisy sum for it, too, which is as private.
    """
    epsilon = checks.epsilon(epsilon)
    delta = None if delta is None else checks.delta(delta)
    printed = checks.boolean("paper", paper)
    if printed and (counter, noise) != ("padded-binary", "laplace"):
        raise ValueError("paper=True is the printed noise, padded Laplace trees; leave counter and noise out.")
    if learning_rate is not None:
        learning_rate = checks.greater_than("learning_rate", learning_rate, 0)
    options: dict[str, Any] = {"counter": counter, "noise": noise, **({} if delta is None else {"delta": delta})}

    def wrapping(env: Environment) -> Environment:
        return CounterSums(env, epsilon=_printed_epsilon(env, epsilon) if printed else epsilon, **options)

    return _regularized_leader(
        "AS-FTRL",
        wrapping,
        learning_rate,
        paper_guarantee_of=_claim(epsilon, "theorem 3.1"),
        parameters={"epsilon": epsilon, **options, "learning_rate": learning_rate, "paper": printed},
        reference="Agarwal and Singh (2017), algorithms 1 and 2, theorem 3.1",
    )


def _claim(epsilon: float, theorem: str) -> Callable[[int, int], PrivacyGuarantee]:
    claim = PrivacyGuarantee(epsilon=epsilon, theorem=f"Agarwal and Singh (2017), {theorem}")
    return lambda n_arms, horizon: claim


def _printed_epsilon(env: Environment, epsilon: float) -> float:
    """Return the epsilon whose corrected noise is the printed noise for this epsilon: scale |Y|_1 ln T / epsilon.

    The corrected scale is D m / epsilon, with D the L1 distance of two gain vectors and m the nodes of an item.
    """
    horizon = env.get_wrapper_attr("horizon")
    nodes = _counter_of("padded-binary", horizon, epsilon=1.0).nodes_per_item
    name, dimension = set_of(env)
    logarithm = math.log(max(horizon, 2))
    return float(epsilon * env.get_wrapper_attr("sensitivity") * nodes / (LARGEST_L1[name](dimension) * logarithm))


def dp_ftrl(
    *,
    epsilon: SupportsFloat = 1.0,
    delta: SupportsFloat = 1e-6,
    counter: str = "square-root",
    learning_rate: SupportsFloat | None = None,
) -> Algorithm:
    """DP-FTRL (Kairouz and others 2021): the regularised leader on sums with Gaussian noise; (epsilon, delta)-DP.

    Rule: a counter releases the sum of all gain vectors with Gaussian noise after each round. On experts `Hedge` draws
    an arm by it, on points `RegularizedLeader` plays.

    Private because a changed round moves the noisy sums by at most the L2 distance of two gain vectors; the Gaussian
    noise makes this (epsilon, delta)-DP, and all actions depend on these sums only.

    On the ball this algorithm trains language models with gradients clipped to length 1.

    Differs from the source in: the square-root counter (Fichtenberger, Henzinger and Upadhyay 2023) instead of binary
        trees with Honaker's refinement, which `counter="honaker"` gives.
    """
    epsilon, delta = checks.epsilon(epsilon), checks.delta(delta)
    if learning_rate is not None:
        learning_rate = checks.greater_than("learning_rate", learning_rate, 0)
    options: dict[str, Any] = {"counter": counter, "noise": "gaussian", "delta": delta}

    def wrapping(env: Environment) -> Environment:
        return CounterSums(env, epsilon=epsilon, **options)

    return _regularized_leader(
        "DP-FTRL",
        wrapping,
        learning_rate,
        parameters={"epsilon": epsilon, **options, "learning_rate": learning_rate},
        reference="Kairouz, McMahan, Song, Thakkar, Thakurta and Xu (2021), Practical and Private (Deep) Learning",
    )


def _regularized_leader(
    name: str, wrapping: Callable[[Environment], Environment], learning_rate: float | None, **more: Any
) -> Algorithm:
    """Return Hedge on arms and the regularised leader on points, above the sums of a `CounterSums`."""
    return Algorithm(
        name=name,
        make_agent=lambda: Hedge(learning_rate=learning_rate),
        make_point_agent=lambda: RegularizedLeader(learning_rate=learning_rate),
        wrapping=wrapping,
        feedback="full",
        bound_in=lambda env: _leader_bound(env, wrapping(env), learning_rate),
        **more,
    )


def _leader_bound(env: Environment, wrapped: Environment, learning_rate: float | None) -> float:
    """Return the regret bound of the regularised leader on the sums of a `CounterSums`; inf if unknown."""
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
        bounds: list[float] = []
        for rounds in [horizon >> halvings for halvings in range(horizon.bit_length())]:
            own_rate = usual(dimension, rounds) if learning_rate is None else learning_rate
            deviation = math.sqrt(mechanism.counter(rounds).variance(rounds)) * values.l2
            most = rounds * values.width
            bounds.append(min(most, growing_noise_bound(name, dimension, rounds, own_rate, deviation)))
        return max(bounds)
    if mechanism.counter_name not in EQUAL or mechanism.noise_kind == "gaussian":
        return math.inf
    distance = values.norm_distance if mechanism.noise_kind == "own-norm" else env.get_wrapper_attr("sensitivity")
    scale = distance * counter.nodes_per_item / mechanism.epsilon
    return equal_noise_bound(name, dimension, horizon, rate, mechanism.noise_kind, scale, counter.nodes_per_item)


def as_ftpl(
    *,
    epsilon: SupportsFloat = 1.0,
    delta: SupportsFloat = 1e-6,
    deviation: SupportsFloat | None = None,
    paper: bool = False,
) -> Algorithm:
    r"""AS-FTPL (Agarwal and Singh 2017, algorithm 3): the best arm or point for sums with Gaussian noise.

    Rule: a counter releases the sum S of all gain vectors with Gaussian noise after each round, and plays the best arm
    or point for it: :math:`\arg\max_x \langle x, S \rangle`. The noise is the larger of the noise for privacy and the
    noise for small regret.

    Private because a changed round moves the noisy sums by at most the L2 distance of two gain vectors; the Gaussian
    noise makes this (epsilon, delta)-DP, and all actions depend on these sums only.

    If the noise for small regret is larger, privacy is free: the plays equal those of `epsilon=math.inf`, and the
    guarantee states the actual, smaller epsilon. `deviation` is that noise, the standard deviation after the last
    round; by default sqrt(T / (2 d)) on the ball, sqrt(T / (2 sqrt d)) on the cube and sqrt(T / 2) for experts.
    `paper=True` uses the noise as printed, a padded binary tree with sigma per node, and the guarantee states its
    actual epsilon.

    Differs from the source in: the square-root counter instead of padded trees; sqrt(T / (2 d)) on the ball, where the
        paper's sqrt(T / (2 sqrt d)) gives a bound larger by d^(1/4). The paper calls it epsilon-DP, but Gaussian noise
        gives (epsilon, delta).
    """
    epsilon, delta = checks.epsilon(epsilon), checks.delta(delta)
    wanted = None if deviation is None else checks.greater_than("deviation", deviation, 0)
    printed = checks.boolean("paper", paper)
    if printed and wanted is not None:
        raise ValueError("paper=True is the printed noise; leave deviation out.")
    tree = "padded-binary" if printed else "square-root"

    def wrapping(env: Environment) -> Environment:
        return CounterSums(env, counter=tree, noise="gaussian", epsilon=played_epsilon(env), delta=delta)

    def played_epsilon(env: Environment) -> float:
        return free_epsilon(env) if printed else min(epsilon, free_epsilon(env))

    def free_epsilon(env: Environment) -> float:
        """Return the epsilon of the noise for small regret, or of the printed noise."""
        name, dimension = set_of(env)
        horizon = env.get_wrapper_attr("horizon")
        least = math.sqrt(horizon / 2) * SHRINKS[name](dimension) if wanted is None else wanted
        unit = _counter_of(tree, horizon, epsilon=1.0, delta=delta, values=dimension)
        if printed:
            least = _printed_sigma(name, dimension, horizon, epsilon, delta) * math.sqrt(unit.nodes_per_item)
        at_one = math.sqrt(unit.variance(horizon)) * env.get_wrapper_attr("values").l2
        sigma = unit.sigma * least / at_one
        # In games of a few rounds so little noise is wanted that fast draws would need too much of delta. That never
        # makes noise for less than what was asked for, which the counter refuses if delta is too small for it.
        share = delta / (8 * unit.distance_of_draws(dimension))
        most = math.log(share - 1) if share > 1.5 else MOST_EPSILON
        if epsilon < MOST_EPSILON:
            most = max(most, epsilon)
        return gaussian_epsilon(sigma, delta) if sigma > gaussian_sigma(most, delta) else most

    def bound(env: Environment) -> float:
        name, dimension = set_of(env)
        horizon, distance = env.get_wrapper_attr("horizon"), env.get_wrapper_attr("values").l2
        counter = _counter_of(tree, horizon, epsilon=played_epsilon(env), delta=delta, values=dimension)
        places = _places(horizon)
        spreads = [math.sqrt(counter.variance(t)) * distance for t in places]
        # None falls, so that repeating an earlier one can only raise the bound.
        deviations = np.repeat(spreads, np.diff([*places, horizon + 1])).tolist()
        return perturbed_leader_bound(name, dimension, deviations)

    return Algorithm(
        name="AS-FTPL",
        make_agent=PerturbedLeaderOfArms,
        make_point_agent=PerturbedLeader,
        wrapping=wrapping,
        feedback="full",
        bound_in=bound,
        paper_guarantee_of=_claim(epsilon, "theorem 3.5"),
        # Named only if it is played, because parameters choose the random streams.
        parameters={"epsilon": epsilon, "delta": delta, "deviation": wanted, **({"paper": True} if printed else {})},
        reference="Agarwal and Singh (2017), algorithm 3, theorem 3.5",
    )


def _printed_sigma(name: str, dimension: int, horizon: int, epsilon: float, delta: float) -> float:
    """Return the deviation of a node of theorem 3.5, with natural logarithms and |Y|_2 the largest L2 norm of a vector.

    The first deviation is for regret, the second is the paper's claim for privacy.
    """
    largest = math.sqrt(dimension) if name == "simplex" else 1.0
    log = math.log(max(horizon, 3))
    regret = largest * math.sqrt(horizon / (math.sqrt(dimension) * log))
    return max(regret, math.sqrt(dimension) / epsilon * log * math.log(log / delta))


def _places(horizon: int) -> list[int]:
    """Return rounds from 1 to T: all of the first 4,096, then growing by 1/4096 each; and T."""
    later = itertools.takewhile(lambda t: t < horizon, (int(4096 * (1 + 1 / 4096) ** k) for k in itertools.count()))
    return sorted({*range(1, min(horizon, 4096) + 1), *later, horizon})


@functools.lru_cache(maxsize=64)
def _counter_of(name: str, horizon: int, **options: Any) -> Counter:
    """Return a counter from a small cache, as some are slow to construct; it must not be changed."""
    return make_counter(name, horizon=horizon, **options)
