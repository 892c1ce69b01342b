"""KL-UCB, of Garivier and Cappé (2011)."""

from dp_bandit_envs.agents.kl_ucb import KlUcb
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.wrappers import ExactSums


def kl_ucb() -> Algorithm:
    """KL-UCB (Garivier and Cappé 2011): optimal for Bernoulli arms; not private.

    Differs from the source in: the level is ln t, without 3 ln ln t, as in its own experiments.
    """
    return Algorithm(name="KL-UCB", make_agent=KlUcb, wrapping=ExactSums, reference="Garivier and Cappé (2011)")
