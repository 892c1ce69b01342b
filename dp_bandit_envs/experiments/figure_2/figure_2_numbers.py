"""Numbers for the claims of figure 2: gaps between runs, printed bounds, first releases."""

import math
from collections.abc import Mapping

import numpy as np

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.privacy.interval_ends import interval_ends, paper_input, zeta
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.runs.experiment import GameSpec, Results

UCB, PRIVATE_UCB, BOUND, ZEROS, INT = "UCB", "Private-UCB", "DP-UCB-BOUND", "DP-UCB", "DP-UCB-INT"
OWN = (BOUND, ZEROS, INT)
"""The algorithms that the paper introduces."""
PSEUDO = "pseudo_regret"
SPLITS = np.linspace(0.01, 0.99, 99)
FAR = 10**6
"""An upper bound on the pulls before an arm's first release."""


def name_of(panel: GameSpec) -> str:
    """Return a panel's name for use in a sentence, such as "2 arms at epsilon = 1"."""
    return f"{len(arms(panel))} arms at {level_of(panel)}"


def level_of(panel: GameSpec) -> str:
    """Return a panel's privacy level, such as "epsilon = 1"."""
    return f"epsilon = {settings(panel, INT)['epsilon']:g}"


def horizon(results: Results) -> int:
    """Return the number of rounds T."""
    return int(results.rounds(results.experiment.panels[0].key)[-1])


def arms(panel: GameSpec) -> FloatArray:
    """Return the arms' means."""
    return np.array(panel.env_kwargs["means"], dtype=float)


def runs(results: Results, panel: GameSpec, name: str) -> FloatArray:
    """Return the pseudo-regret of each run after the last round."""
    last: FloatArray = results.regret(panel.key, name, PSEUDO)[:, -1]
    return last


def realised(results: Results, panel: GameSpec, name: str) -> FloatArray:
    """Return T times the best mean minus what was collected: the paper's equation (2.1) without the expectation."""
    collected = results.arrays[f"{panel.key}/{name}/collected"][:, -1]
    regret: FloatArray = horizon(results) * arms(panel).max() - collected
    return regret


def spread(sample: FloatArray) -> float:
    """Return the difference between the worst run and the best."""
    return float(sample.max() - sample.min())


def in_turn(results: Results, panel: GameSpec) -> float:
    """Return the regret of playing all arms in turn."""
    means = arms(panel)
    return float(horizon(results) * (means.max() - means.mean()))


def settings(panel: GameSpec, name: str) -> Mapping[str, float]:
    """Return the parameters of an algorithm in a panel."""
    assert panel.contestants is not None
    return next(one.parameters for one in panel.contestants if one.name == name)


def epsilon_of(results: Results, panel: GameSpec, name: str, **changes: str) -> float:
    """Return the epsilon that an algorithm of a panel guarantees, with some of its parameters changed."""
    algorithm = make_algorithm(name, **{**settings(panel, name), **changes})
    return algorithm.guarantee(n_arms=len(arms(panel)), horizon=horizon(results)).epsilon


def input_epsilon(panel: GameSpec) -> float:
    """Return the input parameter of DP-UCB-INT by corollary 3.2."""
    given = settings(panel, INT)
    return paper_input(given["epsilon"], given["delta"], given["v"])


def first_release(panel: GameSpec) -> int:
    """Return the number of pulls after which DP-UCB-INT first releases an arm's mean, f_0 of lemma B.1."""
    return int(interval_ends(input_epsilon(panel), settings(panel, INT)["v"], FAR, "lemma")[0])


def pulls_of_a_bonus_above_one(n_arms: int, t: int, epsilon: float) -> float:
    """Return the number of pulls up to which the noise bonus of Private-UCB exceeds 1, at failure probability t^-4.

    Source: Mishra and Thakurta (2015), algorithm 1: K ln^2 T ln(K T ln T / gamma) / epsilon.
    """
    log = max(math.log(t), 1.0)
    return n_arms * log**2 * math.log(n_arms * log * float(t) ** 5) / epsilon


def printed_bounds(results: Results, panel: GameSpec) -> dict[str, float]:
    """Return the bounds of theorems 3.2, 3.3 and 3.5 as printed, with the lambda_0 that minimises 3.2."""
    t, means = horizon(results), arms(panel)
    epsilon = settings(panel, INT)["epsilon"]
    gaps = (means.max() - means)[means < means.max()]
    log = math.log(t)
    b = math.sqrt(8) / (epsilon * (1 - SPLITS)) * math.log(4 * float(t) ** 4)
    each = np.maximum(b * (np.log(b) + 7), 8 * log / (SPLITS**2 * gaps[:, None])).sum(axis=0).min()
    c = 56 * (2 + math.sqrt(3.5)) * math.sqrt(log) / epsilon
    squared = (c * (math.log(c) + 7)) ** 2 if c > 0 else 0.0
    tail = 4 * zeta(1.5)
    return {
        BOUND: float(each + (gaps * (1 + 2 * math.pi**2 / 3)).sum()),
        ZEROS: float((gaps * (np.maximum(squared, 8 * log / gaps**2) + 1 + tail)).sum()),
        INT: float((gaps * (first_release(panel) + 8 * log / gaps**2 + 1 + tail)).sum()),
    }
