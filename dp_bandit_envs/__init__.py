"""Differentially private multi-armed bandits: adversaries as environments, privacy as wrappers, agents, a simulator.

Importing this package registers the environments with Gymnasium. Everything else is imported on first use.
"""

import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    from dp_bandit_envs.envs.registration import register
except ModuleNotFoundError as error:
    if error.name not in ("numpy", "gymnasium"):
        raise
    raise ModuleNotFoundError(
        f"dp_bandit_envs must be installed with {error.name}, which this Python does not have. In the clone,"
        " type python3 -m venv .venv and .venv/bin/pip install . (Windows: py -m venv .venv and"
        " .venv\\Scripts\\pip install .), and use the Python in .venv.",
        name=error.name,
    ) from None

if TYPE_CHECKING:
    from dp_bandit_envs.adapters import OutsideGame
    from dp_bandit_envs.adversaries import Adversary
    from dp_bandit_envs.agents import Exp3
    from dp_bandit_envs.algorithms import Algorithm, algorithm_names, calibrate, make_algorithm, register_algorithm
    from dp_bandit_envs.comparison import Comparison, compare, load
    from dp_bandit_envs.envs.bandit_env import BanditEnv
    from dp_bandit_envs.envs.registration import environment_names, register_adversary
    from dp_bandit_envs.figures import reproduce
    from dp_bandit_envs.privacy import Ledger, PrivacyGuarantee
    from dp_bandit_envs.protocols import Agent
    from dp_bandit_envs.simulation import play, simulate
    from dp_bandit_envs.suite import evaluate
    from dp_bandit_envs.wrappers import LaplaceClipRescale
    from dp_bandit_envs.wrappers.private_ids import register_private

__version__ = "0.1.0"

_HOMES = {
    name: home
    for home, names in {
        "adapters": "OutsideGame",
        "adversaries": "Adversary",
        "agents": "Exp3",
        "algorithms": "Algorithm algorithm_names calibrate make_algorithm register_algorithm",
        "comparison": "Comparison compare load",
        "envs.bandit_env": "BanditEnv",
        "envs.registration": "environment_names register_adversary",
        "figures": "reproduce",
        "privacy": "Ledger PrivacyGuarantee",
        "protocols": "Agent",
        "simulation": "play simulate",
        "suite": "evaluate",
        "wrappers": "LaplaceClipRescale",
        "wrappers.private_ids": "register_private",
    }.items()
    for name in names.split()
}

__all__ = [
    "Adversary",
    "Agent",
    "Algorithm",
    "BanditEnv",
    "Comparison",
    "Exp3",
    "LaplaceClipRescale",
    "Ledger",
    "OutsideGame",
    "PrivacyGuarantee",
    "__version__",
    "algorithm_names",
    "calibrate",
    "compare",
    "environment_names",
    "evaluate",
    "load",
    "make_algorithm",
    "play",
    "register_adversary",
    "register_algorithm",
    "register_private",
    "reproduce",
    "simulate",
]

# In a clone that is not installed, agents/ and wrappers/ lie beside this folder.
if importlib.util.find_spec(f"{__name__}.agents") is None:
    __path__.append(str(Path(__file__).parents[1]))

register()


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    import difflib

    near = difflib.get_close_matches(name, _HOMES, n=1)
    hint = f" Did you mean {near[0]}?" if near else f" It has {', '.join(__all__)}."
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{hint}")


def __dir__() -> list[str]:
    return sorted(__all__)
