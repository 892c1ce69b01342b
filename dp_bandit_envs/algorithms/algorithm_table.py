"""The one table of algorithms: the functions that make them, by the names that the papers gave them; and its doors."""

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.algorithm import Algorithm, made_by
from dp_bandit_envs.algorithms.exp3_family import (
    batched_lap_exp3,
    batched_lap_htinf,
    dp_exp3_lap,
    dp_lambda_lap,
    exp3,
    exp3_set,
    exp3_tau,
    htinf,
    tsallis_inf,
    uniform,
)
from dp_bandit_envs.algorithms.hedge_family import dp_epochs, dp_hedge, hedge, lazy_hedge, noisy_hedge
from dp_bandit_envs.algorithms.kl_ucb_family import adap_klucb, dp_imed, dp_klucb, kl_ucb
from dp_bandit_envs.algorithms.leader_family import as_ftpl, as_ftrl, dp_ftrl
from dp_bandit_envs.algorithms.linear_family import (
    as_exp2,
    as_osmd,
    as_scrible,
    batched_lap_scrible,
    exp2,
    osmd,
    scrible,
)
from dp_bandit_envs.algorithms.thompson_family import dp_ts, lazy_dp_ts, ts, ts_max_n, ts_n
from dp_bandit_envs.algorithms.ucb_family import (
    adap_ucb,
    dp_se,
    dp_ucb,
    dp_ucb_bound,
    dp_ucb_int,
    ldp_ucb_b,
    ldp_ucb_l,
    private_ucb,
    ucb,
    ucb_max_n,
    ucb_n,
)
from dp_bandit_envs.envs.registration import is_defined_again
from dp_bandit_envs.errors import NameTakenError, WrongTypeError
from dp_bandit_envs.text import written_value

ALGORITHMS: dict[str, Callable[..., Algorithm]] = {
    "EXP3": exp3,
    "DP-EXP3-Lap": dp_exp3_lap,
    "DP-Lambda-Lap": dp_lambda_lap,
    "EXP3-tau": exp3_tau,
    "Batched-Lap-EXP3": batched_lap_exp3,
    "Batched-Lap-HTINF": batched_lap_htinf,
    "Tsallis-INF": tsallis_inf,
    "HTINF": htinf,
    "UCB": ucb,
    "KL-UCB": kl_ucb,
    "TS": ts,
    "DP-UCB-BOUND": dp_ucb_bound,
    "DP-UCB": dp_ucb,
    "DP-UCB-INT": dp_ucb_int,
    "Private-UCB": private_ucb,
    "DP-SE": dp_se,
    "AdaP-UCB": adap_ucb,
    "AdaP-KLUCB": adap_klucb,
    "Lazy-DP-TS": lazy_dp_ts,
    "DP-TS": dp_ts,
    "DP-KLUCB": dp_klucb,
    "DP-IMED": dp_imed,
    "LDP-UCB-L": ldp_ucb_l,
    "LDP-UCB-B": ldp_ucb_b,
    "TS-N": ts_n,
    "TS-MaxN": ts_max_n,
    "UCB-N": ucb_n,
    "UCB-MaxN": ucb_max_n,
    "EXP3-SET": exp3_set,
    "Hedge": hedge,
    "DP-Hedge": dp_hedge,
    "Lazy-Hedge": lazy_hedge,
    "DP-Epochs": dp_epochs,
    "Noisy-Hedge": noisy_hedge,
    "AS-FTRL": as_ftrl,
    "AS-FTPL": as_ftpl,
    "DP-FTRL": dp_ftrl,
    "EXP2": exp2,
    "AS-EXP2": as_exp2,
    "SCRiBLe": scrible,
    "AS-SCRiBLe": as_scrible,
    "Batched-Lap-SCRiBLe": batched_lap_scrible,
    "OSMD": osmd,
    "AS-OSMD": as_osmd,
    "Uniform": uniform,
}
"""The one table of algorithms; the function in each row documents the parameters."""


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
