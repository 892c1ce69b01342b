"""The baseline: plays every arm with the same probability in every round."""

from typing import NamedTuple

import numpy as np

from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.protocols import FloatArray, Gains


class State(NamedTuple):
    """The number of arms."""

    n_arms: int


def select(state: State, rng: np.random.Generator) -> int:
    """Draw any arm."""
    return int(rng.random() * state.n_arms)


def update(state: State, arm: int, seen: Gains) -> State:
    """Ignore the release."""
    return state


class Uniform(FunctionalAgent):
    """Plays each arm with probability 1 / K and ignores all releases: 0-DP without noise, and the regret to beat.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import Uniform
        >>> env = gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000)
        >>> game = play(env, Uniform(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of all rounds")
        the best arm in 50% of all rounds
    """

    functions = Functions(select, update)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state, which never changes."""
        return State(n_arms)

    def probabilities(self) -> FloatArray:
        """Return the probability of each arm, shape `(n_arms,)`."""
        self._check_begun()
        return np.full(self._state.n_arms, 1 / self._state.n_arms)
