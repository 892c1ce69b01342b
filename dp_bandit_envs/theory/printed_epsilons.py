"""The epsilons that Tossou and Dimitrakakis (2017) print for EXP3's own randomness, for comparison only.

Some are wrong; `dp_bandit_envs.privacy.exp3_privacy` says what holds instead.
"""

import math


def exp3_printed_epsilon(n_arms: int, horizon: int, exploration_rate: float) -> float:
    """Return the epsilon of theorem 3.3 for EXP3, as printed."""
    ratio = math.log((n_arms * (1 - exploration_rate) + exploration_rate) / exploration_rate)
    chernoff = 2 * (1 - exploration_rate) * horizon + 2 * math.sqrt(2 * math.log(horizon) / horizon)
    return min(2 * horizon, horizon * ratio, chernoff)


def exp3_tau_printed_epsilon(horizon: int, batch_size: int) -> float:
    """Return the epsilon of theorem 3.5 for EXP3-tau, with delta = T^-2 and the root over T / tau^3 too."""
    share = horizon / batch_size**3
    return 4 * share + math.sqrt(16 * math.log(horizon) * share)


def paper_epsilon(n_arms: int, horizon: int) -> float:
    """Return 28 K ln K + sqrt(112 K ln K ln T): the epsilon of corollary 3.2, used throughout the paper's figure 1."""
    share = n_arms * math.log(n_arms)
    return 28 * share + math.sqrt(112 * share * math.log(horizon))
