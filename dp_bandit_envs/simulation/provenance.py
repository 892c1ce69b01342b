"""Identifies what determines an experiment's numbers besides its settings: code, data and some libraries.

Of somebody else's code a module counts by its syntax tree, as comments and layout must not refuse hours of work; an
extension module by its bytes; a notebook's cell by the source of its functions; an installed distribution by its
version, and that of what plays by source as well. Values count besides: `lambda: Agent(temperature)` is one source for
every temperature.
"""

import ast
import contextlib
import dis
import functools
import hashlib
import importlib.machinery
import importlib.util
import inspect
import os
import platform
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module, metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

import dp_bandit_envs
from dp_bandit_envs.compiling.functions import PACKAGE, all_names, global_names, is_ours, written_out
from dp_bandit_envs.envs.registration import foreign_games
from dp_bandit_envs.written_values import written_value

NO_SOURCE: Final = "no source"
"""Stands in place of a digest."""
INSTALLED: Final = "installed "
"""Comes before the name of a distribution, and `MODULE` before that of a module."""
MODULE: Final = "module "
WRITTEN: Final = (type(None), bool, int, float, complex, str, bytes, np.generic, set, frozenset, BuiltinFunctionType)
"""What is written out as it is."""


def code_digest(thing: Any, *, sources: bool = True) -> str:
    """Return a digest of a class, a function or another object: of the values that it uses, and of all sources."""
    walk = Walk([thing] if isinstance(thing, (type, FunctionType)) else ())
    walk.add(thing)
    return hashlib.sha256(f"{walk.values()} {sorted(walk.sources.items()) if sources else ''}".encode()).hexdigest()


def is_users(module: str) -> bool:
    """Return whether a module is neither this package's, nor Python's, nor of a package that is installed for good."""
    return not _is_known(module) and not installed_as(module)


def installed_as(module: str) -> dict[str, str]:
    """Return the distributions that a module may be of, with their versions; one installed as editable is none."""
    file = getattr(sys.modules.get(module), "__file__", None)
    owners = _owners(module.partition(".")[0], tuple(sys.path))
    # The user's own tests.py is not of the distribution that has installed a package of that name.
    return {name: version for name, version, folder in owners if file is None or file.startswith(folder)}


class Walk:
    """Collects what objects are made of.

    Args:
        playing: Classes and functions whose distribution counts by its source, too.

    Attributes:
        sources: `"module NAME"` to a digest, `"installed NAME"` to a version; of what has no source, its name to
            `NO_SOURCE`.
    """

    def __init__(self, playing: Iterable[Any] = ()) -> None:
        self.sources: dict[str, str] = {}
        self._home = {name for one in playing for name in installed_as(getattr(one, "__module__", ""))}
        self._values = hashlib.sha256()
        self._seen: dict[Any, Any] = {}

    def values(self) -> str:
        """Return a digest of all plain values so far."""
        return self._values.hexdigest()

    def add(self, thing: Any) -> None:
        """Add an object and all that it uses."""
        inner = getattr(thing, "__wrapped__", getattr(thing, "py_func", None))
        if isinstance(thing, MethodType):
            self.add((thing.__func__, thing.__self__))
        elif isinstance(thing, property):
            self.add((thing.fget, thing.fset))
        elif isinstance(thing, (FunctionType, type)):
            self._write(thing.__module__, thing.__qualname__)
            if id(thing) not in self._seen and self._counts(thing.__module__ or ""):
                self._seen[id(thing)] = thing
                if isinstance(thing, type):
                    self._add_class(thing)
                else:
                    self._add_function(thing)
        elif isinstance(thing, ModuleType):
            self._write(thing.__name__)
            self._counts(thing.__name__)
        elif isinstance(inner, FunctionType):  # in functools.cache or numba.njit, which keep results beside it
            self.add(inner)
        elif isinstance(thing, (list, tuple, Mapping)):
            self._write(type(thing).__name__, len(thing))
            for part in (*thing, *(thing.values() if isinstance(thing, Mapping) else ())):
                self.add(part)
        elif hasattr(thing, "__array__") or isinstance(thing, (array, memoryview)):
            table = np.asarray(thing)
            self._write(table.dtype.str, table.shape)
            if table.dtype == object:
                self.add(table.tolist())
            else:
                self._values.update(np.ascontiguousarray(table).tobytes())
        elif isinstance(thing, WRITTEN) or id(thing) in self._seen:
            self._write(written_value(thing if isinstance(thing, WRITTEN) else type(thing)))
            self._counts(getattr(thing, "__module__", None) or "")  # of a function of an extension module
        else:
            self._seen[id(thing)] = thing
            self._counts(getattr(thing, "__module__", None) or "")
            self.add(type(thing))
            made: Iterable[Any] = ()
            with contextlib.suppress(Exception):  # a lock has no values
                made = thing.__reduce_ex__(4)
            self.add([list(one) if isinstance(one, Iterator) else one for one in made])

    def _write(self, *words: object) -> None:
        self._values.update(f"{' '.join(map(str, words))} ".encode())

    def _counts(self, module: str) -> bool:
        """Add a module; return whether its functions and classes are looked into."""
        if _is_known(module):
            return False
        versions = installed_as(module)
        self.sources |= {f"{INSTALLED}{name}": version for name, version in versions.items()}
        if versions and not self._home & set(versions):
            return False
        there = sys.modules.get(module)
        if there is not None and getattr(there, "__file__", None) is not None:
            self.sources[f"{MODULE}{module}"] = source_of(there)[0]
        return True

    def _add_function(self, function: FunctionType) -> None:
        self._add_code(function)
        for cell in function.__closure__ or ():
            with contextlib.suppress(ValueError):  # not filled yet
                self.add(cell.cell_contents)
        self.add((function.__defaults__, function.__kwdefaults__))
        code = function.__code__
        for name in global_names(code):
            if name in function.__globals__:
                self._write(name)
                self._add_used(function.__globals__[name], code)
        for name in _imported(code, function.__globals__.get("__package__")):
            # It is imported when the function is called, if not before.
            if is_users(name):
                with contextlib.suppress(Exception):
                    self._add_used(importlib.import_module(name), code)
            else:
                self._counts(name)

    def _add_code(self, function: FunctionType) -> None:
        """Add which function of its module it is; its source, if that is not in the module's file."""
        code, name = function.__code__, function.__globals__.get("__name__") or ""
        self._counts(name)  # a decorator's module, where `functools.wraps` says otherwise
        module = sys.modules.get(name)
        codes = () if module is None else source_of(module)[1]
        if code in codes:
            self._write(codes.index(code))
            return
        text = ""
        with contextlib.suppress(OSError, SyntaxError):
            inspect.findsource(code)
            text = written_out(code)  # several lambdas may be in one line, in the middle of a statement
            if function.__name__ != "<lambda>":
                source = inspect.getsource(code)
                text = ast.dump(ast.parse(f"if 1:\n{source}" if source[0].isspace() else source))
        self._write(text or written_out(code))
        # What a dataclass or a NamedTuple makes, such as __init__, has no source.
        if not (text or codes or function.__name__.startswith("__")):
            self.sources[f"{function.__module__}.{function.__qualname__}"] = NO_SOURCE

    def _add_used(self, thing: Any, code: CodeType) -> None:
        """Add an object; of a module, what the code names of it."""
        self.add(thing)
        if isinstance(thing, ModuleType) and is_users(thing.__name__) and (id(thing), code) not in self._seen:
            self._seen[id(thing), code] = thing
            for name in sorted({*all_names(code)} & set(vars(thing))):
                self._write(name)
                self._add_used(vars(thing)[name], code)

    def _add_class(self, kind: type) -> None:
        self.add((*kind.__bases__, type(kind)))
        for name, part in sorted(vars(kind).items()):
            inner = getattr(part, "__func__", part)  # of a static method or a class method
            if not name.startswith("__") or isinstance(inner, FunctionType):
                self._write(name)
                self.add(inner)


def _is_known(module: str) -> bool:
    """Return whether a module is this package's, whose code counts as a whole, or Python's own."""
    top = module.partition(".")[0]
    file = getattr(sys.modules.get(module), "__file__", None) or os.__file__
    return top == PACKAGE or (top in sys.stdlib_module_names and file.startswith(os.path.dirname(os.__file__)))


@functools.cache
def _owners(top: str, path: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """Return name, version and folder of the distributions that have installed a package, on Python's path."""
    found = [metadata.distribution(name) for name in sorted(set(_packages(path).get(top, ())))]
    kept = [one for one in found if '"editable": true' not in (one.read_text("direct_url.json") or "")]
    return tuple((one.name, one.version, str(one.locate_file(""))) for one in kept)


@functools.cache
def _packages(path: tuple[str, ...]) -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def source_of(module: ModuleType) -> tuple[str, tuple[CodeType, ...]]:
    """Return a digest of a module's source, and the code in it."""
    file = Path(getattr(module, "__file__", None) or "")
    try:
        content = file.read_bytes()
        if file.name.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
            return hashlib.sha256(content).hexdigest(), ()
        return _read(content)
    except (OSError, SyntaxError, ValueError):
        return NO_SOURCE, ()


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
    """Yield the modules that a function imports."""
    for one in _codes(code):
        steps = list(dis.get_instructions(one))
        for level, _, step in zip(steps, steps[1:], steps[2:], strict=False):
            if step.opname == "IMPORT_NAME":
                with contextlib.suppress(ImportError, ValueError):
                    yield importlib.util.resolve_name("." * level.argval + step.argval, package)


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
    foreign = [kind for kind in kinds if not is_ours(kind)]
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


def _files(name: str, folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    """Yield each file below a folder of the package with its dotted name."""
    for entry in folder.iterdir():
        if entry.name.startswith(("__pycache__", ".")):
            continue
        if entry.is_file():
            yield f"{name}.{entry.name}", entry
        elif entry.is_dir() and entry.name not in WITHOUT_NUMBERS:
            yield from _files(f"{name}.{entry.name}", entry)
