"""Algorithms by the names of their papers: functions that return wrappers and an agent, in `algorithm_table`.

Each paper has a file, named after its first author and year; `baseline` has what is from no paper.
"""

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, SupportsFloat, SupportsIndex, TypeAlias

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.algorithm import Algorithm, made_by
from dp_bandit_envs.algorithms.algorithm_table import ALGORITHMS
from dp_bandit_envs.algorithms.calibration import calibrated_parameters
from dp_bandit_envs.algorithms.secured_algorithm import secured
from dp_bandit_envs.envs.registration import is_defined_again
from dp_bandit_envs.errors import NameTakenError, WrongTypeError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.printed_epsilons import paper_epsilon
from dp_bandit_envs.written_values import written_value

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "algorithm_names",
    "calibrate",
    "calibrate_in",
    "calibrated_in",
    "make_algorithm",
    "paper_epsilon",
    "register_algorithm",
    "secured",
]

Target: TypeAlias = tuple[SupportsFloat, SupportsFloat]
"""An epsilon in (0, inf) and a delta in [0, 1)."""


def algorithm_names() -> list[str]:
    """Return every name that `make_algorithm` knows.

    Example:
        >>> from dp_bandit_envs import algorithm_names
        >>> algorithm_names()[:3]
        ['EXP3', 'DP-EXP3-Lap', 'DP-Lambda-Lap']
    """
    return list(ALGORITHMS)


def make_algorithm(name: str, **parameters: Any) -> Algorithm:
    """Make an algorithm by the name that its paper gave it.

    Args:
        name: One of `algorithm_names()`; upper and lower case are the same.
        parameters: The algorithm's parameters, such as `epsilon=1.0` or `batch_size=19`. The defaults are the paper's,
            except for what its docstring lists under "Differs from the source in", which `dp-bandit show` prints.
            `label` is the name of its results, so that two settings can be compared.

    Raises:
        UnknownNameError: If there is no such algorithm; the message suggests near names.
        TypeError: If the algorithm has no such parameter.

    Example:
        >>> from dp_bandit_envs import make_algorithm
        >>> algorithm = make_algorithm("DP-KLUCB", epsilon=0.5)
        >>> algorithm.guarantee(n_arms=4, horizon=10_000).epsilon
        0.5
        >>> round(make_algorithm("exp3").regret_bound(n_arms=4, horizon=10_000))
        617
    """
    known = checks.known_name("algorithm", name, ALGORITHMS)
    takes = list(inspect.signature(ALGORITHMS[known]).parameters)
    for parameter in parameters:
        if parameter not in (*takes, "label"):
            raise TypeError(f"{known} has no parameter {parameter!r}. Known: {', '.join(takes) or 'none but label'}.")
    return made_by(functools.partial(_named, ALGORITHMS[known], known, **parameters))


def calibrate(
    name: str,
    *,
    epsilon: SupportsFloat,
    delta: SupportsFloat = 0.0,
    n_arms: SupportsIndex,
    horizon: SupportsIndex,
    rounds_per_person: SupportsIndex = 1,
    **parameters: Any,
) -> Algorithm:
    """Make an algorithm whose real guarantee is (epsilon, delta), so that algorithms can be compared at equal privacy.

    The parameter `epsilon` of many algorithms is the paper's, and more or less is guaranteed: Private-UCB with
    `epsilon=1` is 1/K-DP. This searches for the value at which `guarantee(...)`, by `epsilon_at(delta)`, is as close to
    the target as possible from below: within a millionth, unless the algorithm guarantees less at any value, or its
    values are whole numbers. It searches for `epsilon`, for EXP3-tau's `batch_size` and for Hedge's `learning_rate`; an
    algorithm without one of them is returned as it is if it meets the target. Where the algorithm has a `delta` of its
    own, it gets this one.

    Args:
        name: One of `algorithm_names()`.
        epsilon: In (0, inf).
        delta: In [0, 1); 0 for pure differential privacy.
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        rounds_per_person: The most rounds of one person, whom the target is for, at least 1: it is
            `guarantee.for_group(rounds_per_person)` that meets it.
        parameters: The other parameters of the algorithm; a parameter that is given is not searched for.

    Raises:
        UnknownNameError: If there is no such algorithm.
        UnreachableGuaranteeError: If no value meets the target, such as for algorithms without privacy.

    Example:
        >>> from dp_bandit_envs import calibrate, make_algorithm
        >>> make_algorithm("Private-UCB", epsilon=1).guarantee(n_arms=4, horizon=1000).epsilon
        0.25
        >>> equal = calibrate("Private-UCB", epsilon=1, n_arms=4, horizon=1000)
        >>> equal.parameters["epsilon"], equal.guarantee(n_arms=4, horizon=1000).epsilon
        (4.0, 1.0)
    """
    checks.integer("n_arms", n_arms, at_least=2)
    rounds = checks.integer("horizon", horizon, at_least=1)
    found = _calibrated(
        name,
        (epsilon, delta),
        lambda one: one.guarantee(n_arms=n_arms, horizon=rounds),
        rounds,
        parameters,
        rounds_per_person,
    )
    return make_algorithm(name, **found)


def calibrate_in(
    name: str, target: Target, env: Environment, *, rounds_per_person: SupportsIndex = 1, **parameters: Any
) -> Algorithm:
    """Make an algorithm whose guarantee in one game meets a target (epsilon, delta); see `calibrate`.

    Args:
        name: One of `algorithm_names()`.
        target: (epsilon, delta).
        env: The game, without the algorithm's wrappers.
        rounds_per_person: As for `calibrate`.
        parameters: The other parameters of the algorithm; a parameter that is given is not searched for.

    Raises:
        UnknownNameError: If there is no such algorithm.
        UnreachableGuaranteeError: If no value meets the target in this game.
        WrongGameError: If the algorithm cannot play this game.
    """
    return make_algorithm(name, **calibrated_in(name, target, env, rounds_per_person=rounds_per_person, **parameters))


def calibrated_in(
    name: str, target: Target, env: Environment, *, rounds_per_person: SupportsIndex = 1, **parameters: Any
) -> dict[str, Any]:
    """Return the parameters of `calibrate_in`, those given among them."""
    make_algorithm(name, **parameters).check_game(env)
    rounds = env.get_wrapper_attr("horizon")
    return _calibrated(name, target, lambda one: one.guarantee_in(env), rounds, parameters, rounds_per_person)


def _calibrated(
    name: str,
    target: Target,
    measure: Callable[[Algorithm], PrivacyGuarantee],
    horizon: int,
    parameters: dict[str, Any],
    rounds_per_person: SupportsIndex,
) -> dict[str, Any]:
    known = checks.known_name("algorithm", name, ALGORITHMS)
    epsilon, delta = target
    checked = (checks.greater_than("epsilon", epsilon, 0.0), 0.0 if delta == 0 else checks.delta(delta))
    make = functools.partial(make_algorithm, known)
    group = checks.integer("rounds_per_person", rounds_per_person, at_least=1)
    return calibrated_parameters(make, ALGORITHMS[known], known, checked, measure, horizon, parameters, group)


def register_algorithm(name: str, maker: Callable[..., Algorithm]) -> None:
    """Add an algorithm of your own to the table that `make_algorithm`, `simulate` and `dp-bandit run` use.

    A function that is defined again, as by a cell of a notebook that is run again, takes the place of the older one.

    Each process has a table of its own; `register_adversary` explains how other processes find yours.

    Args:
        name: Letters, digits and hyphens, beginning with a letter, such as `"My-EXP3"`.
        maker: A function of keyword parameters, all with defaults, that returns an `Algorithm`; its docstring states
            the parameters, the guarantee and the source.

    Raises:
        WrongTypeError: If the name is no text, or `maker()` does not return an `Algorithm`.
        ValueError: If the name has other characters, or does not begin with a letter.
        NameTakenError: If an algorithm has this name, in upper or lower case, unless it is defined again.

    Example:
        >>> from dp_bandit_envs import Algorithm, Exp3, make_algorithm, register_algorithm
        >>> def bold_exp3(*, exploration_rate=0.5):
        ...     return Algorithm("Bold-EXP3", lambda: Exp3(exploration_rate=exploration_rate))
        >>> register_algorithm("Bold-EXP3", bold_exp3)
        >>> make_algorithm("bold-exp3").name
        'Bold-EXP3'
    """
    if not isinstance(name, str):
        raise WrongTypeError(f"name must be text, such as 'My-EXP3'; received a {type(name).__name__}.")
    if not re.fullmatch("[A-Za-z][A-Za-z0-9-]*", name):
        raise ValueError(f"name must be letters, digits and hyphens, such as 'My-EXP3'; received {name!r}.")
    again = name in ALGORITHMS and is_defined_again(ALGORITHMS[name], maker)
    same = [known for known in ALGORITHMS if known.lower() == name.lower() and not again]
    if same:
        raise NameTakenError(f"name must be new; received {name!r}, but there is {same[0]}. Use another name.")
    made = maker() if callable(maker) and not isinstance(maker, type) else None
    if not isinstance(made, Algorithm):
        raise WrongTypeError(
            f"maker must be a function that returns an Algorithm when called without arguments; received {maker!r}."
        )
    ALGORITHMS[name] = maker


def _named(maker: Callable[..., Algorithm], name: str, *, label: str | None = None, **parameters: Any) -> Algorithm:
    """Make an algorithm; its results are named by the label, its random streams by name and parameters alone."""
    made = maker(**parameters)
    player = f"{name} {written_value(made.parameters)}"
    return dataclasses.replace(made, name=name if label is None else label, player=player)
