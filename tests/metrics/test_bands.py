"""Lines with bands: values by hand, ends above 0 for positive samples, and how often an interval holds the mean."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dp_bandit_envs.metrics import (
    BANDS,
    _resampled_means,
    band_in_words,
    band_of,
    confidence_band,
    gini_below_and_above,
    mean_and_standard_error,
    median_of_means,
    quantile_band,
    spread_band,
)
from tests.tools.refusals import refused


def test_quantiles_by_hand():
    """0, ..., 10: the median is 5, the 10 % quantile 1 and the 90 % quantile 9."""
    samples = np.arange(11.0)[::-1, None] * [1, 10]
    assert [part.tolist() for part in quantile_band(samples)] == [[5, 50], [1, 10], [9, 90]]


def test_the_spread_is_ginis_around_the_median_of_means():
    samples = np.random.default_rng(0).exponential(size=(50, 7))
    middle = median_of_means(samples).value
    below, above = gini_below_and_above(samples, middle)
    line, low, high = spread_band(samples)
    assert np.array_equal(line, middle) and np.array_equal(low, middle - below) and np.array_equal(high, middle + above)


def test_the_bootstrap_of_two_trials_by_hand():
    """Resamples of 0 and 1 have means 0, 1/2 and 1 with chances 1/4, 1/2, 1/4; bias and skewness are 0."""
    line, low, high = confidence_band(np.array([[0.0], [1.0]]))
    assert (line[0], low[0], high[0]) == (0.5, 0.0, 1.0)


def test_the_bootstrap_of_a_long_sample_is_1_96_standard_errors():
    """A second route: for many normal trials both are the same interval.

    Each end is a quantile of 2,000 resamples, with standard error sqrt(0.025 * 0.975 / 2000) / 0.058 = 0.060 in units
    of the mean's: allow five of them. The bias correction adds the noise of a share, 1.25 / sqrt(2000) = 0.028, twice.
    False alarm: below 1e-5.
    """
    samples = np.random.default_rng(0).normal(3, 2, size=(2000, 5))
    mean, error = mean_and_standard_error(samples)
    line, low, high = confidence_band(samples)
    assert np.array_equal(line, mean)
    for end, half in ((low, -1.96), (high, 1.96)):
        assert np.abs((end - mean) / error - half).max() < 5 * math.hypot(0.060, 2 * 0.028)


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


@pytest.mark.parametrize("kind", BANDS)
@pytest.mark.parametrize("trials", [1, 2, 3, 20, 60])
def test_positive_samples_have_a_positive_lower_end(kind, trials):
    """Also those whose mean less 1.96 standard errors is far below 0."""
    rng = np.random.default_rng(trials)
    samples = np.concatenate(
        [rng.lognormal(0, 3, (trials, 300)), np.where(rng.random((trials, 300)) < 0.1, 1000.0, 1e-3)], axis=1
    )
    line, low, high = BANDS[kind](samples)
    assert np.all(low > 0) and np.all(low <= line) and np.all(line <= high)
    if trials == 20:
        mean, error = mean_and_standard_error(samples)
        assert np.any(mean - 1.96 * error < 0)


@pytest.mark.parametrize("kind", BANDS)
def test_equal_trials_and_one_trial_have_no_width(kind):
    for samples in (np.full((9, 3), 0.1), np.array([[0.1, 7.0, 0.0]])):
        line, low, high = BANDS[kind](samples)
        assert line == pytest.approx(samples[0]) and low == pytest.approx(line) and high == pytest.approx(line)


@pytest.mark.parametrize("kind", BANDS)
def test_places_may_have_other_numbers_of_trials(kind):
    rng = np.random.default_rng(0)
    samples = [rng.random(trials) for trials in (3, 30, 7)]
    together = band_of(samples, kind)
    for place, sample in enumerate(samples):
        alone = band_of(sample[:, None], kind)
        assert [part[place] for part in together] == [part[0] for part in alone]


def test_a_place_does_not_depend_on_the_others_and_a_band_not_on_the_call():
    samples = np.random.default_rng(0).random((12, 6))
    whole = confidence_band(samples)
    for place in range(6):
        for part, alone in zip(whole, confidence_band(samples[:, [place]]), strict=True):
            assert part[place] == pytest.approx(alone[0], rel=1e-12)
    assert all(np.array_equal(one, two) for one, two in zip(whole, confidence_band(samples), strict=True))


def test_whole_numbers_are_samples_too():
    assert band_of(np.array([[1, 2], [3, 4]]), "ci").line.tolist() == [2.0, 3.0]


def test_an_unknown_band_is_refused():
    with refused(ValueError, "band", "'sd'", "spread"):
        band_of(np.ones((2, 2)), "sd")


def test_each_band_is_explained_in_its_own_words():
    words = [band_in_words(kind, 30, 30) for kind in BANDS]
    assert all("30" in each for each in words)
    assert all(one != other for one, other in itertools.combinations(words, 2))
