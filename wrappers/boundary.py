"""The privacy boundary: true gains below it, only released values above it."""

import copy
from collections.abc import Callable
from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.envs.point_board import PointBoard
from dp_bandit_envs.envs.scoreboard import Scoreboard
from dp_bandit_envs.errors import BoundaryError, StepOutsideGameError
from dp_bandit_envs.graphs import FeedbackGraph
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.protocols import Environment, Observation, is_public, plays_points
from dp_bandit_envs.seeding import FIRST_WRAPPER, checked_options
from dp_bandit_envs.wrappers.below import (
    boundaries_below,
    checked_env,
    classes_elsewhere,
    facts_of_game,
    layers_of,
    needed_below,
    refuse_sums,
    unflattened,
)
from dp_bandit_envs.wrappers.public_face import PublicFace, checked_mechanism
from dp_bandit_envs.wrappers.released import Released, nothing_yet, rewards_of_points, sums_space
from dp_bandit_envs.wrappers.secure_streams import seed_below, streams_of
from dp_bandit_envs.wrappers.withheld import RefusedError, Result, attempt, ends_by_itself, gains_and_observed


class PrivacyBoundary(PublicFace, gym.Wrapper[Observation, int, Observation, int]):  # type: ignore[override]
    """Applies a privacy mechanism to an environment's gains; each privacy wrapper is this class with one mechanism.

    `step` returns the released observation; as reward the released gain (or mean) of the arm played, 0.0 if nothing
    was released; the flags, which depend on the horizon only; and `{"round": t}`. Above a `Monitor` of
    Stable-Baselines3, the last step adds `"episode"`, for which its tools look: the sum `r` of the rewards above and
    the number `l` of steps. An error below is replaced by one that contains nothing of it, pictures show released
    values only, and `get_wrapper_attr` does not read attributes below. Only an evaluator uses `env.unwrapped` and
    `wrapper.env`.

    Between a boundary and the environment it protects, only wrappers that pass each observation through exactly once
    and unchanged are allowed: a few of Gymnasium's, and subclasses of them that do not override `step`, `reset` or
    `observation`. Put all others above.

    A seed makes the noise reproducible, so anyone who knows it can subtract the noise: with real data, reset without a
    seed. Each further game on the same data spends the guarantee once more (composition).

    Args:
        env: A bandit environment, or a privacy wrapper around one that releases gains.
        mechanism: The mechanism, with `release(state, arm, gain, rng)`; see `dp_bandit_envs.privacy.mechanism`.

    Attributes:
        mechanism: A copy of the mechanism.
        sensitivity: L1 distance between released values of neighbouring games, with the noise fixed.
        guarantee: The privacy guarantee of one game, for everything above the boundary.
        noise: What is public about the noise, for agents whose confidence terms depend on it.
        takes_seed: Whether `reset` accepts a seed; False where it or a wrapper below has secure draws.
        n_arms: Number of arms, where arms are played.
        features: Public feature vectors of the arms, shape `(n_arms, dimension)`, in games that have any.
        decision_set: Where points are played, a copy of their set; changing it changes nothing.
        n_values: Number of values that a round can reveal: of arms, or of coordinates.
        horizon: Number of steps that can release something: T, or T // tau above batches of tau rounds.
    """

    _played: Any = None
    """The point or points played last, for pictures."""

    def __init__(self, env: Environment, mechanism: Mechanism) -> None:
        name = type(self).__name__
        super().__init__(checked_env(env, name, gym.Env))
        below = boundaries_below(env, name)
        refuse_sums(below, name)
        self._use_plays(needed_below(env, "decision_set" if plays_points(env) else "n_arms", name))
        features = next((layer.features for layer in layers_of(env) if hasattr(layer, "features")), None)
        if features is not None:
            # A copy: the game below computes gains from its own.
            self.features = np.array(features, np.float64)
        self._below = below[0].above if below else facts_of_game(env, name)
        self.n_values = self._below.n_values
        self._use(checked_mechanism(mechanism))
        self._rounds_a_step = self.batch_size
        self._rounds: int = needed_below(env.unwrapped, "horizon", name)
        self._boundary_is_next = isinstance(env, PrivacyBoundary)
        self._counts_rounds = not below
        self._is_monitored = any(isinstance(layer, classes_elsewhere()) for layer in layers_of(env))
        flat = isinstance(env.observation_space, gym.spaces.Box)
        # Copies: the environment below uses its own spaces on private observations.
        self.observation_space = (
            sums_space(self.n_values, self._below.horizon)
            if self.releases_sums
            else copy.deepcopy((env.unwrapped if flat else env).observation_space)
        )
        self.action_space = copy.deepcopy(env.action_space)
        self.metadata = copy.deepcopy(env.metadata)
        self._streams = streams_of(self._mechanism, FIRST_WRAPPER + len(below), self._noise_label)
        self._below_takes_seed = all(one.takes_seed for one in below)
        self._rng: Any = None
        self._shown: tuple[FeedbackGraph, FeedbackGraph] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game below with a fresh noise stream; nothing has been released yet."""
        seed, options = self._checked_seed(seed), checked_options(options)
        # If the reset below fails half-way, no game is in progress.
        self._rng = None
        below = seed_below(seed, self._mechanism, self._below_takes_seed)
        with self._announced(given=seed is not None):
            _, failure = self._attempt(lambda: self.env.reset(seed=below, options=options))
        if failure is not None:
            raise failure
        rng = self._streams.next(seed, options)
        self._round = self._round_below = 0
        self._ended = False
        self._earned, self._steps = 0.0, 0
        nothing = nothing_yet(self.n_values, of_sums=self.releases_sums)
        self._released = Released(self.mechanism, self._below, rng, nothing)
        self._rng = rng
        self._scoreboard = self._new_scoreboard() if self.render_mode else None
        return {key: part.copy() for key, part in nothing.items()}, {"round": 0}

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play an arm or a point, and return released values only."""
        arm = action if type(action) is int and 0 <= action < self._n_plays else self._checked(action)
        self._check_started()
        if self._ended:
            raise StepOutsideGameError("the game has ended; call reset() to start another.")
        # Until the step is done there is no game to go on with: what fails or is interrupted may be half done.
        rng, self._rng = self._rng, None
        result, failure = self._attempt(lambda: self._advance(arm))
        if failure is not None:
            raise failure
        self._rng = rng
        released, terminated, truncated = result
        self._ended = terminated or truncated
        reward = self._reward(released, arm)
        if self._scoreboard is not None:
            self._played = arm
            self._scoreboard.add(self._round_below, arm, reward, rounds=self._round_below - self._round)
        self._round = self._round_below
        info: dict[str, Any] = {"round": self._round}
        if self._is_monitored:
            # Stable-Baselines3 looks for it where there is a Monitor, whose own numbers are private.
            self._earned, self._steps = self._earned + reward, self._steps + 1
            if self._ended:
                info["episode"] = {"r": round(self._earned, 6), "l": self._steps}
        return released, reward, terminated, truncated, info

    def render(self) -> Any:
        """Return a picture of the values released so far, never of true gains."""
        self._check_started()
        if self._scoreboard is None:
            return None
        if self.releases_sums:
            self._scoreboard.show_totals(self._released.values.copy())
        return self._scoreboard.render(
            self.render_mode, title="Seen through the privacy boundary", total=self._total_is
        )

    def _checked(self, action: Any) -> Any:
        """Return an action as an arm or a point, or raise."""
        return self._set.checked(action) if self._n_plays == 0 else checks.arm(action, self._n_plays)

    def _new_scoreboard(self) -> Any:
        self._played = None
        if self._n_plays:
            return Scoreboard(self._n_plays, self._rounds)
        return PointBoard(self._set, self._rounds, lambda: self._played)

    def _advance(self, arm: Any) -> tuple[Observation, bool, bool]:
        """Play `arm` below for one batch of rounds; return the released observation and the two flags."""
        for _ in range(self._rounds_a_step):
            gain, observed, terminated, truncated = self._step_below(arm)
            self._released.take(gain, observed)
            if terminated or truncated:
                break
        return self._released.observation(), terminated, truncated

    def _reward(self, released: Observation, arm: Any) -> float:
        """Return the reward, computed from released values only."""
        if self._n_plays == 0:
            return float(rewards_of_points(self._set, released, arm))
        if not self._released.of_sums:
            return float(released["gain"][arm])
        count = int(released["count"][arm])
        return float(released["sum"][arm]) / count if count else 0.0

    def close(self) -> None:
        """Close the environment below."""
        _, failure = self._attempt(self.env.close)
        if failure is not None:
            raise failure

    def __str__(self) -> str:
        return "".join(f"<{type(layer).__name__}" for layer in layers_of(self)) + ">" * len([*layers_of(self)])

    @property
    def graph(self) -> FeedbackGraph:
        """The feedback graph of the next round, if the game has one; it is public.

        A copy, made once for each graph: the game reads its own to decide which gains a round reveals, and with edges
        added there a round would reveal more gains than the noise is scaled to.
        """
        for layer in layers_of(self.env):
            graph = getattr(layer, "graph", None)
            if isinstance(graph, FeedbackGraph):
                if self._shown is None or self._shown[0] is not graph:
                    self._shown = graph, graph.copy()
                return self._shown[1]
        raise AttributeError(f"{type(self).__name__} has no attribute 'graph': the game below has no feedback graph.")

    def get_wrapper_attr(self, name: str) -> Any:
        """Return a public attribute of this wrapper; unlike other Gymnasium wrappers, it does not search below."""
        if not self.has_wrapper_attr(name):
            raise AttributeError(
                f"{type(self).__name__} has no attribute {name!r}, and below it everything is private."
            )
        return getattr(self, name)

    def has_wrapper_attr(self, name: str) -> bool:
        """Whether this wrapper itself has a public attribute of that name."""
        return is_public(name) and hasattr(self, name)

    def _has_begun(self) -> bool:
        return bool(self._streams.begun)

    def _step_below(self, arm: Any) -> tuple[list[float], list[int], bool, bool]:
        """Play one step below and check its gains; count rounds here, or take the count of a boundary below."""
        observation, _, terminated, truncated, info = self.env.step(arm)
        self._round_below = self._round_below + 1 if self._counts_rounds else int(info["round"])
        if self._counts_rounds and bool(terminated) != (self._round_below == self._rounds):
            raise RefusedError(ends_by_itself(type(self).__name__))
        seen = unflattened(observation, self.n_values)
        return *gains_and_observed(seen, self._below, type(self).__name__), bool(terminated), bool(truncated)

    def _check_started(self) -> None:
        if self._rng is None:
            raise StepOutsideGameError("the game has not begun; call reset() first.")

    def _attempt(self, call: Callable[[], Result]) -> tuple[Result, None] | tuple[Any, BoundaryError]:
        return attempt(call, type(self).__name__, trusted=self._boundary_is_next)
