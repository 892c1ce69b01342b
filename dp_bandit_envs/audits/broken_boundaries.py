"""Boundaries that leak beside their noise, and the attacks that read it: info, seed, episodes, end. For teaching only.

Each attack plays two tables of gains that differ in one round, as somebody above the boundary would, and looks at what
no noise hides. It returns whether that refutes the guarantee.
"""

import copy
from collections.abc import Callable
from typing import Any, SupportsFloat

import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.privacy.mechanisms import LaplaceClipRescale
from dp_bandit_envs.protocols import Environment, FloatArray
from dp_bandit_envs.wrappers import PrivacyBoundary

ROUNDS = 8
LARGE = 0.9
SEED = 7
Wrap = Callable[[Environment], Environment]


class BrokenBoundary(PrivacyBoundary):
    """Laplace noise on every gain, as it should be; what is broken is beside it.

    Args:
        env: A bandit environment.
        epsilon: Privacy parameter, in (0, inf).
    """

    def __init__(self, env: Environment, *, epsilon: SupportsFloat) -> None:
        super().__init__(env, _noise(epsilon))


class BrokenInfo(BrokenBoundary):
    """Adds the running total of true gains to `info`, as statistics wrappers do."""

    def step(self, action: Any) -> Any:
        """Play an arm."""
        observation, reward, terminated, truncated, info = super().step(action)
        core: Any = self.env.unwrapped
        return observation, reward, terminated, truncated, {**info, "total": core.collected}


class BrokenSeed(BrokenBoundary):
    """Draws its noise from NumPy's stream of the environment's seed, which whoever repeats the experiment has too."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Start a game."""
        result = super().reset(seed=seed, options=options)
        self._released._rng = np.random.default_rng(seed)
        return result


class BrokenEpisodes(BrokenBoundary):
    """Begins every episode with the same noise, as a generator that `reset` seeds anew does."""

    _first: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Start a game."""
        result = super().reset(seed=seed, options=options)
        if self._first is None:
            self._first = self._released._rng
        self._released._rng = copy.deepcopy(self._first)
        return result


class BrokenEnd(BrokenBoundary):
    """Ends the game at the first large gain: its length says when that was."""

    def _step_below(self, arm: Any) -> Any:
        gains, observed, terminated, truncated = super()._step_below(arm)
        return gains, observed, terminated, truncated or max(gains) > LARGE


def table(change: float) -> Environment:
    """Return a game of 8 rounds in which every gain is .5, but for those of round 3."""
    gains = np.full((ROUNDS, 2), 0.5)
    gains[2] = change
    return BanditEnv(GainTable(gains))


def reads_info(wrap: Wrap) -> bool:
    """Whether `info` differs between the two tables, in games with the same seed and the same arms."""
    return _whole_game(wrap(table(0.0)))[1] != _whole_game(wrap(table(1.0)))[1]


def reads_the_end(wrap: Wrap) -> bool:
    """Whether the games on the two tables have different lengths."""
    return len(_whole_game(wrap(table(0.0)))[0]) != len(_whole_game(wrap(table(1.0)))[0])


def subtracts_the_stream(wrap: Wrap) -> bool:
    """Whether the draws of NumPy's generator with the environment's seed are the noise: then the gains come out.

    What is left is compared with what guessing the middle of the range would give, in units of the noise.
    """
    env: Any = wrap(table(1.0))
    noisy = _noisy(env, _whole_game(env)[0])
    draws = np.random.default_rng(SEED).laplace(0.0, env.noise.scale, ROUNDS)
    return bool(np.abs(noisy - draws - np.array([0.5, 0.5, 1, *[0.5] * 5])).max() < 0.01 * env.noise.scale)


def subtracts_episodes(wrap: Wrap) -> bool:
    """Whether two games one after the other on the same data, without a seed in between, have the same noise."""
    env: Any = wrap(table(1.0))
    first = _noisy(env, _whole_game(env)[0])
    return bool(np.abs(first - _noisy(env, _whole_game(env, seed=None)[0])).max() < 0.01 * env.noise.scale)


def laplace_boundary(epsilon: float) -> Wrap:
    """Return what puts a boundary with the same noise around an environment, and nothing beside it."""
    return lambda env: PrivacyBoundary(env, _noise(epsilon))


def _noise(epsilon: SupportsFloat) -> LaplaceClipRescale:
    """Return Laplace noise that is practically never clipped."""
    return LaplaceClipRescale(epsilon=epsilon, bound=50 / float(epsilon), outside="clip")


def _noisy(env: Any, released: FloatArray) -> FloatArray:
    """Undo the public rescaling of released gains."""
    bound = env.noise.bound
    noisy: FloatArray = released * (1 + 2 * bound) - bound
    return noisy


def _whole_game(env: Any, seed: int | None = SEED) -> tuple[FloatArray, list[dict[str, Any]]]:
    """Play arm 0 to the end; return the released gains and every `info`."""
    env.reset(seed=seed)
    released, infos, ended = [], [], False
    while not ended:
        observation, _, terminated, truncated, info = env.step(0)
        released.append(float(observation["gain"][0]))
        infos.append(info)
        ended = terminated or truncated
    return np.array(released), infos
