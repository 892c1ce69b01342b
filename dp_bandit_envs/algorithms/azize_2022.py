"""AdaP-UCB and AdaP-KLUCB, of Azize and Basu (2022)."""

from typing import SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.kl_ucb import KlUcb
from dp_bandit_envs.agents.noise_width import log_width
from dp_bandit_envs.agents.ucb import Ucb
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.theory.block_bounds import adap_ucb_bound
from dp_bandit_envs.wrappers import BlockSums

PAPER_ALPHA = 3.1
"""The value used in the paper, whose theorems require more than 3."""


def adap_ucb(*, epsilon: SupportsFloat = 1.0, alpha: SupportsFloat = PAPER_ALPHA) -> Algorithm:
    """AdaP-UCB (Azize and Basu 2022): UCB in episodes that double an arm's count, on the last episode's mean.

    Private because a changed gain is in one block of one arm, whose sum is released once, with noise 1 / epsilon.

    Differs from the source in: ln t for ln(t + 1), with t the number of rounds played so far; that is at most about 2 %
        of regret.
    """
    epsilon, alpha = checks.epsilon(epsilon), checks.greater_than("alpha", alpha, 0)
    return Algorithm(
        name="AdaP-UCB",
        make_agent=lambda: Ucb(exploration=alpha / 2, log_factor=2.0, width=log_width(alpha / epsilon), lazy=True),
        wrapping=lambda env: BlockSums(env, epsilon=epsilon),
        stochastic_bound=(lambda means, horizon: adap_ucb_bound(means, horizon, epsilon, alpha)) if alpha > 2 else None,
        parameters={"epsilon": epsilon, "alpha": alpha},
        reference="Azize and Basu (2022), AdaP-UCB",
    )


def adap_klucb(*, epsilon: SupportsFloat = 1.0, alpha: SupportsFloat = PAPER_ALPHA) -> Algorithm:
    """AdaP-KLUCB (Azize and Basu 2022): KL-UCB in episodes that double an arm's count, on the last episode's mean.

    Private because a changed gain is in one block of one arm, whose sum is released once, with noise 1 / epsilon.

    Differs from the source in: ln t for ln(t + 1), with t the number of rounds played so far; that is at most about 2 %
        of regret.
    """
    epsilon, alpha = checks.epsilon(epsilon), checks.greater_than("alpha", alpha, 0)
    return Algorithm(
        name="AdaP-KLUCB",
        make_agent=lambda: KlUcb(level=alpha, width=log_width(alpha / epsilon), lazy=True),
        wrapping=lambda env: BlockSums(env, epsilon=epsilon),
        parameters={"epsilon": epsilon, "alpha": alpha},
        reference="Azize and Basu (2022), AdaP-KLUCB",
    )
