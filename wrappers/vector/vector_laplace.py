"""`LaplaceClipRescale` for many games at once, with noise drawn ahead and all games in one array operation."""

from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.draws import laplace_array
from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.laplace import to_grid_array
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.protocols import FloatArray, IntArray, Observation, VectorEnvironment
from dp_bandit_envs.wrappers.vector.vector_boundary import VectorPrivacyBoundary

DRAWS_AHEAD = 512


class LaplaceClipRescale(VectorPrivacyBoundary):
    """Adds Laplace noise to every gain of every game; see `dp_bandit_envs.wrappers.LaplaceClipRescale`.

    Args:
        env: Vector bandit environments, or another vector privacy wrapper around them.
        epsilon: Privacy parameter of each game, in (0, inf].
        bound: How far outside its range a noisy gain may fall; by default noise scale times ln(number of releases).
        outside: `"reject"` or `"clip"`.
        draws: `"fast"` or `"secure"`.
    """

    def __init__(
        self,
        env: VectorEnvironment,
        *,
        epsilon: SupportsFloat,
        bound: SupportsFloat | None = None,
        outside: str = "reject",
        draws: str = "fast",
    ) -> None:
        made = mechanisms.LaplaceClipRescale(epsilon=epsilon, bound=bound, outside=outside, draws=draws)
        super().__init__(env, made)
        self._parameters = self._mechanism.new_state(self._below)

    def _restart(self, seeds: list[int | None], options: dict[str, Any] | None) -> tuple[Observation, dict[str, Any]]:
        self._noise = np.empty((self.num_envs, max(DRAWS_AHEAD, 2 * self.n_values)))
        self._used = np.full(self.num_envs, self._noise.shape[1])
        return super()._restart(seeds, options)

    def _advance(self, arms: IntArray) -> tuple[Observation, NDArray[np.bool_], NDArray[np.bool_]]:
        if takes_no_seed(self._mechanism):
            return super()._advance(arms)  # exact draws come one by one
        self._released[0].refuse_fork()
        private, terminated, truncated = self._step_below(arms)
        scale, grid, bound, reject, low, high = self._parameters
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
            kept = self._noise[game, self._used[game] :].copy()
            self._noise[game, : len(kept)] = kept
            fresh = laplace_array(self._noise_streams[game], length - len(kept), self._parameters.scale)
            self._noise[game, len(kept) :] = fresh
            self._used[game] = 0
        games = np.nonzero(seen)[0]
        first_of_game = np.cumsum(counts) - counts
        place = self._used[games] + np.arange(len(games)) - first_of_game[games]
        self._used += counts
        noise: FloatArray = self._noise[games, place]
        return noise
