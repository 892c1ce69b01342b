"""Sends what the user's own files define by name, where it uses what cannot be pickled, with a digest of what it is.

The other process imports it. If it has imported an older state of the file, it loads the file again; if what it finds
is still another than here, it refuses.
"""

import importlib
import io
import operator
import sys
import threading
from types import FunctionType
from typing import Any

import cloudpickle

from dp_bandit_envs.errors import NotSendableError
from dp_bandit_envs.simulation.code_digest import code_digest, is_users

_importing = threading.Lock()


class _ByName(cloudpickle.Pickler):  # type: ignore[misc]
    def reducer_override(self, obj: Any) -> Any:
        """Return how a function or a class of a user's module is found; leave all else to cloudpickle."""
        if isinstance(obj, (type, FunctionType)) and obj.__module__ != "__main__" and is_users(obj.__module__):
            module, name = obj.__module__, obj.__qualname__
            if module in sys.modules and _found(module, name) is obj:
                return same_as_there, (module, name, code_digest(obj))
        return super().reducer_override(obj)


def dumps_by_name(part: Any) -> bytes:
    """Return the pickle of a part, in which the functions and classes of a user's modules are by name."""
    file = io.BytesIO()
    _ByName(file).dump(part)
    return file.getvalue()


def same_as_there(module: str, name: str, digest: str) -> Any:
    """Return a function or a class of a module, if it has this digest.

    Raises:
        NotSendableError: If it is another one here, or uses other values.
    """
    with _importing:
        found = _found(importlib.import_module(module).__name__, name)
        if found is None or code_digest(found) != digest:
            importlib.reload(sys.modules[module])
            found = _found(module, name)
    if found is None or code_digest(found) != digest:
        raise NotSendableError(
            f"{module}.{name} uses what cannot be pickled, and must then be the same where a worker imports it; its"
            " code, or a value that it uses, is another one there. Load the file again, or use jobs=1."
        )
    return found


def _found(module: str, name: str) -> Any:
    try:
        return operator.attrgetter(name)(sys.modules[module])
    except AttributeError:
        return None
