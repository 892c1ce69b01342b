"""Runs a mechanism in one game: feeds it each revealed gain and keeps what it has released."""

from typing import Any

import gymnasium as gym
import numpy as np

from dp_bandit_envs.privacy.mechanism import Below, Mechanism
from dp_bandit_envs.protocols import Observation


class Withheld:
    """Holds private numbers so that neither a repr nor a list of attributes shows them."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "withheld"


class Released:
    """What a mechanism has released in one game, and its private state.

    The boundary calls `take` after each step below, and `observation` at the end of each step above.

    Args:
        mechanism: The mechanism.
        below: Public facts about the gains that it receives.
        rng: The stream of its noise.
    """

    def __init__(self, mechanism: Mechanism, below: Below, rng: np.random.Generator) -> None:
        self._release, self._idle, self._forget = mechanism.release, mechanism.idle, mechanism.forget
        self._state = Withheld(mechanism.new_state(below))
        self._rng = rng
        self._n_arms = below.n_arms
        self.of_sums = mechanism.releases_sums
        self.values = np.zeros(below.n_arms)
        self._counts = np.zeros(below.n_arms, np.int64 if self.of_sums else np.int8)
        self._releases = np.zeros(below.n_arms, np.int64)

    def take(self, gain: list[float], observed: list[int]) -> None:
        """Feed the mechanism what one step below revealed, in the order of the arms."""
        state, rng, release, idle = self._state.value, self._rng, self._release, self._idle
        if idle is not None and not any(observed):
            return
        for arm, seen in enumerate(observed):
            if seen:
                value, count = release(state, arm, gain[arm], rng)
            elif idle is not None:
                value, count = idle(state, arm, rng)
            else:
                continue
            if count:
                self.values[arm] = value
                if self.of_sums:
                    self._counts[arm] = count
                    self._releases[arm] += 1
                elif 0.0 <= value <= 1.0:
                    self._counts[arm] = 1
                else:
                    raise RefusedError(OUTSIDE_RELEASED)

    def observation(self) -> Observation:
        """End a step above: return the released values in fresh arrays, and reset what lasts for one step only."""
        if self._forget is not None:
            self._forget(self._state.value)
        if self.of_sums:
            return {"sum": self.values.copy(), "count": self._counts.copy(), "release": self._releases.copy()}
        observation = {"gain": self.values, "observed": self._counts}
        self.values, self._counts = np.zeros(self._n_arms), np.zeros(self._n_arms, np.int8)
        return observation


class RefusedError(Exception):
    """Raised inside a boundary; its message is public."""


OUTSIDE_RELEASED = "a mechanism released a gain outside [0, 1]. Clip it, or set releases_sums = True if it is a sum."


def sums_space(n_arms: int, horizon: int) -> Any:
    """Return the observation space of boundaries that release sums."""
    return gym.spaces.Dict(
        {
            "sum": gym.spaces.Box(-np.inf, np.inf, (n_arms,), np.float64),
            "count": gym.spaces.Box(0, horizon, (n_arms,), np.int64),
            "release": gym.spaces.Box(0, horizon, (n_arms,), np.int64),
        }
    )


def nothing_yet(n_arms: int, of_sums: bool, shape: tuple[int, ...] = ()) -> Observation:
    """Return the observation before the first release; `shape` is () for one game and (games,) for several."""
    gains = np.zeros((*shape, n_arms))
    if not of_sums:
        return {"gain": gains, "observed": np.zeros((*shape, n_arms), np.int8)}
    return {
        "sum": gains,
        "count": np.zeros((*shape, n_arms), np.int64),
        "release": np.zeros((*shape, n_arms), np.int64),
    }
