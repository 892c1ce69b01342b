"""Rankings: paired on the same gains, with intervals that cover and a test that keeps its level."""

import math

import numpy as np
import pytest
from scipy import stats

from dp_bandit_envs import compare
from dp_bandit_envs.experiments import paired_tests
from dp_bandit_envs.experiments.paired_tests import holm, least_p_value, sign_flip_p_values
from dp_bandit_envs.experiments.ranking import Ranking, interval
from tests.tools.refusals import refused


def sign_flip_p_value(differences, pairs=1):
    (p_value,) = sign_flip_p_values([differences], pairs)
    return p_value


def test_skewed_differences_with_mean_0_are_told_apart_and_the_ranking_says_so():
    """19 trials of -1 and one of 19 have mean 0, so any signs are as extreme; of 19 equal ones only two of 2^19 are."""
    common = np.full(19, -1.0)
    assert sign_flip_p_value(np.append(common, 19.0)) > 0.9
    assert sign_flip_p_value(common) < 0.001
    assert "not of equal means" in str(Ranking("external_regret", 0.95, (), ()))


def test_a_ranking_at_a_prompt_is_one_line():
    ranking = compare("Stochastic", ["UCB", "Uniform"], horizon=100, trials=6).ranking()
    names = [row.name for row in ranking.standings]
    assert repr(ranking) == f"Ranking({', '.join(names)} on Stochastic: external regret)"


def test_holm_by_hand():
    """Sorted .01, .02, .021, .5 times 4, 3, 2, 1 = .04, .06, .042, .5; then never smaller than the one before."""
    assert holm(np.array([0.5, 0.02, 0.01, 0.021])) == pytest.approx([0.5, 0.06, 0.04, 0.06])
    assert holm(np.array([0.9, 0.8])) == pytest.approx([1.0, 1.0]) and holm(np.empty(0)).shape == (0,)


def test_few_signs_are_all_flipped():
    """Six positive differences: of 64 sign patterns only two are as extreme, whatever their sizes."""
    assert sign_flip_p_value(np.array([1.0, 2, 3, 4, 5, 60])) == pytest.approx(2 / 64)
    assert sign_flip_p_value(np.zeros(10)) == 1.0


@pytest.mark.thorough
def test_the_test_keeps_its_level_and_finds_what_is_there():
    """Of 400 samples of a symmetric law the 5 % test rejects Binomial(400, .05). False alarm: 1e-4."""
    rng = np.random.default_rng(0)
    draws = rng.standard_t(3, (400, 12))
    rejected = sum(sign_flip_p_value(one) <= 0.05 for one in draws)
    assert rejected <= stats.binom.isf(1e-4, 400, 0.05)
    assert sign_flip_p_value(rng.standard_t(3, 60) + 2.0) < 0.001


@pytest.mark.thorough
def test_intervals_cover_the_mean():
    """BCa intervals from 40 exponential samples cover in more than 91 of 100 cases. False alarm: 1e-4.

    And they are about 2 * 1.96 / sqrt(40) = 0.62 wide, where the samples reach from about 0.03 to 4.3.
    """
    rng = np.random.default_rng(1)
    found = [interval(rng.exponential(1.0, 40), 0.95) for _ in range(300)]
    assert sum(low <= 1.0 <= high for low, high in found) >= stats.binom.ppf(1e-4, 300, 0.91)
    assert np.mean([high - low for low, high in found]) == pytest.approx(0.62, abs=0.06)
    assert interval(np.full(9, 2.5), 0.95) == (2.5, 2.5)
    # 0.4 - 0.3 and 0.3 - 0.2 differ in their last bits.
    assert interval(np.array([0.4 - 0.3, 0.3 - 0.2] * 4), 0.95) == pytest.approx((0.1, 0.1))


@pytest.fixture(scope="module")
def ranked():
    words = {"horizon": 400, "trials": 30}
    return compare(["Stochastic:means=[.9,.5]"], {"a": "EXP3", "b": "EXP3", "uniform": "Uniform"}, **words).ranking()


@pytest.mark.thorough
def test_the_same_algorithm_twice_is_tied_and_a_bad_one_is_not(ranked):
    """`a` and `b` are EXP3 with the same draws: equal in every trial, so their difference is exactly 0."""
    by_name = {one.name: one for one in ranked.standings}
    assert by_name["a"].tied and by_name["b"].tied and not by_name["uniform"].tied
    (same,) = (pair for pair in ranked.pairs if {pair.better, pair.worse} == {"a", "b"})
    assert (same.difference, same.p_value, same.adjusted) == (0.0, 1.0, 1.0)
    assert all(pair.adjusted < 0.01 and pair.low > 0 for pair in ranked.pairs if pair.worse == "uniform")


@pytest.mark.thorough
def test_differences_are_of_the_same_trial():
    """Means far apart between trials do not widen the interval of a difference that is the same in every trial."""
    compared = compare("Stochastic", ["UCB", "Uniform"], horizon=200, trials=12)
    (pair,) = compared.ranking().pairs
    worse, better = (compared.select(algorithm=name)[0].values("external_regret")[:, -1] for name in ("Uniform", "UCB"))
    assert pair.difference == pytest.approx((worse - better).mean())
    assert (pair.better, pair.wins) == ("UCB", np.mean(worse > better))


def test_more_is_better_where_gains_are_collected():
    ranking = compare("Stochastic:means=[.9,.5]", ["UCB", "Uniform"], horizon=200, trials=8).ranking(
        measure="collected"
    )
    assert [one.name for one in ranking.standings] == ["UCB", "Uniform"] and ranking.pairs[0].difference > 0


def test_every_table_carries_the_guarantee(ranked):
    for format in ("markdown", "latex", "csv"):
        text = ranked.table(format)
        assert "delta" in text and all(one.name in text for one in ranked.standings)
        assert "uniform" in ranked.table_of_pairs(format)
    assert math.isfinite(ranked.standings[0].epsilon)


def test_too_few_trials_are_refused():
    compared = compare("Stochastic", ["UCB", "Uniform"], horizon=20, trials=5)
    with refused(ValueError, "trials", 5):
        compared.ranking()
    enough = compare("Stochastic", ["UCB", "Uniform"], horizon=20, trials=6)
    with refused(ValueError, "measure"):
        enough.ranking(measure="regret")
    with refused(ValueError, "confidence"):
        enough.ranking(confidence=1.0)


def test_the_least_p_value_is_no_floor_with_90_pairs_and_is_said_where_it_is_one():
    """Of 100 trials all with one sign, no flip is as far: 1 / (flips + 1), with 1,000 flips a pair at least 9,999."""
    clear = np.linspace(1.0, 2.0, 100)
    assert sign_flip_p_value(clear) == least_p_value(100, 1) == 1 / 10_000
    assert 90 * sign_flip_p_value(clear, 90) == pytest.approx(1e-3, rel=1e-3)
    assert least_p_value(6, 90) == 2 / 64  # all 64 patterns
    compared = compare("Stochastic", ["UCB", "Uniform", "EXP3"], horizon=30, trials=6).ranking()
    assert compared.least_adjusted == pytest.approx(3 * 2 / 64)
    assert "3 pairs can give is 0.094" in str(compared) and "more trials" in str(compared)
    many = Ranking("external_regret", 0.95, (), (), 0.004)
    assert "can give" not in str(many)


def test_many_trials_and_pairs_are_bounded_in_work(monkeypatch):
    monkeypatch.setattr(paired_tests, "MOST_SUMMED", 0)
    assert least_p_value(1_000, 10_000) == 1 / 10_000


def test_pairs_of_different_numbers_of_trials_are_tested_together_as_alone():
    draws = np.random.default_rng(4)
    samples = [draws.normal(0.5, 1.0, trials) for trials in (9, 30, 9, 30)]
    together = sign_flip_p_values(samples, 1)
    assert together == [sign_flip_p_value(one) for one in samples] and len(set(together)) == 4


def test_a_printed_ranking_is_one_sentence_and_the_standings(ranked):
    words, empty, *rows = str(ranked).split("\n")
    assert words.count(". ") == 0 and not empty and rows == ranked.table().split("\n")
    assert "table_of_pairs()" in words
