"""The table of algorithms: the functions that make them, by their papers' names; and access to it."""

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import (
    drifting_family,
    exp3_family,
    hedge_family,
    identification_family,
    kl_ucb_family,
    leader_family,
    linear_family,
    standard_wrapper,
    thompson_family,
    ucb_family,
)
from dp_bandit_envs.algorithms.algorithm import Algorithm, build_from_recipe
from dp_bandit_envs.envs.registration import is_defined_again
from dp_bandit_envs.errors import NameTakenError, WrongTypeError
from dp_bandit_envs.text import read_call, written_value

ALGORITHMS: dict[str, Callable[..., Algorithm]] = {
    "EXP3": exp3_family.exp3,
    "DP-EXP3-Lap": exp3_family.dp_exp3_lap,
    "DP-Lambda-Lap": exp3_family.dp_lambda_lap,
    "EXP3-tau": exp3_family.exp3_tau,
    "Batched-Lap-EXP3": exp3_family.batched_lap_exp3,
    "Batched-Lap-HTINF": exp3_family.batched_lap_htinf,
    "Clipped-Lap": standard_wrapper.clipped_lap,
    "Tsallis-INF": exp3_family.tsallis_inf,
    "HTINF": exp3_family.htinf,
    "UCB": ucb_family.ucb,
    "KL-UCB": kl_ucb_family.kl_ucb,
    "TS": thompson_family.ts,
    "Gaussian-TS": thompson_family.gaussian_ts,
    "Tuned-TS": thompson_family.tuned_ts,
    "DP-UCB-BOUND": ucb_family.dp_ucb_bound,
    "DP-UCB": ucb_family.dp_ucb,
    "DP-UCB-INT": ucb_family.dp_ucb_int,
    "Private-UCB": ucb_family.private_ucb,
    "DP-SE": ucb_family.dp_se,
    "AdaP-UCB": ucb_family.adap_ucb,
    "AdaC-UCB": ucb_family.adac_ucb,
    "AdaP-KLUCB": kl_ucb_family.adap_klucb,
    "Lazy-DP-TS": thompson_family.lazy_dp_ts,
    "DP-TS": thompson_family.dp_ts,
    "DP-KLUCB": kl_ucb_family.dp_klucb,
    "DP-IMED": kl_ucb_family.dp_imed,
    "LDP-UCB-L": ucb_family.ldp_ucb_l,
    "LDP-UCB-B": ucb_family.ldp_ucb_b,
    "SW-UCB": drifting_family.sw_ucb,
    "D-UCB": drifting_family.d_ucb,
    "SW-KLUCB-CF": drifting_family.sw_klucb_cf,
    "Restarted-AdaP-UCB": drifting_family.restarted_adap_ucb,
    "TS-N": thompson_family.ts_n,
    "TS-MaxN": thompson_family.ts_max_n,
    "UCB-N": ucb_family.ucb_n,
    "UCB-MaxN": ucb_family.ucb_max_n,
    "EXP3-SET": exp3_family.exp3_set,
    "Hedge": hedge_family.hedge,
    "DP-Hedge": hedge_family.dp_hedge,
    "Lazy-Hedge": hedge_family.lazy_hedge,
    "DP-Epochs": hedge_family.dp_epochs,
    "Noisy-Hedge": hedge_family.noisy_hedge,
    "AS-FTRL": leader_family.as_ftrl,
    "AS-FTPL": leader_family.as_ftpl,
    "DP-FTRL": leader_family.dp_ftrl,
    "EXP2": linear_family.exp2,
    "AS-EXP2": linear_family.as_exp2,
    "GOPE": linear_family.gope,
    "DP-GOPE": linear_family.dp_gope,
    "AdaC-GOPE": linear_family.adac_gope,
    "SCRiBLe": linear_family.scrible,
    "AS-SCRiBLe": linear_family.as_scrible,
    "Batched-Lap-SCRiBLe": linear_family.batched_lap_scrible,
    "OSMD": linear_family.osmd,
    "AS-OSMD": linear_family.as_osmd,
    "Top-Two": identification_family.top_two,
    "AdaP-TT": identification_family.adap_tt,
    "DP-TT": identification_family.dp_tt,
    "CTB-TT": identification_family.ctb_tt,
    "Uniform": exp3_family.uniform,
}
"""The one table of algorithms; the function in each row documents the parameters."""


def algorithm_names() -> list[str]:
    """Return every name that `make_algorithm` accepts.

    Example:
        >>> from dp_bandit_envs import algorithm_names
        >>> algorithm_names()[:3]
        ['EXP3', 'DP-EXP3-Lap', 'DP-Lambda-Lap']
    """
    return list(ALGORITHMS)


def make_algorithm(name: str, **parameters: Any) -> Algorithm:
    """Make an algorithm by the name that its paper gave it.

    Args:
        name: One of `algorithm_names()`; upper and lower case are the same. Parameters may follow a colon, as in
            `"DP-KLUCB:epsilon=0.5"`.
        parameters: The algorithm's parameters, such as `epsilon=1.0` or `batch_size=19`. The defaults are the paper's,
            except for the points that its docstring lists under "Differs from the source in"; `dp-bandit show` prints
            them. `label` is the name of its results, so that two settings can be compared.

    Raises:
        UnknownNameError: If the algorithm is unknown; the message suggests near names.
        TypeError: If the algorithm has no such parameter.

    Example:
        >>> from dp_bandit_envs import make_algorithm
        >>> algorithm = make_algorithm("DP-KLUCB", epsilon=0.5)
        >>> algorithm.guarantee(n_arms=4, horizon=10_000).epsilon
        0.5
        >>> round(make_algorithm("exp3").regret_bound(n_arms=4, horizon=10_000))
        617
    """
    if isinstance(name, str) and ":" in name:
        name, written = read_call(name)
        parameters = {**written, **parameters}
    name = checks.known_name("algorithm", name, ALGORITHMS)
    names = list(inspect.signature(ALGORITHMS[name]).parameters)
    for parameter in parameters:
        if parameter not in (*names, "label"):
            raise TypeError(f"{name} has no parameter {parameter!r}. Known: {', '.join(names) or 'none but label'}.")
    return build_from_recipe(functools.partial(_build_named, ALGORITHMS[name], name, **parameters))


@checks.answers_wrong_calls
def register_algorithm(name: str, maker: Callable[..., Algorithm]) -> None:
    """Add your own algorithm to the table that `make_algorithm`, `simulate` and `dp-bandit run` use.

    Defining a function again, as by rerunning a notebook cell, replaces the older function. Each process has its own
    table; `register_adversary` explains how other processes find yours.

    Args:
        name: Letters, digits and hyphens, beginning with a letter, such as `"My-EXP3"`.
        maker: A function of keyword parameters, all with defaults, that returns an `Algorithm`; its docstring states
            the parameters, the guarantee and the source.

    Raises:
        WrongTypeError: If the name is not text, or `maker()` does not return an `Algorithm`.
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
        raise WrongTypeError(f"name must be text, such as 'My-EXP3'; received {checks.kind_of(name)}.")
    if not re.fullmatch("[A-Za-z][A-Za-z0-9-]*", name):
        raise ValueError(f"name must be letters, digits and hyphens, such as 'My-EXP3'; received {name!r}.")
    again = name in ALGORITHMS and is_defined_again(ALGORITHMS[name], maker)
    same = [known for known in ALGORITHMS if known.lower() == name.lower() and not again]
    if same:
        raise NameTakenError(f"name must be new; received {name!r}, but there is {same[0]}. Use another name.")
    built = maker() if callable(maker) and not isinstance(maker, type) else None
    if not isinstance(built, Algorithm):
        raise WrongTypeError(
            "maker must be a function that returns an Algorithm when called without arguments; received"
            f" {_received(maker, built)}. For example def mine(epsilon=1.0): return dp_bandit_envs.Algorithm('Mine',"
            " MyAgent, lambda env: dp_bandit_envs.LaplaceClipRescale(env, epsilon=epsilon))."
        )
    ALGORITHMS[name] = maker


def _received(maker: Any, built: Any) -> str:
    return checks.kind_of(maker) if built is None else f"one that returns {checks.kind_of(built)}"


def _build_named(
    maker: Callable[..., Algorithm], name: str, *, label: str | None = None, **parameters: Any
) -> Algorithm:
    """Make an algorithm; the label names its results, while name and parameters determine its random streams."""
    built = maker(**parameters)
    player = f"{name} {written_value(built.parameters)}"
    return dataclasses.replace(built, name=name if label is None else label, player=player)
