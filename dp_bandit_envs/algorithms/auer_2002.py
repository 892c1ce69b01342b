"""UCB, of Auer, Cesa-Bianchi and Fischer (2002)."""

from dp_bandit_envs.agents.ucb import Ucb
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.theory.stochastic_bounds import ucb_bound
from dp_bandit_envs.wrappers import ExactSums


def ucb() -> Algorithm:
    """UCB (Auer, Cesa-Bianchi and Fischer 2002): mean + sqrt(2 ln t / n); not private.

    Differs from the source in: nothing that is known.
    """
    return Algorithm(
        name="UCB",
        make_agent=Ucb,
        wrapping=ExactSums,
        stochastic_bound=ucb_bound,
        reference="Auer, Cesa-Bianchi and Fischer (2002), theorem 1",
    )
