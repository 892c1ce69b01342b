"""A white-box audit of the hybrid counter's outputs: the paper's budget loses twice epsilon, the split one does not.

Neighbours differ in the first item of a tree. The event is the one that tells them apart best, read off the outputs:
the draws, as the releases betray them, all lie beyond what item 1 instead of item 0 would explain.
"""

import math

import numpy as np
import pytest
from counter_tools import least_log_ratio, linear_map, measured_noise, shifts

from dp_bandit_envs.privacy.counters import HybridCounter

FAILURE = 1e-6
"""Probability with which one audit may report more than there is."""


def counts(some: HybridCounter, levels: int, trials: int) -> tuple[int, int]:
    """Return how often the event happens with item 2^levels + 1 at 1, and at 0; all other items are 0.

    2^(levels + 1) items are inserted, so that the changed one enters `levels` nodes of its tree and a logarithmic draw.
    Under item 1 the event has probability 2^-(levels + 1); under item 0 that times exp(-loss).
    """
    items = 2 ** (levels + 1)
    noise, scales, covers = linear_map(some, items)
    changed = 2**levels + 1
    moved = shifts(noise, scales, covers, items)[:, changed - 1]
    assert (moved > 0.5).sum() == levels + 1
    step = (np.arange(1, items + 1) >= changed)[:, np.newaxis]
    found = []
    for seed, item in enumerate((1.0, 0.0)):
        releases = item * step + measured_noise(some, "hybrid", np.arange(1, items + 1), trials, seed)
        draws = np.linalg.solve(noise, releases)
        found.append(int((draws > moved[:, np.newaxis])[moved > 0.5].all(axis=0).sum()))
    return found[0], found[1]


def audit(budget: str, levels: int, trials: int, epsilon: float = 1.0) -> float:
    one, none = counts(HybridCounter(epsilon=epsilon, budget=budget), levels, trials)
    return least_log_ratio(one, none, trials, FAILURE)


@pytest.mark.parametrize(("levels", "trials"), [(1, 100_000), (2, 100_000), (3, 100_000)])
def test_the_papers_budget_loses_two_epsilon(levels, trials):
    """The log of a ratio of frequencies has standard error sqrt((1 - p) / (n p) + (1 - q) / (n q)): allow four."""
    some = HybridCounter(epsilon=1.0, budget="paper")
    one, none = counts(some, levels, trials)
    error = math.sqrt((1 - one / trials) / one + (1 - none / trials) / none)
    assert abs(math.log(one / none) - 2.0) < 4 * error
    assert abs(one / trials - 2.0 ** -(levels + 1)) < 4 * math.sqrt(2.0 ** -(levels + 1) / trials)
    lower = least_log_ratio(one, none, trials, FAILURE)
    assert 1.0 < 1.7 < lower <= 2.0 == some.guarantee.epsilon


@pytest.mark.parametrize(("levels", "trials"), [(1, 100_000), (2, 100_000), (3, 100_000)])
def test_the_split_budget_passes_the_same_audit(levels, trials):
    found = audit("split", levels, trials)
    assert found <= 1.0
    assert found > 0.75  # the audit is not blind


@pytest.mark.slow
@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_both_budgets_in_many_runs(levels, epsilon):
    assert 0.94 * epsilon < audit("split", levels, 1_000_000, epsilon) <= epsilon
    assert 1.94 * epsilon < audit("paper", levels, 1_000_000, epsilon) <= 2 * epsilon
