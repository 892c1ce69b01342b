"""Pseudo-regret bounds of UCB on the sums of a known counter: `stochastic_bounds` with that counter's noise."""

import math
from typing import Any, SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.counters import make_counter
from dp_bandit_envs.privacy.counters.widths import laplace_width
from dp_bandit_envs.theory.lower_bounds import arm_means
from dp_bandit_envs.theory.optimism import Means
from dp_bandit_envs.theory.stochastic_bounds import counter_ucb_bound, private_ucb_bound


def named_counter_bound(
    means: Means, horizon: SupportsIndex, counter: str, epsilon: SupportsFloat, **options: Any
) -> float:
    """Return `counter_ucb_bound` with the width that `counter_width` of the agents gives for a counter.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        counter: `"hybrid"`, `"segment-trees"` or `"binary"`, whose noise follows the binary digits.
        epsilon: Privacy parameter of the counter, in (0, inf].
        options: Further arguments of the counter.
    """
    noise = make_counter(counter, epsilon=epsilon, horizon=checks.integer("horizon", horizon, at_least=1), **options)
    # The index looks its width up at the end of a step of t, where t^-4 is up to half as large.
    return counter_ucb_bound(means, horizon, lambda n, failure: laplace_width(noise.scales(n), failure / 2))


def private_ucb_gamma(n_arms: int, horizon: int, epsilon: float, failure_probability: float) -> float:
    r"""Return :math:`\Gamma = K \ln^2 T \ln(K T \ln T / \gamma) / \epsilon`, Private-UCB's allowance for noise.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1; ln T counts as at least 1.
        epsilon: Privacy parameter of all K counters together, in (0, inf].
        failure_probability: :math:`\gamma`, in (0, 1].

    Source: Mishra and Thakurta (2015), algorithm 1.
    """
    log = max(math.log(horizon), 1.0)
    return n_arms * log**2 / epsilon * math.log(n_arms * horizon * log / failure_probability)


def private_ucb_paper_bound(means: Means, horizon: int, epsilon: float, failure_probability: float) -> float:
    """Return `private_ucb_bound` with the paper's `private_ucb_gamma`; inf where it is too small for the noise.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter of all K counters together, in (0, inf]; each counter has epsilon / K.
        failure_probability: Probability that noise exceeds the allowance anywhere in the game, in (0, 1].

    Source: Mishra and Thakurta (2015), theorem 4.
    """
    n_arms = len(arm_means(means))
    noise = make_counter("binary", epsilon=epsilon / n_arms, horizon=horizon)
    # Of all counts up to T, the last 2^k - 1 needs the most nodes.
    noisiest = noise.scales((1 << (horizon + 1).bit_length() - 1) - 1)
    gamma = private_ucb_gamma(n_arms, horizon, epsilon, failure_probability)
    if not laplace_width(noisiest, failure_probability / (n_arms * horizon)) <= gamma:
        return math.inf
    return private_ucb_bound(means, horizon, gamma, failure_probability if gamma > 0 else 0.0)
