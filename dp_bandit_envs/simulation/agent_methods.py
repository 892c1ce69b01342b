"""Says in one sentence what an own agent's methods lack, or read that is not in an observation."""

import inspect
from collections.abc import Mapping
from typing import Any


def check_methods(agent: Any, *, points: bool) -> None:
    """Raise a TypeError that names the missing methods, or the one that cannot be called as `play` calls it.

    Args:
        agent: The agent.
        points: Whether it plays points instead of arms.
    """
    size, action = ("dimension", "point") if points else ("n_arms", "arm")
    calls = {"begin": f"{size}=, horizon=, rng=", f"select_{action}": "", "update": f"{action}, observation"}
    first, select, last = calls
    needed = f"agent must be an object with the methods {first}, {select} and {last}"
    if inspect.isclass(agent):
        name = agent.__name__
        raise TypeError(f"{needed}; received the class {name}. Use {name}().")
    name = type(agent).__name__
    absent = [method for method in calls if not callable(getattr(agent, method, None))]
    if absent:
        raise TypeError(f"{needed}; received {name}, which has no {' and no '.join(absent)}.")
    for method, arguments in calls.items():
        try:
            signature = inspect.signature(getattr(agent, method))
        except ValueError:  # a method written in another language
            continue
        try:
            if method == "begin":
                signature.bind(**dict.fromkeys((size, "horizon", "rng")))
            else:
                signature.bind(*([None, None] if method == "update" else []))
        except TypeError as error:
            raise TypeError(
                f"play calls {method}({arguments}); received {name}.{method}{signature} ({error}). Use these names."
            ) from None


def note_missing_key(error: KeyError, observation: Mapping[str, Any]) -> None:
    """Add to an error what an observation contains, if an agent asked it for something else."""
    key = error.args[0] if error.args else None
    if isinstance(key, str) and key not in observation:
        *others, last = map(repr, observation)
        error.add_note(f"An observation here has {', '.join(others)} and {last}; rewards and true gains are not in it.")
