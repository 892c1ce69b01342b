"""Plays the nearest point of the decision set, for agents whose actions may be outside of it."""

from typing import Any

import gymnasium as gym
import numpy as np

from dp_bandit_envs.decisions import DecisionSet
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.protocols import Environment, FloatArray, Observation


def decision_set_of(decision_set: Any, wrapper: str) -> DecisionSet:
    """Return a game's decision set, or raise if it has none."""
    if not isinstance(decision_set, DecisionSet):
        raise WrongGameError(f"{wrapper} is for games whose actions are points, such as DPBandit-Ball-v0.")
    return decision_set


class ProjectToSet(gym.ActionWrapper[Observation, FloatArray, FloatArray], gym.utils.RecordConstructorArgs):
    """Takes any vector as an action and plays the point of the decision set that is nearest to it in L2.

    For learners whose action space is a box, such as those in Stable-Baselines3: most points of a box lie outside the
    ball and the simplex, and a game refuses them. The action space is `Box(-1, 1, (dimension,), float32)`; finite
    vectors outside it are accepted too. Put it above a privacy wrapper, which itself refuses points outside the set.

    Example:
        model = SAC("MultiInputPolicy", ProjectToSet(gym.make("DPBandit-Ball-v0")))

    Args:
        env: A game of points, with any wrappers.

    Raises:
        WrongGameError: If the game is played with arms.
        WrongPointError: From `step`, if an action is not `dimension` finite real numbers.
    """

    def __init__(self, env: Environment) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.ActionWrapper.__init__(self, env)
        decision_set = env.get_wrapper_attr("decision_set") if env.has_wrapper_attr("decision_set") else None
        self._set = decision_set_of(decision_set, type(self).__name__)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (self._set.dimension,), np.float32)  # type: ignore[assignment]

    def action(self, action: Any) -> FloatArray:
        """Return the nearest point of the set."""
        return self._set.project(action)
