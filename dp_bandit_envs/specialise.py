"""Makes a copy of a plain function with one global name rebound; see `compiling.functions.bind`."""

import functools
from collections.abc import Callable
from typing import Any

from dp_bandit_envs.compiling.functions import bind, is_ours, rebound


def specialise(function: Callable[..., Any], name: str, part: Any) -> Callable[..., Any]:
    """Return a copy of `function` whose own global `name` is `part`."""
    return (_kept if is_ours(function) else _rebound)(function, name, part)


def specialise_within(function: Callable[..., Any], name: str, part: Any) -> Callable[..., Any]:
    """Return `bind` of one name."""
    return bind(function, {name: part})


def _rebound(function: Callable[..., Any], name: str, part: Any) -> Callable[..., Any]:
    return rebound(function, {name: part})  # type: ignore[no-any-return]


_kept = functools.lru_cache(maxsize=1024)(_rebound)
