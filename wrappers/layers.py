"""Inspects the wrappers below a privacy boundary and refuses wrappers that would weaken it."""

import math
import sys
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
from gymnasium import wrappers as gym_wrappers
from gymnasium.wrappers import vector as gym_vector

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.privacy.facts import InputFacts, Noise, check_distances, check_range, gains_of_arms
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.participation import Participation


class Boundary:
    """Marks the privacy boundaries among the layers of an environment."""

    inputs: InputFacts
    outputs: InputFacts
    guarantee: PrivacyGuarantee
    noise: Noise
    releases_sums: bool
    takes_seed: bool
    _shows_errors: bool = False
    """Whether errors from below are shown: where `play` has made this boundary, around a game of the caller's."""


PASS_OBSERVATIONS_THROUGH = (
    gym_wrappers.OrderEnforcing,
    gym_wrappers.PassiveEnvChecker,
    gym_wrappers.RecordEpisodeStatistics,
    gym_wrappers.RecordVideo,
    gym_wrappers.TimeLimit,
    gym_wrappers.FlattenObservation,
    gym.ActionWrapper,
    gym.RewardWrapper,
)
"""The kinds of wrappers allowed below a boundary: they pass each observation through exactly once, complete."""


PASS_VECTOR_OBSERVATIONS_THROUGH = (
    *PASS_OBSERVATIONS_THROUGH,
    gym_vector.FlattenObservation,
    gym_vector.RecordEpisodeStatistics,
    *([gym_vector.RecordVideo] if hasattr(gym_vector, "RecordVideo") else []),  # since Gymnasium 1.2.1
    gym.vector.VectorActionWrapper,
    gym.vector.VectorRewardWrapper,
)
"""The same below the vector form of a boundary."""

ELSEWHERE = {"stable_baselines3.common.monitor": "Monitor"}
"""Classes of other packages that pass each observation through in the same way, by module."""

METHODS = ("step", "reset", "observation", "observations")
LOOK_UP = ("env", "__getattribute__", "__getattr__")
"""Together with `METHODS`, the attributes that determine which observations a wrapper returns."""


def layers_of(env: Any) -> Iterator[Any]:
    """Yield an environment's wrappers from the outermost to the innermost, and then the environment itself.

    After a `SyncVectorEnv`, yield the layers of its first environment.
    """
    while True:
        yield env
        if isinstance(env, (gym.Wrapper, gym.vector.VectorWrapper)):
            env = env.env
        elif isinstance(getattr(env, "envs", None), (list, tuple)) and env.envs:
            env = env.envs[0]
        else:
            return


def checked_env(env: Any, wrapper: str, kind: type) -> Any:
    """Return an environment, or raise if it has another type; Gymnasium before 1.4 uses an assert, which -O skips."""
    if not isinstance(env, kind):
        way_out = ""
        if isinstance(env, gym.Env):
            way_out = f" Use dp_bandit_envs.wrappers.{wrapper} for one game."
        elif isinstance(env, gym.vector.VectorEnv):
            way_out = f" Use dp_bandit_envs.wrappers.vector.{wrapper} for several games."
        elif isinstance(env, str):
            way_out = " gymnasium.make('DPBandit-Stochastic-v0') makes one of an id."
        raise WrongTypeError(
            f"{wrapper} needs a gymnasium.{'vector.' if kind is gym.vector.VectorEnv else ''}{kind.__name__}; received"
            f" {checks.kind_of(env)}.{way_out}"
        )
    return env


def boundaries_below(env: Any, wrapper: str, allowed: tuple[type, ...] = PASS_OBSERVATIONS_THROUGH) -> list[Boundary]:
    """Return the boundaries below, nearest first; refuse any other wrapper that may change observations.

    Such a wrapper could repeat a round or amplify it, and so raise the sensitivity above what the noise is scaled to.
    """
    boundaries: list[Boundary] = []
    for layer in layers_of(env):
        if isinstance(layer, Boundary):
            boundaries.append(layer)
        elif isinstance(layer, (gym.Wrapper, gym.vector.VectorWrapper)) and not _passes_through(layer, allowed):
            if type(layer).__name__ == "HumanRendering":
                raise TypeError(
                    f"render_mode='human' opens a window on the true gains, so it cannot be below {wrapper}. Make the"
                    " game with render_mode='rgb_array', and put gymnasium.wrappers.HumanRendering around the wrapper."
                )
            raise TypeError(
                f"{type(layer).__name__} may change observations, so it cannot be below {wrapper}, whose noise could"
                " then be too small; put it above. A wrapper of your own is allowed below if it inherits"
                " gymnasium.ActionWrapper or RewardWrapper and does not define step, reset or observation."
            )
    return boundaries


def classes_elsewhere() -> tuple[type, ...]:
    """Return the allowed classes of other packages that are imported; a package not imported has no wrapper here."""
    classes = [getattr(sys.modules.get(module), name, None) for module, name in ELSEWHERE.items()]
    return tuple(kind for kind in classes if isinstance(kind, type))


def _passes_through(layer: Any, allowed: tuple[type, ...]) -> bool:
    """Whether a wrapper returns observations exactly as an allowed class does, without overriding its methods."""
    kind, allowed = type(layer), (*allowed, *classes_elsewhere())
    if not isinstance(layer, allowed) or any(name in vars(layer) for name in METHODS):
        return False
    known_classes = {base for kind in allowed for base in kind.__mro__}
    definers = (next((base for base in kind.__mro__ if name in vars(base)), None) for name in (*METHODS, *LOOK_UP))
    return all(definer is None or definer in known_classes for definer in definers)


def refuse_sums(boundaries: list[Boundary], wrapper: str) -> None:
    """Refuse a boundary below that releases running sums."""
    if boundaries and boundaries[0].releases_sums:
        inner = type(boundaries[0]).__name__
        raise TypeError(
            f"{wrapper} works on the gains of each round, but {inner} releases running sums; "
            + ("use one of them." if inner == wrapper else f"put {wrapper} below {inner}, or leave one of them out.")
        )


def public_attribute(env: Any, name: str, wrapper: str) -> Any:
    """Return attribute `name` of the outermost layer that has it, or raise an error that names what is missing."""
    for layer in layers_of(env):
        if hasattr(layer, name):
            return getattr(layer, name)
    raise TypeError(
        f"{wrapper} needs an environment with the attribute {name!r}, like every DPBandit environment; received"
        f" {checks.kind_of(getattr(env, 'unwrapped', env))} without it. A bandit of another package has it after"
        " dp_bandit_envs.adapters.from_gymnasium(env, horizon=..., low=..., high=...)."
    )


def single_games(env: Any) -> list[Any]:
    """Return the single games of a `SyncVectorEnv`, each with its wrappers; otherwise the innermost environment."""
    for layer in layers_of(env):
        games = getattr(layer, "envs", None)
        if isinstance(games, (list, tuple)) and games:
            return list(games)
    return [layer]


def public_attributes(env: Any, name: str, wrapper: str) -> list[Any]:
    """Return attribute `name` as declared by a layer above all games, or else by each game."""
    for layer in layers_of(env):
        if hasattr(layer, name):
            return [getattr(layer, name)]
        if getattr(layer, "envs", None):
            break
    return [public_attribute(game, name, wrapper) for game in single_games(env)]


def facts_of_game(env: Any, wrapper: str) -> InputFacts:
    """Return the public facts about the gains that a game without a boundary reveals.

    A game that does not declare `n_values` and `values` reveals gains of arms in [0, 1].

    Raises:
        WrongTypeError: If the declared `values` are not a `ValueRange`.
        ValueError: If they are not possible, or do not fit the sensitivity, so that some noise would be too small.
    """
    sensitivity = checked_sensitivity(public_attribute(env, "sensitivity", wrapper), wrapper)
    n_values = next((layer.n_values for layer in layers_of(env) if hasattr(layer, "n_values")), None)
    values = next((layer.values for layer in layers_of(env) if hasattr(layer, "values")), None)
    if values is None:
        values = gains_of_arms(sensitivity)
    n_values = public_attribute(env, "n_arms", wrapper) if n_values is None else n_values
    check_range(values, wrapper)
    facts = InputFacts(
        n_values=n_values,
        horizon=public_attribute(env, "horizon", wrapper),
        sensitivity=sensitivity,
        # No gain of an arm changes by more than 1, so a sensitivity of s means up to s gains.
        gains_in_a_round=n_values if values.complete else max(1, math.ceil(sensitivity / values.width)),
        noise=Noise(sensitivity),
        values=values,
    )
    check_distances(facts, wrapper)
    return facts


def time_limit(env: Any) -> int:
    """Return the last round of a `TimeLimit` below; 0 if there is none."""
    return min(
        (layer._max_episode_steps for layer in layers_of(env) if isinstance(layer, gym_wrappers.TimeLimit)), default=0
    )


def checked_sensitivity(declared: Any, wrapper: str) -> float:
    """Return the sensitivity that an environment declares, or raise if no noise could be scaled to it."""
    sensitivity = checks.real("sensitivity", declared)
    if not (sensitivity > 0 and math.isfinite(sensitivity)):
        raise ValueError(
            f"{wrapper} needs an environment whose sensitivity is finite and greater than 0; received {declared!r}."
        )
    return sensitivity


def participation_below(env: Any) -> Participation | None:
    """Return the participation of a record and of a person in one game; None without recorded data.

    If the games of a vector differ, the largest numbers are returned.
    """
    declared = _attributes_of_games(env, "data_use")
    games = [game for game in declared if isinstance(game, Participation)]
    if not games:
        return None
    persons = [game.person for game in games if game.person is not None]
    return Participation(max(game.record for game in games), max(persons) if len(persons) == len(games) else None)


def is_played_on_real_data(env: Any) -> bool:
    """Whether a game is played on real data."""
    return any(real is True for real in _attributes_of_games(env, "is_real"))


def _attributes_of_games(env: Any, name: str) -> list[Any]:
    """Return an attribute of each game without its wrappers, or None where it has none."""
    return [getattr([*layers_of(game)][-1], name, None) for game in single_games(env)]
