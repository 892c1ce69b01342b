"""The privacy boundary: below it true gains, above it only what was released."""

import abc
from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.errors import BoundaryError, StepOutsideGame
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import Environment, Observation
from dp_bandit_envs.rendering import Scoreboard
from dp_bandit_envs.seeding import FIRST_WRAPPER, EpisodeStreams

PUBLIC_ERRORS = (StepOutsideGame, BoundaryError)


def needed_below(env: Any, name: str, wrapper: str) -> Any:
    """Return attribute `name` of what a wrapper is put around, or explain what is missing."""
    try:
        return env.get_wrapper_attr(name)
    except AttributeError:
        raise TypeError(
            f"{wrapper} needs an environment with the attribute {name!r}, like every DPBandit environment;"
            f" received {env}."
        ) from None


def check_observation_passes_unchanged(env: Any, boundary: type, rewriting: tuple[type, ...], wrapper: str) -> None:
    """Refuse wrappers between a boundary and the next part below that change observations.

    They could change how far one round moves an observation, and with it how much noise is enough.
    """
    layer = env
    while layer is not layer.unwrapped and not isinstance(layer, boundary):
        if isinstance(layer, rewriting):
            raise TypeError(
                f"{type(layer).__name__} changes observations and stands below {wrapper}, which could then add too"
                " little noise; put it above."
            )
        layer = layer.env


class PrivacyBoundary(gym.Wrapper[Observation, int, Observation, int], abc.ABC):
    """Base of all privacy wrappers: it does `reset` and `step`, so that nothing else can come out.

    What comes out: the released observation; as reward the released gain of the arm played, 0.0 if nothing was
    released; the flags, which depend on the horizon only; and `{"round": t}`. Errors below are replaced by one that
    carries no message of theirs, pictures show released values only, and attributes of what is below cannot be
    read through `get_wrapper_attr`. Only an evaluator uses `env.unwrapped`.

    A seed makes the noise reproducible: whoever knows it can subtract the noise. Reset without a seed when the data
    are real.

    Attributes:
        sensitivity: How far one changed round moves what is handed on, in L1, with the noise held still.
        guarantee: What is guaranteed to everything above.
        n_arms: Number of arms.
        horizon: Number of steps as the agent sees them.
    """

    sensitivity: float
    guarantee: PrivacyGuarantee
    horizon: int

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        name = type(self).__name__
        check_observation_passes_unchanged(env, PrivacyBoundary, (gym.ObservationWrapper,), name)
        self.n_arms: int = needed_below(env, "n_arms", name)
        self._sensitivity_below: float = needed_below(env, "sensitivity", name)
        self._horizon_below: int = needed_below(env, "horizon", name)
        self._guarantee_below: PrivacyGuarantee | None = (
            needed_below(env, "guarantee", name) if self._boundary_below() is not None else None
        )
        depth = 0
        below = self._boundary_below()
        while below is not None:
            depth += 1
            below = below._boundary_below()
        self._streams = EpisodeStreams(FIRST_WRAPPER + depth)
        self._rng: np.random.Generator | None = None
        self._public_random: np.random.Generator | None = None

    @abc.abstractmethod
    def _begin(self) -> None:
        """Forget the game before."""

    @abc.abstractmethod
    def _advance(self, arm: int) -> tuple[Observation, bool, bool, int]:
        """Play `arm` below; return the released observation, the two flags and the round reached."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game below and take a fresh stream of noise; nothing has been released yet."""
        self._guarded(lambda: self.env.reset(seed=seed, options=options))
        self._rng = self._streams.next(seed, options)
        self._round = 0
        self._begin()
        self._scoreboard = (
            Scoreboard(self.n_arms, self.env.unwrapped.get_wrapper_attr("horizon")) if self.render_mode else None
        )
        return {"gain": np.zeros(self.n_arms), "observed": np.zeros(self.n_arms, np.int8)}, {"round": 0}

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play an arm; everything that comes back was released."""
        arm = action if type(action) is int and 0 <= action < self.n_arms else checks.arm(action, self.n_arms)
        if self._rng is None:
            raise StepOutsideGame("the game has not begun; call reset() first.")
        released, terminated, truncated, round_ = self._advance(arm)
        reward = float(released["gain"][arm])
        if self._scoreboard is not None:
            self._scoreboard.add(round_, arm, reward, rounds=round_ - self._round)
        self._round = round_
        return released, reward, terminated, truncated, {"round": round_}

    def render(self) -> Any:
        """Return a picture of what was released so far, never of what is below."""
        if self._rng is None:
            raise StepOutsideGame("the game has not begun; call reset() first.")
        if self._scoreboard is None:
            return None
        return self._scoreboard.render(
            self.render_mode, title="Seen through the privacy boundary", total="released gain"
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

    def get_wrapper_attr(self, name: str) -> Any:
        """Return an attribute of this wrapper; unlike elsewhere in Gymnasium, the search ends here."""
        if not hasattr(self, name):
            raise AttributeError(
                f"{type(self).__name__} has no attribute {name!r}, and below it everything is private."
            )
        return getattr(self, name)

    def has_wrapper_attr(self, name: str) -> bool:
        """Whether this wrapper has an attribute; the search ends here."""
        return hasattr(self, name)

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Set an attribute of this wrapper; the search ends here."""
        if force or hasattr(self, name):
            setattr(self, name, value)
            return True
        return False

    def _boundary_below(self) -> "PrivacyBoundary | None":
        layer: Any = self.env
        while isinstance(layer, gym.Wrapper):
            if isinstance(layer, PrivacyBoundary):
                return layer
            layer = layer.env
        return None

    def _step_below(self, arm: int) -> tuple[Observation, bool, bool, int]:
        observation, _, terminated, truncated, info = self._guarded(lambda: self.env.step(arm))
        return observation, bool(terminated), bool(truncated), int(info["round"])

    def _guarded(self, call: Any) -> Any:
        try:
            return call()
        except PUBLIC_ERRORS:
            raise
        except Exception as error:
            kind = type(error).__name__
        # Raised outside the except clause, so that the new error does not carry the private one as its context.
        raise BoundaryError(
            f"the environment below {type(self).__name__} raised {kind}; its message is withheld because it may carry"
            " private gains. Play without the wrapper, on data that may be seen, to read it."
        )


def checked_gain(value: float, wrapper: str) -> float:
    """Return a gain from below as a float, or refuse it without showing it if it is not in [0, 1]."""
    if not 0.0 <= value <= 1.0:
        raise BoundaryError(
            f"{wrapper} received a gain outside [0, 1]; it is withheld. Rescale the gains below the wrapper."
        )
    return value
