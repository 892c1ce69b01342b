"""The interface of agents, which has no base class to inherit from, and the types of arrays and of observations."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias, runtime_checkable

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Observation: TypeAlias = dict[str, NDArray[Any]]
Environment: TypeAlias = gym.Env[Any, Any]
VectorStep: TypeAlias = tuple[Observation, FloatArray, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]
VectorEnvironment: TypeAlias = gym.vector.VectorEnv[Any, Any, Any]
if TYPE_CHECKING:
    VectorWrapper = gym.vector.VectorWrapper[Observation, IntArray, Observation, IntArray, NDArray[Any]]
else:
    VectorWrapper = gym.vector.VectorWrapper  # it takes no type arguments before Gymnasium 1.4


@runtime_checkable
class Agent(Protocol):
    """An agent: it sees released observations only, never an environment, an adversary, a reward or a true gain.

    An optional method `see_features(features)` is called before `begin` with the arms' public features, shape
    `(n_arms, dimension)`, or with None in games without features.

    Example:
        >>> import itertools
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> class TakesTurns:
        ...     def begin(self, *, n_arms, horizon, rng): self.arms = itertools.cycle(range(n_arms))
        ...     def select_arm(self): return next(self.arms)
        ...     def update(self, arm, observation): pass
        >>> print(play(gym.make("DPBandit-Stochastic-v0", n_arms=3, horizon=7), TakesTurns()).arms)
        [0 1 2 0 1 2 0]
    """

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
        """Learn from the release after `arm` was played."""


@runtime_checkable
class PointAgent(Protocol):
    """An agent that plays points of a decision set instead of arms.

    An optional method `see_set(decision_set)` is called before `begin`.
    """

    def begin(self, *, dimension: int, horizon: int, rng: np.random.Generator) -> None:
        """Reset all state for a new game.

        Args:
            dimension: Number of coordinates d of a point.
            horizon: Number of steps of the agent.
            rng: The agent's own random stream.
        """

    def select_point(self) -> FloatArray:
        """Choose the next point of the decision set, shape `(dimension,)`."""

    def update(self, point: FloatArray, observation: Mapping[str, NDArray[Any]]) -> None:
        """Learn from the release after `point` was played."""


@runtime_checkable
class AgentFactory(Protocol):
    """Anything that makes a fresh agent when called, such as an agent's class."""

    def __call__(self) -> Agent:
        """Make a fresh agent."""


@runtime_checkable
class PointAgentFactory(Protocol):
    """Anything that makes a fresh agent for points when called, such as an agent's class."""

    def __call__(self) -> PointAgent:
        """Make a fresh agent."""


def is_public(attribute: str) -> bool:
    """Whether agents may use an attribute of a privacy wrapper: all except underscored and these names."""
    return not attribute.startswith("_") and attribute not in ("env", "envs", "unwrapped", "set_wrapper_attr")


def plays_points(env: Environment) -> bool:
    """Whether the actions of a game are points of a decision set; otherwise they are arms."""
    return isinstance(env.action_space, gym.spaces.Box)


def every_game(name: str, values: NDArray[Any]) -> dict[str, Any]:
    """Return an info dict in Gymnasium's vector form: the values, and a mask that is True for every game."""
    return {name: values, f"_{name}": np.ones(len(values), np.bool_)}


class Gains(NamedTuple):
    """The released gains of one step.

    Attributes:
        gains: The released gain of each arm, in [0, 1]; 0 without a release.
        observed: 1 for each arm with a released gain, otherwise 0.
    """

    gains: Sequence[float]
    observed: Sequence[int]


class Sums(NamedTuple):
    """The released sums.

    Attributes:
        sums: The released sum of each arm, which can be outside [0, count] because of noise.
        counts: The number of gains in it; 0 before an arm's first release.
        releases: Number of releases of each arm; it grows by one with each release, even if sum and count stay equal.
    """

    sums: Sequence[float]
    counts: Sequence[int]
    releases: Sequence[int]


KEYS: Final[dict[type, tuple[str, ...]]] = {Gains: ("gain", "observed"), Sums: ("sum", "count", "release")}
"""The keys in an environment's observation for the fields of each kind."""
