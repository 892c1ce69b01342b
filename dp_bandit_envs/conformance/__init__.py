"""Checks on your own agents, adversaries, wrappers and algorithms; our tests run the same checks on ours.

Each returns None, or raises one `ConformanceError` that names the broken rule, the value received, and how to fix it.
They need no test framework:

    from dp_bandit_envs.conformance import check_agent
    check_agent(MyAgent)
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dp_bandit_envs.conformance.adversary_rules import check_adversary
    from dp_bandit_envs.conformance.agent_rules import check_agent
    from dp_bandit_envs.conformance.algorithm_rules import check_algorithm
    from dp_bandit_envs.conformance.wrapper_rules import check_wrapper
    from dp_bandit_envs.errors import ConformanceError

__all__ = ["ConformanceError", "check_adversary", "check_agent", "check_algorithm", "check_wrapper"]

_HOMES = {
    "ConformanceError": "dp_bandit_envs.errors",
    "check_adversary": f"{__name__}.adversary_rules",
    "check_agent": f"{__name__}.agent_rules",
    "check_algorithm": f"{__name__}.algorithm_rules",
    "check_wrapper": f"{__name__}.wrapper_rules",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
