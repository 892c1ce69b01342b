"""What calls of vector games take and return: one seed, one arm and one entry of `info` for each game."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.errors import NotAnIntegerError
from dp_bandit_envs.protocols import FloatArray, IntArray, Observation
from dp_bandit_envs.seeding import checked_seed

Seeds = int | Sequence[int | None] | None
VectorStep = tuple[Observation, FloatArray, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


def spread_seeds(seed: Seeds, num_envs: int) -> list[int | None]:
    """Return one seed for each game under Gymnasium's rule: an integer s means s, s + 1, s + 2, ...

    Two games with one seed are refused: behind a privacy boundary they would have the same noise.
    """
    if seed is None:
        return [None] * num_envs
    if isinstance(seed, np.ndarray):
        seed = seed.tolist()
    if isinstance(seed, (str, bytes)) or not isinstance(seed, Sequence):
        first = checked_seed(seed)  # type: ignore[arg-type]
        assert first is not None
        return [checked_seed(first + index) for index in range(num_envs)]
    if len(seed) != num_envs:
        raise ValueError(f"seed must be one integer or {num_envs} of them, one for each game; received {len(seed)}.")
    seeds = [checked_seed(each) for each in seed]
    given = [each for each in seeds if each is not None]
    different = len(set(given))
    if different < len(given):
        # Without the seeds, from which the noise follows.
        raise ValueError(f"seed must differ from game to game; received {len(given)} of which {different} differ.")
    return seeds


def check_arms(actions: Any, num_envs: int, n_arms: int) -> IntArray:
    """Return the actions as an integer array of shape `(num_envs,)`, or raise."""
    arms = np.asarray(actions)
    if arms.shape != (num_envs,):
        raise ValueError(f"actions must have shape ({num_envs},), one arm for each game; received shape {arms.shape}.")
    if arms.dtype.kind not in "iu":
        raise NotAnIntegerError(f"arm must be an integer in [0, {n_arms - 1}]; received an array of {arms.dtype}.")
    arms = arms.astype(np.int64, copy=False)
    # As an unsigned integer, a negative number is huge, so one maximum checks both ends.
    unsigned = arms.view(np.uint64)
    if not unsigned.max() < n_arms:
        raise ValueError(f"arm must be an integer in [0, {n_arms - 1}]; received {arms[unsigned >= n_arms][0]}.")
    return arms


def every_game(name: str, values: NDArray[Any]) -> dict[str, Any]:
    """Return an info dict in Gymnasium's vector form: the values, and a mask that says every game has one."""
    return {name: values, f"_{name}": np.ones(len(values), np.bool_)}
