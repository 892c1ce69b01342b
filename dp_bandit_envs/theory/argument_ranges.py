"""Ranges of the arguments of bounds, by name: a symbol has the same meaning and range in all of them."""

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, ParamSpec, SupportsFloat, TypeVar

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongTypeError

P = ParamSpec("P")
R = TypeVar("R")
Rule = Callable[[str, Any], Any]

RATES: Final = ("smallest-bound", "paper")


def arm_means(means: Sequence[SupportsFloat]) -> list[float]:
    """Return the arms' means as floats, or raise if there are fewer than 2 or one is not in [0, 1]."""
    numbers = [checks.in_range(f"means[{arm}]", mean, 0, 1) for arm, mean in enumerate(_several("means", means))]
    if not len(numbers) >= 2:
        raise ValueError(f"means must hold at least 2 arms; received {len(numbers)}.")
    return numbers


def _several(name: str, value: Iterable[Any]) -> list[Any]:
    try:
        return list(value)
    except TypeError:
        raise WrongTypeError(f"{name} must be several numbers; received {value!r}.") from None


def _numbers(name: str, value: Any) -> list[float]:
    numbers = [checks.real(f"{name}[{place}]", one) for place, one in enumerate(_several(name, value))]
    if not (numbers and all(one >= 0 for one in numbers)):
        raise ValueError(f"{name} must be at least one number, each at least 0; received {value!r}.")
    return numbers


def _gaps(name: str, value: Any) -> list[float]:
    numbers = _numbers(name, value)
    if min(numbers) > 0:
        raise ValueError(f"{name} must have a 0, that of the best arm; received {value!r}.")
    return numbers


def _ends(name: str, value: Any) -> list[int]:
    if isinstance(value, np.ndarray) and value.dtype == np.int64 and value.ndim == 1 and value.min(initial=1) >= 1:
        numbers: list[int] = value.tolist()
    else:
        numbers = [_whole(1)(f"{name}[{place}]", number) for place, number in enumerate(_several(name, value))]
    if not all(early < late for early, late in itertools.pairwise(numbers)):
        raise ValueError(f"{name} must be ascending; received {checks.shown(value)}.")
    return numbers


def function(name: str, value: Any) -> Callable[..., float]:
    """Wrap a function so that it checks that its value is a number; raise if it is not a function."""
    if not callable(value):
        raise WrongTypeError(f"{name} must be a function; received {checks.kind_of(value)}.")
    return lambda *arguments: checks.real(f"what {name} returns", value(*arguments))


def _whole(least: int) -> Rule:
    def rule(name: str, value: Any) -> int:
        number = checks.integer(name, value, at_least=least)
        checks.real(name, number)  # larger than any float: no bound is a number
        return number

    return rule


def _not_negative(name: str, value: Any) -> float:
    return checks.at_least(name, value, 0)


def _positive(name: str, value: Any) -> float:
    return checks.greater_than(name, value, 0)


def _probability(name: str, value: Any) -> float:
    return checks.in_range(name, value, 0, 1)


def _any_of(*choices: str) -> Rule:
    return lambda name, value: checks.one_of(name, value, choices)


def or_none(rule: Rule) -> Rule:
    """Return the rule "None, or meets this rule"."""
    return lambda name, value: None if value is None else rule(name, value)


BALL_OR_CUBE: Final = _any_of("ball", "cube")

RULES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(
        ("n_arms", "horizon", "dimension", "rank", "steps", "batches", "batch_size", "window", "period"),
        _whole(1),
    ),
    **dict.fromkeys(("independent", "cover", "releases", "choices"), _whole(1)),
    **dict.fromkeys(("memory", "trials", "most", "most_draws", "nodes", "pulls"), _whole(0)),
    **dict.fromkeys(
        ("scale", "noise_scale", "sigma", "deviation", "clip", "width", "bonus", "slope"),
        _not_negative,
    ),
    **dict.fromkeys(("learning_rate", "failure_weight", "largest", "nats", "squares", "widest"), _not_negative),
    **dict.fromkeys(("rate", "leverage", "variance"), _positive),
    **dict.fromkeys(("exploration_rate", "failure_probability", "redraw_probability", "probability"), _probability),
    "deviations": _numbers,
    "gaps": _gaps,
    **dict.fromkeys(("bound", "enough", "plays"), function),
    "means": lambda _, value: arm_means(value),
    "epsilon": lambda _, value: checks.epsilon(value),
    "alpha": lambda name, value: checks.greater_than(name, value, 2),
    "discount": lambda name, value: _probability(name, _positive(name, value)),
    "v": lambda name, value: checks.in_range(name, value, 1, 1.5),
    "ends": _ends,
    "set_name": _any_of("simplex", "ball", "cube"),
    "kind": _any_of("laplace", "own-norm"),
    "rates": _any_of(*RATES),
    "model": _any_of("central", "local"),
    **dict.fromkeys(("normal", "by_count", "redraws"), checks.boolean),
}


def checked(**rules: Rule) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that checks a bound's arguments, by their names, and that its value is a number.

    Args:
        rules: Rules for arguments of this function that replace `RULES`.
    """

    def decorate(bound: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(bound)
        checkers = {name: rule for name, rule in {**RULES, **rules}.items() if name in signature.parameters}

        @functools.wraps(bound)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            binding = signature.bind(*args, **kwargs)
            for name, value in binding.arguments.items():
                if name in checkers:
                    binding.arguments[name] = checkers[name](name, value)
            try:
                value = bound(*binding.args, **binding.kwargs)
                if not _has_nan(value):
                    return value
            except ArithmeticError:
                pass
            received = ", ".join(f"{name}={value!r}" for name, value in binding.arguments.items())
            raise ValueError(f"{bound.__name__} must have arguments for which it is a float; received {received}.")

        return call

    return decorate


def _has_nan(value: Any) -> bool:
    return any(isinstance(one, float) and math.isnan(one) for one in (value if isinstance(value, tuple) else (value,)))
