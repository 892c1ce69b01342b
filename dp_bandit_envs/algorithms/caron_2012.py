"""UCB-N and UCB-MaxN for graph feedback, of Caron, Kveton, Lelarge and Bhagat (2012); not private.

For privacy on a feedback graph, use the private algorithms of games without one: their wrappers multiply the noise by
the largest number of gains that a round reveals, and their agents widen their bonuses to match.
"""

import dataclasses

from dp_bandit_envs.agents.max_n import UcbMaxN
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.auer_2002 import ucb
from dp_bandit_envs.wrappers import ExactSums


def ucb_n() -> Algorithm:
    r"""UCB-N (Caron, Kveton, Lelarge and Bhagat 2012): UCB that learns from every gain revealed.

    Rule: plays the arm with the largest :math:`\hat\mu_i + \sqrt{2 \ln t / n_i}`, where :math:`n_i` counts all gains of
    the arm that were revealed, and not only those of rounds in which it was played.

    Not private because the arms follow from exact sums and nothing is random: one changed gain can change every later
    arm.

    Differs from the source in: nothing that is known.
    """
    return dataclasses.replace(ucb(), name="UCB-N", reference="Caron, Kveton, Lelarge and Bhagat (2012), UCB-N")


def ucb_max_n() -> Algorithm:
    """UCB-MaxN (Caron, Kveton, Lelarge and Bhagat 2012): plays the best arm that reveals UCB's choice.

    Rule: chooses an arm as UCB-N does, and plays the one with the largest mean so far among the arms that reveal it.

    Not private because the arms follow from exact sums and nothing is random: one changed gain can change every later
    arm.

    Differs from the source in: an arm never seen counts as mean 1/2; and on directed graphs it plays an arm that
        reveals the one chosen.
    """
    return Algorithm(
        name="UCB-MaxN",
        make_agent=UcbMaxN,
        wrapping=ExactSums,
        reference="Caron, Kveton, Lelarge and Bhagat (2012), UCB-MaxN",
    )
