"""Algorithms by the names of the papers: one table from a name to wrappers and an agent."""

from collections.abc import Callable
from typing import Any

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.bases import exp3, htinf, tsallis_inf, uniform
from dp_bandit_envs.algorithms.laplace import batched_lap_exp3, batched_lap_htinf, dp_exp3_lap, dp_lambda_lap
from dp_bandit_envs.algorithms.mini_batch_exp3 import exp3_tau, paper_epsilon

__all__ = ["ALGORITHMS", "Algorithm", "algorithm_names", "make_algorithm", "paper_epsilon"]

ALGORITHMS: dict[str, Callable[..., Algorithm]] = {
    "EXP3": exp3,
    "DP-EXP3-Lap": dp_exp3_lap,
    "DP-Lambda-Lap": dp_lambda_lap,
    "EXP3-tau": exp3_tau,
    "Batched-Lap-EXP3": batched_lap_exp3,
    "Batched-Lap-HTINF": batched_lap_htinf,
    "Tsallis-INF": tsallis_inf,
    "HTINF": htinf,
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
        parameters: What the algorithm takes, such as `epsilon=1.0` or `batch_size=19`; left out, the paper's. `label`
            files its results under another name, so that two settings can be compared.

    Raises:
        UnknownName: If there is no such algorithm; the message suggests near names.
        TypeError: If the algorithm has no such parameter.
    """
    return ALGORITHMS[checks.known_name("algorithm", name, ALGORITHMS)](**parameters)
