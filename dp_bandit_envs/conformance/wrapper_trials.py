"""Trial games for wrappers, of arms and of points, and faulty games whose gains must not be revealed."""

import dataclasses
import functools
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.adversaries import GainTable, VectorTable
from dp_bandit_envs.conformance.rules import must_not_fail
from dp_bandit_envs.decisions import Cube
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.protocols import Environment, FloatArray, Observation

Wrap = Callable[[Any], Any]
DIMENSION: Final = 3
PLANTED: Final = 0.1234567891
DIGITS: Final = "1234567"
"""Digits of the planted gain that repr, str.format and NumPy's printing all show."""


class ForeignError(BaseException):
    """Stands for another package's error that is not an `Exception`."""


class Step(NamedTuple):
    """The return values of one step; for `reset`, without reward and flags."""

    observation: Observation
    reward: Any
    terminated: Any
    truncated: Any
    info: dict[str, Any]

    @property
    def released(self) -> FloatArray:
        """All numbers of the observation, shape `(numbers,)`."""
        arrays = [np.ravel(self.observation[key]) for key in sorted(self.observation)]
        numbers: FloatArray = np.concatenate(arrays).astype(float)
        return numbers


@dataclasses.dataclass(frozen=True)
class WrapperTrial:
    """A wrapper and its trial game, of arms or of points.

    Attributes:
        wrap: Wraps an environment.
        table: The gains of arms, shape `(rounds, n_arms)`; or gain vectors, shape `(rounds, dimension)`.
        feedback: The feedback of a game of points, `"full"` or `"bandit"`; "" for arms.
    """

    wrap: Wrap
    table: FloatArray
    feedback: str = ""

    @functools.cached_property
    def actions(self) -> list[Any]:
        """The actions: arms with runs and returns, like an agent's, or points spread over the set."""
        rounds, width = self.table.shape
        if not self.feedback:
            return [t // 3 % width for t in range(rounds)]
        return [Cube(width).project(row * 4) for row in np.random.default_rng(1).standard_normal((rounds, width))]

    def game(self, table: FloatArray | None = None) -> Any:
        """Return a game with these gains, by default the trial's."""
        table = self.table if table is None else table
        if not self.feedback:
            return BanditEnv(GainTable(table))
        adversary = VectorTable(table)
        adversary.is_real = False
        return PointEnv(adversary, Cube(table.shape[1]), feedback=self.feedback)

    def env(self, game: BanditEnv | None = None) -> Any:
        """Return the wrapper around a game, by default the trial's."""
        # No game has begun, so that a message holds no gain.
        way_out = "Pass another horizon=, if the wrapper needs a longer or shorter game."
        if isinstance(self.wrap, type) or not callable(self.wrap):
            way_out = "wrap is a function of the game alone, such as lambda env: MyWrapper(env, epsilon=1.0)."
        with must_not_fail("wrap(env)", way_out, is_public=True):
            return self.wrap(self.game() if game is None else game)

    def play(
        self, seed: int | None, table: FloatArray | None = None, actions: Sequence[Any] | None = None
    ) -> list[Step]:
        """Play a game in a new environment; see `play_game`."""
        return play_game(self.env(self.game(table)), self.actions if actions is None else actions, seed)

    def releases(
        self, seed: int | None, table: FloatArray | None = None, actions: Sequence[Any] | None = None
    ) -> FloatArray:
        """Return the releases of such a game, shape `(steps, numbers)`."""
        return releases_of(self.play(seed, table, actions))

    def failure(self, **fault: Any) -> str:
        """Play a faulty game of planted gains from `faulty_game`; return the full text of its error, or ""."""
        env = self.env(faulty_game(self.game(np.full_like(self.table, PLANTED)), **fault))
        try:
            env.reset(seed=1)
            for action in self.actions:
                if any(env.step(action)[2:4]):
                    break
        except (Exception, GeneratorExit, ForeignError) as error:
            frames = error.__traceback__.tb_next if error.__traceback__ else None  # without this one
            error_report = traceback.TracebackException(type(error), error, frames, capture_locals=True)
            return "\n".join([_text_of(error), *error_report.format(chain=False)])
        return ""

    def neighbours(self) -> list[tuple[FloatArray, FloatArray]]:
        """Return two tables for each round, with its gains at either end of their range."""
        width = self.table.shape[1]
        low, high = (-np.eye(width)[0], np.eye(width)[0]) if self.feedback else (np.zeros(width), np.ones(width))
        ends = np.eye(len(self.table))[:, :, np.newaxis]
        return [(self.table * (1 - end) + end * low, self.table * (1 - end) + end * high) for end in ends]


def trials_of_points(wrap: Wrap, rounds: int) -> list[WrapperTrial]:
    """Return the trials on points; none for a wrapper that is for gains in [0, 1]."""
    table = np.random.default_rng(rounds).uniform(-0.3, 0.3, (rounds, DIMENSION))
    trials = [WrapperTrial(wrap, table, feedback) for feedback in ("full", "bandit")]
    mechanism = getattr(wrap(WrapperTrial(wrap, abs(table)).game()), "mechanism", None)
    if not getattr(mechanism, "any_range", False):
        return []
    try:
        wrap(trials[0].game())
    except WrongGameError:
        return []  # a mechanism further below needs gains in [0, 1]
    return trials


def play_game(
    env: Environment, actions: Sequence[Any], seed: int | None, on_step: Callable[[Step], Any] = lambda step: None
) -> list[Step]:
    """Play a game to its end, or to the end of `actions`; return all steps, from `reset` on.

    `on_step` is called with each of them. With a seed of None, `reset` gets none.
    """
    with must_not_fail("a game behind the wrapper", "It is reset once and then stepped to its end."):
        observation, info = env.reset() if seed is None else env.reset(seed=seed)
        steps = [Step(observation, 0.0, False, False, info)]
        on_step(steps[0])
        for action in actions:
            steps.append(Step(*env.step(action)))
            on_step(steps[-1])
            if steps[-1].terminated or steps[-1].truncated:
                break
    return steps


def releases_of(steps: Sequence[Step]) -> FloatArray:
    """Return the releases of the steps after `reset`, shape `(steps, numbers)`."""
    return np.array([step.released for step in steps[1:]])


def faulty_game(
    game: Any, *, fails_in: str = "", kind: type[BaseException] = ValueError, added: float = 0.0, ends: str = ""
) -> Any:
    """Let a game fail with a gain in its message, arguments, note and cause, or break a rule in its second round.

    Args:
        game: The game.
        fails_in: `"reset"`, or `"step"` for the third round.
        kind: The error's class.
        added: Number added to a value in the second round.
        ends: The flag that is set in the second round, `"terminated"` or `"truncated"`.
    """
    reset, step = game.reset, game.step

    def fail(gain: float) -> None:
        error = kind(f"the gain {gain} is wrong", gain)
        error.add_note(f"gain {gain}")
        raise error from KeyError(gain)

    def faulty_reset(**options: Any) -> Any:
        return fail(PLANTED) if fails_in == "reset" else reset(**options)

    def faulty_step(action: Any) -> Any:
        observation, reward, terminated, truncated, info = step(action)
        if fails_in == "step" and info == {"round": 3}:
            fail(PLANTED)
        if info == {"round": 2}:
            observation["gain"][np.argmax(observation["observed"])] += added
            terminated, truncated = ends == "terminated" or terminated, ends == "truncated" or truncated
        return observation, reward, terminated, truncated, info

    game.reset, game.step = faulty_reset, faulty_step
    return game


def _text_of(error: BaseException | None) -> str:
    """Return the message, arguments and notes of an error and of its causes and contexts."""
    if error is None:
        return ""
    texts = [str(error), repr(error), *map(repr, error.args), *getattr(error, "__notes__", [])]
    return "\n".join([*texts, _text_of(error.__cause__), _text_of(error.__context__)])
