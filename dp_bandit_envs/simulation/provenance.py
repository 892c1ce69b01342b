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
from dp_bandit_envs.compiling.functions import written_out
from dp_bandit_envs.envs.registration import foreign_games
from dp_bandit_envs.simulation.code_digest import INSTALLED, MODULE, Walk, code_digest, installed_as, source_of

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


def foreign_code(kinds: Iterable[Any], more: Iterable[Any] = ()) -> dict[str, str]:
    """Return what somebody else's code is, by name: its modules and distributions, and the values of what plays.

    Args:
        kinds: The classes and functions that play.
        more: Other objects, whose values are digested elsewhere.
    """
    foreign = [kind for kind in kinds if _is_foreign(kind.__module__)]
    walk = Walk(foreign)
    walk.add([*foreign, *more])
    values = {f"{kind.__module__}.{kind.__qualname__}": code_digest(kind, sources=False) for kind in foreign}
    return {**values, **walk.sources}


def installed_code(work: Any) -> dict[str, str]:
    """Return of what plays only that which other processes have to import: what is installed."""
    plans, algorithms = getattr(work, "plans", {}).values(), getattr(work, "algorithms", {}).values()
    kinds: list[Any] = [
        type(part) for plan in plans for part in (plan.agent, *(mechanism for mechanism, _ in plan.mechanisms))
    ]
    kinds += [type(one.agent()) for one in algorithms] + [type(getattr(work, "adversary", None))]
    kinds += [game.adversary_class for game in foreign_games()]
    walk = Walk(kinds)
    walk.add([kinds, *algorithms, getattr(work, "make_env", None)])
    return {
        name: code
        for name, code in walk.sources.items()
        if name.startswith(INSTALLED) or (name.startswith(MODULE) and installed_as(name.removeprefix(MODULE)))
    }


def source_here(name: str) -> str:
    """Return the version or the digest that this process has under a name of `foreign_code`; "none" if it has none."""
    with contextlib.suppress(Exception):
        if name.startswith(INSTALLED):
            return metadata.version(name.removeprefix(INSTALLED))
        return source_of(import_module(name.removeprefix(MODULE)))[0]
    return "none"


def _is_foreign(module: str) -> bool:
    return not f"{module}.".startswith(f"{dp_bandit_envs.__name__}.")


def _files(name: str, folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    """Yield each file below a folder of the package with its dotted name."""
    for entry in folder.iterdir():
        if entry.name.startswith(("__pycache__", ".")):
            continue
        if entry.is_file():
            yield f"{name}.{entry.name}", entry
        elif entry.name not in WITHOUT_NUMBERS:
            yield from _files(f"{name}.{entry.name}", entry)
