"""Adapters: other packages' agents and environments here, and our algorithms in other packages' loops.

The package that an adapter is for is imported when the adapter is called.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dp_bandit_envs.adapters.foreign_env import from_gymnasium
    from dp_bandit_envs.adapters.function_agent import from_function
    from dp_bandit_envs.adapters.mabwiser_agent import from_mabwiser
    from dp_bandit_envs.adapters.mabwiser_object import as_mabwiser
    from dp_bandit_envs.adapters.outside_game import OutsideGame
    from dp_bandit_envs.adapters.river_agent import from_river
    from dp_bandit_envs.adapters.river_policy import as_river_policy
    from dp_bandit_envs.adapters.sb3_agent import from_sb3
    from dp_bandit_envs.adapters.vowpal_wabbit_agent import from_vowpalwabbit

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
    "as_mabwiser": "mabwiser_object",
    "as_river_policy": "river_policy",
    "from_function": "function_agent",
    "from_gymnasium": "foreign_env",
    "from_mabwiser": "mabwiser_agent",
    "from_river": "river_agent",
    "from_sb3": "sb3_agent",
    "from_vowpalwabbit": "vowpal_wabbit_agent",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
