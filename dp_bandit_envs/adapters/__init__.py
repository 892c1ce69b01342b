"""Adapters: use other packages' agents and environments here, and our algorithms in other packages' loops.

An adapter imports its package when it is called.
"""

from dp_bandit_envs.adapters.foreign_env import from_gymnasium
from dp_bandit_envs.adapters.other_agents import from_function, from_mabwiser, from_river, from_sb3, from_vowpalwabbit
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
