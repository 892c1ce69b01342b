"""What a round of a game with arms shows: the space, and an observation of nothing."""

import numpy as np
from gymnasium import spaces

from dp_bandit_envs.protocols import Observation


def observation_space(n_arms: int) -> spaces.Dict:
    """Return the space of one round's observation: `gain` in [0, 1] and `observed` in {0, 1}, each `(n_arms,)`."""
    return spaces.Dict(
        gain=spaces.Box(0.0, 1.0, (n_arms,), np.float64),
        observed=spaces.MultiBinary(n_arms),
    )


def empty_observation(n_arms: int) -> Observation:
    """Return a fresh observation in which nothing was observed."""
    return {"gain": np.zeros(n_arms), "observed": np.zeros(n_arms, np.int8)}
