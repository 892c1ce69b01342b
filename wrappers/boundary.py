"""The privacy boundary: below it true gains, above it only what was released."""

import abc
import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, SupportsIndex, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium import wrappers as known

from dp_bandit_envs import checks
from dp_bandit_envs.errors import BoundaryError, StepOutsideGame
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import Environment, Observation
from dp_bandit_envs.rendering import Scoreboard
from dp_bandit_envs.seeding import FIRST_WRAPPER, EpisodeStreams

Result = TypeVar("Result")

HAND_OBSERVATIONS_ON = (
    known.OrderEnforcing,
    known.PassiveEnvChecker,
    known.RecordEpisodeStatistics,
    known.RecordVideo,
    known.TimeLimit,
    known.FlattenObservation,
    gym.ActionWrapper,
    gym.RewardWrapper,
)
"""The kinds of wrappers that may stand below a boundary: they hand every observation on once, with all its numbers."""

WITHHELD = (
    "something below {} failed; what it said is withheld because it may carry private gains. Play without the wrapper,"
    " on data that may be seen, to read it."
)


class Refused(Exception):
    """Raised inside a boundary with a message that is public."""


class Withheld:
    """Holds private numbers so that neither a repr nor a list of attributes shows them."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "withheld"


class PublicFace:
    """What a boundary, scalar or vector, shows in place of attributes that Gymnasium would take from below."""

    releases_sums: ClassVar[bool] = False
    """Whether it releases running sums instead of gains."""
    _total_is: ClassVar[str] = "released gain"
    _public_random: np.random.Generator | None = None

    @property
    def spec(self) -> None:
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


class PrivacyBoundary(PublicFace, gym.Wrapper[Observation, int, Observation, int], abc.ABC):  # type: ignore[misc]
    """Base of all privacy wrappers: it does `reset` and `step`, so that nothing else can come out.

    What comes out: the released observation; as reward the released gain (or mean) of the arm played, 0.0 if nothing
    was released; the flags, which depend on the horizon only; and `{"round": t}`. Errors below are replaced by one that
    carries nothing of theirs, pictures show released values only, and attributes of what is below cannot be read
    through `get_wrapper_attr`. Only an evaluator uses `env.unwrapped` and `wrapper.env`.

    Between a boundary and what it protects may stand only wrappers that hand every observation on once and unchanged:
    a few of Gymnasium's, and those with `passes_observations = True`. Others belong above.

    A seed makes the noise reproducible: whoever knows it can subtract the noise. Reset without a seed when the data
    are real. Every game on the same data costs its guarantee again.

    Attributes:
        sensitivity: How far one changed round moves what is handed on, in L1, with the noise held still.
        guarantee: What one game guarantees to everything above.
        n_arms: Number of arms.
        horizon: Number of steps as the agent sees them.
    """

    sensitivity: float
    guarantee: PrivacyGuarantee
    horizon: int

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        name = type(self).__name__
        below = boundaries_below(env, name)
        refuse_sums(below, name)
        self.n_arms: int = needed_below(env, "n_arms", name)
        self._sensitivity_below = checked_sensitivity(needed_below(env, "sensitivity", name), name)
        # How many released values one round enters: as many as it reveals gains, each of which moves by at most 1.
        self._values_in_a_round = max(1, math.ceil(needed_below(env.unwrapped, "sensitivity", name)))
        self._horizon_below: int = needed_below(env, "horizon", name)
        self._rounds: int = needed_below(env.unwrapped, "horizon", name)
        self._guarantee_below: PrivacyGuarantee | None = below[0].guarantee if below else None
        self._boundary_is_next = isinstance(env, PrivacyBoundary)
        self._counts_rounds = not below
        if isinstance(env.observation_space, gym.spaces.Box):
            self.observation_space = env.unwrapped.observation_space
        self._streams = EpisodeStreams(FIRST_WRAPPER + len(below))
        self._rng: np.random.Generator | None = None

    @abc.abstractmethod
    def _begin(self) -> None:
        """Forget the game before."""

    @abc.abstractmethod
    def _advance(self, arm: int) -> tuple[Observation, bool, bool]:
        """Play `arm` below; return the released observation and the two flags."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game below and take a fresh stream of noise; nothing has been released yet."""
        _, failure = self._attempt(lambda: self.env.reset(seed=seed, options=options))
        if failure is not None:
            raise failure
        self._rng = self._streams.next(seed, options)
        self._round = self._round_below = 0
        self._ended = False
        self._begin()
        self._scoreboard = Scoreboard(self.n_arms, self._rounds) if self.render_mode else None
        return self._nothing(), {"round": 0}

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play an arm; everything that comes back was released."""
        arm = action if type(action) is int and 0 <= action < self.n_arms else checks.arm(action, self.n_arms)
        self._check_started()
        if self._ended:
            raise StepOutsideGame("the game has ended; call reset() to start another.")
        result, failure = self._attempt(lambda: self._advance(arm))
        if failure is not None:
            raise failure
        released, terminated, truncated = result
        self._ended = terminated or truncated
        reward = self._reward(released, arm)
        if self._scoreboard is not None:
            self._scoreboard.add(self._round_below, arm, reward, rounds=self._round_below - self._round)
        self._round = self._round_below
        return released, reward, terminated, truncated, {"round": self._round}

    def render(self) -> Any:
        """Return a picture of what was released so far, never of what is below."""
        self._check_started()
        if self._scoreboard is None:
            return None
        return self._scoreboard.render(
            self.render_mode, title="Seen through the privacy boundary", total=self._total_is
        )

    def _nothing(self) -> Observation:
        """Return what is known before anything was released."""
        return {"gain": np.zeros(self.n_arms), "observed": np.zeros(self.n_arms, np.int8)}

    def _reward(self, released: Observation, arm: int) -> float:
        """Return the reward, which depends on what was released alone."""
        return float(released["gain"][arm])

    def close(self) -> None:
        """Close what is below."""
        _, failure = self._attempt(self.env.close)
        if failure is not None:
            raise failure

    def __str__(self) -> str:
        return "".join(f"<{type(layer).__name__}" for layer in layers_of(self)) + ">" * len([*layers_of(self)])

    @property
    def graph(self) -> Any:
        """The feedback graph of the next round, where there is one: it is public."""
        for layer in layers_of(self.env):
            if hasattr(layer, "graph"):
                return layer.graph
        raise AttributeError(f"{type(self).__name__} is not around a game with a feedback graph.")

    def get_wrapper_attr(self, name: str) -> Any:
        """Return a public attribute of this wrapper; unlike elsewhere in Gymnasium, the search ends here."""
        if not self.has_wrapper_attr(name):
            raise AttributeError(
                f"{type(self).__name__} has no attribute {name!r}, and below it everything is private."
            )
        return getattr(self, name)

    def has_wrapper_attr(self, name: str) -> bool:
        """Whether this wrapper has a public attribute; the search ends here."""
        return not name.startswith("_") and hasattr(self, name)

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Set an attribute of this wrapper; the search ends here."""
        if force or hasattr(self, name):
            setattr(self, name, value)
            return True
        return False

    def _step_below(self, arm: int) -> tuple[Observation, bool, bool]:
        """Play one step below; count its rounds here, unless another boundary below has counted them."""
        observation, _, terminated, truncated, info = self.env.step(arm)
        self._round_below = self._round_below + 1 if self._counts_rounds else int(info["round"])
        return unflattened(observation, self.n_arms), bool(terminated), bool(truncated)

    def _check_started(self) -> None:
        if self._rng is None:
            raise StepOutsideGame("the game has not begun; call reset() first.")

    def _attempt(self, call: Callable[[], Result]) -> tuple[Result, None] | tuple[Any, BoundaryError]:
        return attempt(call, type(self).__name__, trusted=self._boundary_is_next)


def attempt(
    call: Callable[[], Result], wrapper: str, *, trusted: bool
) -> tuple[Result, None] | tuple[Any, BoundaryError]:
    """Call something that handles private gains; return its result, or a fresh error that carries nothing of its own.

    The error is made outside the except clause, so the private one is not its context; and as the caller raises it, no
    frame in its traceback has seen a gain.

    Args:
        call: What to call.
        wrapper: The name of the boundary.
        trusted: Whether what is next below is itself a boundary, whose errors are public.
    """
    message = WITHHELD.format(wrapper)
    try:
        return call(), None
    except Refused as refusal:
        message = str(refusal)
    except BoundaryError as error:
        message = str(error) if trusted else message
    except Exception:
        pass
    return None, BoundaryError(message)


def layers_of(env: Any) -> Iterator[Any]:
    """Yield an environment's wrappers from the outermost to the innermost, and then the environment itself.

    A `SyncVectorEnv` goes on with the wrappers of its first environment.
    """
    while True:
        yield env
        if isinstance(env, (gym.Wrapper, gym.vector.VectorWrapper)):
            env = env.env
        elif isinstance(getattr(env, "envs", None), (list, tuple)) and env.envs:
            env = env.envs[0]
        else:
            return


def boundaries_below(env: Any, wrapper: str, allowed: tuple[type, ...] = HAND_OBSERVATIONS_ON) -> list[Any]:
    """Return the boundaries below, the nearest first; refuse what stands between and may change observations.

    It could hand a round on twice, or further away from its neighbour, and so need more noise than is added.
    """
    found = []
    for layer in layers_of(env):
        if isinstance(layer, PublicFace):
            found.append(layer)
        elif isinstance(layer, (gym.Wrapper, gym.vector.VectorWrapper)) and not (
            isinstance(layer, allowed) or getattr(layer, "passes_observations", False)
        ):
            raise TypeError(
                f"{type(layer).__name__} changes observations or may change them, and stands below {wrapper}, which"
                " could then add too little noise; put it above. A wrapper of your own that hands every observation on"
                " once and unchanged says so with the attribute passes_observations = True."
            )
    return found


def refuse_sums(below: list[Any], wrapper: str) -> None:
    """Refuse to stand around a boundary that releases running sums."""
    if below and below[0].releases_sums:
        inner = type(below[0]).__name__
        raise TypeError(
            f"{wrapper} works on the gains of each round, but {inner} releases running sums; put {wrapper} below"
            f" {inner}, or leave one of them out."
        )


def needed_below(env: Any, name: str, wrapper: str) -> Any:
    """Return attribute `name` of what a wrapper is put around, or explain what is missing."""
    for layer in layers_of(env):
        if hasattr(layer, name):
            return getattr(layer, name)
    raise TypeError(
        f"{wrapper} needs an environment with the attribute {name!r}, like every DPBandit environment; received a"
        f" {type(env).__name__} without it."
    )


def checked_sensitivity(value: Any, wrapper: str) -> float:
    """Return the sensitivity that an environment declares, or refuse one that would switch the noise off."""
    sensitivity = checks.real("sensitivity", value)
    if not (sensitivity > 0 and math.isfinite(sensitivity)):
        raise ValueError(
            f"{wrapper} needs an environment whose sensitivity is finite and greater than 0; received {value!r}."
        )
    return sensitivity


def unflattened(observation: Any, n_arms: int) -> Observation:
    """Return an observation as a dict; `FlattenObservation` joins its parts in alphabetical order, on the last axis."""
    if isinstance(observation, dict):
        return observation
    return {"gain": observation[..., :n_arms], "observed": observation[..., n_arms:].astype(np.int8)}


def checked_gain(value: float, wrapper: str) -> float:
    """Return a gain from below, or refuse it without showing it if it is not in [0, 1]."""
    if not 0.0 <= value <= 1.0:
        raise Refused(f"{wrapper} received a gain outside [0, 1]; it is withheld. Rescale the gains below the wrapper.")
    return value
