"""The privacy boundary around many games at once."""

import abc
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.bandit_vector_env import Seeds, VectorStep, check_arms, every_game, spread_seeds
from dp_bandit_envs.errors import BoundaryError, StepOutsideGame
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import FloatArray, IntArray, Observation
from dp_bandit_envs.rendering import Scoreboard
from dp_bandit_envs.seeding import FIRST_WRAPPER, EpisodeStreams
from dp_bandit_envs.wrappers.boundary import PUBLIC_ERRORS, check_observation_passes_unchanged

VectorEnv = gym.vector.VectorEnv[Any, Any, Any]


class VectorPrivacyBoundary(
    gym.vector.VectorWrapper[Observation, IntArray, Observation, IntArray, NDArray[Any]], abc.ABC
):
    """Base of the vector forms of all privacy wrappers; game i behaves as the scalar wrapper does with its seed.

    The rules are those of `PrivacyBoundary`. The games below must be in lockstep, as those of `gym.make_vec` are.
    """

    sensitivity: float
    guarantee: PrivacyGuarantee
    horizon: int

    def __init__(self, env: VectorEnv) -> None:
        super().__init__(env)
        name = type(self).__name__
        check_observation_passes_unchanged(env, VectorPrivacyBoundary, (gym.vector.VectorObservationWrapper,), name)
        self.n_arms: int = _needed_below(env, "n_arms", name)
        self._sensitivity_below: float = _needed_below(env, "sensitivity", name)
        self._horizon_below: int = _needed_below(env, "horizon", name)
        below = _boundaries(env)
        self._guarantee_below: PrivacyGuarantee | None = below[0].guarantee if below else None
        self._rounds: int = _needed_below(env.unwrapped, "horizon", name)
        self._streams = [EpisodeStreams(FIRST_WRAPPER + len(below)) for _ in range(self.num_envs)]
        self._started = self._ended = False
        self._round: IntArray = np.zeros(self.num_envs, np.int64)
        self._scoreboards: list[Scoreboard] = []
        self._public_random: np.random.Generator | None = None

    @abc.abstractmethod
    def _begin(self, streams: list[np.random.Generator]) -> None:
        """Forget the games before; `streams` holds each game's fresh noise."""

    @abc.abstractmethod
    def _advance(self, arms: IntArray) -> tuple[Observation, NDArray[Any], NDArray[Any], IntArray]:
        """Play `arms` below; return the released observation, the two flags and the round reached."""

    def reset(self, *, seed: Seeds = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Start new games below and take fresh streams of noise; nothing has been released yet."""
        self._guarded(lambda: self.env.reset(seed=seed, options=options))  # type: ignore[arg-type]
        return self._restart(spread_seeds(seed, self.num_envs), options)

    def step(self, actions: Any) -> VectorStep:
        """Play one arm in every game; everything that comes back was released."""
        arms = check_arms(actions, self.num_envs, self.n_arms)
        if not self._started:
            raise StepOutsideGame("the games have not begun; call reset() first.")
        if self._ended:
            self._guarded(lambda: self.env.step(arms))
            never = np.zeros(self.num_envs, np.bool_)
            observation, info = self._restart([None] * self.num_envs, None)
            return observation, np.zeros(self.num_envs), never, never.copy(), info
        released, terminated, truncated, rounds = self._advance(arms)
        ended = terminated | truncated
        if ended.any() != ended.all():
            raise BoundaryError(f"{type(self).__name__} needs games in lockstep; some of those below ended early.")
        self._ended = bool(ended.all())
        rewards: FloatArray = released["gain"][np.arange(self.num_envs), arms]
        for game, board in enumerate(self._scoreboards):
            passed = int(rounds[game] - self._round[game])
            board.add(int(rounds[game]), int(arms[game]), float(rewards[game]), rounds=passed)
        self._round = rounds
        return released, rewards, terminated, truncated, every_game("round", rounds.copy())

    def render(self) -> tuple[Any, ...] | None:
        """Return one picture for each game of what was released so far."""
        if not self._started:
            raise StepOutsideGame("the games have not begun; call reset() first.")
        if not self._scoreboards:
            return None
        title = "Seen through the privacy boundary, game {}"
        return tuple(
            board.render(self.render_mode, title=title.format(game), total="released gain")
            for game, board in enumerate(self._scoreboards)
        )

    @property
    def spec(self) -> None:  # type: ignore[override]
        """None: the spec of what is below may hold private gains among its arguments."""
        return None

    @property
    def np_random(self) -> np.random.Generator:
        """A generator of this wrapper's own: the one below belongs to the seed of the private gains."""
        if self._public_random is None:
            self._public_random = np.random.default_rng()
        return self._public_random

    @np_random.setter
    def np_random(self, value: np.random.Generator) -> None:
        self._public_random = value

    @property
    def np_random_seed(self) -> int:
        """-1, which is Gymnasium's word for "unknown"."""
        return -1

    def _restart(self, seeds: list[int | None], options: dict[str, Any] | None) -> tuple[Observation, dict[str, Any]]:
        self._begin([streams.next(seed, options) for streams, seed in zip(self._streams, seeds, strict=True)])
        self._started, self._ended = True, False
        self._round = np.zeros(self.num_envs, np.int64)
        self._scoreboards = [
            Scoreboard(self.n_arms, self._rounds) for _ in range(self.num_envs if self.render_mode else 0)
        ]
        return self._nothing(), every_game("round", self._round.copy())

    def _nothing(self) -> Observation:
        shape = (self.num_envs, self.n_arms)
        return {"gain": np.zeros(shape), "observed": np.zeros(shape, np.int8)}

    def _step_below(self, arms: IntArray) -> tuple[Observation, NDArray[Any], NDArray[Any], IntArray]:
        observation, _, terminated, truncated, info = self._guarded(lambda: self.env.step(arms))
        gain, observed = observation["gain"], observation["observed"]
        if not np.all((gain >= 0) & (gain <= 1)):
            raise BoundaryError(
                f"{type(self).__name__} received a gain outside [0, 1]; it is withheld. Rescale the gains below the"
                " wrapper."
            )
        return {"gain": gain, "observed": observed}, terminated, truncated, np.asarray(info["round"], np.int64)

    def _guarded(self, call: Any) -> Any:
        try:
            return call()
        except PUBLIC_ERRORS:
            raise
        except Exception as error:
            kind = type(error).__name__
        raise BoundaryError(
            f"the environments below {type(self).__name__} raised {kind}; its message is withheld because it may carry"
            " private gains. Play without the wrapper, on data that may be seen, to read it."
        )


def _needed_below(env: Any, name: str, wrapper: str) -> Any:
    layer = env
    while not hasattr(layer, name):
        if layer is layer.unwrapped:
            single = getattr(layer, "envs", None)
            if single:
                return single[0].get_wrapper_attr(name)
            raise TypeError(
                f"{wrapper} needs environments with the attribute {name!r}, like every DPBandit environment;"
                f" received {env}."
            )
        layer = layer.env
    return getattr(layer, name)


def _boundaries(env: Any) -> list[VectorPrivacyBoundary]:
    found = []
    layer = env
    while isinstance(layer, gym.vector.VectorWrapper):
        if isinstance(layer, VectorPrivacyBoundary):
            found.append(layer)
        layer = layer.env
    return found
