"""Median of means, Gini's mean difference, mean with standard error, and the tail: by hand and by the definition."""

import math

import numpy as np
import pytest

from dp_bandit_envs.metrics import (
    gini_below_and_above,
    gini_mean_difference,
    mean_and_standard_error,
    median_and_tail,
    median_of_means,
)
from tests.tools.refusals import refused


def test_value_and_interval_by_hand():
    """Six samples in three groups: (1, 4), (2, 5), (3, 9) have means 2.5, 3.5, 6, so the median is 3.5.

    The mean is 4 and the squared deviations 9, 4, 1, 0, 1, 25 sum to 40: the sample's variance is 40 / 5 = 8 and half
    the interval sqrt(8) * sqrt(6 * 3 / 6) = sqrt(24).
    """
    result = median_of_means(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 9.0]), groups=3)
    assert result.value == 3.5
    assert result.low == pytest.approx(3.5 - math.sqrt(24), rel=1e-14)
    assert result.high == pytest.approx(3.5 + math.sqrt(24), rel=1e-14)
    assert result.confidence == pytest.approx(1 - math.exp(-2 / 3), rel=1e-14)


def test_the_papers_720_trials_in_24_groups():
    """30 trials a group; confidence 1 - exp(-24 / 4.5) = 0.9952; half the interval sigma * sqrt(6 * 24 / 720)."""
    samples = np.random.default_rng(0).normal(size=720)
    result = median_of_means(samples)
    by_hand = sorted(sum(samples[group + 24 * k] for k in range(30)) / 30 for group in range(24))
    assert result.value == pytest.approx((by_hand[11] + by_hand[12]) / 2, rel=1e-12)
    assert result.confidence == pytest.approx(0.9952, abs=5e-5)
    assert result.high - result.value == pytest.approx(samples.std(ddof=1) * math.sqrt(0.2), rel=1e-12)


def test_every_column_has_its_own_median_of_means():
    samples = np.random.default_rng(0).exponential(size=(50, 3, 2))
    together = median_of_means(samples, groups=7)
    for index in np.ndindex(3, 2):
        alone = median_of_means(samples[:, *index], groups=7)
        np.testing.assert_allclose([part[index] for part in together[:3]], alone[:3], rtol=1e-12)


def test_one_group_is_the_mean():
    samples = np.array([1.0, 2.0, 6.0])
    assert median_of_means(samples, groups=1).value == 3.0


def test_with_fewer_trials_than_groups_each_trial_is_a_group():
    result = median_of_means(np.array([5.0, 1.0, 9.0]))
    assert result.value == 5.0
    assert result.confidence == pytest.approx(1 - math.exp(-3 / 4.5), rel=1e-14)


def test_one_trial_has_a_value_and_no_interval():
    result = median_of_means(np.array([[5.0, 7.0]]))
    assert result.value.tolist() == [5.0, 7.0]
    assert np.isnan(result.low).all()
    assert np.isnan(result.high).all()


def test_one_wild_trial_moves_the_mean_and_not_the_median_of_means():
    samples = np.tile([0.0, 1.0], 120)
    wild = samples.copy()
    wild[7] = 1e9
    assert median_of_means(wild, groups=24).value <= 1
    assert wild.mean() > 1e6


@pytest.mark.parametrize(("trials", "groups"), [(24, 24), (48, 24), (60, 5)])
def test_interval_covers_the_mean_as_often_as_it_says(trials, groups):
    """Exponential samples of mean 1. Of n intervals a share c covers with standard error sqrt(c (1 - c) / n).

    False alarm: 3e-7 (five standard errors, one side).
    """
    n = 3000
    result = median_of_means(np.random.default_rng(1).exponential(size=(trials, n)), groups=groups)
    covered = np.mean((result.low <= 1) & (result.high >= 1))
    assert covered >= result.confidence - 5 * math.sqrt(result.confidence * (1 - result.confidence) / n)


@pytest.mark.parametrize("groups", [0, -1, 2.5])
def test_number_of_groups_must_be_a_positive_integer(groups):
    with refused(ValueError, "groups", 1, groups):
        median_of_means(np.ones(5), groups=groups)


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


def test_every_column_has_its_own_mean_difference():
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


def test_four_trials_by_hand():
    """1, 2, 3, 6: mean 3, squared deviations 4 + 1 + 0 + 9 = 14, variance 14 / 3, error sqrt(14 / 3 / 4)."""
    mean, error = mean_and_standard_error(np.array([1.0, 2.0, 3.0, 6.0]))
    assert mean == 3
    assert error == pytest.approx(math.sqrt(14 / 12), rel=1e-14)


def test_every_column_has_its_own_mean_and_error():
    mean, error = mean_and_standard_error(np.array([[1.0, 10.0], [3.0, 30.0]]))
    assert mean.tolist() == [2, 20]
    np.testing.assert_allclose(error, [1, 10], rtol=1e-14)


def test_median_and_tail_by_hand():
    assert median_and_tail(np.arange(101.0)) == (50.0, 99.0)


def test_error_is_the_spread_of_means_over_repetitions():
    """20,000 means of 10 trials have deviation s = 1 / sqrt(10), itself known to s / sqrt(2 * 20,000): allow five.

    The average squared error estimates s^2 without bias; its relative deviation over the same repetitions is
    sqrt(2 / (9 * 20,000)): allow five of them too.

    False alarm: 1.2e-6 (five standard errors, two sides, two numbers).
    """
    mean, error = mean_and_standard_error(np.random.default_rng(0).normal(size=(10, 20_000)))
    assert abs(mean.std() * math.sqrt(10) - 1) <= 5 / math.sqrt(40_000)
    assert abs(np.mean(error**2) * 10 - 1) <= 5 * math.sqrt(2 / 180_000)


def test_error_of_one_trial_is_not_a_number():
    mean, error = mean_and_standard_error(np.array([[4.0, 5.0]]))
    assert mean.tolist() == [4, 5]
    assert np.isnan(error).all()
    assert error.shape == (2,)
