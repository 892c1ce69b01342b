"""The median of means and its confidence interval."""

import math

import numpy as np
import pytest

from dp_bandit_envs.metrics import median_of_means
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


def test_every_column_is_summarised_on_its_own():
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
