"""Checks on arguments, written as "not (good condition)" so that NaN fails too."""

import difflib
import functools
import importlib
import importlib.util
import inspect
import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final, ParamSpec, SupportsFloat, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.errors import NotAnIntegerError, UnknownArgumentError, UnknownNameError, WrongTypeError

P = ParamSpec("P")
R = TypeVar("R")

MOST_ARMS: Final = 1_000_000
"""The most arms of a game: reading a graph with so many takes 2 s and 260 MB, with ten million 26 s and 1.7 GB."""
MOST_ROUNDS: Final = 2**53
"""The most rounds of a game: floats represent every integer up to here exactly."""
MOST_ROUNDS_IN_MEMORY: Final = 2**27
"""The most rounds for parts that store a number for each round: such an array takes 1 GiB."""

DOORS: Final = {
    "play": "environment algorithm epsilon delta horizon n_arms seed trial",
    "simulate": "environment algorithms epsilon delta at_guarantee horizon n_arms trials seed checkpoints jobs"
    " env_kwargs first_trial progress keep",
    "compare": "environments algorithms epsilon delta at_guarantee rounds_per_person horizon n_arms trials seed"
    " checkpoints folder jobs progress",
    "calibrate": "algorithm epsilon delta n_arms horizon rounds_per_person parameters",
    "reproduce": "name folder horizon trials seed jobs progress",
    "OutsideGame": "algorithm n_arms horizon arm_names epsilon delta low high clip seed trial persons ledger diary",
}
"""Functions of the package, and their arguments, which are named where another function is given one of these."""
MEANT: Final = {
    "k": "n_arms",
    "t": "horizon",
    "n_rounds": "horizon",
    "rounds": "horizon",
    "steps": "horizon",
    "runs": "trials",
    "repetitions": "trials",
    "rng": "seed",
    "random_state": "seed",
    "agent": "algorithm",
    "agents": "algorithms",
    "policy": "algorithm",
    "policies": "algorithms",
    "game": "environment",
    "games": "environments",
    "workers": "jobs",
}
"""Names that arguments have elsewhere, in lower case, and those that they have here."""


def answers_wrong_calls(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap the function so that a wrong call raises an error that lists its arguments and suggests alternatives.

    Raises:
        UnknownArgumentError: When it is called with a name that it does not take.
        WrongTypeError: When an argument is missing, or given without its name.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            raise _wrong_call(function, signature, args, kwargs) from None
        return function(*args, **kwargs)

    return call


def answer_wrong_calls_of(class_: type, *methods: str) -> None:
    """Let a class of this package answer wrong calls of those of these methods that it defines."""
    for name in methods:
        if name in vars(class_) and class_.__module__.partition(".")[0] == "dp_bandit_envs":
            setattr(class_, name, answers_wrong_calls(vars(class_)[name]))


def _wrong_call(
    function: Callable[..., Any], signature: inspect.Signature, unnamed: Sequence[Any], named: Mapping[str, Any]
) -> TypeError:
    """Return the error for a call that does not fit the signature."""
    takes = {name: one for name, one in signature.parameters.items() if name != "self" and one.kind != one.VAR_KEYWORD}
    name = function.__qualname__.removesuffix(".__init__")
    if function.__name__ == "begin":  # of a class that inherits it
        name = f"{type(unnamed[0]).__name__}.begin"
    n_positional = len(unnamed) - (len(signature.parameters) - len(takes))
    takes_any = any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values())
    for unknown in (one for one in named if one not in takes):
        meant = MEANT.get(unknown.lower(), unknown)
        listed = isinstance(named[unknown], (list, tuple))
        if listed and "arm_names" in takes and meant in ("n_arms", "arms", "actions", "labels", "names"):
            meant = "arm_names"
        near = near_names(meant if meant in takes else unknown, takes)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"It takes {', '.join(takes)}."
        doors = [door for door, arguments in DOORS.items() if meant in arguments.split()]
        if takes_any and not doors:
            continue
        if doors:
            near = [one for one in near if one in meant or meant in one]
            hint = f"Did you mean {' or '.join(near)}?" if near else f"It takes {', '.join(takes)}."
        if listed and near == ["n_arms"]:
            hint = f"Did you mean n_arms={len(named[unknown])}, their number?"
        others = f" {meant} is for {', '.join(doors)}." if doors and meant not in near else ""
        return UnknownArgumentError(f"{name}()", unknown, hint + others)
    in_order = [key for key, one in takes.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    by_name = [key for key in takes if key not in in_order]
    if n_positional > len(in_order):
        rule = f"all but {', '.join(in_order)}" if in_order else "everything"
        hint_by_name = f" Known: {', '.join(by_name)}." if by_name else ""
        return WrongTypeError(
            f"{name} must be given {rule} by name; received {n_positional} without a name.{hint_by_name}"
        )
    placed = {*in_order[:n_positional], *named}
    missing = [key for key, one in takes.items() if one.default is one.empty and key not in placed]
    rule = " and ".join(missing) if missing else "each argument once"
    more = [f"{key}=..." for key in by_name if takes[key].default is inspect.Parameter.empty]
    return WrongTypeError(f"{name} must be given {rule}, as {name}({', '.join([*in_order, *more])}).")


def level_of_caller() -> int:
    """Return the `stacklevel` with which the calling function's warning names a line outside this package."""
    level, frame = 1, inspect.currentframe()
    frame = frame.f_back if frame is not None else None
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("dp_bandit_envs"):
        level, frame = level + 1, frame.f_back
    return level


def kind_of(value: Any) -> str:
    """Return the kind of a value in words: "the class Exp3", "a str" or "an int"."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


def shown(value: Any) -> str:
    """Return a received value for an error: a plain value itself, else its kind, as it may hold gains."""
    plain = value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic))
    return repr(value) if plain else kind_of(value)


def integer(name: str, value: SupportsIndex, *, at_least: int, at_most: int | None = None) -> int:
    """Return `value` as an int, or raise if it is not a whole number of at least `at_least`, and at most `at_most`."""
    try:
        number = operator.index(value)
    except TypeError:
        whole = isinstance(value, float) and value.is_integer() and value >= at_least
        way_out = f" Use {int(value)}." if whole else ""
        rule = f"{name} must be an integer of at least {at_least}"
        raise NotAnIntegerError(f"{rule}; received {shown(value)}.{way_out}") from None
    if number.bit_length() > 1000:  # which Python does not even write, from 4,300 digits on
        raise ValueError(f"{name} must be an integer that fits a float; received a larger one.")
    if isinstance(value, bool) or not number >= at_least:
        raise ValueError(f"{name} must be an integer of at least {at_least}; received {shown(value)}.")
    if at_most is not None and number > at_most:
        raise ValueError(f"{name} must be at most {at_most:,}; received {shown(value)}. Use a smaller number.")
    return number


def generator(name: str, value: np.random.Generator) -> np.random.Generator:
    """Return `value`, or raise if it has no method that draws random numbers."""
    if not any(hasattr(value, draw) for draw in ("random", "laplace", "normal")):
        raise WrongTypeError(
            f"{name} must be a numpy.random.Generator; received {kind_of(value)}. Use numpy.random.default_rng(...)."
        )
    return value


def arm(value: SupportsIndex, n_arms: int) -> int:
    """Return `value` as an int, or raise if it is not an arm of a game with `n_arms` arms."""
    try:
        number = operator.index(value)
    except TypeError:
        in_array = isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "iu"
        way_out = " Use item() for the integer in it." if in_array else ""
        raise NotAnIntegerError(f"arm must be an integer in [0, {n_arms - 1}]; received {value!r}.{way_out}") from None
    if not 0 <= number < n_arms:
        raise ValueError(f"arm must be an integer in [0, {n_arms - 1}]; received {value!r}.")
    return number


def arms(actions: Any, num_envs: int, n_arms: int) -> NDArray[np.int64]:
    """Return the actions as an integer array of shape `(num_envs,)`, or raise."""
    received = np.asarray(actions)
    if received.shape != (num_envs,):
        raise ValueError(
            f"actions must have shape ({num_envs},), one arm for each game; received shape {received.shape}."
        )
    if received.dtype.kind not in "iu":
        raise NotAnIntegerError(f"arm must be an integer in [0, {n_arms - 1}]; received an array of {received.dtype}.")
    numbers: NDArray[np.int64] = received.astype(np.int64, copy=False)
    # As an unsigned integer, a negative number is huge, so one maximum checks both ends.
    unsigned = numbers.view(np.uint64)
    if not unsigned.max() < n_arms:
        raise ValueError(f"arm must be an integer in [0, {n_arms - 1}]; received {numbers[unsigned >= n_arms][0]}.")
    return numbers


def epsilon(value: SupportsFloat) -> float:
    """Return a privacy parameter as a float, or raise if it is not greater than 0; `math.inf` is allowed."""
    number = real("epsilon", value)
    if not number > 0:
        raise ValueError(
            f"epsilon must be greater than 0; received {shown(value)}. Use inf (math.inf in Python) for no noise."
        )
    return number


def delta(value: SupportsFloat, *, or_zero: bool = False) -> float:
    """Return a privacy failure probability as a float, or raise if it is not in (0, 1) or an allowed 0."""
    number = real("delta", value)
    if not (0 < number < 1 or (or_zero and number == 0)):
        raise ValueError(f"delta must be in (0, 1); received {shown(value)}.")
    return number


def probability(name: str, value: SupportsFloat) -> float:
    """Return a probability as a float, or raise if it is not in (0, 1)."""
    number = real(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must be in (0, 1); received {shown(value)}.")
    return number


def in_range(name: str, value: SupportsFloat, low: float, high: float) -> float:
    """Return `value` as a float, or raise if it is not in [low, high]."""
    number = real(name, value)
    if not low <= number <= high:
        raise ValueError(f"{name} must be in [{low:g}, {high:g}]; received {shown(value)}.")
    return number


def at_least(name: str, value: SupportsFloat, low: float) -> float:
    """Return `value` as a float, or raise if it is not a finite number of at least `low`."""
    number = real(name, value)
    if not (number >= low and math.isfinite(number)):
        raise ValueError(f"{name} must be a finite number of at least {low:g}; received {shown(value)}.")
    return number


def greater_than(name: str, value: SupportsFloat, low: float) -> float:
    """Return `value` as a float, or raise if it is not a finite number greater than `low`."""
    number = real(name, value)
    if not (number > low and math.isfinite(number)):
        raise ValueError(f"{name} must be a finite number greater than {low:g}; received {shown(value)}.")
    return number


def real(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float, or raise a TypeError if it is not a number at all."""
    # NumPy before 2.4 makes a number of an array with one entry.
    if isinstance(value, (str, bytes, bool, np.bool_)) or (isinstance(value, np.ndarray) and value.ndim > 0):
        raise WrongTypeError(f"{name} must be a number; received {shown(value)}.")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise WrongTypeError(f"{name} must be a number; received {shown(value)}.") from None
    except OverflowError:
        raise ValueError(f"{name} must be a number that fits a float; received a larger one.") from None


def path(name: str, value: Any) -> Path:
    """Return `value` as a path, or raise if the name is impossible in every file system."""
    if not isinstance(value, (str, os.PathLike)):
        raise WrongTypeError(f"{name} must be a path, such as 'results/mine'; received {kind_of(value)}.")
    text = os.fsdecode(value)
    if not text or "\0" in text or any("\ud800" <= letter < "\udc80" for letter in text):
        raise ValueError(f"{name} must be a path, such as 'results/mine'; received {text!r}.")
    return Path(text)


def function(name: str, value: Any, *arguments: str) -> Any:
    """Return `value`, or raise if it is not a function that accepts this number of arguments."""
    try:
        inspect.signature(value).bind(*arguments)
    except ValueError:  # what is written in C may have no signature
        fits = not isinstance(value, type)
    except TypeError:
        fits = False
    else:
        fits = True
    if not fits:
        takes = f"of ({', '.join(arguments)})" if arguments else "without arguments"
        raise WrongTypeError(f"{name} must be a function {takes}; received {kind_of(value)}, which is none.")
    return value


def boolean(name: str, value: bool) -> bool:
    """Return `value`, or raise if it is not True or False: the text "false" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise WrongTypeError(f"{name} must be True or False; received {shown(value)}.")
    return bool(value)


def one_of(name: str, value: str, choices: Sequence[str]) -> str:
    """Return `value`, or raise if it is not among `choices`."""
    # isinstance first, because an array would be compared entry by entry.
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; received {shown(value)}.")
    return value


ELSEWHERE: Final = {
    "thompson": ("TS", "Gaussian-TS", "DP-TS"),
    "thompsonsampling": ("TS", "Gaussian-TS", "DP-TS"),
    "random": ("Uniform",),
    "bernoulli": ("Stochastic",),
}
"""Names that other packages have, in lower case, and those of the same thing here."""


MOST_LISTED: Final = 60
"""The most names that an error lists."""
EVERY: Final = ("all", "any", "every", "everything", "*")
"""Words for all names of a kind."""


def near_names(typed: str, names: Iterable[str]) -> list[str]:
    """Return at most three suggestions for a name, the most likely first.

    They are of like letters, or a word in them begins with what was typed.
    """
    names = list(names)
    wanted = re.sub(r"[\W_]", "", typed.lower())
    same = [name for name in ELSEWHERE.get(wanted, ()) if name in names]
    if same:
        return same
    likeness: dict[str, float] = {}
    for name in names:
        letters = re.sub(r"[\W_]", "", name.lower())
        likeness[name] = difflib.SequenceMatcher(None, wanted, letters).ratio()
        words = re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name)
        rests = ("".join(words[start:]).lower() for start in range(len(words)))
        if len(wanted) > 2 and any(rest.startswith(wanted) for rest in rests):
            likeness[name] = max(0.85, likeness[name])
    least = max(0.65, max(likeness.values(), default=0.0) - 0.15)
    near = [name for name, like in likeness.items() if like >= least]
    return sorted(near, key=lambda name: -likeness[name])[:3]


def known_name(kind: str, value: str, names: Iterable[str]) -> str:
    """Return the name in `names` that `value` spells, ignoring case; otherwise raise and suggest the nearest names."""
    names = list(names)
    by_lower = {name.lower(): name for name in names}
    match = by_lower.get(str(value).lower())
    if match is not None:
        return match
    near = near_names(str(value).partition("(")[0], names)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(names)}."
    if not near and len(names) > MOST_LISTED:
        hint = "`dp-bandit list` shows all."
    if str(value).lower() in EVERY:
        hint = f"No word stands for all of them: name each, as {', '.join(names[:2])}."
    if "(" in str(value) and near:
        hint += f" Parameters follow a colon: {near[0]}:parameter=value."
    raise UnknownNameError(f"unknown {kind} {value!r}. {hint}")


def unknown_attribute(owner: Any, name: str) -> AttributeError:
    """Return the error for an attribute that an object does not have, with the nearest ones that it has."""
    # Python and notebooks ask for many names that begin with _.
    public = [one for one in (*dir(type(owner)), *vars(owner)) if not one.startswith("_")]
    near = [] if name.startswith("_") else near_names(name, public)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}.{hint}")


def installed(module: str) -> bool:
    """Return whether a module can be found, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def require(module: str, *, extra: str) -> ModuleType:
    """Import a module, or raise an ImportError that names the extra to install.

    Args:
        module: Its dotted name.
        extra: The extra of this package that installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{package} must be installed for this; it is not ({error}). Use: pip install 'dp-bandit-envs[{extra}]'"
        ) from error
