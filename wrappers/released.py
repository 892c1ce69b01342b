"""Runs a mechanism in one game: feeds it each revealed gain and keeps what it has released."""

import math
from typing import Any

import gymnasium as gym
import numpy as np

from dp_bandit_envs.decisions import DecisionSet, payoffs
from dp_bandit_envs.privacy.mechanism import Below, Mechanism
from dp_bandit_envs.protocols import FloatArray, Observation
from dp_bandit_envs.seeding import FORKS
from dp_bandit_envs.wrappers.withheld import RefusedError, Withheld

FORKED = (
    "a game that has begun cannot be played on in a forked process: its copy there has the same noise, which cancels in"
    " a difference. Call reset() there, or make the environment in that process."
)
NO_NUMBER = "a mechanism released a sum that is no finite number."
NO_PAIR = (
    "a mechanism's release must return two numbers, (value, count); it returned something else, which is withheld."
    " dp_bandit_envs.conformance.check_wrapper shows it, on gains of its own."
)
WITHHOLDS = "a mechanism withheld a gain, which it says it never does. Set withholds = True."
OUTSIDE_RELEASED = (
    "a mechanism released a gain outside [{:g}, {:g}]. Clip it, or set releases_sums = True if it is a sum."
)


class Released:
    """Runs a mechanism in one game: its private state, and what it has released.

    The boundary calls `take` after each step below, and `observation` at the end of each step above.

    Args:
        mechanism: The mechanism.
        below: Public facts about the gains that it receives.
        rng: The stream of its noise.
        observation: Where to write what is released: arrays as those of `nothing_yet`, for one game.
    """

    def __init__(self, mechanism: Mechanism, below: Below, rng: np.random.Generator, observation: Observation) -> None:
        self._release, self._idle, self._forget = mechanism.release_for(below), mechanism.idle, mechanism.forget
        self._state = Withheld(mechanism.new_state(below))
        self._rng = rng
        self._forks = FORKS[0]
        self._low, self._high = below.values.low, below.values.high
        self.of_sums = mechanism.releases_sums
        self._must_release = not (mechanism.withholds or mechanism.releases_sums or mechanism.batch_size > 1)
        self._write_to(observation)

    def take(self, gain: list[float], observed: list[int]) -> None:
        """Feed the mechanism what one step below revealed, in the order of the arms."""
        self.refuse_fork()
        state, rng, release, idle = self._state.value, self._rng, self._release, self._idle
        if idle is not None and not any(observed):
            return
        for arm, seen in enumerate(observed):
            if seen:
                pair = release(state, arm, gain[arm], rng)
            elif idle is not None:
                pair = idle(state, arm, rng)
            else:
                continue
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise RefusedError(NO_PAIR)
            value, count = pair
            if count >= 1:
                self.values[arm] = value
                if self._releases is not None:
                    if not math.isfinite(value):
                        raise RefusedError(NO_NUMBER)
                    self._counts[arm] = count
                    self._releases[arm] += 1
                elif self._low <= value <= self._high:
                    self._counts[arm] = 1
                else:
                    raise RefusedError(OUTSIDE_RELEASED.format(self._low, self._high))
            elif seen and self._must_release:
                raise RefusedError(WITHHOLDS)

    def refuse_fork(self) -> None:
        """Raise in a forked process, whose copy of the game has the same noise."""
        if self._forks != FORKS[0]:
            raise RefusedError(FORKED)

    def end_step(self) -> None:
        """Let the mechanism forget what is for one step only."""
        if self._forget is not None:
            self._forget(self._state.value)

    def observation(self) -> Observation:
        """End a step above; return what was released, in arrays that nothing here will write to again."""
        self.end_step()
        shown = self._observation
        if self.of_sums:
            return {key: part.copy() for key, part in shown.items()}
        self._write_to(nothing_yet(len(self.values), of_sums=False))
        return shown

    def _write_to(self, observation: Observation) -> None:
        self._observation = observation
        self.values, self._counts, *releases = observation.values()
        self._releases = releases[0] if releases else None


def sums_space(n_arms: int, horizon: int) -> Any:
    """Return the observation space of boundaries that release sums."""
    return gym.spaces.Dict(
        {
            "sum": gym.spaces.Box(-np.inf, np.inf, (n_arms,), np.float64),
            "count": gym.spaces.Box(0, horizon, (n_arms,), np.int64),
            "release": gym.spaces.Box(0, horizon, (n_arms,), np.int64),
        }
    )


def nothing_yet(n_arms: int, *, of_sums: bool, shape: tuple[int, ...] = ()) -> Observation:
    """Return the observation before the first release; `shape` is () for one game and (games,) for several."""
    gains = np.zeros((*shape, n_arms))
    if not of_sums:
        return {"gain": gains, "observed": np.zeros((*shape, n_arms), np.int8)}
    return {
        "sum": gains,
        "count": np.zeros((*shape, n_arms), np.int64),
        "release": np.zeros((*shape, n_arms), np.int64),
    }


def rewards_of_points(decision_set: DecisionSet, released: Observation, points: FloatArray) -> FloatArray:
    """Return the rewards of points `(..., dimension)` from released values only, shape `(...)`.

    What was released last for each value, or its mean, multiplies the point; where rounds reveal payoffs, it is one.
    """
    means = released["sum"] / np.maximum(released["count"], 1) if "sum" in released else released["gain"]
    low, high = decision_set.payoffs
    if means.shape[-1] < points.shape[-1]:
        return np.clip(means[..., 0], low, high)
    return payoffs(means, points, low, high)
