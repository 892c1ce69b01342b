"""Regret in the results of figure-modern: at the end, and averaged over the last two powers of ten."""

import numpy as np

from dp_bandit_envs.experiments.figure_modern.modern_setup import VIEW
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.runs.experiment import Results


def end(results: Results) -> int:
    """Return the number of rounds T."""
    assert results.experiment.horizon is not None
    return results.experiment.horizon


def start(results: Results, panel: str) -> int:
    """Return the checkpoint at which the last two powers of ten begin."""
    rounds = results.rounds(panel)
    return min(int(np.searchsorted(rounds, rounds[-1] / 100)), len(rounds) - 1)


def last(results: Results, panel: str, name: str) -> FloatArray:
    """Return each run's regret after the last round."""
    regret: FloatArray = results.regret(panel, name, VIEW.measure)[:, -1]
    return regret


def averaged(results: Results, panel: str, name: str) -> FloatArray:
    """Return each run's regret, averaged over the last two powers of ten; checkpoints are even in ln t."""
    late: FloatArray = results.regret(panel, name, VIEW.measure)[:, start(results, panel) :].mean(axis=1)
    return late
