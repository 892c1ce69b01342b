"""Trials in a few numbers, by hand and by the definition: means, medians, spread and tail, and lines with bands."""

import math

import numpy as np
import pytest
from scipy import stats

from dp_bandit_envs.metrics import (
    BANDS,
    _resampled_means,
    band_of,
    confidence_band,
    describe_band,
    gini_below_and_above,
    gini_mean_difference,
    mean_and_standard_error,
    median_and_tail,
    median_of_means,
    quantile_band,
    spread_band,
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
    # One group is the mean; with fewer trials than groups each trial is one; one trial has no interval.
    assert median_of_means(np.array([1.0, 2.0, 6.0]), groups=1).value == 3.0
    result = median_of_means(np.array([5.0, 1.0, 9.0]))
    assert (result.value, result.confidence) == (5.0, pytest.approx(1 - math.exp(-3 / 4.5), rel=1e-14))
    result = median_of_means(np.array([[5.0, 7.0]]))
    assert result.value.tolist() == [5.0, 7.0] and np.isnan([result.low, result.high]).all()
    # One wild trial moves the mean only.
    wild = np.tile([0.0, 1.0], 120)
    wild[7] = 1e9
    assert median_of_means(wild, groups=24).value <= 1 < 1e6 < wild.mean()
    for groups in (0, 2.5):
        with refused(ValueError, "groups", 1, groups):
            median_of_means(np.ones(5), groups=groups)


def test_the_papers_720_trials_in_24_groups():
    """30 trials a group; confidence 1 - exp(-24 / 4.5) = 0.9952; half the interval sigma * sqrt(6 * 24 / 720)."""
    samples = np.random.default_rng(0).normal(size=720)
    result = median_of_means(samples)
    by_hand = sorted(sum(samples[group + 24 * k] for k in range(30)) / 30 for group in range(24))
    assert result.value == pytest.approx((by_hand[11] + by_hand[12]) / 2, rel=1e-12)
    assert result.confidence == pytest.approx(0.9952, abs=5e-5)
    assert result.high - result.value == pytest.approx(samples.std(ddof=1) * math.sqrt(0.2), rel=1e-12)
    table = samples.reshape(120, 3, 2)
    together = median_of_means(table, groups=7)
    for index in np.ndindex(3, 2):
        alone = median_of_means(table[:, *index], groups=7)
        np.testing.assert_allclose([part[index] for part in together[:3]], alone[:3], rtol=1e-12)


@pytest.mark.parametrize(("trials", "groups"), [(24, 24), (48, 24), (60, 5)])
def test_interval_covers_the_mean_as_often_as_it_says(trials, groups):
    """Exponential samples of mean 1. Of n intervals a share c covers with standard error sqrt(c (1 - c) / n).

    False alarm: 3e-7 (five standard errors, one side).
    """
    n = 3000
    result = median_of_means(np.random.default_rng(1).exponential(size=(trials, n)), groups=groups)
    covered = np.mean((result.low <= 1) & (result.high >= 1))
    assert covered >= result.confidence - 5 * math.sqrt(result.confidence * (1 - result.confidence) / n)


def by_definition(samples):
    """The average of |x_i - x_j| over all pairs i != j, the slow way."""
    n = len(samples)
    return sum(abs(x - y) for x in samples for y in samples) / (n * (n - 1))


@pytest.mark.parametrize("n", [2, 3, 24, 101])
def test_sorted_sum_equals_the_definition_over_all_pairs(n):
    """1, 2, 4: the distances 1, 3, 2 average 2; the sum (2j - N - 1) x_(j) = -2 + 0 + 8 = 6, times 2 / 6, is 2."""
    assert gini_mean_difference(np.array([4.0, 1.0, 2.0])) == 2.0
    samples = np.random.default_rng(n).exponential(size=(n, 2))
    together, (below, above) = (
        gini_mean_difference(samples),
        gini_below_and_above(samples, centre := samples.mean(axis=0)),
    )
    for column in range(2):
        own = samples[:, column]
        assert together[column] == pytest.approx(by_definition(own), rel=1e-12)
        for side, part in ((below, own[own < centre[column]]), (above, own[own > centre[column]])):
            assert side[column] == pytest.approx(by_definition(part) if len(part) > 1 else 0.0, rel=1e-12)
    for trials in (0, 1):
        assert gini_mean_difference(np.ones((trials, 3))).tolist() == [0, 0, 0]
    assert gini_mean_difference(np.ones(1)) == 0


def test_four_trials_by_hand():
    """1, 2, 3, 6: mean 3, squared deviations 4 + 1 + 0 + 9 = 14, variance 14 / 3, error sqrt(14 / 3 / 4)."""
    mean, error = mean_and_standard_error(np.array([1.0, 2.0, 3.0, 6.0]))
    assert mean == 3
    assert error == pytest.approx(math.sqrt(14 / 12), rel=1e-14)
    mean, error = mean_and_standard_error(np.array([[1.0, 10.0], [3.0, 30.0]]))
    assert mean.tolist() == [2, 20] and error == pytest.approx(np.array([1, 10]), rel=1e-14)
    mean, error = mean_and_standard_error(np.array([[4.0, 5.0]]))
    assert mean.tolist() == [4, 5] and np.isnan(error).all() and error.shape == (2,)
    # Of 0, ..., 199 the median is 99.5, and the 99 % quantile stands at 0.99 * 199 = 197.01.
    median, tail = median_and_tail(np.arange(200.0)[::-1, None] * [1, 10])
    assert median.tolist() == [99.5, 995.0] and tail == pytest.approx([197.01, 1970.1])


# ---- lines with bands: values by hand, ends above 0 for positive samples, and how often an interval holds the mean


def test_quantiles_and_the_bootstrap_of_two_trials_by_hand():
    """0, ..., 10: the median is 5, the 10 % quantile 1 and the 90 % quantile 9."""
    samples = np.arange(11.0)[::-1, None] * [1, 10]
    assert [part.tolist() for part in quantile_band(samples)] == [[5, 50], [1, 10], [9, 90]]
    # Resamples of 0 and 1 have means 0, 1/2 and 1 with chances 1/4, 1/2, 1/4; bias and skewness are 0.
    assert [part[0] for part in confidence_band(np.array([[0.0], [1.0]]))] == [0.5, 0.0, 1.0]
    assert band_of(np.array([[1, 2], [3, 4]]), "ci").line.tolist() == [2.0, 3.0]  # whole numbers are samples too
    with refused(ValueError, "band", "'sd'", "spread"):
        band_of(np.ones((2, 2)), "sd")
    words = [describe_band(kind, 30, 30) for kind in BANDS]
    assert all("30" in each for each in words) and len(set(words)) == len(words)
    assert {describe_band(kind, trials, 1) for kind in BANDS for trials in (1, "1")} == {"line: one trial"}


@pytest.mark.parametrize("kind", BANDS)
def test_places_may_have_other_numbers_of_trials_and_equal_trials_have_no_width(kind):
    rng = np.random.default_rng(0)
    samples = [rng.random(trials) for trials in (3, 30, 7)]
    together = band_of(samples, kind)
    for place, sample in enumerate(samples):
        alone = band_of(sample[:, None], kind)
        assert [part[place] for part in together] == [part[0] for part in alone]
    for samples in (np.full((9, 3), 0.1), np.array([[0.1, 7.0, 0.0]])):
        line, low, high = BANDS[kind](samples)
        assert line == pytest.approx(samples[0]) and low == pytest.approx(line) and high == pytest.approx(line)


def test_the_spread_is_ginis_around_the_median_of_means_and_by_hand():
    samples = np.random.default_rng(0).exponential(size=(50, 7))
    middle = median_of_means(samples).value
    below, above = gini_below_and_above(samples, middle)
    line, low, high = spread_band(samples)
    assert np.array_equal(line, middle) and np.array_equal(low, middle - below) and np.array_equal(high, middle + above)
    # Below 3: 0, 1, 1.5 with distances 1, 1.5, 0.5; above: 10 and 20; the trial at 3 is on neither side.
    below, above = gini_below_and_above(np.array([10.0, 3.0, 0.0, 1.0, 20.0, 1.5]), np.array(3.0))
    assert (below, above) == (1.0, 10.0)


@pytest.mark.parametrize("law", ["exponential", "normal"])
def test_the_interval_is_scipys_from_the_same_resamples(law):
    """A second route to both corrections: SciPy interpolates between resamples, so ends are one resample apart at most.

    Without the correction of skewness hundreds of the ends of exponential samples are further apart.
    """
    samples = getattr(np.random.default_rng(1), law)(size=(20, 200))
    means = np.sort(_resampled_means(samples), axis=0)
    given = stats.bootstrap((samples,), np.mean, n_resamples=9, method="percentile")
    given.bootstrap_distribution = means.T
    theirs = stats.bootstrap((samples,), np.mean, n_resamples=0, method="BCa", bootstrap_result=given)
    ours = confidence_band(samples)
    for ends, others in ((ours.low, theirs.confidence_interval.low), (ours.high, theirs.confidence_interval.high)):
        for column, end, other in zip(means.T, ends, others, strict=True):
            places = np.searchsorted(column, [end, other])
            assert abs(int(places[0]) - int(places[1])) <= 1


@pytest.mark.thorough
@pytest.mark.parametrize(("law", "mean", "least"), [("normal", 0.0, 0.90), ("exponential", 1.0, 0.90)])
def test_the_interval_holds_the_mean_about_as_often_as_it_says(law, mean, least):
    """50 trials, 2,000 samples: 93.5 % (normal) and 93.4 % (exponential) measured; the next sample may have 95 %.

    A share of 0.935 of 2,000 has a standard deviation of 0.0055: a correct interval is outside by chance if it is six
    of them below or 95 % and four of them above. False alarm: below 1e-4.
    """
    samples = getattr(np.random.default_rng(2), law)(size=(50, 2000))
    _, low, high = confidence_band(samples)
    share = np.mean((low <= mean) & (mean <= high))
    assert least < share < 0.972


@pytest.mark.thorough
def test_positive_samples_have_a_positive_lower_end():
    """Also those whose mean less 1.96 standard errors is far below 0."""
    for trials in [1, 2, 3, 20, 60]:
        for kind in BANDS:
            rng = np.random.default_rng(trials)
            samples = np.concatenate(
                [rng.lognormal(0, 3, (trials, 300)), np.where(rng.random((trials, 300)) < 0.1, 1000.0, 1e-3)], axis=1
            )
            line, low, high = BANDS[kind](samples)
            assert np.all(low > 0) and np.all(low <= line) and np.all(line <= high)
            if trials == 20:
                mean, error = mean_and_standard_error(samples)
                assert np.any(mean - 1.96 * error < 0)


def test_a_place_does_not_depend_on_the_others_and_a_band_not_on_the_call():
    samples = np.random.default_rng(0).random((12, 6))
    whole = confidence_band(samples)
    for place in range(6):
        for part, alone in zip(whole, confidence_band(samples[:, [place]]), strict=True):
            assert part[place] == pytest.approx(alone[0], rel=1e-12)
    assert all(np.array_equal(one, two) for one, two in zip(whole, confidence_band(samples), strict=True))
