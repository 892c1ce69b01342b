"""DP-FTRL, of Kairouz, McMahan, Song, Thakkar, Thakurta and Xu (2021), with the counters found since."""

from typing import Any, SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.hedge import Hedge
from dp_bandit_envs.agents.regularized_leader import RegularizedLeader
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.leaders import leader_bound
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers import CounterSums


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

    Private because a changed round moves the noisy sums by at most the L2 distance of two gain vectors, for which the
    Gaussian noise is (epsilon, delta)-DP, and everything that is played depends on these sums only.

    On the ball it is what learns language models with gradients clipped to length 1.

    Differs from the source in: the square-root counter (Fichtenberger, Henzinger and Upadhyay 2023) instead of binary
        trees with Honaker's refinement, which `counter="honaker"` gives.
    """
    epsilon, delta = checks.epsilon(epsilon), checks.delta(delta)
    if learning_rate is not None:
        learning_rate = checks.greater_than("learning_rate", learning_rate, 0)
    options: dict[str, Any] = {"counter": counter, "noise": "gaussian", "delta": delta}

    def wrapping(env: Environment) -> Environment:
        return CounterSums(env, epsilon=epsilon, **options)

    return Algorithm(
        name="DP-FTRL",
        make_agent=lambda: Hedge(learning_rate=learning_rate),
        make_point_agent=lambda: RegularizedLeader(learning_rate=learning_rate),
        wrapping=wrapping,
        feedback="full",
        bound_in=lambda env: leader_bound(env, wrapping(env), learning_rate),
        parameters={"epsilon": epsilon, **options, "learning_rate": learning_rate},
        reference="Kairouz, McMahan, Song, Thakkar, Thakurta and Xu (2021), Practical and Private (Deep) Learning",
    )
