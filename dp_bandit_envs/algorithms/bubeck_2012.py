"""EXP2 with optimal exploration and OSMD on the ball, of Bubeck, Cesa-Bianchi and Kakade (2012)."""

import functools
from typing import SupportsFloat

from dp_bandit_envs.agents.ball_osmd import BallOsmd
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.noisy_payoffs import learner_on_points
from dp_bandit_envs.theory.linear_bounds import osmd_regret_bound


def osmd_on_ball(_: str, dimension: int, horizon: int, scale: float, clip: float) -> float:
    """Return `osmd_regret_bound`; there is one set only."""
    return osmd_regret_bound(dimension, horizon, scale, clip)


def osmd(*, learning_rate: SupportsFloat | None = None) -> Algorithm:
    """OSMD (Bubeck, Cesa-Bianchi and Kakade 2012): linear bandits on the ball; regret sqrt(d T ln T).

    Not private.

    Differs from the source in: gains instead of losses; the rate is capped at 1 / (2 d), which the paper asks of T.
    """
    agent = functools.partial(BallOsmd, learning_rate=learning_rate)
    agent()
    return learner_on_points(
        name="OSMD",
        agent=agent,
        sets=("ball",),
        bound=osmd_on_ball if learning_rate is None else None,
        parameters={"learning_rate": learning_rate},
        reference="Bubeck, Cesa-Bianchi and Kakade (2012), section 5",
    )
