"""Stochastic algorithms without privacy: UCB, KL-UCB and Thompson sampling on exact running sums."""

from dp_bandit_envs.agents.kl_ucb import KlUcb
from dp_bandit_envs.agents.thompson_sampling import ThompsonSampling
from dp_bandit_envs.agents.ucb import Ucb
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.theory.stochastic_bounds import ucb_bound
from dp_bandit_envs.wrappers import ExactSums


def ucb(*, label: str = "UCB") -> Algorithm:
    """UCB (Auer, Cesa-Bianchi and Fischer 2002): mean + sqrt(2 ln t / n); not private.

    Differs from the source in: nothing that is known.
    """
    return Algorithm(
        name=label,
        make_agent=Ucb,
        wrapping=ExactSums,
        stochastic_bound=ucb_bound,
        reference="Auer, Cesa-Bianchi and Fischer (2002), theorem 1",
    )


def kl_ucb(*, label: str = "KL-UCB") -> Algorithm:
    """KL-UCB (Garivier and Cappé 2011): optimal for Bernoulli arms; not private.

    Differs from the source in: the level is ln t, without 3 ln ln t, as in its own experiments.
    """
    return Algorithm(name=label, make_agent=KlUcb, wrapping=ExactSums, reference="Garivier and Cappé (2011)")


def ts(*, label: str = "TS") -> Algorithm:
    """TS, Thompson sampling with Beta posteriors (Thompson 1933): optimal for Bernoulli arms; not private.

    Differs from the source in: gains between 0 and 1 count as fractions, not as coins with that mean.
    """
    return Algorithm(
        name=label,
        make_agent=ThompsonSampling,
        wrapping=ExactSums,
        reference="Thompson (1933); Agrawal and Goyal (2012); Kaufmann, Korda and Munos (2012)",
    )
