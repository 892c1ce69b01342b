"""The privacy wrappers by name, made from the table of mechanisms: a boundary, with a mechanism's arguments and docs.

A class is made when it is first asked for, once for one game and once for many (`wrappers.vector`).
"""

import contextlib
import copy
import inspect
import re
import sys
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms import MECHANISMS

Arguments = ParamSpec("Arguments")
Below = TypeVar("Below")
Boundary = TypeVar("Boundary")

ENV = "env: A bandit environment, or a privacy wrapper around one that releases gains."


def wrapper_of(
    boundary: Callable[[Below, Mechanism], Boundary], mechanism: Callable[Arguments, Mechanism]
) -> Callable[Concatenate[Below, Arguments], Boundary]:
    """Return the class of a boundary with this mechanism; it takes the environment and the mechanism's arguments.

    Args:
        boundary: `PrivacyBoundary` or its vector form; its package is where the class is found.
        mechanism: A mechanism's class of the table.
    """
    assert isinstance(boundary, type) and isinstance(mechanism, type)
    name, package = mechanism.__name__, boundary.__module__.rpartition(".")[0]

    takes = inspect.signature(mechanism)

    def __init__(self: Any, env: Any, *args: Any, **arguments: Any) -> None:
        keep_parameters(self, mechanism, *args, **arguments)
        boundary.__init__(self, env, mechanism(*args, **arguments))  # type: ignore[misc]

    first = [inspect.Parameter(one, inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in ("self", "env")]
    # Without annotations, which would bury names and defaults; the docstring gives ranges.
    own = [one.replace(annotation=one.empty) for one in takes.parameters.values()]
    __init__.__signature__ = inspect.Signature([*first, *own])  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{name}.__init__"
    members = {"__init__": checks.answers_wrong_calls(__init__), "__module__": package, "__doc__": _docs(mechanism)}
    made: Callable[Concatenate[Below, Arguments], Boundary] = parameters_of(mechanism)(type(name, (boundary,), members))
    return made


def parameters_of(mechanism: type) -> Callable[[Any], Any]:
    """Return what gives a wrapper's class a property for each parameter of its mechanism; none of them can be set."""

    def with_properties(wrapper: Any) -> Any:
        for name in inspect.signature(mechanism).parameters:
            if not hasattr(wrapper, name):
                setattr(wrapper, name, _parameter(name))
        return wrapper

    return with_properties


def _parameter(name: str) -> property:
    def get(self: Any) -> Any:
        # A copy, as it is what the noise was made of; of an iterator there is what the mechanism made of it.
        return copy.deepcopy(self._parameters[name]) if name in self._parameters else getattr(self.mechanism, name)

    def refuse(self: Any, value: Any) -> None:
        raise AttributeError(
            f"{name} of a {type(self).__name__} cannot be set: its guarantee holds for the wrapper as it was made. Make"
            " another one."
        )

    return property(get, refuse, doc=f"The parameter {name}, as it was given; it cannot be set.")


def keep_parameters(wrapper: Any, mechanism: type, *args: Any, **arguments: Any) -> None:
    """Keep what a mechanism is made with, for the properties of `parameters_of`."""
    given = inspect.signature(mechanism).bind(*args, **arguments)
    given.apply_defaults()
    wrapper._parameters = {}
    for name, value in given.arguments.items():
        with contextlib.suppress(TypeError):  # an iterator has no copy
            wrapper._parameters[name] = copy.deepcopy(value)


def named(package: str, boundary: type, name: str) -> Any:
    """Return the wrapper of that name for a package's `__getattr__`, and keep it there, so that pickles find it."""
    if name not in MECHANISMS:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    made = vars(sys.modules[package])[name] = wrapper_of(boundary, MECHANISMS[name])
    return made


def _docs(mechanism: type) -> str:
    """Return a mechanism's docstring with `env` among its arguments."""
    docs = inspect.cleandoc(mechanism.__doc__ or mechanism.__name__)
    line = f"    {ENV}\n"
    if "\nArgs:\n" in docs:
        return docs.replace("\nArgs:\n", f"\nArgs:\n{line}", 1)
    head, mark, tail = re.split(r"(\n(?:Protects|Source):|$)", docs, maxsplit=1)[:3]
    return f"{head.rstrip()}\n\nArgs:\n{line}{mark}{tail}"
