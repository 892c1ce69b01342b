"""Completes the privacy wrapper classes: read-only parameters, and the docstring of the mechanism."""

import contextlib
import copy
import functools
import inspect
import re
from typing import Any, TypeVar

import gymnasium as gym

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.mechanisms import MECHANISMS

WrapperClass = TypeVar("WrapperClass", bound=type)

ENV = "env: A bandit environment, or a privacy wrapper around one that releases gains."
VECTOR_ENV = "env: Vector bandit environments, or another vector privacy wrapper around them."


def privacy_wrapper(wrapper: WrapperClass) -> WrapperClass:
    """Complete the class of a boundary with the mechanism of the same name, whose arguments `__init__` takes.

    Each parameter becomes a property, wrong calls raise helpful errors, and the rest of the mechanism's docstring
    follows the class's own first sentence.
    """
    constructor: Any = vars(wrapper)["__init__"]
    signature = inspect.signature(constructor)

    @functools.wraps(constructor)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        call = signature.bind(self, *args, **kwargs)
        call.apply_defaults()
        self._arguments = {}
        for name in parameters:
            with contextlib.suppress(TypeError):  # an iterator has no copy
                self._arguments[name] = copy.deepcopy(call.arguments[name])
        constructor(self, *args, **kwargs)

    _, _, *parameters = signature.parameters  # without self and env
    for name in parameters:
        if not hasattr(wrapper, name):
            setattr(wrapper, name, _parameter(name))
    wrapper.__init__ = checks.answers_wrong_calls(__init__)  # type: ignore[misc]
    wrapper.__doc__ = _docs(wrapper)
    return wrapper


def _parameter(name: str) -> property:
    """Return the property of a parameter."""

    def get(self: Any) -> Any:
        # A copy, as the noise depends on it; of an iterator there is what the mechanism made of it.
        return copy.deepcopy(self._arguments[name]) if name in self._arguments else getattr(self.mechanism, name)

    def refuse(self: Any, argument: Any) -> None:
        raise AttributeError(
            f"{name} of a {type(self).__name__} cannot be set: its guarantee holds for the wrapper as it was made. Make"
            " another one."
        )

    return property(get, refuse, doc=f"The parameter {name}, as it was given; it cannot be set.")


def _docs(wrapper: type) -> str:
    """Return a wrapper's own first sentence and the rest of its mechanism's docstring, with `env` among the arguments.

    A vector form has no example, because the mechanism's example plays one game.
    """
    _, _, docs = inspect.cleandoc(MECHANISMS[wrapper.__name__].__doc__ or "").partition("\n\n")
    env = ENV
    if issubclass(wrapper, gym.vector.VectorWrapper):
        docs, env = docs.partition("\n\nExample:")[0], VECTOR_ENV
    if "Args:\n" in docs:
        docs = docs.replace("Args:\n", f"Args:\n    {env}\n", 1)
    else:
        docs = re.sub(r"\n\n(?=Protects:|Source:|Example:)|$", f"\n\nArgs:\n    {env}\n\n", docs, count=1).rstrip()
    return f"{inspect.cleandoc(wrapper.__doc__ or '')}\n\n{docs}"
