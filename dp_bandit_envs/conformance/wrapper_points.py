"""The rules for privacy wrappers on games of points, for mechanisms that accept gain vectors."""

import contextlib
import math
from typing import Any, Final

import numpy as np

from dp_bandit_envs.adversaries import VectorTable
from dp_bandit_envs.conformance.rules import require
from dp_bandit_envs.conformance.wrapper_games import Wrap, released, run, wrapped
from dp_bandit_envs.conformance.wrapper_secrets import DIGITS, PLANTED, everything_in
from dp_bandit_envs.decisions import Cube, payoff
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.errors import WrongGameError, WrongPointError
from dp_bandit_envs.protocols import FloatArray

DIMENSION: Final = 3
FEEDBACKS: Final = ("full", "bandit")


class _Failing(PointEnv):
    """A game whose error contains a gain vector."""

    def _reveal(self, arm: int, gain: float) -> Any:
        if self._round == 3:
            raise ValueError(f"the gains {self._shown().tolist()} are wrong") from KeyError(PLANTED)
        return super()._reveal(arm, gain)


class _OutOfRange(PointEnv):
    """A game that reveals a value below -1."""

    def _reveal(self, arm: int, gain: float) -> Any:
        observation = super()._reveal(arm, gain)
        observation["gain"][0] -= 2.5
        return observation


def check_points(wrap: Wrap, rounds: int) -> None:
    """Require that a wrapper whose mechanism accepts any range keeps the rules on games of points, too.

    Args:
        wrap: Wraps an environment.
        rounds: Number of rounds of the games.
    """
    table = np.random.default_rng(rounds).uniform(-0.3, 0.3, (rounds, DIMENSION))
    table[:, 1] = PLANTED
    points = [Cube(DIMENSION).project(row * 4) for row in np.random.default_rng(1).standard_normal((rounds, DIMENSION))]
    try:
        wrap(PointEnv(_made_up(table), Cube(DIMENSION)))
    except WrongGameError:
        return  # a mechanism further below needs gains in [0, 1]
    for feedback in FEEDBACKS:
        game = PointEnv(_made_up(table), Cube(DIMENSION), feedback=feedback)
        env: Any = wrapped(wrap, game)
        steps = run(env, points, 3)
        for number, step in enumerate(steps[1:]):
            inside = env.observation_space.contains(step.observation)
            require(inside, "observations must be in observation_space", "one outside", "Declare its space.")
            _check_reward(step.observation, step.reward, points[number], feedback)
        again = released(run(wrapped(wrap, game), points, 3))
        same = np.array_equal(again, released(steps))
        require(same, "equal seeds must give equal noise", "other releases", "Draw from the stream of reset only.")
        _check_set(wrap, game, points[0])
        _check_withheld(wrap, table, feedback, points)
        _check_sensitivity(wrap, table, feedback, points)


def _made_up(table: FloatArray) -> VectorTable:
    adversary = VectorTable(table)
    adversary.is_real = False
    return adversary


def _check_reward(seen: Any, reward: Any, point: FloatArray, feedback: str) -> None:
    means = seen["sum"] / np.maximum(seen["count"], 1) if "sum" in seen else seen["gain"]
    expected = payoff(means.tolist(), point.tolist() if feedback == "full" else [1.0], -1.0, 1.0)
    require(
        type(reward) is float and reward == expected,
        "the reward of a point must be the scalar product of released values, or means, with it",
        "another number, which is withheld",
        "Compute it from the observation that is returned.",
    )


def _check_set(wrap: Wrap, game: PointEnv, point: FloatArray) -> None:
    """Require that points outside are refused, also after the set that is handed out was changed."""
    env: Any = wrapped(wrap, game)
    env.reset(seed=1)
    with contextlib.suppress(Exception):
        vars(env.decision_set).update(contains=lambda _: True)
    for wrong in (point * 0 + 9.0, point * math.nan, point[1:], None):
        received = "no error"
        try:
            env.step(wrong)
        except WrongPointError:
            continue
        except Exception as error:
            received = f"a {type(error).__name__}"
        require(False, "a wrong point must raise a WrongPointError", received, "Check it against a copy of the set.")


def _check_withheld(wrap: Wrap, table: FloatArray, feedback: str, points: list[FloatArray]) -> None:
    for kind in (_Failing, _OutOfRange):
        env = wrapped(wrap, kind(_made_up(table), Cube(DIMENSION), feedback=feedback))
        env.reset(seed=1)
        caught: Exception | None = None
        try:
            for point in points:
                env.step(point)
        except Exception as error:
            caught = error
        rule = "an error from below, and a value outside its range, must end a game of points without showing gains"
        require(caught is not None, rule, "a game that went on", "Inherit PrivacyBoundary.")
        require(DIGITS not in everything_in(caught), rule, "a private gain in the error", "Inherit PrivacyBoundary.")


def _check_sensitivity(wrap: Wrap, table: FloatArray, feedback: str, points: list[FloatArray]) -> None:
    """Require that one changed gain vector moves released gains by at most the sensitivity, with the noise fixed."""
    one, other = table.copy(), table.copy()
    one[1], other[1] = (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)
    envs = [wrapped(wrap, PointEnv(_made_up(part), Cube(DIMENSION), feedback=feedback)) for part in (one, other)]
    declared = float(envs[0].get_wrapper_attr("sensitivity"))
    if math.isinf(declared):
        return
    games = [[step.observation for step in run(env, points, 5)[1:]] for env in envs]
    moved = 0.0
    for left, right in zip(*games, strict=True):
        both = (left["observed"] > 0) & (right["observed"] > 0)
        moved += float(np.abs(left["gain"] - right["gain"])[both].sum())
    require(
        moved <= declared * (1 + 1e-9),
        f"one changed gain vector must move the released gains by at most sensitivity = {declared:g} in L1",
        f"a game in which it moved them by {moved:g}",
        "Declare a larger sensitivity; noise above is made for it.",
    )
