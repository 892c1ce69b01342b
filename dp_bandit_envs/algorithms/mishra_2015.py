"""Private-UCB, of Mishra and Thakurta (2015): UCB on sums from binary trees."""

import functools
import math
from collections.abc import Sequence
from typing import SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.noise_width import NoiseWidth, WidthFor, counter_width, log_width, no_width
from dp_bandit_envs.agents.ucb import Ucb
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.counter_bounds import named_counter_bound, private_ucb_gamma, private_ucb_paper_bound
from dp_bandit_envs.wrappers import CounterSums


def private_ucb(
    *,
    epsilon: SupportsFloat = 1.0,
    constants: str = "paper",
    failure_probability: SupportsFloat | None = None,
) -> Algorithm:
    r"""Private-UCB (Mishra and Thakurta 2015): binary trees and a wide bonus; with the paper's constants or better.

    Rule: each arm has a binary tree, with noise for epsilon / K, that releases a noisy sum :math:`s_i` of its
    :math:`n_i` gains. Played is the arm with the largest

    .. math:: \frac{s_i}{n_i} + \sqrt{\frac{2 \ln t}{n_i}} + \frac{\Gamma_t}{n_i}, \quad
              \Gamma_t = \frac{K \ln^2 T \ln(K T t^4 \ln T)}{\epsilon}

    With `constants="improved"` each tree has all of epsilon, and in place of :math:`\Gamma_t` is the width of
    DP-UCB-BOUND.

    Private because a changed gain enters one arm's binary tree: epsilon / K as printed, epsilon as improved.

    Differs from the source in: the failure probability is t^-4, as in the experiments of Tossou and Dimitrakakis
        (2016), where the source fixes one for the whole game (failure_probability).
    """
    epsilon = checks.epsilon(epsilon)
    checks.one_of("constants", constants, ("paper", "improved"))
    failure = None if failure_probability is None else checks.in_range("failure_probability", failure_probability, 0, 1)
    if failure == 0:
        raise ValueError("failure_probability must be greater than 0; received 0. Use None for t^-4.")
    if constants == "improved" and failure is not None:
        raise ValueError("failure_probability needs constants='paper'; the improved width is for t^-4.")

    def wrapping(env: Environment) -> Environment:
        # The paper composes over arms one after another; in parallel, this is epsilon / K-DP.
        trees = env.get_wrapper_attr("n_arms") if constants == "paper" else 1
        return CounterSums(env, epsilon=epsilon / trees, counter="binary")

    def bound(means: Sequence[float], horizon: int) -> float:
        if constants == "improved":
            return named_counter_bound(means, horizon, "binary", epsilon)
        # With t^-4 the width changes with t, which the theorem's does not.
        return math.inf if failure is None else private_ucb_paper_bound(means, horizon, epsilon, failure)

    width: WidthFor
    if constants == "improved":
        width = counter_width("binary", epsilon=epsilon)
    else:
        width = no_width if math.isinf(epsilon) else functools.partial(_paper_width, epsilon, failure)

    return Algorithm(
        name="Private-UCB",
        make_agent=lambda: Ucb(width=width),
        wrapping=wrapping,
        paper_guarantee_of=lambda n_arms, horizon: PrivacyGuarantee(
            epsilon=epsilon, theorem="Mishra and Thakurta (2015), theorem 3: epsilon / K for each of K arms"
        ),
        stochastic_bound=bound if constants == "improved" or failure is not None else None,
        parameters={"epsilon": epsilon, "constants": constants, "failure_probability": failure},
        reference="Mishra and Thakurta (2015), algorithm 1, theorem 4",
    )


def _paper_width(epsilon: float, failure: float | None, n_arms: int, horizon: int, sensitivity: float) -> NoiseWidth:
    """Return the paper's width, `private_ucb_gamma` over n; its failure probability is t^-4 if None is given."""
    epsilon = epsilon / sensitivity
    fixed = private_ucb_gamma(n_arms, horizon, epsilon, 1.0 if failure is None else failure)
    slope = 4.0 * n_arms * max(math.log(horizon), 1.0) ** 2 / epsilon if failure is None else 0.0
    return log_width(slope, offset=fixed)(n_arms, horizon, 1.0)
