"""KL-UCB, of Garivier and Cappé (2011)."""

from dp_bandit_envs.agents.kl_ucb import KlUcb
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.wrappers import ExactSums


def kl_ucb() -> Algorithm:
    r"""KL-UCB (Garivier and Cappé 2011): optimal for Bernoulli arms; not private.

    Rule: plays the arm with the largest q for which :math:`n_i \, \mathrm{kl}(\hat\mu_i, q) \le \ln t`, where
    :math:`\hat\mu_i` is the mean of its :math:`n_i` gains and kl the divergence of two coins.

    Not private because the arms follow from exact sums and nothing is random: one changed gain can change every later
    arm.

    Differs from the source in: the level is ln t, without 3 ln ln t, as in its own experiments.
    """
    return Algorithm(name="KL-UCB", make_agent=KlUcb, wrapping=ExactSums, reference="Garivier and Cappé (2011)")
