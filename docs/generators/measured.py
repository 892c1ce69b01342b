"""Simulates every algorithm in the games of its setting, at guarantees of epsilon 1 and 0.1, and keeps the results."""

import contextlib
import functools
import inspect
import json
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from dp_bandit_envs.algorithms import ALGORITHMS, algorithm_names, calibrate_in, make_algorithm
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.errors import UnreachableGuaranteeError
from dp_bandit_envs.privacy.guarantee import Level, PrivacyGuarantee, label_of, level_of
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation import simulate
from generators.kept import kept
from generators.settings import GAMES, TWINS, Measured, can_be_calibrated, setting_of

TRIALS = 60
CHECKPOINTS = 50
SEED = 2017
EPSILONS = (1.0, 0.1)
DELTA = 1e-6
"""Of algorithms that have a delta; others have pure differential privacy."""


class Line(NamedTuple):
    """One line of a picture: its algorithm, its label, its places, and samples of shape `(trials, places)`."""

    name: str
    label: str
    at: IntArray
    samples: FloatArray


@functools.cache
def lines_of(game_title: str, *, trials: int = TRIALS, only: tuple[str, ...] = ()) -> dict[str, Line]:
    """Return the lines of a game by a key such as `DP-KLUCB at 0.1` or `EXP3`; kept until the code changes.

    Args:
        game_title: The title of one of the games.
        trials: Number of games of each.
        only: The algorithms; by default all that are measured there, and those that they are compared with.
    """
    game = next(one for games in GAMES.values() for one in games if one.title == game_title)
    if only:
        return found_in(json.loads(simulated(game, list(only), trials)))
    name = "".join(letter if letter.isalnum() else "-" for letter in game_title)
    return found_in(json.loads(kept(f"measured-{name}.json", lambda: simulated(game, players_of(game), trials))))


def players_of(game: Measured) -> list[str]:
    """Return the algorithms that are measured in a game, and those that they are compared with."""
    own = [name for name in algorithm_names() if game in GAMES[setting_of(name)]]
    env = gym.make(game.id, **game.arguments)
    others = [*(TWINS[name] for name in own if name in TWINS), "Uniform"]
    plays = [name for name in dict.fromkeys(own + others) if make_algorithm(name).refusal(env) is None]
    env.close()
    return plays


def delta_of(name: str) -> float:
    """Return the delta at which an algorithm is measured."""
    parameter = inspect.signature(ALGORITHMS[name]).parameters.get("delta")
    return DELTA if name == "EXP3-tau" or (parameter is not None and parameter.default is not None) else 0.0


def versions_of(name: str, env: Any) -> dict[str, Algorithm]:
    """Return the versions of an algorithm that are played: at each epsilon of `EPSILONS`, or as it is."""
    if not can_be_calibrated(name):
        return {name: make_algorithm(name)}
    found = {}
    for epsilon in EPSILONS:
        key = f"{name} at {epsilon:g}"
        # A game may be too short for a small epsilon, as for EXP3-tau.
        with contextlib.suppress(UnreachableGuaranteeError):
            found[key] = calibrate_in(name, (epsilon, delta_of(name)), env, label=key)
    return found


def label_for(key: str, name: str, holds: PrivacyGuarantee) -> str:
    """Return a line's label: a calibrated algorithm's with its epsilon at the delta that it is measured at."""
    if key == name or holds.model == "none":
        return label_of(name, [level_of(holds)])
    delta = delta_of(name)
    epsilon = holds.epsilon_at(delta) if delta else holds.pure_epsilon
    return label_of(name, [Level(float(f"{epsilon:.3g}"), delta)])


def simulated(game: Measured, names: list[str], trials: int) -> str:
    """Play and return the results as JSON."""
    env = gym.make(game.id, **game.arguments)
    versions = {key: made for name in names for key, made in versions_of(name, env).items()}
    if game.id == "DPBandit-Ball-v0":
        versions["AS-FTRL without noise"] = make_algorithm("AS-FTRL", epsilon=float("inf"))
        versions = {key: made for key, made in versions.items() if made.refusal(env) is None}
    outcomes = simulate(
        game.id,
        versions,
        trials=trials,
        seed=SEED,
        checkpoints=CHECKPOINTS,
        env_kwargs=game.arguments,
        jobs=2,
    )
    env.close()
    found: dict[str, Any] = {}
    for key, outcome in outcomes.items():
        name = key.partition(" at ")[0].removesuffix(" without noise")
        samples = getattr(outcome, game.measure)
        label = label_for(key, name, outcome.guarantee)
        found[key] = [name, label, outcome.checkpoints.tolist(), np.round(samples, 2).tolist()]
    if "Uniform" not in found:
        # On points the centre earns nothing, so that its regret is what the best point earns.
        some = next(iter(outcomes.values()))
        best = some.collected + some.external_regret
        found["centre"] = ["centre", "centre of the ball", some.checkpoints.tolist(), np.round(best, 2).tolist()]
    return json.dumps(found)


def found_in(table: dict[str, Any]) -> dict[str, Line]:
    """Return the lines of a table as arrays."""
    return {
        key: Line(name, label, np.array(at), np.array(samples, dtype=float))
        for key, (name, label, at, samples) in table.items()
    }


def lines_for(name: str, game: Measured, found: dict[str, Line]) -> list[Line]:
    """Return the lines of one algorithm's picture: its own, its twin's without privacy, and that of uniform play."""
    keys = [f"{name} at {epsilon:g}" for epsilon in EPSILONS] + [name]
    if name in TWINS:
        keys.append(TWINS[name])
        if TWINS[name] not in found:
            keys.append("AS-FTRL without noise")
    keys += [f"{one} at 1" for one, twin in TWINS.items() if twin == name][:2]
    keys += ["Uniform", "centre"]
    return [found[key] for key in dict.fromkeys(keys) if key in found]
