"""Finds the one agent in a submitted file."""

import inspect
import linecache
import sys
import types
from collections.abc import Callable
from typing import Any, Final

from dp_bandit_envs.protocols import Agent

MODULE: Final = "submission"
"""The name under which a file is loaded, whatever its own: one called numpy.py hides nothing."""
METHODS: Final = ("begin", "select_arm", "update")
MAKER: Final = "make_agent"


class SubmissionError(Exception):
    """A file has no agent, or more than one, or no Python; the message is one sentence with its name."""


def load_maker(source: bytes, file: str) -> Callable[[], Any]:
    """Run a file and return what makes a new agent.

    Args:
        source: What is in it.
        file: Its name, without a folder.

    Raises:
        SubmissionError: If it is no Python, or has not exactly one agent.
        BaseException: Whatever the file itself raises.
    """
    try:
        code = compile(source, file, "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise SubmissionError(f"{file} must be Python; {where}{error.msg}.") from None
    except ValueError as error:
        raise SubmissionError(f"{file} must be Python; {error}.") from None
    text = source.decode(errors="replace")
    # Error messages and inspect.getsource then know the lines.
    linecache.cache[file] = (len(source), None, text.splitlines(keepends=True), file)
    module = types.ModuleType(MODULE)
    module.__file__ = file
    sys.modules[MODULE] = module
    exec(code, vars(module))
    return _maker(vars(module), file)


def _maker(names: dict[str, Any], file: str) -> Callable[[], Any]:
    given = names.get(MAKER)
    if given is not None:
        if not callable(given):
            raise SubmissionError(f"{file}: {MAKER} must be a function that returns a new agent.")
        return _checked(given, MAKER, file)
    # By class: an agent with two names is one agent.
    classes = {value: name for name, value in names.items() if not name.startswith("_") and _is_agent(value)}
    agents = list(classes.values())
    if not agents:
        raise SubmissionError(
            f"{file} must have one agent and has none: write one class with {', '.join(METHODS[:-1])} and"
            f" {METHODS[-1]}, or a function {MAKER}() that returns a new agent."
        )
    if len(agents) > 1:
        raise SubmissionError(
            f"{file} must have one agent and has {len(agents)}: {', '.join(agents)}. Begin the other names with _, or"
            f" write a function {MAKER}() that returns a new agent."
        )
    return _checked(next(iter(classes)), agents[0], file)


def _is_agent(value: Any) -> bool:
    """Whether a value is a class of an agent that the file itself defines."""
    if not inspect.isclass(value) or value.__module__ != MODULE or inspect.isabstract(value):
        return False
    return Agent in value.__mro__ or all(callable(getattr(value, method, None)) for method in METHODS)


def _checked(make: Callable[[], Any], name: str, file: str) -> Callable[[], Any]:
    """Return a function that makes an agent and looks for its methods; those of the class `Agent` do nothing."""
    made: dict[int, Any] = {}

    def checked() -> Any:
        agent = make()
        if id(agent) in made:
            raise SubmissionError(
                f"{file}: {name}() must return a new agent at every call, one for each game; it returned the same one"
                " twice."
            )
        made[id(agent)] = agent  # kept, so that no other object gets its id
        kind = type(agent)
        missing = [
            method
            for method in METHODS
            if not callable(getattr(agent, method, None)) or getattr(kind, method, None) is getattr(Agent, method)
        ]
        if missing:
            what = f"the {kind.__name__} that {MAKER}() returns" if name == MAKER else name
            raise SubmissionError(
                f"{file}: an agent must have {', '.join(METHODS[:-1])} and {METHODS[-1]}; {what} has no"
                f" {' and no '.join(missing)}."
            )
        return agent

    return checked
