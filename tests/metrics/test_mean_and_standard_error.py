"""The mean over trials and how far off it may be."""

import math

import numpy as np
import pytest

from dp_bandit_envs.metrics import mean_and_standard_error, median_and_tail


def test_four_trials_by_hand():
    """1, 2, 3, 6: mean 3, squared deviations 4 + 1 + 0 + 9 = 14, variance 14 / 3, error sqrt(14 / 3 / 4)."""
    mean, error = mean_and_standard_error(np.array([1.0, 2.0, 3.0, 6.0]))
    assert mean == 3
    assert error == pytest.approx(math.sqrt(14 / 12), rel=1e-14)


def test_every_column_is_summarised_on_its_own():
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
