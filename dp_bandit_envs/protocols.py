"""The interface of agents, and the types of arrays and observations; there is no base class to inherit from."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Observation: TypeAlias = dict[str, NDArray[Any]]
Environment: TypeAlias = gym.Env[Any, Any]
VectorEnvironment: TypeAlias = gym.vector.VectorEnv[Any, Any, Any]
if TYPE_CHECKING:
    VectorWrapper = gym.vector.VectorWrapper[Observation, IntArray, Observation, IntArray, NDArray[Any]]
else:
    VectorWrapper = gym.vector.VectorWrapper  # it takes no type arguments before Gymnasium 1.4


@runtime_checkable
class Agent(Protocol):
    """An agent: it sees released observations only, never an environment, an adversary, a reward or a true gain."""

    def begin(self, *, n_arms: int, horizon: int, rng: np.random.Generator) -> None:
        """Reset all state for a new game.

        Args:
            n_arms: Number of arms K.
            horizon: Number of steps of the agent: T, or T // tau above batches of tau rounds.
            rng: The agent's own random stream.
        """

    def select_arm(self) -> int:
        """Choose the next arm, in [0, n_arms)."""

    def update(self, arm: int, observation: Mapping[str, NDArray[Any]]) -> None:
        """Learn from what was released after `arm` was played."""


@runtime_checkable
class AgentFactory(Protocol):
    """Anything that makes a fresh agent when called, such as an agent's class."""

    def __call__(self) -> Agent:
        """Make a fresh agent."""


def is_public(attribute: str) -> bool:
    """Whether agents may use an attribute of a privacy wrapper: all except underscored names and those listed here."""
    return not attribute.startswith("_") and attribute not in ("env", "envs", "unwrapped", "set_wrapper_attr")
