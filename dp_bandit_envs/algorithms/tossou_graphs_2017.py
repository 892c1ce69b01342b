"""TS-N and TS-MaxN for graph feedback, of Tossou, Dimitrakakis and Dubhashi (2017); not private."""

import dataclasses

from dp_bandit_envs.agents.max_n import TsMaxN
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.thompson_1933 import ts
from dp_bandit_envs.wrappers import ExactSums


def ts_n() -> Algorithm:
    """TS-N (Tossou, Dimitrakakis and Dubhashi 2017): Thompson sampling that learns from every gain revealed.

    Rule: draws a mean for each arm from its posterior, as TS does, and plays the arm with the largest draw. Every gain
    that the round reveals enters the posterior of its arm.

    Not private because it learns from exact sums, and nothing is known of what its own draws hide.

    Differs from the source in: gains between 0 and 1 count as fractions, not as coins with that mean.
    """
    return dataclasses.replace(ts(), name="TS-N", reference="Tossou, Dimitrakakis and Dubhashi (2017), TS-N")


def ts_max_n() -> Algorithm:
    """TS-MaxN (Tossou, Dimitrakakis and Dubhashi 2017): plays the best arm that reveals the one drawn.

    Rule: chooses an arm as TS-N does, and plays the one with the largest mean so far among the arms that reveal it.

    Not private because it learns from exact sums, and nothing is known of what its own draws hide.

    Differs from the source in: an arm never seen counts as mean 1/2; and on directed graphs it plays an arm that
        reveals the one chosen.
    """
    return Algorithm(
        name="TS-MaxN",
        make_agent=TsMaxN,
        wrapping=ExactSums,
        reference="Tossou, Dimitrakakis and Dubhashi (2017), TS-MaxN",
    )
