"""Scores, totals, intervals, ranks and exponents by hand."""

import math

import numpy as np
import pytest

from dp_bandit_envs.suite.scores import (
    axis_means,
    differ,
    differ_in_pairs,
    exponent_of,
    game_weights,
    interquartile_mean,
    interval_of,
    resampled_scores,
    score_of,
    shared_ranks,
    standard_error_of_score,
    standing_of,
    total_of,
)
from tests.tools.refusals import refused

CHANCE, BEST = np.array([90.0, 110.0]), np.array([10.0, 30.0])


def test_chance_scores_0_and_the_best_1():
    assert score_of(CHANCE, CHANCE, BEST) == 0
    assert score_of(BEST, CHANCE, BEST) == 1
    assert score_of([60.0], CHANCE, BEST) == 0.5
    assert score_of([180.0, 180.0], CHANCE, BEST) == -1
    assert score_of([-20.0], [100.0], [20.0]) == 1.5
    # A best that collects more than any fixed arm has negative regret.
    assert score_of([0.0], [1200.0], [-600.0]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("best", [[100.0], [101.0], [math.nan]])
def test_a_best_that_is_not_better_than_chance_is_refused(best):
    with refused(ValueError, "best", "chance"):
        score_of([50.0], [100.0], best)


def test_an_axis_counts_the_same_however_many_tasks_it_has_and_the_floor_is_in_means_only():
    """(.9 + .5) / 2 = .7 and .1: the total is .4, while the mean over tasks is .5."""
    scores = {"a/one": 0.9, "a/two": 0.5, "b/one": 0.1}
    assert axis_means(scores) == pytest.approx({"a": 0.7, "b": 0.1})
    assert total_of(scores) == pytest.approx(0.4)
    of_arrays = {task: np.array([score, score + 0.1]) for task, score in scores.items()}
    np.testing.assert_allclose(total_of(of_arrays), [0.4, 0.5])
    # -5 counts as -1 in the axis: (-1 + 1) / 2 = 0; a score above 1 counts as it is.
    scores = {"a/one": -5.0, "a/two": 1.0, "b/one": 1.2}
    assert axis_means(scores) == pytest.approx({"a": 0.0, "b": 1.2})
    assert total_of(scores) == pytest.approx(0.6)
    assert scores["a/one"] == -5
    assert score_of([600.0], CHANCE, BEST) == pytest.approx(-6.25)


def test_the_interquartile_mean_leaves_out_a_quarter_on_each_side():
    """Of nine tasks two on each side; the middle five of 0, .1, ..., .8 have mean .4. Of three, none is left out."""
    scores = {f"a/{number}": number / 10 for number in range(9)}
    assert interquartile_mean(scores) == pytest.approx(0.4)
    assert interquartile_mean({**scores, "a/0": -9.0, "a/8": 90.0}) == pytest.approx(0.4)
    assert interquartile_mean({"a/1": 0.0, "a/2": 0.3, "a/3": 0.9}) == pytest.approx(0.4)


def test_resamples_are_the_same_for_all_rows_of_a_task_and_differ_between_tasks():
    weights = game_weights("a/one", 40, 100)
    np.testing.assert_array_equal(weights, game_weights("a/one", 40, 100))
    assert not np.array_equal(weights, game_weights("a/two", 40, 100))
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    # Chance and best are resampled with the row, so they stay at 0 and 1 in every resample.
    chance = np.random.default_rng(1).normal(1000, 50, 40)
    best = chance - 800
    np.testing.assert_allclose(resampled_scores("a/one", chance, chance, best), 0, atol=1e-12)
    np.testing.assert_allclose(resampled_scores("a/one", best, chance, best), 1)


def test_resampled_scores_have_the_standard_error_of_a_score():
    """A deviation / sqrt(n) / (chance - best) = 100 / 20 / 1000 = .005; 2,000 resamples give it within 10 %.

    The relative error of a deviation from n samples is 1 / sqrt(2 n) = 1.6 %, and of that from 400 games 3.5 %: allow
    15 % (3.9 standard errors; false alarm: 1e-4, once for the seed).
    """
    regret = np.random.default_rng(2).normal(500, 100, 400)
    chance, best = np.full(400, 1000.0), np.zeros(400)
    resampled = resampled_scores("a/one", regret, chance, best)
    error = standard_error_of_score(100.0, 400, 1000.0, 0.0)
    assert error == pytest.approx(0.005)
    assert resampled.std() == pytest.approx(error, rel=0.15)
    low, high = interval_of(resampled)
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.15)
    assert low < score_of(regret, chance, best) < high


def test_a_standing_and_an_interval_by_hand():
    """Axis a has tasks .5 and -3, which counts -1: mean -.25; b has .45; the total is .1.

    Its error: two tasks of axis a count 1/4 each, the one of b 1/2: sqrt((.4/4)^2 + (.8/4)^2 + (.4/2)^2) = .3; that of
    axis a is sqrt((.4/2)^2 + (.8/2)^2) = .447.
    """
    standing = standing_of({"a/one": (0.5, 0.4), "a/two": (-3.0, 0.8), "b/one": (0.45, 0.4)})
    assert standing.total == pytest.approx(0.1) and standing.error == pytest.approx(0.3)
    assert standing.axes["a"] == pytest.approx((-0.25, 0.2**0.5)) and standing.axes["b"] == (0.45, 0.4)
    # The 2.5 % and 97.5 % quantiles of 0, 1, ..., 1000 are 25 and 975.
    assert interval_of(np.arange(1001.0)) == pytest.approx((25, 975))


def test_pairs_find_a_difference_that_hides_in_the_spread_of_games():
    """Two rows that differ by .01 in every game, whose games differ by .5."""
    row = np.random.default_rng(3).normal(0.5, 0.5, 2000)
    assert differ_in_pairs(row, row + 0.01)
    assert not differ(row.mean(), 0.5, row.mean() + 0.01, 0.5)
    assert not differ_in_pairs(row, row[::-1])
    # 1.96 sqrt(.03^2 + .04^2) = .098.
    assert differ(0.5, 0.03, 0.599, 0.04) and not differ(0.5, 0.03, 0.597, 0.04)


def test_neighbours_that_are_not_apart_share_a_rank():
    """.9 | .8 .79 .78 | .5: ranks 1, 2, 2, 2, 5, in the order given; only neighbours are asked."""
    totals, asked = [0.79, 0.5, 0.9, 0.78, 0.8], []

    def are_apart(first, second):
        asked.append((first, second))
        return abs(totals[first] - totals[second]) > 0.05

    assert shared_ranks(totals, are_apart) == [2, 5, 1, 2, 2]
    assert asked == [(2, 4), (4, 0), (0, 3), (3, 1)]
    assert shared_ranks([], are_apart) == []


def test_exponents_by_hand():
    """Regrets 3 T^.5 and ln T; the second between 2^10 and 2^16: ln(16 / 10) / ln 64 = .113."""
    horizons = [2**10, 2**13, 2**16]
    assert exponent_of(horizons, [3 * T**0.5 for T in horizons]) == pytest.approx(0.5)
    assert exponent_of([2**10, 2**16], [10.0, 16.0]) == pytest.approx(math.log(1.6) / math.log(64))
    assert math.isnan(exponent_of(horizons, [5.0, -1.0, 2.0]))
    with refused(ValueError, "horizons", 1):
        exponent_of([2**10], [3.0])
