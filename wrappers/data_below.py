"""What is public about the data below a privacy boundary: whether they are real, and how often they serve in a game."""

from typing import Any

import gymnasium as gym

from dp_bandit_envs.data_use import DataUse


def data_use_below(env: Any) -> DataUse | None:
    """Return in how many rounds of a game a record, and a person, can serve; None if no game is played on such data.

    Where the games of a vector differ, the largest numbers hold for all of them.
    """
    uses = [use for use in _of_games(env, "data_use") if isinstance(use, DataUse)]
    if not uses:
        return None
    persons = [use.person for use in uses if use.person is not None]
    return DataUse(max(use.record for use in uses), max(persons) if len(persons) == len(uses) else None)


def is_real_below(env: Any) -> bool:
    """Whether a game is played on real data."""
    return any(real is True for real in _of_games(env, "is_real"))


def _of_games(env: Any, name: str) -> list[Any]:
    """Return an attribute of each innermost game, None where it has none."""
    if isinstance(env, (gym.Wrapper, gym.vector.VectorWrapper)):
        return _of_games(env.env, name)
    if isinstance(getattr(env, "envs", None), (list, tuple)):
        return [value for game in env.envs for value in _of_games(game, name)]
    return [getattr(env, name, None)]
