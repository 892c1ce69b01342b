"""The privacy boundary that releases running sums: for each arm a total of gains and how many are in it."""

import copy
import functools
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.sums.mechanism import SumMechanism, after_noise_below
from dp_bandit_envs.protocols import Environment, Observation
from dp_bandit_envs.wrappers.boundary import PrivacyBoundary, Withheld


class ReleasesSums:
    """What the scalar and the vector boundary that release sums have in common."""

    releases_sums: ClassVar[bool] = True
    _total_is: ClassVar[str] = "released sum"
    _guarantee_below: PrivacyGuarantee | None

    @property
    def mechanism(self) -> SumMechanism:
        """A copy of what releases the sums: who changes it changes no noise."""
        return copy.deepcopy(self._mechanism)

    @functools.cached_property
    def _tell(self) -> Callable[..., Any]:
        """The mechanism's function, looked up once: a counter's is made for it and cannot be pickled."""
        return self._mechanism.tell

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is looked up again, so that the wrapper can be pickled, before and in a game."""
        return {name: value for name, value in vars(self).items() if name != "_tell"}

    def _use(self, mechanism: SumMechanism) -> None:
        self._mechanism = mechanism
        self.guarantee = after_noise_below(mechanism.guarantee, self._guarantee_below)


class SumsBoundary(ReleasesSums, PrivacyBoundary):  # type: ignore[misc]
    """Base of the wrappers that release `sum` and `count` of each arm; they differ in their mechanism only.

    Observations are `{"sum": float64 (n_arms,), "count": int64 (n_arms,)}`: the released total of each arm, which noise
    may carry outside [0, count], and the number of gains in it. Between releases they stay as they are. The reward is
    the released mean of the arm played, 0.0 before its first release.

    Other privacy wrappers go below, none above.
    """

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.horizon = self._horizon_below
        self.sensitivity = float("inf")
        self.observation_space = sums_space(self.n_arms, self.horizon)

    def _begin(self) -> None:
        self._state = Withheld(self._mechanism.new_state(self.n_arms))
        self._sums = np.zeros(self.n_arms)

    def _advance(self, arm: int) -> tuple[Observation, bool, bool]:
        private, terminated, truncated = self._step_below(arm)
        assert self._rng is not None
        gain, observed = private["gain"].tolist(), private["observed"].tolist()
        sums, counts = self._tell(self._state.value, gain, observed, self._rng)
        self._sums = sums.copy()
        return {"sum": sums.copy(), "count": counts.copy()}, terminated, truncated

    def _nothing(self) -> Observation:
        return {"sum": np.zeros(self.n_arms), "count": np.zeros(self.n_arms, np.int64)}

    def _reward(self, released: Observation, arm: int) -> float:
        count = int(released["count"][arm])
        return float(released["sum"][arm]) / count if count else 0.0

    def render(self) -> Any:
        """Return a picture of what was released so far, never of what is below."""
        if self._rng is not None and self._scoreboard is not None:
            self._scoreboard.show_totals(self._sums)
        return super().render()


def sums_space(n_arms: int, horizon: int) -> Any:
    """Return the space of sums and counts."""
    return gym.spaces.Dict(
        {
            "sum": gym.spaces.Box(-np.inf, np.inf, (n_arms,), np.float64),
            "count": gym.spaces.Box(0, horizon, (n_arms,), np.int64),
        }
    )
