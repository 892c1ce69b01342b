"""How claims are judged: three standard errors of paired differences decide, and too few runs decide nothing."""

import math

import numpy as np
import pytest

from dp_bandit_envs.algorithms.specs import AlgorithmSpec, GameSpec
from dp_bandit_envs.experiments.experiment import Experiment, Results
from dp_bandit_envs.experiments.report import Claim, Note, Verdict
from dp_bandit_envs.figures.judging import (
    Claims,
    Estimate,
    Judgement,
    after_names,
    all_ahead,
    errors_ahead,
    exponent,
    in_standard_errors,
    join_names,
    paired_differences,
    ratio,
    ratio_of_means,
    runs_on_a_worse_arm,
    warn_if_smaller,
    with_names,
)

YES, NO, UNDECIDED = Verdict

PANEL = GameSpec("a", "A", "DPBandit-Stochastic-v0", {"means": [0.5, 0.9, 0.7]}, (AlgorithmSpec("UCB"),))


def results(trials=4, rounds=(50_000, 100_000), **regrets):
    arrays = {f"a/{name}/pseudo_regret": np.array(regret, dtype=float) for name, regret in regrets.items()}
    return Results(Experiment("x", (PANEL,), (), rounds[-1], trials), {"a/checkpoints": np.array(rounds), **arrays})


def test_errors_ahead_is_the_mean_paired_difference_over_its_standard_error_and_without_spread_it_is_certain():
    """Differences 1, 2, 3, 4: mean 2.5, standard deviation 1.291, standard error 0.6455."""
    found = results(UCB=[[0, 10], [0, 20], [0, 30], [0, 40]], TS=[[0, 11], [0, 22], [0, 33], [0, 44]])
    assert errors_ahead(found, "a", "UCB", "TS", "pseudo_regret") == pytest.approx(2.5 / 0.6454972)
    assert errors_ahead(found, "a", "TS", "UCB", "pseudo_regret") == pytest.approx(-2.5 / 0.6454972)
    assert errors_ahead(found, "a", "UCB", "TS", "pseudo_regret", 0) == 0.0
    # Only games that both have played count.
    assert paired_differences(np.array([5.0, 7.0, 9.0]), np.array([1.0, 2.0])).tolist() == [4.0, 5.0]
    assert in_standard_errors(np.full(5, 2.0)) == math.inf
    assert in_standard_errors(np.full(5, -2.0)) == -math.inf
    assert in_standard_errors(np.zeros(5)) == 0.0
    assert math.isnan(in_standard_errors(np.array([3.0])))
    assert ratio(3, 2) == 1.5 and math.isnan(ratio(1, 0))


@pytest.mark.parametrize(
    ("leads", "expected"),
    [
        ([4.0, 3.1], YES),
        ([4.0, 2.9], UNDECIDED),
        ([4.0, -2.9], UNDECIDED),
        ([4.0, -3.1], NO),
        ([math.nan], UNDECIDED),
        ([4.0, math.nan], UNDECIDED),
        ([], UNDECIDED),
    ],
)
def test_all_leads_must_be_clear(leads, expected):
    assert all_ahead(leads) == expected


def claim_with(verdict, found, unknown="", says="says", **given):
    """Judge a claim whose number is 7, with this verdict if there are enough runs."""
    claims = Claims()
    claims(says, **given)(lambda results: Judgement(verdict, 7, "seen", yes="as said", no="not", unknown=unknown))
    (claim,) = claims.judged([found])
    return claim


def test_a_claim_holds_its_numbers_its_verdict_and_the_words_for_both():
    found = results(trials=5)
    assert claim_with(YES, found) == Claim(7, YES, "says", "seen", "as said")
    assert claim_with(NO, found) == Claim(7, NO, "says", "seen", "not")
    assert claim_with(UNDECIDED, found) == Claim(7, UNDECIDED, "says", "seen", "from 5 runs")
    assert claim_with(UNDECIDED, found, ": why").why == "from 5 runs: why"
    assert claim_with(YES, found, says=lambda results: f"of {results.experiment.trials}").says == "of 5"


@pytest.mark.parametrize("answer", [YES, NO, UNDECIDED])
def test_too_few_runs_decide_nothing(answer):
    """The standard error of a mean of four is known to within a factor of two only."""
    few = Claim(7, UNDECIDED, "says", "seen", "from 4 runs: that is too few")
    assert claim_with(answer, results()) == few
    assert claim_with(answer, results(trials=1)).why == "from 1 run: that is too few"
    # What does not depend on chance needs none.
    assert claim_with(answer, results(trials=1), fewest=0).verdict is answer


def test_a_claim_is_judged_by_the_results_that_it_is_about():
    """Each claim names its experiments; the runs of the first one count."""
    claims, given = Claims(), [results(trials=trials) for trials in (7, 3, 6)]
    claims("one", of=(2,))(lambda one: Judgement(YES, one.experiment.trials, ""))
    claims("two", of=(0, 1))(lambda one, other: Judgement(YES, (one.experiment.trials, other.experiment.trials), ""))
    claims("few", of=(1,))(lambda one: Judgement(YES, one.experiment.trials, ""))
    found = claims.judged(given)
    assert [(one.says, one.numbers, one.verdict) for one in found] == [
        ("one", 6, YES),
        ("two", (7, 3), YES),
        ("few", 3, UNDECIDED),
    ]


def test_a_smaller_experiment_says_so():
    assert warn_if_smaller(results(trials=100), 100_000, 100) == []
    rest = "Differences may come from that alone, whatever reason is given."
    assert warn_if_smaller(results(), 100_000, 100) == [
        Note(rest, "This is 4 runs of 100,000 rounds instead of 100 of 100,000.")
    ]
    (note,) = warn_if_smaller(results(100, rounds=(10, 50)), 100, 20)
    assert str(note) == f"**This is 100 runs of 50 rounds instead of 20 of 100.** {rest}"


def test_a_run_stays_on_a_worse_arm_if_it_loses_as_much_as_a_second_best_arm_would():
    """The second best arm loses 0.2 a round: 10,000 in the last half; half of that is the mark."""
    found = results(UCB=[[0, 10_000], [10_000, 15_001], [10_000, 14_999], [0, 0]])
    assert runs_on_a_worse_arm(found, PANEL, "UCB") == 2
    # In a short game everybody is still learning.
    assert runs_on_a_worse_arm(results(rounds=(50, 100), UCB=[[0, 10]] * 4), PANEL, "UCB") == 0


def test_lists_read_as_in_a_sentence():
    assert [join_names([]), join_names(["a"]), join_names(["a", "b"]), join_names("abc")] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert with_names({"x": "1", "y": Estimate(2, 0.5)}) == "1 (x), 2.00 ± 0.50 (y)"
    assert after_names({"x": 1, "y": 2}, "{:.1f}") == "x 1.0, y 2.0"
    unknown = [str(Estimate(value, math.nan)) for value in (3, math.nan)]
    assert unknown == ["3.00", "unknown"]


def test_a_ratio_of_paired_games_has_the_error_of_the_delta_method_and_an_exponent_is_that_of_a_power():
    free = np.array([1.0, 2.0, 3.0])
    # Twice the same regret: the ratio is 2 without an error, although regrets differ from game to game.
    assert ratio_of_means(2 * free, free) == pytest.approx((2, 0))
    # r = 3; p - r f = (-1, 1, 0), which over f's mean 2 has the standard deviation 1 / 2.
    found = ratio_of_means(np.array([2.0, 7.0, 9.0]), free)
    assert found == pytest.approx((3, 0.5 / math.sqrt(3)))
    assert math.isnan(ratio_of_means(free, free - 2).value)
    sizes = (2, 4, 8, 16)
    regrets = np.outer(np.linspace(0.9, 1.1, 7), np.power(sizes, 1.5))
    assert exponent(sizes, regrets) == pytest.approx((1.5, 0), abs=1e-12)
    assert math.isnan(exponent(sizes, -regrets).value) and math.isnan(exponent((2,), regrets[:, :1]).value)


def test_the_delta_method_agrees_with_resampling():
    rng = np.random.default_rng(4)
    free = rng.gamma(20, 1, 60)
    private = 1.5 * free + rng.normal(0, 3, 60)
    drawn = rng.integers(0, 60, (4000, 60))
    resampled = (private[drawn].mean(axis=1) / free[drawn].mean(axis=1)).std()
    # The standard deviation of 4,000 resamples is known to 1.1%; the linearisation is off by less than that here.
    assert ratio_of_means(private, free).error == pytest.approx(resampled, rel=0.06)
