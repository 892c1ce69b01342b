"""AS-FTRL and AS-FTPL of Agarwal and Singh (2017): leaders on noisy sums of gain vectors, with full information."""

import itertools
import math
from collections.abc import Callable
from typing import Any, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.hedge import Hedge
from dp_bandit_envs.agents.perturbed_leader import PerturbedLeader, PerturbedLeaderOfArms
from dp_bandit_envs.agents.regularized_leader import RegularizedLeader
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.leaders import counter_of, leader_bound, set_of
from dp_bandit_envs.privacy.gaussian import gaussian_epsilon, gaussian_sigma
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.leader_bounds import perturbed_leader_bound
from dp_bandit_envs.wrappers import CounterSums

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

    Rule: a counter releases the noisy sum of all gain vectors after each round: a padded binary tree, each node with
    Laplace noise of scale D m / epsilon in every coordinate, where D is the L1 distance of two gain vectors and m the
    most nodes that hold a round. On experts `Hedge` draws an arm by that sum, on points `RegularizedLeader` plays.

    Private because a changed round moves at most m nodes, each by at most D, and everything that is played depends on
    these noisy nodes only.

    `counter="k-ary"` and `noise="own-norm"` need much less noise for the same epsilon. `paper=True` plays the noise as
    printed, and the guarantee states what it really is: 2.885 epsilon on the ball and the cube for 2^16 rounds.

    Differs from the source in: noise for the distance of two gain vectors and for the number of nodes, instead of the
        largest norm of one and ln T; the first play, which uses no noise (algorithm 1, line 3 draws a noisy sum for it,
        too, which is as private); the learning rate, which the paper leaves open.
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
        return CounterSums(env, epsilon=printed_epsilon(env, epsilon) if printed else epsilon, **options)

    def claimed(n_arms: int, horizon: int) -> PrivacyGuarantee:
        return PrivacyGuarantee(epsilon=epsilon, theorem="Agarwal and Singh (2017), theorem 3.1")

    return Algorithm(
        name="AS-FTRL",
        make_agent=lambda: Hedge(learning_rate=learning_rate),
        make_point_agent=lambda: RegularizedLeader(learning_rate=learning_rate),
        wrapping=wrapping,
        feedback="full",
        paper_guarantee_of=claimed,
        bound_in=lambda env: leader_bound(env, wrapping(env), learning_rate),
        parameters={"epsilon": epsilon, **options, "learning_rate": learning_rate, "paper": printed},
        reference="Agarwal and Singh (2017), algorithms 1 and 2, theorem 3.1",
    )


def printed_epsilon(env: Environment, epsilon: float) -> float:
    """Return the epsilon whose corrected noise is the printed noise for this epsilon: scale |Y|_1 ln T / epsilon.

    The corrected scale is D m / epsilon, with D the L1 distance of two gain vectors and m the nodes of an item.
    """
    horizon = env.get_wrapper_attr("horizon")
    nodes = counter_of("padded-binary", horizon, epsilon=1.0).nodes_per_item
    name, dimension = set_of(env)
    logarithm = math.log(max(horizon, 2))
    return float(epsilon * env.get_wrapper_attr("sensitivity") * nodes / (LARGEST_L1[name](dimension) * logarithm))


def as_ftpl(
    *,
    epsilon: SupportsFloat = 1.0,
    delta: SupportsFloat = 1e-6,
    deviation: SupportsFloat | None = None,
) -> Algorithm:
    r"""AS-FTPL (Agarwal and Singh 2017, algorithm 3): the best arm or point for sums with Gaussian noise.

    Rule: a counter releases the sum S of all gain vectors with Gaussian noise after each round, and the best arm or
    point for it is played: :math:`\arg\max_x \langle x, S \rangle`. The noise is the larger one of what privacy needs
    and of what keeps regret small.

    Private because a changed round moves the noisy sums by at most the L2 distance of two gain vectors, for which the
    Gaussian noise is (epsilon, delta)-DP, and everything that is played depends on these sums only.

    Where the noise that keeps regret small is the larger, privacy costs nothing: the plays are those of
    `epsilon=math.inf`, and the guarantee says how small epsilon really is. `deviation` is that noise, the standard
    deviation after the last round; by default sqrt(T / (2 d)) on the ball, sqrt(T / (2 sqrt d)) on the cube and sqrt(T
    / 2) for experts.

    Differs from the source in: the square-root counter instead of padded trees; sqrt(T / (2 d)) on the ball, where the
        paper's sqrt(T / (2 sqrt d)) gives a bound larger by d^(1/4). The paper calls it epsilon-DP, but Gaussian noise
        gives (epsilon, delta).
    """
    epsilon, delta = checks.epsilon(epsilon), checks.delta(delta)
    wanted = None if deviation is None else checks.greater_than("deviation", deviation, 0)

    def wrapping(env: Environment) -> Environment:
        return CounterSums(env, counter="square-root", epsilon=min(epsilon, free_epsilon(env)), delta=delta)

    def free_epsilon(env: Environment) -> float:
        """Return the epsilon of the noise that keeps regret small."""
        name, dimension = set_of(env)
        horizon = env.get_wrapper_attr("horizon")
        least = math.sqrt(horizon / 2) * SHRINKS[name](dimension) if wanted is None else wanted
        unit = counter_of("square-root", horizon, epsilon=1.0, delta=delta, values=dimension)
        at_one = math.sqrt(unit.variance(horizon)) * env.get_wrapper_attr("values").l2
        sigma = unit.sigma * least / at_one
        # In games of a few rounds so little noise is wanted that fast draws would need too much of delta.
        share = delta / (8 * unit.distance_of_draws(dimension))
        most = math.log(share - 1) if share > 1.5 else MOST_EPSILON
        return gaussian_epsilon(sigma, delta) if sigma > gaussian_sigma(most, delta) else most

    def bound(env: Environment) -> float:
        name, dimension = set_of(env)
        horizon, distance = env.get_wrapper_attr("horizon"), env.get_wrapper_attr("values").l2
        least = min(epsilon, free_epsilon(env))
        counter = counter_of("square-root", horizon, epsilon=least, delta=delta, values=dimension)
        places = _places(horizon)
        found = [math.sqrt(counter.variance(t)) * distance for t in places]
        # They grow with t, so that repeating an earlier one can only raise the bound.
        deviations = np.repeat(found, np.diff([*places, horizon + 1])).tolist()
        return perturbed_leader_bound(name, dimension, deviations)

    return Algorithm(
        name="AS-FTPL",
        make_agent=PerturbedLeaderOfArms,
        make_point_agent=PerturbedLeader,
        wrapping=wrapping,
        feedback="full",
        bound_in=bound,
        parameters={"epsilon": epsilon, "delta": delta, "deviation": wanted},
        reference="Agarwal and Singh (2017), algorithm 3, theorem 3.5",
    )


def _places(horizon: int) -> list[int]:
    """Return rounds from 1 to T: all of the first 4,096, then each by 1/4096 later than the one before; and T."""
    later = itertools.takewhile(lambda t: t < horizon, (int(4096 * (1 + 1 / 4096) ** k) for k in itertools.count()))
    return sorted({*range(1, min(horizon, 4096) + 1), *later, horizon})
