"""`ProjectToSet` for many games at once."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import batch_space

from dp_bandit_envs.errors import WrongPointError
from dp_bandit_envs.protocols import FloatArray, VectorEnvironment
from dp_bandit_envs.wrappers.below import layers_of
from dp_bandit_envs.wrappers.project_to_set import set_of


class ProjectToSet(gym.vector.VectorActionWrapper):
    """Plays the nearest point in every game; see `dp_bandit_envs.wrappers.ProjectToSet`.

    Args:
        env: Vector games of points, with any wrappers.
    """

    def __init__(self, env: VectorEnvironment) -> None:
        super().__init__(env)
        given = next((layer.decision_set for layer in layers_of(env) if hasattr(layer, "decision_set")), None)
        self._set = set_of(given, type(self).__name__)
        self.single_action_space = gym.spaces.Box(-1.0, 1.0, (self._set.dimension,), np.float32)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def actions(self, actions: Any) -> FloatArray:
        """Return the nearest point of the set for each game, shape `(num_envs, dimension)`."""
        if np.shape(actions) != (self.num_envs, self._set.dimension):
            raise WrongPointError(
                f"actions must have shape {(self.num_envs, self._set.dimension)}; received {np.shape(actions)}."
            )
        return np.array([self._set.project(each) for each in actions])
