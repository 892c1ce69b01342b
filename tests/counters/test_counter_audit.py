"""A white-box audit of the hybrid counter's outputs: the paper's budget loses twice epsilon, the split one does not.

Neighbours differ in the first item of a tree. The event is the one that tells them apart best, read off the outputs:
the draws, as the releases betray them, all lie beyond what item 1 instead of item 0 would explain.
"""

import math

import numpy as np
import pytest

from dp_bandit_envs.privacy.counters import HybridCounter
from tests.tools.counter_noise import least_log_ratio, linear_map, measured_noise, shifts

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


def standard_error(levels: int, trials: int, loss: float) -> float:
    """Return the standard error of the log of the ratio of the event's two frequencies, from its exact chances."""
    chances = 2.0 ** -(levels + 1) * np.exp([0.0, -loss])
    return math.sqrt(((1 - chances) / (trials * chances)).sum())


def check(some: HybridCounter, levels: int, trials: int, loss: float) -> None:
    """Assert that the log of the ratio is the loss, and that the lower bound reports most of it and no more.

    The bound lies 4.9 standard errors of either count below, which is at most 7 of their ratio: with the five allowed
    for the ratio itself, 12.

    False alarm: 2.2e-6 (five standard errors, two sides, twice, and the bound's own failure of 1e-6).
    """
    one, none = counts(some, levels, trials)
    error = standard_error(levels, trials, loss)
    assert abs(math.log(one / none) - loss) < 5 * error
    chance = 2.0 ** -(levels + 1)
    assert abs(one / trials - chance) < 5 * math.sqrt(chance * (1 - chance) / trials)
    assert loss - 12 * error < least_log_ratio(one, none, trials, FAILURE) <= loss


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_the_papers_budget_loses_two_epsilon(levels):
    some = HybridCounter(epsilon=1.0, budget="paper")
    check(some, levels, 100_000, 2.0)
    assert 2.0 - 12 * standard_error(levels, 100_000, 2.0) > some.epsilon  # so the audit refutes epsilon itself
    assert some.guarantee.epsilon == 2.0


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_the_split_budget_passes_the_same_audit(levels):
    some = HybridCounter(epsilon=1.0)
    check(some, levels, 100_000, 1.0)
    assert some.guarantee.epsilon == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_both_budgets_in_many_runs(levels, epsilon):
    check(HybridCounter(epsilon=epsilon), levels, 1_000_000, epsilon)
    check(HybridCounter(epsilon=epsilon, budget="paper"), levels, 1_000_000, 2 * epsilon)
