"""The privacy boundary that releases running sums, around many games at once."""

from typing import Any

import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from dp_bandit_envs.protocols import FloatArray, IntArray, Observation
from dp_bandit_envs.wrappers.boundary import Withheld
from dp_bandit_envs.wrappers.sums_boundary import ReleasesSums, sums_space
from dp_bandit_envs.wrappers.vector.boundary import VectorEnv, VectorPrivacyBoundary


class VectorSumsBoundary(ReleasesSums, VectorPrivacyBoundary):  # type: ignore[misc]
    """Base of the vector forms of the wrappers that release `sum` and `count`; see `SumsBoundary`."""

    def __init__(self, env: VectorEnv) -> None:
        super().__init__(env)
        self.horizon = self._horizon_below
        self.sensitivity = float("inf")
        self.single_observation_space = sums_space(self.n_arms, self.horizon)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def _begin(self, streams: list[np.random.Generator]) -> None:
        self._noise_streams = streams
        self._states = [Withheld(self._mechanism.new_state(self.n_arms)) for _ in streams]
        self._released = self._nothing()

    def _advance(self, arms: IntArray) -> tuple[Observation, NDArray[np.bool_], NDArray[np.bool_]]:
        private, terminated, truncated = self._step_below(arms)
        gains, observed = private["gain"].tolist(), private["observed"].tolist()
        released = self._nothing()
        for game, state in enumerate(self._states):
            sums, counts = self._tell(state.value, gains[game], observed[game], self._noise_streams[game])
            released["sum"][game] = sums
            released["count"][game] = counts
        self._released = {key: part.copy() for key, part in released.items()}
        return released, terminated, truncated

    def _nothing(self) -> Observation:
        shape = (self.num_envs, self.n_arms)
        return {"sum": np.zeros(shape), "count": np.zeros(shape, np.int64)}

    def _rewards(self, released: Observation, arms: IntArray) -> FloatArray:
        games = np.arange(self.num_envs)
        sums, counts = released["sum"][games, arms], released["count"][games, arms]
        means: FloatArray = np.where(counts > 0, sums / np.maximum(counts, 1), 0.0)
        return means

    def render(self) -> tuple[Any, ...] | None:
        """Return one picture for each game of what was released so far."""
        for board, sums in zip(self._scoreboards, self._released["sum"] if self._started else (), strict=False):
            board.show_totals(sums)
        return super().render()
