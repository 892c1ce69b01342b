"""Gini's mean difference: the average distance between two trials."""

import math

import numpy as np
import pytest

from dp_bandit_envs.metrics import gini_below_and_above, gini_mean_difference


def by_definition(samples):
    """The average of |x_i - x_j| over all pairs i != j, the slow way."""
    n = len(samples)
    return sum(abs(x - y) for x in samples for y in samples) / (n * (n - 1))


def test_three_trials_by_hand():
    """1, 2, 4: the distances 1, 3, 2 average 2; the sum (2j - N - 1) x_(j) = -2 + 0 + 8 = 6, times 2 / 6, is 2."""
    assert gini_mean_difference(np.array([4.0, 1.0, 2.0])) == 2.0


@pytest.mark.parametrize("n", [2, 3, 24, 101])
def test_sorted_sum_equals_the_definition_over_all_pairs(n):
    samples = np.random.default_rng(n).exponential(size=n)
    assert gini_mean_difference(samples) == pytest.approx(by_definition(samples), rel=1e-12)


def test_normal_trials_differ_by_two_sigma_over_root_pi():
    """400 batches of 50 standard normal trials; the standard error is that of the batches' average.

    False alarm: 9e-7 (five measured standard errors of 400 batches, two sides).
    """
    differences = gini_mean_difference(np.random.default_rng(0).normal(size=(50, 400)))
    assert abs(differences.mean() - 2 / math.sqrt(math.pi)) <= 5 * differences.std(ddof=1) / math.sqrt(400)


def test_every_column_is_summarised_on_its_own():
    samples = np.random.default_rng(0).normal(size=(9, 2, 3))
    together = gini_mean_difference(samples)
    assert together.shape == (2, 3)
    for index in np.ndindex(2, 3):
        assert together[index] == pytest.approx(by_definition(samples[:, *index]), rel=1e-12)


@pytest.mark.parametrize("trials", [0, 1])
def test_one_trial_or_none_has_no_differences(trials):
    assert gini_mean_difference(np.ones((trials, 3))).tolist() == [0, 0, 0]
    assert gini_mean_difference(np.ones(trials)) == 0


def test_below_and_above_by_hand():
    """Below 3: 0, 1, 1.5 with distances 1, 1.5, 0.5; above: 10 and 20; the trial at 3 is on neither side."""
    below, above = gini_below_and_above(np.array([10.0, 3.0, 0.0, 1.0, 20.0, 1.5]), np.array(3.0))
    assert (below, above) == (1.0, 10.0)


def test_each_checkpoint_has_its_own_centre():
    samples = np.random.default_rng(0).normal(size=(40, 2, 3))
    centre = np.median(samples, axis=0) + 0.1
    below, above = gini_below_and_above(samples, centre)
    assert below.shape == above.shape == (2, 3)
    for index in np.ndindex(2, 3):
        column = samples[:, *index]
        assert below[index] == pytest.approx(by_definition(column[column < centre[index]]), rel=1e-12)
        assert above[index] == pytest.approx(by_definition(column[column > centre[index]]), rel=1e-12)


def test_a_side_with_one_trial_has_no_differences():
    below, above = gini_below_and_above(np.array([[1.0], [5.0], [7.0]]), np.array([4.0]))
    assert (below.tolist(), above.tolist()) == ([0.0], [2.0])


def test_one_trial_has_no_differences_on_either_side():
    below, above = gini_below_and_above(np.array([[5.0, 7.0]]), np.array([5.0, 7.0]))
    assert (below.tolist(), above.tolist()) == ([0, 0], [0, 0])
