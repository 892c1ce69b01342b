"""Algorithms by the names of their papers: functions that return wrappers and an agent, listed in `algorithm_table`.

Each family has a file; an algorithm's docstring names its paper.
"""

from dp_bandit_envs.algorithms.algorithm import Algorithm, secured
from dp_bandit_envs.algorithms.algorithm_table import (
    ALGORITHMS,
    algorithm_names,
    make_algorithm,
    register_algorithm,
)
from dp_bandit_envs.algorithms.calibration import calibrate, calibrate_in
from dp_bandit_envs.theory.adversarial_bounds import paper_epsilon

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "algorithm_names",
    "calibrate",
    "calibrate_in",
    "make_algorithm",
    "paper_epsilon",
    "register_algorithm",
    "secured",
]
