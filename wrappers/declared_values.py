"""Checks what a game says of the values that it reveals, because noise in every norm is scaled to it."""

import math
from typing import Any

from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.privacy.mechanism import Below
from dp_bandit_envs.privacy.values import OWN_NORMS, Values

ROUNDING = 1 + 1e-9
"""By how much a declared distance may fall short of another one, as both are rounded."""


def check_values(facts: Below, name: str) -> None:
    """Raise if the values that a game or a mechanism declares are not possible, or do not fit its sensitivity.

    Args:
        facts: What it declares.
        name: Its name, or that of the wrapper around it, for the message.

    Raises:
        WrongTypeError: If the declared `values` are no `Values`.
        ValueError: If no noise could be scaled to them, or some noise would be too small.
    """
    check_range(facts.values, name)
    check_distances(facts, name)


def check_range(values: Any, name: str) -> None:
    """Raise if the declared range, distances or norm are not possible."""
    if not isinstance(values, Values):
        raise WrongTypeError(f"{name} needs `values` that are Values; received a {type(values).__name__}.")
    rules = {
        "low": _is_number(values.low),
        "high": _is_number(values.high) and _is_number(values.low) and values.low < values.high,
        "l2": _is_number(values.l2) and values.l2 > 0,
        "norm": values.norm == "" or values.norm in OWN_NORMS,
        "own": not values.norm or (_is_number(values.own) and values.own > 0),
        "complete": isinstance(values.complete, bool),
    }
    for fact, holds in rules.items():
        if not holds:
            raise ValueError(
                f"{name} needs `values` with finite low < high, distances l2 and own greater than 0, a norm among"
                f" {', '.join(OWN_NORMS)} or none, and complete True or False; received {fact} ="
                f" {getattr(values, fact)!r}."
            )


def check_distances(facts: Below, name: str) -> None:
    """Raise `ValueError` if the declared distances in L2 or the own norm are ruled out by the sensitivity, in L1.

    The L1 norm of n values is at least as large as the others, and at most sqrt(n) times their L2 norm and n times the
    largest of them.
    """
    n, values = facts.gains_in_a_round, facts.values
    most = {"l2": math.sqrt(n), "sup": float(n), "l1": 1.0}
    distances = {"l2": values.l2 * most["l2"]}
    if values.norm:
        distances["own"] = values.own * most[values.norm]
    for fact, in_l1 in distances.items():
        if facts.sensitivity * ROUNDING < getattr(values, fact):
            raise ValueError(
                f"{name} needs a sensitivity, which is a distance in L1, of at least the {fact} of its `values`;"
                f" received {facts.sensitivity!r} and {getattr(values, fact)!r}. Laplace noise would be too small."
            )
        if in_l1 * ROUNDING < facts.sensitivity:
            raise ValueError(
                f"{name} needs `values` whose distances fit together: with {fact} = {getattr(values, fact)!r},"
                f" {n} values of neighbouring rounds differ by at most {in_l1:.6g} in L1, but the sensitivity is"
                f" {facts.sensitivity!r}. Noise would be too small; declare the largest distance in each norm."
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
