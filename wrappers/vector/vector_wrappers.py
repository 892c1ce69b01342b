"""The vector forms of the privacy wrappers (two with their own drivers) and of `ProjectToSet`."""

from collections.abc import Iterable
from typing import Any, SupportsFloat, SupportsIndex

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from dp_bandit_envs.draws import laplace_array
from dp_bandit_envs.errors import WrongPointError
from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.laplace import to_grid_array
from dp_bandit_envs.privacy.mechanisms.batch_average import rounder_of
from dp_bandit_envs.privacy.mechanisms.interval_sums import PAPER_DELTA
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.protocols import FloatArray, IntArray, Observation, VectorEnvironment
from dp_bandit_envs.wrappers.layers import layers_of
from dp_bandit_envs.wrappers.project_to_set import decision_set_of
from dp_bandit_envs.wrappers.vector.vector_boundary import VectorPrivacyBoundary
from dp_bandit_envs.wrappers.wrapper_class import privacy_wrapper

DRAWS_AHEAD = 512


@privacy_wrapper
class LaplaceClipRescale(VectorPrivacyBoundary):
    """Adds Laplace noise of scale sensitivity / epsilon to all revealed gains of all games and rescales them."""

    def __init__(
        self,
        env: VectorEnvironment,
        *,
        epsilon: SupportsFloat,
        bound: SupportsFloat | None = None,
        outside: str = "reject",
        draws: str = "fast",
    ) -> None:
        super().__init__(env, mechanisms.LaplaceClipRescale(epsilon=epsilon, bound=bound, outside=outside, draws=draws))
        self._state = self._mechanism.new_state(self._inputs)

    def _restart(self, seeds: list[int | None], options: dict[str, Any] | None) -> tuple[Observation, dict[str, Any]]:
        self._noise = np.empty((self.num_envs, max(DRAWS_AHEAD, 2 * self.n_values)))
        self._used = np.full(self.num_envs, self._noise.shape[1])
        return super()._restart(seeds, options)

    def _advance(self, arms: IntArray) -> tuple[Observation, NDArray[np.bool_], NDArray[np.bool_]]:
        if takes_no_seed(self._mechanism):
            return super()._advance(arms)  # exact draws come one by one
        self._runs[0].refuse_fork()
        private, terminated, truncated = self._step_below(arms)
        scale, grid, bound, reject, low, high = self._state
        least, most, width = low - bound, high + bound, high - low
        noisy = private["gain"].copy()
        seen = private["observed"].astype(np.bool_)
        if scale > 0:
            noisy[seen] = to_grid_array(noisy[seen] + self._draw(seen), grid)
        if reject:
            seen &= (noisy >= least) & (noisy <= most)
        share = (np.clip(noisy, least, most) - least) / (width + 2 * bound)
        gain = np.where(seen, low + width * np.minimum(share, 1.0), 0.0)
        return {"gain": gain, "observed": seen.astype(np.int8)}, terminated, truncated

    def _draw(self, seen: NDArray[np.bool_]) -> FloatArray:
        """Return one draw for each true entry of `seen`, from that game's stream, in the order of games and arms."""
        counts = seen.sum(axis=1)
        length = self._noise.shape[1]
        for game in np.nonzero(self._used + counts > length)[0]:
            unused = self._noise[game, self._used[game] :].copy()
            self._noise[game, : len(unused)] = unused
            fresh = laplace_array(self._noise_streams[game], length - len(unused), self._state.scale)
            self._noise[game, len(unused) :] = fresh
            self._used[game] = 0
        games = np.nonzero(seen)[0]
        first_of_game = np.cumsum(counts) - counts
        draw = self._used[games] + np.arange(len(games)) - first_of_game[games]
        self._used += counts
        noise: FloatArray = self._noise[games, draw]
        return noise


@privacy_wrapper
class MiniBatchAverage(VectorPrivacyBoundary):
    """Plays the chosen arm of each game for `batch_size` rounds (tau) and then releases the average gain."""

    def __init__(self, env: VectorEnvironment, *, batch_size: SupportsIndex) -> None:
        super().__init__(env, mechanisms.MiniBatchAverage(batch_size=batch_size))

    def _advance(self, arms: IntArray) -> tuple[Observation, NDArray[np.bool_], NDArray[np.bool_]]:
        rounder = rounder_of(self._rounds_a_step)
        totals = np.zeros((self.num_envs, self.n_values))
        revealed = np.zeros((self.num_envs, self.n_values), np.int64)
        for _ in range(self._rounds_a_step):
            private, terminated, truncated = self._step_below(arms)
            totals += private["gain"] + rounder - rounder
            revealed += private["observed"]
            if (terminated | truncated).any():
                break
        complete = revealed == self._rounds_a_step
        averages = np.clip(totals / self._rounds_a_step, self._inputs.values.low, self._inputs.values.high)
        observation = {"gain": np.where(complete, averages, 0.0), "observed": complete.astype(np.int8)}
        return observation, terminated, truncated


@privacy_wrapper
class RandomizedResponse(VectorPrivacyBoundary):
    """Replaces each gain of every game by a random bit, which is more often 1 for larger gains."""

    def __init__(self, env: VectorEnvironment, *, epsilon: SupportsFloat, draws: str = "fast") -> None:
        super().__init__(env, mechanisms.RandomizedResponse(epsilon=epsilon, draws=draws))


@privacy_wrapper
class ExactSums(VectorPrivacyBoundary):
    """Releases exact running sums of every game; it adds no privacy."""

    def __init__(self, env: VectorEnvironment) -> None:
        super().__init__(env, mechanisms.ExactSums())


@privacy_wrapper
class BlockSums(VectorPrivacyBoundary):
    """Sums each arm's gains of every game in growing blocks, and releases full blocks with noise."""

    def __init__(
        self,
        env: VectorEnvironment,
        *,
        epsilon: SupportsFloat,
        ratio: SupportsFloat = 2.0,
        first: SupportsIndex = 1,
        keep: bool = False,
        lengths: Iterable[int] | None = None,
        delta: SupportsFloat | None = None,
        draws: str = "fast",
    ) -> None:
        options: dict[str, Any] = {"ratio": ratio, "first": first, "keep": keep, "lengths": lengths}
        super().__init__(env, mechanisms.BlockSums(epsilon=epsilon, delta=delta, draws=draws, **options))


@privacy_wrapper
class BatchSums(VectorPrivacyBoundary):
    """Sums each arm's gains of every game in a batch of rounds; at its end all sums are released with noise."""

    def __init__(
        self,
        env: VectorEnvironment,
        *,
        epsilon: SupportsFloat,
        lengths: Iterable[int],
        delta: SupportsFloat | None = None,
        draws: str = "fast",
    ) -> None:
        super().__init__(env, mechanisms.BatchSums(epsilon=epsilon, lengths=lengths, delta=delta, draws=draws))


@privacy_wrapper
class IntervalSums(VectorPrivacyBoundary):
    """Releases an arm's mean in every game at the ends of growing intervals, with less and less noise."""

    def __init__(
        self,
        env: VectorEnvironment,
        *,
        epsilon: SupportsFloat,
        v: SupportsFloat = 1.1,
        delta: SupportsFloat = PAPER_DELTA,
        release: str = "once",
        intervals: str = "lemma",
        draws: str = "fast",
    ) -> None:
        options: dict[str, Any] = {"v": v, "delta": delta, "release": release, "intervals": intervals}
        super().__init__(env, mechanisms.IntervalSums(epsilon=epsilon, draws=draws, **options))


@privacy_wrapper
class CounterSums(VectorPrivacyBoundary):
    """Releases running sums of every game, with one private counter for each arm, or one on vectors."""

    def __init__(
        self,
        env: VectorEnvironment,
        *,
        counter: str,
        epsilon: SupportsFloat,
        noise: str | None = None,
        delta: SupportsFloat | None = None,
        pad_unplayed: bool = False,
        draws: str = "fast",
        **options: Any,
    ) -> None:
        options |= {"noise": noise, "delta": delta, "pad_unplayed": pad_unplayed}
        super().__init__(env, mechanisms.CounterSums(counter=counter, epsilon=epsilon, draws=draws, **options))


@privacy_wrapper
class HybridSums(VectorPrivacyBoundary):
    """Releases running sums of every game, with one hybrid counter for each arm."""

    def __init__(
        self,
        env: VectorEnvironment,
        *,
        epsilon: SupportsFloat,
        noise: str | None = None,
        delta: SupportsFloat | None = None,
        pad_unplayed: bool = False,
        draws: str = "fast",
        **options: Any,
    ) -> None:
        options |= {"noise": noise, "delta": delta, "pad_unplayed": pad_unplayed}
        super().__init__(env, mechanisms.HybridSums(epsilon=epsilon, draws=draws, **options))


class ProjectToSet(gym.vector.VectorActionWrapper):
    """Plays the nearest point in every game; see `dp_bandit_envs.wrappers.ProjectToSet`.

    Args:
        env: Vector games of points, with any wrappers.
    """

    def __init__(self, env: VectorEnvironment) -> None:
        super().__init__(env)
        decision_set = next((layer.decision_set for layer in layers_of(env) if hasattr(layer, "decision_set")), None)
        self._set = decision_set_of(decision_set, type(self).__name__)
        self.single_action_space = gym.spaces.Box(-1.0, 1.0, (self._set.dimension,), np.float32)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def actions(self, actions: Any) -> FloatArray:
        """Return the nearest point of the set for each game, shape `(num_envs, dimension)`."""
        if np.shape(actions) != (self.num_envs, self._set.dimension):
            raise WrongPointError(
                f"actions must have shape {(self.num_envs, self._set.dimension)}; received {np.shape(actions)}."
            )
        return np.array([self._set.project(action) for action in actions])
