"""SCRiBLe, of Abernethy, Hazan and Rakhlin (2008)."""

import functools
from typing import SupportsFloat

from dp_bandit_envs.agents.scrible import SELECT, Scrible
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.noisy_payoffs import learner_on_points
from dp_bandit_envs.theory.linear_bounds import scrible_regret_bound


def scrible(*, learning_rate: SupportsFloat | None = None) -> Algorithm:
    """SCRiBLe (Abernethy, Hazan and Rakhlin 2008): linear bandits on a convex set; regret d sqrt(nu T ln T).

    Rule: `Scrible` plays points of the ball and the cube around the leader of its estimates, regularised by a barrier,
    and estimates the gain vector of a round from the payoff of the point played.

    Not private because it learns from exact payoffs, and nothing is known of what its own draws hide.

    Differs from the source in: gains instead of losses; the rate is the one with the smallest bound, where the paper
        takes sqrt(nu ln T) / (4 d sqrt(T)) for long games; sets other than the ball and the cube are left out.
    """
    agent = functools.partial(Scrible, learning_rate=learning_rate)
    agent()
    return learner_on_points(
        name="SCRiBLe",
        agent=agent,
        sets=tuple(SELECT),
        bound=scrible_regret_bound if learning_rate is None else None,
        parameters={"learning_rate": learning_rate},
        reference="Abernethy, Hazan and Rakhlin (2008), theorem 1",
    )
