"""UCB, of Auer, Cesa-Bianchi and Fischer (2002)."""

from dp_bandit_envs.agents.ucb import Ucb
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.theory.stochastic_bounds import ucb_bound
from dp_bandit_envs.wrappers import ExactSums


def ucb() -> Algorithm:
    r"""UCB (Auer, Cesa-Bianchi and Fischer 2002): mean + sqrt(2 ln t / n); not private.

    Rule: plays the arm with the largest :math:`\hat\mu_i + \sqrt{2 \ln t / n_i}`, where :math:`\hat\mu_i` is the mean
    of its :math:`n_i` gains and t the number of rounds played so far.

    Not private because the arms follow from exact sums and nothing is random: one changed gain can change every later
    arm.

    Differs from the source in: nothing that is known.
    """
    return Algorithm(
        name="UCB",
        make_agent=Ucb,
        wrapping=ExactSums,
        stochastic_bound=ucb_bound,
        reference="Auer, Cesa-Bianchi and Fischer (2002), theorem 1",
    )
