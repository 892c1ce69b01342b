"""Many games of points at once, as arrays instead of a loop over environments."""

import functools
from typing import Any, ClassVar, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.decisions import Ball, Cube, DecisionSet, Simplex, payoffs
from dp_bandit_envs.envs.bandit_env import observation_space, refuse_unknown
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.point_env import PointFacts, point_adversary
from dp_bandit_envs.envs.rendering import PointBoard
from dp_bandit_envs.errors import GainRangeError
from dp_bandit_envs.protocols import FloatArray, IntArray, Observation


class PointVectorEnv(PointFacts, BanditVectorEnv):
    """Many games of `PointEnv` in lockstep; actions are points, shape `(num_envs, dimension)`.

    Args:
        num_envs: Number of games.
        adversary: Chooses the gain vectors; each game gets a copy.
        decision_set: The set of points of each game.
        feedback: `"full"` or `"bandit"`.
        render_mode: None, `"rgb_array"` or `"ansi"`.
    """

    def __init__(
        self,
        num_envs: SupportsIndex,
        adversary: Adversary,
        decision_set: DecisionSet,
        *,
        feedback: str = "full",
        render_mode: str | None = None,
    ) -> None:
        self._use_set(decision_set, feedback)
        super().__init__(num_envs, adversary, render_mode=render_mode)
        self._every_play = np.zeros(self.num_envs, np.int64)

    def _set_spaces(self, width: int) -> None:
        self._check_adversary(self.adversaries[0])
        self.single_action_space = self.decision_set.space
        self.single_observation_space = observation_space(self.n_values, self.values.low, self.values.high)

    def _begin(self, seeds: list[int | None], options: dict[str, Any] | None) -> None:
        self._points: FloatArray | None = None

    def _take(self, actions: Any) -> IntArray:
        self._points = self.decision_set.checked_rows(actions, self.num_envs)
        return self._every_play

    def _gains(self, row: FloatArray, arms: IntArray) -> FloatArray:
        assert self._points is not None
        return payoffs(row, self._points, self._low, self._high)

    def _check_gains(self, adversary: Adversary, gains: FloatArray) -> None:
        if not self.decision_set.has_gains(gains):
            raise GainRangeError(adversary, f"gain vectors of the {self.decision_set.name}")

    def _reveal(self, arms: IntArray, row: FloatArray, to_show: FloatArray) -> Observation:
        gains = row.copy() if self.feedback == "full" else to_show[:, np.newaxis].copy()
        return {"gain": gains, "observed": np.ones(gains.shape, np.int8)}

    def _new_scoreboard(self, game: int) -> Any:
        return PointBoard(
            self.decision_set,
            self.horizon,
            functools.partial(self._point_of, game),
            functools.partial(self._best_point_of, game),
        )

    def _point_of(self, game: int) -> list[float] | None:
        return None if self._points is None else self._points[game].tolist()

    def _best_point_of(self, game: int) -> FloatArray:
        return self.decision_set.best_point(self.cumulative_gains[game])


class NamedSetVectorEnv(PointVectorEnv):
    """The shared part of the registered games of points, which differ in their set."""

    set_class: ClassVar[type[DecisionSet]]

    def __init__(
        self,
        num_envs: SupportsIndex = 1,
        dimension: SupportsIndex | None = None,
        horizon: SupportsIndex | None = None,
        *,
        feedback: str = "full",
        gains: Any = None,
        gap: SupportsFloat | None = None,
        render_mode: str | None = None,
        **unknown: Any,
    ) -> None:
        refuse_unknown(type(self), unknown)
        adversary = point_adversary(self.set_class.name, gains, dimension, horizon, gap)
        super().__init__(
            num_envs, adversary, self.set_class(adversary.n_arms), feedback=feedback, render_mode=render_mode
        )


class BallVectorEnv(NamedSetVectorEnv):
    """Many games of `BallEnv` in lockstep, with its arguments and `num_envs`; actions `(num_envs, dimension)`."""

    set_class = Ball


class CubeVectorEnv(NamedSetVectorEnv):
    """Many games of `CubeEnv` in lockstep, with its arguments and `num_envs`; actions `(num_envs, dimension)`."""

    set_class = Cube


class SimplexVectorEnv(NamedSetVectorEnv):
    """Many games of `SimplexEnv` in lockstep, with its arguments and `num_envs`; actions `(num_envs, dimension)`."""

    set_class = Simplex
