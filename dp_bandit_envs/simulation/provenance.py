"""Identifies what determines an experiment's numbers besides its settings: the code, its data and some libraries."""

import contextlib
import functools
import hashlib
import platform
from collections.abc import Iterable, Iterator
from importlib import import_module, metadata, resources
from importlib.resources.abc import Traversable
from typing import Any

import dp_bandit_envs
from dp_bandit_envs.byte_code import written_out
from dp_bandit_envs.simulation.code_digest import code_digest, is_users

WITHOUT_NUMBERS = ("cli", "comparison", "course", "experiments", "labs", "plots", "tournament")
"""Parts of the package that do not affect the numbers, except through an experiment's configuration."""
ELSEWHERE = ("agents", "wrappers")
"""Parts that are in folders of their own in an editable installation."""
LIBRARIES = ("numpy", "networkx")
"""Libraries whose feature releases may draw different numbers from the same seed."""


@functools.cache
def made_by() -> dict[str, str]:
    """Return versions, and a digest of this package's code and data that ignores comments and docstrings."""
    package = dp_bandit_envs.__name__
    files = dict(_files(package, resources.files(dp_bandit_envs)))
    for part in ELSEWHERE:
        files |= _files(f"{package}.{part}", resources.files(import_module(f"{package}.{part}")))
    digest = hashlib.sha256()
    for name, file in sorted(files.items()):
        content = file.read_bytes()
        if name.endswith(".py"):
            content = written_out(compile(content, name, "exec", optimize=2, dont_inherit=True)).encode()
        digest.update(f"{name} {len(content)} ".encode() + content)
    return {
        "version": dp_bandit_envs.__version__,
        "code": digest.hexdigest(),
        "python": ".".join(platform.python_version_tuple()[:2]),
        **_releases(),
    }


def _releases() -> dict[str, str]:
    """Return the feature releases of the libraries that are installed."""
    found = {}
    for library in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[library] = ".".join(metadata.version(library).split(".")[:2])
    return found


def foreign_code(kinds: Iterable[Any]) -> dict[str, str]:
    """Return a digest of each third-party class or function: of its file, its code, and every value that it uses."""
    return {f"{kind.__module__}.{kind.__qualname__}": code_digest(kind) for kind in kinds if is_users(kind.__module__)}


def _files(name: str, folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    """Yield each file below a folder of the package with its dotted name."""
    for entry in folder.iterdir():
        if entry.name.startswith(("__pycache__", ".")):
            continue
        if entry.is_file():
            yield f"{name}.{entry.name}", entry
        elif entry.name not in WITHOUT_NUMBERS:
            yield from _files(f"{name}.{entry.name}", entry)
