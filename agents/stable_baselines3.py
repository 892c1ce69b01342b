"""Stable-Baselines3: use its models as agents, and train its algorithms on our vector environments.

Needs the extra `sb3`. A model learns in `model.learn`, from released observations and rewards; as an agent it only
plays.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.checks import require
from dp_bandit_envs.errors import StepOutsideGameError, WrongGameError
from dp_bandit_envs.protocols import is_public

vec_env = require("stable_baselines3.common.vec_env", extra="sb3")


class Sb3Agent:
    """Plays with a trained model, which sees the release after its last arm.

    A recurrent model, such as sb3-contrib's `RecurrentPPO`, keeps its state until the next game begins.

    Args:
        model: A Stable-Baselines3 model, trained on a DPBandit environment, with or without privacy wrappers and
            `FlattenObservation`.
        deterministic: Whether to play the model's best arm instead of drawing one.
    """

    def __init__(self, model: Any, *, deterministic: bool = False) -> None:
        self._model = model
        self._deterministic = deterministic
        self._flat = isinstance(model.observation_space, gym.spaces.Box)

    def begin(self, *, n_arms: int, horizon: int, rng: np.random.Generator) -> None:
        """Prepare for a game; the model keeps its training."""
        if self._model.action_space.n != n_arms:
            raise WrongGameError(
                f"the model must have been trained with {n_arms} arms; received one for {self._model.action_space.n}."
            )
        self._model.set_random_seed(int(rng.integers(2**31)))
        # The memory of a recurrent policy in this game.
        self._state: Any = None
        self._starts = True
        self._seen: Mapping[str, NDArray[Any]] = {"gain": np.zeros(n_arms), "observed": np.zeros(n_arms, np.int8)}

    def select_arm(self) -> int:
        """Ask the model for an arm."""
        if not hasattr(self, "_seen"):
            raise StepOutsideGameError("Sb3Agent has no game yet; call begin(n_arms=, horizon=, rng=) first.")
        seen: Any = dict(self._seen)
        if self._flat:
            # The order of FlattenObservation: keys sorted.
            seen = np.concatenate([np.asarray(seen[key], float).ravel() for key in sorted(seen)])
        arm, self._state = self._model.predict(
            seen, state=self._state, episode_start=np.array([self._starts]), deterministic=self._deterministic
        )
        self._starts = False
        return int(arm)

    def update(self, arm: int, observation: Mapping[str, NDArray[Any]]) -> None:
        """Store the release."""
        self._seen = observation


class Sb3VecEnv(vec_env.VecEnv):  # type: ignore[misc, name-defined]
    """Lets a Stable-Baselines3 model train on many games at once, as arrays.

    Args:
        envs: A vector bandit environment whose games run in lockstep, such as `gym.make_vec(...)`, with or without
            privacy wrappers.
    """

    def __init__(self, envs: gym.vector.VectorEnv[Any, Any, Any]) -> None:
        self._envs = envs
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> Any:
        """Start new games; a seed set with `seed` is used once."""
        seeds = list(self._seeds) if any(seed is not None for seed in self._seeds) else None
        observation, _ = self._envs.reset(seed=seeds)  # type: ignore[arg-type]
        self._reset_seeds()
        return observation

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take the arms of the next round."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the round; after the last round, return the first observation of new games, as the model expects."""
        observation, rewards, terminated, truncated, _ = self._envs.step(self._actions)
        ended = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if ended.all():
            for game, info in enumerate(infos):
                info["terminal_observation"] = {key: value[game] for key, value in observation.items()}
                info["TimeLimit.truncated"] = bool(truncated[game] and not terminated[game])
            observation, _ = self._envs.reset()
        return observation, rewards.astype(np.float32), ended, infos

    def close(self) -> None:
        """Close the environments."""
        self._envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the outermost wrapper, once for each game."""
        return [getattr(self._envs, _public(attr_name))] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the outermost wrapper."""
        setattr(self._envs, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of the outermost wrapper once, and return its result for each game."""
        return [getattr(self._envs, _public(method_name))(*args, **kwargs)] * len(self._chosen(indices))

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Return False for each game: the games are arrays, without scalar wrappers."""
        return [False] * len(self._chosen(indices))

    def _chosen(self, indices: int | Iterable[int] | None) -> Sequence[int]:
        return [*self._get_indices(indices)]


def _public(name: str) -> str:
    if not is_public(name):
        raise AttributeError(f"{name!r} is for evaluators only; models see only what the outermost wrapper shows.")
    return name
