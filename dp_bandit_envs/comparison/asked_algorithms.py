"""Reads the algorithms of a comparison: names with parameters, and agents and algorithms of your own."""

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm
from dp_bandit_envs.comparison.asked_games import loaded
from dp_bandit_envs.compiling.functions import is_ours
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.written_arguments import in_brackets, read_arguments, read_call

FIXED_BY = {"EXP3-tau": "batch_size"}
"""The parameter that fixes the privacy of an algorithm in place of epsilon and delta."""
WANTED = (
    "an algorithm must be a name, an Algorithm, an agent's class, or a function that returns an Algorithm; received {}."
)


class Own(NamedTuple):
    """What `module:Name:parameter=value` names: a thing in the module, or else an algorithm that it registers."""

    name: str
    thing: Any
    given: dict[str, Any]


class Asked(NamedTuple):
    """An algorithm as it was asked for, before it is known at which epsilons it plays.

    Attributes:
        name: Its name, in the table unless there is a maker.
        parameters: The parameters that were given.
        shown_as: Its name for readers.
        takes: The parameters of the function that makes it, by name.
        maker: Makes it, if it is in no table.
    """

    name: str
    parameters: dict[str, Any]
    shown_as: str
    takes: Mapping[str, inspect.Parameter]
    maker: Callable[..., Algorithm] | None = None

    def label(self, more: Mapping[str, Any]) -> str:
        """Return the name of its results, with more parameters in brackets."""
        own = f"{self.name}{in_brackets(self.parameters)}"
        return (
            f"{self.name}{in_brackets({**self.parameters, **more})}"
            if self.shown_as == own
            else (f"{self.shown_as}{in_brackets(dict(more))}")
        )

    @property
    def takes_epsilon(self) -> bool:
        """Whether an epsilon that is given for all algorithms is for this one."""
        return "epsilon" in self.takes and "epsilon" not in self.parameters and not self._fixed

    @property
    def wants_delta(self) -> bool:
        """Whether it has a delta beside its epsilon."""
        return "delta" in self.takes and ("noise" not in self.takes or self.parameters.get("noise") == "gaussian")

    @property
    def _fixed(self) -> bool:
        return FIXED_BY.get(self.name) in self.parameters

    def at(self, epsilon: float | None, delta: float | None, horizon: Callable[[], int]) -> dict[str, Any]:
        """Return its parameters, with the epsilon if it takes one, and with a delta if it has one.

        The delta is T^-2 unless it is given or the default of somebody else's function.

        Args:
            epsilon: The epsilon for all algorithms, or None.
            delta: The delta for all algorithms, or None.
            horizon: Returns the game's horizon T.
        """
        found = dict(self.parameters)
        # Beside an epsilon that is written with the name, a paper's own delta stands; that of somebody else's always.
        needs_delta = self.wants_delta and self.takes["delta"].default in (None, inspect.Parameter.empty)
        if epsilon is not None and self.takes_epsilon:
            found["epsilon"] = epsilon
            ours = self.maker is None and is_ours(ALGORITHMS[self.name])
            needs_delta = self.wants_delta and (ours or needs_delta)
        else:
            needs_delta = needs_delta and "epsilon" in found
        if delta is not None and self.wants_delta and not self._fixed:
            found.setdefault("delta", delta)
        elif needs_delta:
            found.setdefault("delta", usual_delta(self.name, horizon()))
        return found


def usual_delta(name: str, horizon: int) -> float:
    """Return T^-2, the default for an algorithm with a delta."""
    if horizon < 2:
        raise ValueError(f"horizon must be at least 2 for {name}, whose delta is T^-2; received {horizon}.")
    return float(horizon) ** -2


def asked(algorithm: Any, label: str | None = None, given: Mapping[str, Any] | None = None) -> Asked:
    """Return what is asked for by a name, an object or a function.

    Args:
        algorithm: `NAME`, `NAME:parameter=value,parameter=value`, or `module:Name` for something in a module, or a name
            that the module registers; both may have parameters, too; an `Algorithm`; an agent's class, which plays
            without a wrapper; or a function that returns an `Algorithm` and takes, if it likes, `epsilon` and `delta`.
        label: Its name for readers; by default its own.
        given: Parameters for a class or a function.

    Raises:
        UnknownNameError: If there is no such algorithm.
        ValueError: If the text cannot be read, or names a parameter that the algorithm does not have.
        WrongTypeError: If it is none of these.
    """
    if isinstance(algorithm, str):
        own = imported(algorithm)
        if own is None:
            return _of_table(*read_call(algorithm), label)
        if own.thing is None:
            return _of_table(own.name, own.given, label)
        one = asked(own.thing, own.name, own.given)
        return one if label is None else one._replace(shown_as=label)
    given = dict(given or {})
    if isinstance(algorithm, Algorithm):
        refuse_unknown(algorithm.name, given, {})
        return Asked(label or algorithm.name, {}, label or algorithm.name, {}, functools.partial(_itself, algorithm))
    if not callable(algorithm):
        raise WrongTypeError(WANTED.format(f"a {type(algorithm).__name__}"))
    name = str(label or getattr(algorithm, "__name__", type(algorithm).__name__))
    try:
        takes = inspect.signature(algorithm).parameters
    except ValueError:  # a class of Python's own, such as int
        raise WrongTypeError(WANTED.format(name)) from None
    # Noise follows from what plays, not from what it is called here.
    own_name = getattr(algorithm, "__name__", type(algorithm).__name__)
    bare = functools.partial(Algorithm, own_name, algorithm)
    refuse_unknown(own_name, given, takes)
    shown = f"{name}{in_brackets(given)}"
    if isinstance(algorithm, type):
        made_with = functools.partial(_agent_with, own_name, algorithm) if given else bare
        return Asked(name, given, shown, {}, made_with)
    needed = [key for key, one in takes.items() if one.default is one.empty and one.kind in (0, 1, 3)]
    needed = [key for key in needed if key not in given]
    if set(needed) - {"epsilon", "delta"}:
        raise WrongTypeError(f"{name} must need no arguments but epsilon and delta; it needs {', '.join(needed)}.")
    try:
        made = algorithm(**{key: 1.0 if key == "epsilon" else 1e-6 for key in needed}, **given)
    except (ValueError, TypeError, ImportError, OSError):
        raise  # they say what is wrong
    except Exception as error:
        raise ValueError(f"{name} must return an Algorithm; it raises {type(error).__name__}: {error}.") from error
    if isinstance(made, Algorithm):
        name = label or made.name
        return Asked(name, given, f"{name}{in_brackets(given)}", takes, algorithm)
    of_privacy = [key for key in ("epsilon", "delta") if key in takes]
    if hasattr(made, "update") and of_privacy:
        raise WrongTypeError(
            f"{name} takes {' and '.join(of_privacy)} and must return an Algorithm with a privacy wrapper; it returns"
            " an agent alone, which is not private. Return Algorithm('name', MyAgent, lambda env:"
            " LaplaceClipRescale(env, epsilon=epsilon))."
        )
    if hasattr(made, "update"):
        return Asked(name, given, shown, {}, functools.partial(_agent_with, own_name, algorithm) if given else bare)
    raise WrongTypeError(WANTED.format(f"a function that returns a {type(made).__name__}"))


def _of_table(written: str, parameters: dict[str, Any], label: str | None) -> Asked:
    name = checks.known_name("algorithm", written, ALGORITHMS)
    takes = {key: one for key, one in inspect.signature(ALGORITHMS[name]).parameters.items() if key != "label"}
    refuse_unknown(name, parameters, takes)
    return Asked(name, parameters, label or f"{name}{in_brackets(parameters)}", takes)


def imported(text: str) -> Own | None:
    """Return what a text of the form `module:Name` or `module:Name:parameter=value` names; None if it has another form.

    Raises:
        ValueError: If there is no such module, or nothing of this name in it.
    """
    parts = re.fullmatch(r"([\w.]+):([A-Za-z_][\w-]*)(?::(.*))?", text)
    if parts is None or parts[1].lower() in {known.lower() for known in ALGORITHMS}:
        return None
    module, name, written = parts.groups()
    found = getattr(loaded(module), name, None)
    # What it registers, and not what this package has anyway.
    known = next((one for one, make in ALGORITHMS.items() if one.lower() == name.lower() and not is_ours(make)), None)
    if found is None and known is None:
        raise ValueError(f"{module} must have {name}, or register it; received '{module}:{name}', and it does neither.")
    if written == "":
        raise ValueError(f"parameters must follow the second colon, as in {module}:{name}:parameter=value; none do.")
    return Own(name if found is not None else str(known), found, read_arguments(written or "", name))


def refuse_unknown(name: str, given: Mapping[str, Any], takes: Mapping[str, inspect.Parameter]) -> None:
    """Raise if a parameter is not among those of a function."""
    if any(one.kind is one.VAR_KEYWORD for one in takes.values()):
        return
    unknown = sorted(set(given) - set(takes))
    if unknown:
        known = ", ".join(sorted(takes)) or "none"
        raise ValueError(f"{name} has no parameter {unknown[0]!r}. Known: {known}.")


def _itself(algorithm: Algorithm) -> Algorithm:
    return algorithm


def _agent_with(name: str, make: Callable[..., Any], **parameters: Any) -> Algorithm:
    return Algorithm(name, functools.partial(make, **parameters), parameters=parameters)
