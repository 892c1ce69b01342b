"""Imports optional packages; the error for a missing one says how to install it."""

import importlib
import importlib.util
from types import ModuleType


def installed(module: str) -> bool:
    """Return whether a module can be found, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def require(module: str, *, extra: str) -> ModuleType:
    """Import a module, or raise an ImportError that names the extra to install.

    Args:
        module: Its dotted name.
        extra: The extra of this package that installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{package} must be installed for this; it is not ({error}). Use: pip install 'dp-bandit-envs[{extra}]'"
        ) from error
