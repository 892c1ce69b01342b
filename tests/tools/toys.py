"""Parts that no test is about: agents that play what they are told to, and an adversary that travels by value."""

import gymnasium as gym
import numpy as np

from dp_bandit_envs import Adversary, Exp3
from dp_bandit_envs.envs.registration import GAMES

USERS_AGENT = """class Fixed:
    def begin(self, *, n_arms, horizon, rng): pass
    def select_arm(self): return {arm}
    def update(self, arm, observation): pass
"""
"""A module of somebody's with an agent that plays one arm."""


class Script:
    """Plays a list of arms, by default arm 0 always, and remembers the gains that it saw."""

    def __init__(self, arms=None):
        self.arms = arms

    def begin(self, *, n_arms, horizon, rng):
        self.left, self.seen, self.horizon = list(self.arms or [0] * horizon), [], horizon

    def select_arm(self):
        return self.left.pop(0)

    def update(self, arm, observation):
        self.seen.append(observation["gain"].tolist())


class UncompiledExp3(Exp3):
    """EXP3 with a method of its own, so that `simulate` plays it."""

    def begin(self, **options):
        super().begin(**options)


def drifting(power):
    """Return an adversary's class that no worker can import, with a parameter."""

    class Drifting(Adversary):
        """Gains of arm i are u^((i + 1) power) for one uniform u a round."""

        def __init__(self, n_arms=3, horizon=40):
            super().__init__(n_arms, horizon)

        def begin(self, rng):
            self._rng = rng

        def next_gains(self, rounds):
            return self._rng.random((rounds, 1)) ** (power * np.arange(1, self.n_arms + 1))

    return Drifting


def forget(name):
    """Take a game out of the tables."""
    gym.registry.pop(GAMES.pop(f"DPBandit-{name}-v0").id)
