"""Fingerprints of functions: what their machine code depends on, by content, the same in every process."""

import contextlib
import dis
import functools
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from dp_bandit_envs import draws
from dp_bandit_envs.byte_code import written_out

PACKAGE = "dp_bandit_envs"
COMPILER = ("numba", "llvmlite")
"""Packages that enter a fingerprint only through Numba's version, as their modules' contents change at run time."""


def fingerprint(function: Callable[..., Any], replacements: Mapping[str, Callable[..., Any]] | None = None) -> str:
    """Return a digest of a function's code, of the constants it uses and of all plain functions it calls."""
    import numba

    digest = hashlib.sha256(f"{numba.__version__} {_beneath()}".encode())
    add(function, dict(replacements or {}), digest, {})
    return digest.hexdigest()


@functools.cache
def _beneath() -> str:
    """Return a digest of what functions reach without naming it: the methods of streams, and this package's types."""
    digest = hashlib.sha256()
    for name, formula in draws.FORMULAS.items():
        _digest_value(name, formula, formula.__code__, digest, {}, None)
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def all_names(code: CodeType) -> list[str]:
    """Return all names in a function: of globals and of attributes."""
    nested = [name for const in code.co_consts if isinstance(const, CodeType) for name in all_names(const)]
    return sorted({*code.co_names, *nested})


@functools.lru_cache(maxsize=4096)
def global_names(code: CodeType) -> tuple[str, ...]:
    """Return the names of globals in a function; an attribute may have the name of some function by chance."""
    own = {one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    nested = [name for const in code.co_consts if isinstance(const, CodeType) for name in global_names(const)]
    return tuple(sorted({*own, *nested}))


def add(
    function: Callable[..., Any],
    replacements: dict[str, Any],
    digest: Any,
    seen: dict[Any, int],
    objects: list[Any] | None = None,
) -> None:
    """Add a function's code and what it uses.

    Args:
        function: A plain function.
        replacements: Plain functions to which global names in it are rebound.
        digest: What to add to.
        seen: The functions that were added, in order.
        objects: If given, values that cannot be written out are added by identity and put into this list.
    """
    assert isinstance(function, FunctionType)
    if function in seen:
        digest.update(f"{seen[function]} ".encode())
        return
    seen[function] = len(seen)
    code = function.__code__
    digest.update(written_out(code).encode())
    cells = []
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # it has no value yet
            cells.append(cell.cell_contents)
    for value in (function.__defaults__, function.__kwdefaults__, *cells):
        _digest_value("", value, code, digest, seen, objects)
    for name in global_names(code):
        value = replacements.get(name, function.__globals__.get(name))
        _digest_value(name, value, code, digest, seen, objects)


def _digest_value(
    name: str, value: Any, code: CodeType, digest: Any, seen: dict[Any, int], objects: list[Any] | None
) -> None:
    """Add a value that Numba freezes into machine code; of a module, only the attributes that the code uses."""
    digest.update(name.encode())
    if isinstance(value, FunctionType):
        add(value, {}, digest, seen, objects)
    elif type(value).__module__.startswith("numba.") and hasattr(value, "_defn"):  # an intrinsic
        add(value._defn, {}, digest, seen, objects)
    elif isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in COMPILER:
        for attribute in all_names(code):
            part = getattr(value, attribute, None)
            # Of a module in a module as well, such as package.settings.RATE; but not of what a module imports.
            if hasattr(value, attribute) and (not isinstance(part, ModuleType) or _is_within(part, value)):
                _digest_value(f"{value.__name__}.{attribute}", part, code, digest, seen, objects)
    elif isinstance(value, (np.ndarray, np.generic)):
        digest.update(f"{value.dtype!r}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    elif objects is not None and isinstance(value, (tuple, dict)):
        # Two NamedTuples may hold the same numbers by other names.
        digest.update(f"{type(value).__name__}{getattr(value, '_fields', ())!r} ".encode())
        for part in (*value, *(value.values() if isinstance(value, dict) else ())):
            _digest_value(f"{len(value)} ", part, code, digest, seen, objects)
    elif isinstance(value, type) and objects is None:
        digest.update(f"{value.__name__}{getattr(value, '_fields', ())!r}".encode())
    elif isinstance(value, (bool, int, float, complex, str, bytes, tuple, dict, type(None))):
        digest.update(repr(value).encode())
    elif objects is not None:
        digest.update(f"{id(value)} ".encode())
        objects.append(value)


def _is_within(module: ModuleType, package: ModuleType) -> bool:
    return module.__name__.startswith(f"{package.__name__}.")


def is_ours(function: Callable[..., Any] | type[Any]) -> bool:
    """Return whether a function or class is of this package."""
    return f"{function.__module__}.".startswith(f"{PACKAGE}.")
