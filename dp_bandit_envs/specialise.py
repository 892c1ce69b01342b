"""Makes a copy of a plain function with one global name rebound: one loop, written once, for many parts."""

import functools
import hashlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

from dp_bandit_envs.compiling.functions import is_ours


def specialise(function: Callable[..., Any], name: str, part: Any) -> Callable[..., Any]:
    """Return a copy of `function` whose global `name` is `part`.

    A closure would do the same in ordinary Python, but the simulator could not compile it. The same arguments give
    the same copy, so that it is compiled once; but for a function of somebody else's, whose globals may have changed.

    Args:
        function: A plain function of a module.
        name: A placeholder of that module, which it uses.
        part: What it uses instead: a function that it calls, or a number.
    """
    return (_kept if is_ours(function) else _specialised)(function, name, part)


def _specialised(function: Callable[..., Any], name: str, part: Any) -> Callable[..., Any]:
    assert isinstance(function, FunctionType)
    assert name in function.__code__.co_names
    namespace = {**function.__globals__, name: part}
    copy = FunctionType(function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__)
    copy.__module__ = function.__module__
    shown = f"{part.__module__}.{part.__qualname__}" if callable(part) else repr(part)
    # Short, because LLVM fails on long names; the same in every process, because cached machine code is found by name.
    digest = hashlib.sha256(f"{function.__qualname__}[{name}={shown}]".encode()).hexdigest()[:12]
    copy.__qualname__ = f"{function.__name__}_{digest}"
    return copy


_kept = functools.lru_cache(maxsize=1024)(_specialised)


def specialise_within(function: Callable[..., Any], name: str, part: Any) -> Callable[..., Any]:
    """Return a copy of `function` in which `name` is `part` wherever it or a plain function that it calls uses it.

    Args:
        function: A plain function, which does not call itself.
        name: A name of functions that are called; where nothing uses it, `function` itself is returned.
        part: What they use instead.
    """
    for used in function.__code__.co_names:
        called = function.__globals__.get(used)
        if not isinstance(called, FunctionType):
            continue
        changed = part if used == name else specialise_within(called, name, part)
        if changed is not called:
            function = specialise(function, used, changed)
    return function
