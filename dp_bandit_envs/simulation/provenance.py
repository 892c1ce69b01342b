"""Identifies what determines an experiment's numbers besides its settings: code, data and some libraries.

A module of third-party code is identified by its syntax tree, so that comments and layout do not invalidate hours of
work. An extension module is identified by its bytes, and a function without a file, as in a notebook, by its byte code.
An installed distribution is identified by its version, and for players also by source. Values are included:
`lambda: Agent(temperature)` has the same source for every temperature.
"""

import ast
import contextlib
import dis
import functools
import hashlib
import importlib.machinery
import importlib.util
import os
import platform
import re
import sys
import traceback
from array import array
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module, metadata
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import dp_bandit_envs
from dp_bandit_envs.adversaries.gain_files import columns_of
from dp_bandit_envs.compiling.functions import PACKAGE, code_text, followed, is_builtin, uses
from dp_bandit_envs.envs.registration import foreign_games
from dp_bandit_envs.text import name_of, written_value

INSTALLED: Final = "installed "
"""Prefix of a distribution's name; `MODULE` is a module's prefix."""
MODULE: Final = "module "
WRITTEN: Final = (type(None), bool, int, float, complex, str, bytes, np.generic, set, frozenset, BuiltinFunctionType)
"""Types that are written out unchanged."""
ANNOTATIONS: Final = "__annotate_func__"
"""What gives a class's annotations since Python 3.14; it uses the class's `__firstlineno__`, and no game uses it."""


def code_digest(target: Any) -> str:
    """Return a digest of the code of a class, a function or another object, and of all values that it uses."""
    walk = Walk([target] if isinstance(target, (type, FunctionType)) else ())
    walk.add(target)
    return walk.values.hexdigest()


def is_users(module: str) -> bool:
    """Return whether a module is the user's: not from this package, Python or a regularly installed package."""
    return not _is_known(module) and not installed_as(module)


def is_users_file(file: str) -> bool:
    """Return whether a file of code is the user's."""
    names = [name for name, module in list(sys.modules.items()) if getattr(module, "__file__", "") == file]
    return not file.startswith("<") and all(map(is_users, names))


def places_of(error: BaseException) -> list[tuple[str, int]]:
    """Return the files and lines of an error's traceback, the outermost first."""
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    # What a worker process raised comes with its traceback as text.
    places += [(file, int(line)) for file, line in re.findall(r'File "(.+?)", line (\d+)', str(error.__cause__ or ""))]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno or 0))
    return places


def installed_as(module: str) -> dict[str, str]:
    """Return the possible distributions of a module, with their versions; editable installs are left out."""
    file = getattr(sys.modules.get(module), "__file__", None)
    owners = _owners(module.partition(".")[0], tuple(sys.path))
    # The user's own tests.py is not of the distribution that has installed a package of that name.
    return {name: version for name, version, folder in owners if file is None or file.startswith(folder)}


class Walk:
    """Collects the code and values of objects.

    Args:
        playing: Classes and functions whose distribution is also identified by source.

    Attributes:
        sources: `"module NAME"` to a digest, `"installed NAME"` to a version.
        values: The added objects, and all plain values in them.
    """

    def __init__(self, playing: Iterable[Any] = ()) -> None:
        self.sources: dict[str, str] = {}
        self.values = hashlib.sha256()
        self._home = {name for one in playing for name in installed_as(getattr(one, "__module__", None) or "")}
        self._seen: dict[int, Any] = {}

    def add(self, target: Any) -> None:
        """Add an object and all that it uses."""
        if isinstance(target, WRITTEN):
            self._write(written_value(target))
            self._counts(getattr(target, "__module__", None) or "")  # of a function of an extension module
        elif isinstance(target, (list, tuple, Mapping)):
            self._write(type(target).__name__, len(target))
            for piece in (*target, *(target.values() if isinstance(target, Mapping) else ())):
                self.add(piece)
        elif (table := _as_array(target)) is not None:
            self._write(table.dtype.str, table.shape, *(name for name, _ in columns_of(target)))
            if table.dtype.hasobject:
                self.add(table.tolist())
            else:
                self.values.update(np.ascontiguousarray(table).tobytes())
        else:
            named = isinstance(target, (FunctionType, type))
            self._write(name_of(target if named else type(target)))
            module = target.__name__ if isinstance(target, ModuleType) else getattr(target, "__module__", None)
            if (self._counts(module if isinstance(module, str) else "") or not named) and id(target) not in self._seen:
                self._seen[id(target)] = target
                for piece in self._parts(target):
                    self.add(piece)

    def _write(self, *words: object) -> None:
        self.values.update(f"{' '.join(map(str, words))} ".encode())

    def _counts(self, module: str) -> bool:
        """Add a module; return whether its functions and classes are looked into."""
        if _is_known(module):
            return False
        versions = installed_as(module)
        self.sources |= {f"{INSTALLED}{name}": version for name, version in versions.items()}
        if versions and not self._home & set(versions):
            return False
        digest, _ = source_of(sys.modules.get(module))
        if digest:
            self.sources[f"{MODULE}{module}"] = digest
        return True

    def _parts(self, target: Any) -> Iterable[Any]:
        inner = None
        with contextlib.suppress(Exception):  # of a class of somebody else's, which may raise anything here
            inner = getattr(target, "__wrapped__", getattr(target, "py_func", None))
        if isinstance(target, FunctionType):
            return self._used(target)
        if isinstance(target, type):
            members = [(name, getattr(part, "__func__", part)) for name, part in sorted(vars(target).items())]
            defined = [
                (name, part)
                for name, part in members
                if not name.startswith("__") or (isinstance(part, FunctionType) and name != ANNOTATIONS)
            ]
            return target.__bases__, type(target), defined
        if isinstance(target, ModuleType):
            return (target.__name__,)
        if isinstance(target, MethodType):
            return target.__func__, target.__self__
        if isinstance(target, property):
            return target.fget, target.fset
        if isinstance(inner, FunctionType):  # in functools.cache or numba.njit, which keep results beside it
            return (inner,)
        pieces: Iterable[Any] = ()
        with contextlib.suppress(Exception):  # a lock has no values
            pieces = target.__reduce_ex__(4)
        return (type(target), *(list(one) if isinstance(one, Iterator) else one for one in pieces))

    def _used(self, function: FunctionType) -> Iterator[Any]:
        code, namespace = function.__code__, function.__globals__
        module = sys.modules.get(namespace.get("__name__", ""))  # a decorator's, where `functools.wraps` says otherwise
        _, codes = source_of(module)
        # The layout of a file does not count, and it changes byte code.
        yield module, codes.index(code) if code in codes else code_text(code)
        for use in uses(function):
            root = namespace.get(use.name.partition(".")[0])
            whole = isinstance(root, ModuleType) and not is_users(root.__name__)
            yield use.name, root if whole else use.value
        for name in _imported(code, namespace.get("__package__")):
            self._counts(name)
            if is_users(name):
                # It is imported when the function is called, if not before.
                with contextlib.suppress(Exception):
                    yield [(use.name, use.value) for use in followed(name, import_module(name), [], 0, code)]


def _as_array(numbers: Any) -> NDArray[Any] | None:
    """Return the values of an array or a tensor; None for other objects, or if they cannot be read."""
    if isinstance(numbers, (array, memoryview)) or hasattr(type(numbers), "__array__"):
        with contextlib.suppress(Exception):
            return np.asarray(numbers)
        with contextlib.suppress(Exception):  # a tensor with a gradient or of bfloat16 is no array
            return np.asarray(numbers.tolist())
    return None


def _is_known(module: str) -> bool:
    """Return whether a module is this package's, whose code is digested as a whole, or Python's own."""
    top = module.partition(".")[0]
    file = getattr(sys.modules.get(module), "__file__", None) or os.__file__
    return top == PACKAGE or (top in sys.stdlib_module_names and file.startswith(os.path.dirname(os.__file__)))


@functools.cache
def _owners(top: str, path: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """Return name, version and folder of the distributions that have installed a package, on Python's path."""
    distributions = [metadata.distribution(name) for name in sorted(set(_packages(path).get(top, ())))]
    kept = [one for one in distributions if '"editable": true' not in (one.read_text("direct_url.json") or "")]
    return tuple((one.name, one.version, str(one.locate_file(""))) for one in kept)


@functools.cache
def _packages(path: tuple[str, ...]) -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def source_of(module: ModuleType | None) -> tuple[str, tuple[CodeType, ...]]:
    """Return a digest of a module's source, or of the bytes of an extension module, and all code in the source."""
    file = getattr(module, "__file__", None) or ""
    try:
        content = Path(file).read_bytes()
        if file.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
            return hashlib.sha256(content).hexdigest(), ()
        return _read(content)
    except (OSError, SyntaxError, ValueError):
        return "", ()


@functools.lru_cache(maxsize=256)
def _read(source: bytes) -> tuple[str, tuple[CodeType, ...]]:
    code = compile(source, "", "exec", dont_inherit=True)
    return hashlib.sha256(ast.dump(ast.parse(source)).encode()).hexdigest(), tuple(_codes(code))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


def _imported(code: CodeType, package: str | None) -> Iterator[str]:
    for nested in _codes(code):
        steps = list(dis.get_instructions(nested))
        for level, _, step in zip(steps, steps[1:], steps[2:], strict=False):
            if step.opname == "IMPORT_NAME":
                with contextlib.suppress(ImportError, ValueError):
                    yield importlib.util.resolve_name("." * level.argval + step.argval, package)


WITHOUT_NUMBERS = {"cli", "course", "experiments", "figures", "labs", "plots", "suite", "__pycache__"}
"""Folders of the package that do not affect the numbers, except through an experiment's configuration."""
ELSEWHERE = ("agents", "wrappers")
"""Parts that are in folders of their own in an editable installation."""
LIBRARIES = ("numpy", "networkx")
"""Libraries whose feature releases may draw different numbers from the same seed."""


@functools.cache
def made_by() -> dict[str, str]:
    """Return versions, and a digest of this package's code and data that ignores comments and docstrings."""
    files: dict[str, Path] = {}
    for package in (PACKAGE, *(f"{PACKAGE}.{part}" for part in ELSEWHERE)):
        top = Path(str(import_module(package).__file__)).parent
        for folder, below, names in os.walk(top, followlinks=True):
            below[:] = [name for name in below if name not in WITHOUT_NUMBERS]
            # No link to nowhere, as an editor leaves one, nor a pipe.
            existing = (file for name in names if not name.startswith(".") and (file := Path(folder, name)).is_file())
            files |= {".".join((package, *file.relative_to(top).parts)): file for file in existing}
    digest = hashlib.sha256()
    for name, file in sorted(files.items()):
        content = file.read_bytes()
        if name.endswith(".py"):
            content = code_text(compile(content, name, "exec", optimize=2, dont_inherit=True)).encode()
        digest.update(f"{name} {len(content)} ".encode() + content)
    versions = {"version": dp_bandit_envs.__version__, "code": digest.hexdigest()}
    versions["python"] = ".".join(platform.python_version_tuple()[:2])
    for library in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[library] = ".".join(metadata.version(library).split(".")[:2])
    return versions


def foreign_code(kinds: Iterable[Any], more: Iterable[Any] = ()) -> dict[str, str]:
    """Return the identifiers of third-party code by name: modules and distributions, and the values of the players.

    Args:
        kinds: The players' classes and functions.
        more: Other objects, whose values are digested separately.
    """
    foreign = [kind for kind in kinds if not is_builtin(kind)]
    walk = Walk(foreign)
    walk.add([*foreign, *more])
    values = {f"{kind.__module__}.{kind.__qualname__}": code_digest(kind) for kind in foreign}
    return {**values, **walk.sources}


def installed_code(engine: Any) -> dict[str, str]:
    """Return the identifiers of installed code only, which other processes have to import."""
    games = getattr(engine, "games", {}).values()
    algorithms = [] if games else list(engine.algorithms.values())
    parts = [part for game in games for part in (game.agent, *(mechanism for mechanism, _ in game.mechanisms))]
    parts += [getattr(engine, "adversary", None), *(algorithm.agent() for algorithm in algorithms)]
    kinds = [*map(type, parts), *(game.adversary_class for game in foreign_games())]
    code = foreign_code(kinds, [*algorithms, getattr(engine, "make_env", None)])
    modules = [name for name in code if name.startswith(MODULE) and installed_as(name.removeprefix(MODULE))]
    return {name: code[name] for name in code if name.startswith(INSTALLED) or name in modules}


def unlike_here(there: Mapping[str, str]) -> list[str]:
    """Return the differences of this process from another's `made_by` and `installed_code`, in words."""
    here = {**{name: source_here(name) for name in there}, **made_by()}
    unlike = [name for name in there if here[name] != there[name]]
    return [f"{name} {_short(here[name])} instead of {_short(there[name])}" for name in unlike]


def _short(version: str) -> str:
    """Return a version unchanged, or the distinguishing first digits of a digest."""
    return version[:8] if len(version) == hashlib.sha256().digest_size * 2 else version


def source_here(name: str) -> str:
    """Return this process's version or digest for a name of `foreign_code`; "none" if it has none."""
    version = ""
    with contextlib.suppress(Exception):
        if name.startswith(INSTALLED):
            version = metadata.version(name.removeprefix(INSTALLED))
        else:
            version, _ = source_of(import_module(name.removeprefix(MODULE)))
    return version or "none"
