"""Algorithms for graph feedback: UCB-N, UCB-MaxN, TS-N, TS-MaxN and EXP3-SET, without privacy.

Private forms are the private algorithms of stochastic games by their own names: on a feedback graph their wrappers
multiply the noise by the most gains that a round reveals, and their agents know.
"""

import dataclasses

from dp_bandit_envs.agents.exp3_set import Exp3Set
from dp_bandit_envs.agents.max_n import TsMaxN, UcbMaxN
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.index_policies import ts, ucb
from dp_bandit_envs.wrappers import ExactSums


def ts_n(*, label: str = "TS-N") -> Algorithm:
    """TS-N (Tossou, Dimitrakakis and Dubhashi 2017): Thompson sampling that learns from every gain revealed.

    Differs from the source in: gains between 0 and 1 count as fractions, not as coins with that mean.
    """
    return dataclasses.replace(ts(label=label), reference="Tossou, Dimitrakakis and Dubhashi (2017), TS-N")


def ts_max_n(*, label: str = "TS-MaxN") -> Algorithm:
    """TS-MaxN (Tossou, Dimitrakakis and Dubhashi 2017): plays the best arm that reveals the one drawn.

    Differs from the source in: an arm never seen counts as mean 1/2; and on directed graphs it plays an arm that
        reveals the one chosen.
    """
    return Algorithm(
        name=label,
        make_agent=TsMaxN,
        wrapping=ExactSums,
        reference="Tossou, Dimitrakakis and Dubhashi (2017), TS-MaxN",
    )


def ucb_n(*, label: str = "UCB-N") -> Algorithm:
    """UCB-N (Caron, Kveton, Lelarge and Bhagat 2012): UCB that learns from every gain revealed.

    Differs from the source in: nothing that is known.
    """
    return dataclasses.replace(ucb(label=label), reference="Caron, Kveton, Lelarge and Bhagat (2012), UCB-N")


def ucb_max_n(*, label: str = "UCB-MaxN") -> Algorithm:
    """UCB-MaxN (Caron, Kveton, Lelarge and Bhagat 2012): plays the best arm that reveals UCB's choice.

    Differs from the source in: an arm never seen counts as mean 1/2; and on directed graphs it plays an arm that
        reveals the one chosen.
    """
    return Algorithm(
        name=label,
        make_agent=UcbMaxN,
        wrapping=ExactSums,
        reference="Caron, Kveton, Lelarge and Bhagat (2012), UCB-MaxN",
    )


def exp3_set(*, label: str = "EXP3-SET") -> Algorithm:
    """EXP3-SET (Alon, Cesa-Bianchi, Gentile and Mansour 2013): exponential weights with every loss revealed.

    Differs from the source in: nothing that is known.
    """
    return Algorithm(
        name=label,
        make_agent=Exp3Set,
        reference="Alon, Cesa-Bianchi, Gentile and Mansour (2013), EXP3-SET",
    )
