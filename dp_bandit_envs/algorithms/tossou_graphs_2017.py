"""TS-N and TS-MaxN for graph feedback, of Tossou, Dimitrakakis and Dubhashi (2017); not private."""

import dataclasses

from dp_bandit_envs.agents.max_n import TsMaxN
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.thompson_1933 import ts
from dp_bandit_envs.wrappers import ExactSums


def ts_n() -> Algorithm:
    """TS-N (Tossou, Dimitrakakis and Dubhashi 2017): Thompson sampling that learns from every gain revealed.

    Differs from the source in: gains between 0 and 1 count as fractions, not as coins with that mean.
    """
    return dataclasses.replace(ts(), name="TS-N", reference="Tossou, Dimitrakakis and Dubhashi (2017), TS-N")


def ts_max_n() -> Algorithm:
    """TS-MaxN (Tossou, Dimitrakakis and Dubhashi 2017): plays the best arm that reveals the one drawn.

    Differs from the source in: an arm never seen counts as mean 1/2; and on directed graphs it plays an arm that
        reveals the one chosen.
    """
    return Algorithm(
        name="TS-MaxN",
        make_agent=TsMaxN,
        wrapping=ExactSums,
        reference="Tossou, Dimitrakakis and Dubhashi (2017), TS-MaxN",
    )
