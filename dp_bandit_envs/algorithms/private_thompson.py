"""Thompson sampling on noisy sums: Lazy-DP-TS and DP-TS.

Why a changed round moves what is released by no more than epsilon: its gain enters one block, or one counter, of the
arm played, with the noise of `private_blocks` and `dp_ucb_family`; the posteriors, and the draws from them, are worked
out from releases alone.
"""

import math
from typing import SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.noise_width import log_log_width, log_width
from dp_bandit_envs.agents.thompson_sampling import ThompsonSampling
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.privacy.mechanisms.block_sums import geometric_blocks
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers import BlockSums, HybridSums


def lazy_dp_ts(*, epsilon: SupportsFloat = 1.0, label: str = "Lazy-DP-TS") -> Algorithm:
    """Lazy-DP-TS (Hu and Hegde 2022): Thompson sampling on the last full block of 1, 2, 4, ... gains of each arm.

    Private because a changed gain is in one block of one arm, whose sum is released once, with noise 1 / epsilon.

    Differs from the source in: gains between 0 and 1 count as fractions, not as coins. The paper was not at hand.
    """
    size = checks.epsilon(epsilon)

    def agent() -> ThompsonSampling:
        return ThompsonSampling(width=log_width(3 / size), each_first=True)

    def wrapping(env: Environment) -> Environment:
        lengths = geometric_blocks(2, env.get_wrapper_attr("horizon"), totals=False)
        return BlockSums(env, epsilon=size, lengths=lengths)

    return Algorithm(
        name=label,
        make_agent=agent,
        wrapping=wrapping,
        parameters={"epsilon": size},
        reference="Hu and Hegde (2022), Lazy-DP-TS",
    )


def dp_ts(*, epsilon: SupportsFloat = 1.0, label: str = "DP-TS") -> Algorithm:
    """DP-TS (Hu and Hegde 2022): Thompson sampling on sums of the hybrid counter, with an allowance for its noise.

    Private because a changed gain enters one arm's counter, whose releases together lose epsilon for one item.

    The allowance is read as 6 sqrt(8) ln(n + 1) ln t / (epsilon n): what the hybrid counter's noise may reach with n
    items. The paper was not at hand, and notes of it leave open where the square root ends.

    Differs from the source in: each part of the hybrid counter has half of epsilon, as both are released. The paper was
        not at hand: the allowance is read as above, and gains between 0 and 1 count as fractions.
    """
    size = checks.epsilon(epsilon)

    def agent() -> ThompsonSampling:
        return ThompsonSampling(width=log_log_width(6 * math.sqrt(8) / size), each_first=True)

    return Algorithm(
        name=label,
        make_agent=agent,
        wrapping=lambda env: HybridSums(env, epsilon=size),
        parameters={"epsilon": size},
        reference="Hu and Hegde (2022), DP-TS",
    )
