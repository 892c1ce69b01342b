"""How often the recorded data below a privacy boundary serve in one game."""

from typing import Any

import gymnasium as gym

from dp_bandit_envs.data_use import DataUse


def data_use_below(env: Any) -> DataUse | None:
    """Return in how many rounds of a game a record, and a person, can serve; None if no game is played on such data.

    Where the games of a vector differ, the largest numbers hold for all of them.
    """
    uses = [use for use in _uses(env) if isinstance(use, DataUse)]
    if not uses:
        return None
    persons = [use.person for use in uses if use.person is not None]
    return DataUse(max(use.record for use in uses), max(persons) if len(persons) == len(uses) else None)


def _uses(env: Any) -> list[Any]:
    if isinstance(env, (gym.Wrapper, gym.vector.VectorWrapper)):
        return _uses(env.env)
    if isinstance(getattr(env, "envs", None), (list, tuple)):
        return [use for game in env.envs for use in _uses(game)]
    return [getattr(env, "data_use", None)]
