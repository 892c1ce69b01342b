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
    r"""AdaP-UCB (Azize and Basu 2022): UCB in episodes that double an arm's count, on the last episode's mean.

    Rule: an arm once chosen is played until it has twice as many gains, and the noisy mean :math:`\hat\mu_i` of these
    last :math:`n_i` gains is released. Then the next arm is chosen: the one with the largest

    .. math:: \hat\mu_i + \sqrt{\frac{\alpha \ln(2 t)}{2 n_i}} + \frac{\alpha \ln t}{\epsilon n_i}

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
    r"""AdaP-KLUCB (Azize and Basu 2022): KL-UCB in episodes that double an arm's count, on the last episode's mean.

    Rule: an arm once chosen is played until it has twice as many gains, and the noisy mean :math:`\hat\mu_i` of these
    last :math:`n_i` gains is released. Then the next arm is chosen: the one with the largest q for which

    .. math:: n_i \, \mathrm{kl}\Big(\text{clip}\Big(\hat\mu_i + \frac{\alpha \ln t}{\epsilon n_i}\Big), q\Big)
              \le \alpha \ln t

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
