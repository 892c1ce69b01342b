"""Algorithms by the names of the papers: one table from a name to wrappers and an agent."""

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.algorithm import Algorithm, made_by
from dp_bandit_envs.algorithms.bases import exp3, htinf, tsallis_inf, uniform
from dp_bandit_envs.algorithms.dp_ucb_family import dp_ucb, dp_ucb_bound, dp_ucb_int, private_ucb
from dp_bandit_envs.algorithms.graph_feedback import exp3_set, ts_max_n, ts_n, ucb_max_n, ucb_n
from dp_bandit_envs.algorithms.index_policies import kl_ucb, ts, ucb
from dp_bandit_envs.algorithms.laplace import batched_lap_exp3, batched_lap_htinf, dp_exp3_lap, dp_lambda_lap
from dp_bandit_envs.algorithms.local_ucb import ldp_ucb_b, ldp_ucb_l
from dp_bandit_envs.algorithms.mini_batch_exp3 import exp3_tau, paper_epsilon
from dp_bandit_envs.algorithms.private_blocks import adap_klucb, adap_ucb, dp_imed, dp_klucb, dp_se
from dp_bandit_envs.algorithms.private_thompson import dp_ts, lazy_dp_ts
from dp_bandit_envs.errors import NameTaken, WrongType

__all__ = ["ALGORITHMS", "Algorithm", "algorithm_names", "make_algorithm", "paper_epsilon", "register_algorithm"]

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
    "Uniform": uniform,
}
"""The one table of algorithms; a row's function documents its parameters."""


def algorithm_names() -> list[str]:
    """Return every name that `make_algorithm` knows."""
    return list(ALGORITHMS)


def make_algorithm(name: str, **parameters: Any) -> Algorithm:
    """Make an algorithm by the name that its paper gave it.

    Args:
        name: One of `algorithm_names()`; upper and lower case are the same.
        parameters: What the algorithm takes, such as `epsilon=1.0` or `batch_size=19`; left out, the paper's but
            for what its docstring lists under "Differs from the source in", which `dp-bandit show` prints. `label`
            files its results under another name, so that two settings can be compared.

    Raises:
        UnknownName: If there is no such algorithm; the message suggests near names.
        TypeError: If the algorithm has no such parameter.
    """
    known = checks.known_name("algorithm", name, ALGORITHMS)
    takes = [parameter for parameter in inspect.signature(ALGORITHMS[known]).parameters if parameter != "label"]
    for parameter in parameters:
        if parameter not in (*takes, "label"):
            raise TypeError(f"{known} has no parameter {parameter!r}. Known: {', '.join(takes) or 'none but label'}.")
    maker = ALGORITHMS[known]
    if "label" not in inspect.signature(maker).parameters:
        maker = functools.partial(_named, maker, known)
    return made_by(functools.partial(maker, **parameters))


def register_algorithm(name: str, maker: Callable[..., Algorithm]) -> None:
    """Make `name` as good as ours: for `make_algorithm`, `simulate` and `dp-bandit run` of this process.

    Each process has a table of its own; see `register_adversary` for how others find yours.

    Args:
        name: Letters, digits and hyphens, beginning with a letter, such as `"My-EXP3"`.
        maker: A function of keyword parameters, all with defaults, that returns an `Algorithm`; its docstring tells the
            parameters, the guarantee and the source. It may take `label`, the name that results are filed under.

    Raises:
        WrongType: If the name is no text, or `maker()` does not return an `Algorithm`.
        ValueError: If the name is not as above.
        NameTaken: If there is such an algorithm, in whatever case its letters are.
    """
    if not isinstance(name, str):
        raise WrongType(f"name must be text, such as 'My-EXP3'; received a {type(name).__name__}.")
    if not re.fullmatch("[A-Za-z][A-Za-z0-9-]*", name):
        raise ValueError(f"name must be letters, digits and hyphens, such as 'My-EXP3'; received {name!r}.")
    same = [known for known in ALGORITHMS if known.lower() == name.lower()]
    if same:
        raise NameTaken(f"name must be new; received {name!r}, but there is {same[0]}. Use another name.")
    made = maker() if callable(maker) and not isinstance(maker, type) else None
    if not isinstance(made, Algorithm):
        raise WrongType(
            f"maker must be a function that returns an Algorithm when called without arguments; received {maker!r}."
        )
    ALGORITHMS[name] = maker


def _named(maker: Callable[..., Algorithm], name: str, *, label: str | None = None, **parameters: Any) -> Algorithm:
    """Make an algorithm whose maker knows no label, and file its results under the label or its registered name."""
    return dataclasses.replace(maker(**parameters), name=name if label is None else label)
