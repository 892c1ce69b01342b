"""The rules for algorithms that play points only."""

import math
from typing import Any, Final

import gymnasium as gym
import numpy as np

from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.conformance.audit import excess, strongest_event
from dp_bandit_envs.conformance.point_agent_rules import POINT_IDS
from dp_bandit_envs.conformance.rules import copies_of, must_not_fail, require
from dp_bandit_envs.conformance.same_games import check_played_equals_simulated
from dp_bandit_envs.conformance.trial_games import made
from dp_bandit_envs.conformance.wrapper_noise import tested
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import Environment, FloatArray, PointAgent
from dp_bandit_envs.simulation import play

FEEDBACKS: Final = ("full", "bandit")
LARGEST_TESTED: Final = 4.0
FALSE_ALARM: Final = 5e-7
ROUNDS: Final = 12


def games_of_points(algorithm: Algorithm, **options: Any) -> list[Environment]:
    """Return the games of points that an algorithm plays."""
    games = [made(id_, feedback=feedback, **options) for id_ in POINT_IDS for feedback in FEEDBACKS]
    return [game for game in games if algorithm.refusal(game) is None]


def check_point_algorithm(algorithm: Algorithm, games: int) -> None:
    """Check an algorithm that plays points only; see `check_algorithm`."""
    played = games_of_points(algorithm, horizon=60, dimension=3)
    require(played, "an algorithm must play one game at least", "one that refuses all", "Look at its refusal(env).")
    for game in played:
        with must_not_fail("agent(env)", "It makes a fresh agent."):
            one, other = algorithm.agent(game), algorithm.agent(game)
        fits = isinstance(one, PointAgent) and not isinstance(one, type)
        require(fits, "agent() must return an agent for points", f"a {type(one).__name__}", "check_agent says more.")
        require(one is not other, "agent() must make a fresh agent each time", "one twice", "Pass the agent's class.")
        with must_not_fail("wrap(env)", "It puts the algorithm's wrappers around any DPBandit environment."):
            env = algorithm.wrap(game)
        kept = getattr(env, "unwrapped", None) is game.unwrapped
        require(kept, "wrap must keep the game it is given", "another", "Return wrappers around env.")
        _check_guarantee(algorithm, game, env)
        own: Any = game.unwrapped
        for horizon, dimension in ((120, 4), (1, 2)):
            check_played_equals_simulated(
                algorithm,
                own.spec.id,
                what=algorithm.name,
                horizon=horizon,
                dimension=dimension,
                feedback=own.feedback,
            )
        _check_copies(algorithm, game)
        if games:
            _check_privacy(algorithm, own.spec.id, own.feedback, games)


def _check_guarantee(algorithm: Algorithm, game: Environment, env: Environment) -> None:
    with must_not_fail("guarantee_in(env)", "Every game has one, or none(reason)."):
        guarantee = algorithm.guarantee_in(game)
    true = isinstance(guarantee, PrivacyGuarantee) and guarantee.epsilon >= 0 and 0 <= guarantee.delta < 1
    require(
        true and guarantee.theorem and (guarantee.model == "none") <= math.isinf(guarantee.epsilon),
        "a guarantee must be a PrivacyGuarantee with epsilon >= 0, delta in [0, 1) and a theorem",
        f"{guarantee!r}",
        "PrivacyGuarantee.none(reason) states that there is none.",
    )
    if algorithm.own_guarantee is None and env.has_wrapper_attr("guarantee"):
        require(
            guarantee == env.get_wrapper_attr("guarantee"),
            "the guarantee must be that of the outermost wrapper, or own_guarantee",
            str(guarantee),
            "Leave Algorithm.guarantee_in as it is.",
        )


def _check_copies(algorithm: Algorithm, game: Environment) -> None:
    expected = play(game, algorithm, seed=4).gains.tolist()
    for name, twin in copies_of(algorithm, "an algorithm").items():
        same = twin.name == algorithm.name and play(game, twin, seed=4).gains.tolist() == expected
        require(same, f"{name} of an algorithm must play the same", "other points", "Keep no state in its functions.")


class _Recorded(gym.ActionWrapper[Any, Any, Any]):
    """Keeps the points played."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.points: list[Any] = []

    def action(self, action: Any) -> Any:
        self.points.append(action)
        return action


def _check_privacy(algorithm: Algorithm, id_: str, feedback: str, games: int) -> None:
    """Compare the points played against neighbouring gain vectors, which differ in one of the first rounds."""
    others = np.zeros((ROUNDS, 2))
    game: Any = made(id_, gains=others).unwrapped
    low = game.decision_set.payoffs[0]
    epsilon, delta = tested(algorithm.guarantee_in(made(id_, gains=others, feedback=feedback)))
    if epsilon > LARGEST_TESTED:
        return
    one, other = others.copy(), others.copy()
    one[0], other[0] = (1.0, 0.0), (low, 0.0)
    trial = 0

    def sample(table: FloatArray, number: int) -> FloatArray:
        nonlocal trial
        rows = []
        for _ in range(number):
            env = _Recorded(made(id_, gains=table, feedback=feedback))
            play(env, algorithm, seed=12, trial=trial)
            trial += 1
            rows.append(np.ravel(env.points))
        return np.array(rows)

    tries = max(50, games // 4)
    event = strongest_event(sample(one, tries), sample(other, tries), epsilon, delta)
    over = excess(event, sample(one, games), sample(other, games), epsilon, delta, FALSE_ALARM)
    require(
        not over > 0,
        "no event of the points may be more than exp(epsilon) times as frequent if one round changes;"
        f" declared is {algorithm.guarantee_in(made(id_, gains=others, feedback=feedback))}",
        f"one that is at least exp({epsilon + over:.3g}) times as frequent",
        "Put a wrapper with enough noise around the game, or declare a larger epsilon.",
    )
