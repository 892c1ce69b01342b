"""Actions for any game: arms or points, in one game or in many."""

from typing import Any

import gymnasium as gym
import numpy as np

from dp_bandit_envs.decisions import DecisionSet
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.envs.registration import GAMES

POINT_IDS = [id_ for id_, game in GAMES.items() if issubclass(game.env_class, PointEnv)]
ARM_IDS = [id_ for id_ in GAMES if id_ not in POINT_IDS]


def point(decision_set: DecisionSet, number: int) -> np.ndarray:
    """Return a point of a set, the same for the same number; about half are inside, the others on the edge."""
    rng = np.random.default_rng([17, number])
    drawn = rng.standard_normal(decision_set.dimension)
    return decision_set.project(drawn / np.linalg.norm(drawn) * rng.uniform(0, 2))


def play(env: Any, number: Any) -> Any:
    """Return play `number`: that arm, or a point; in vector games `number` may be a sequence, one for each game."""
    many = getattr(env, "num_envs", None)
    space = env.action_space if many is None else env.single_action_space
    numbers = None if many is None else np.broadcast_to(np.asarray(number), (many,))
    if isinstance(space, gym.spaces.Discrete):
        return number if numbers is None else numbers.copy()
    decision_set = space.decision_set
    if numbers is None:
        return point(decision_set, int(number))
    return np.array([point(decision_set, int(one)) for one in numbers])


def wrong_points(decision_set: DecisionSet) -> dict[str, Any]:
    """Return what no game on this set may take as a point, by what is wrong with it."""
    right = point(decision_set, 1)
    nan, inf, outside = right.copy(), right.copy(), right.copy()
    nan[0], inf[-1] = np.nan, np.inf
    outside[0] += 2.5
    return {
        "outside": outside,
        "just outside": decision_set.best_point(right) * (1 + 1e-6),
        "NaN": nan,
        "inf": inf,
        "huge": right * 0 + 1e200,
        "one number too few": right[:-1],
        "one number too many": np.append(right, 0.0),
        "a column": right[:, np.newaxis],
        "an arm": 1,
        "nothing": [],
        "None": None,
        "Nones": [None] * len(right),
        "text": "0.5",
        "numbers as text": [str(one) for one in right],
        "complex": right.astype(complex),
        "bools": right > 0,
        "ragged": [[0.1], *right[1:]],
        "a mapping": {"gain": right},
    }
