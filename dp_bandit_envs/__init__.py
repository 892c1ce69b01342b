"""Differentially private multi-armed bandits: adversaries as environments, privacy as wrappers, agents, a simulator.

Importing this package registers the environments with Gymnasium. Public names, listed in `__init__.pyi`, are imported
on first use.
"""

import importlib
import importlib.util
from pathlib import Path

from dp_bandit_envs.lazy_names import names_of_stub

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

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)

# In a clone that is not installed, agents/ and wrappers/ are next to this folder.
if importlib.util.find_spec(f"{__name__}.agents") is None:
    __path__.append(str(Path(__file__).parents[1]))

register()
