"""Adapters: other packages' agents and environments here, and our algorithms in other packages' loops.

The package that an adapter is for is imported when the adapter is called.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dp_bandit_envs.adapters.foreign_env import from_gymnasium
    from dp_bandit_envs.adapters.other_agents import (
        from_function,
        from_mabwiser,
        from_river,
        from_sb3,
        from_vowpalwabbit,
    )
    from dp_bandit_envs.adapters.other_loops import as_mabwiser, as_river_policy
    from dp_bandit_envs.adapters.outside_game import OutsideGame

__all__ = [
    "OutsideGame",
    "as_mabwiser",
    "as_river_policy",
    "from_function",
    "from_gymnasium",
    "from_mabwiser",
    "from_river",
    "from_sb3",
    "from_vowpalwabbit",
]

_HOMES = {
    "OutsideGame": "outside_game",
    "as_mabwiser": "other_loops",
    "as_river_policy": "other_loops",
    "from_function": "other_agents",
    "from_gymnasium": "foreign_env",
    "from_mabwiser": "other_agents",
    "from_river": "other_agents",
    "from_sb3": "other_agents",
    "from_vowpalwabbit": "other_agents",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
