"""How claims are judged: three standard errors of paired differences decide, and too few runs decide nothing."""

import math

import numpy as np
import pytest

from dp_bandit_envs.experiments.sentences import joined, smaller_than, with_names
from dp_bandit_envs.experiments.verdicts import Words, all_ahead, errors_ahead, judged, over_error, runs_on_a_worse_arm
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment, GameSpec, Results
from dp_bandit_envs.runs.run_report import Claim, Note, Verdict

YES, NO, UNDECIDED = Verdict

PANEL = GameSpec("a", "A", "DPBandit-Stochastic-v0", {"means": [0.5, 0.9, 0.7]}, (AlgorithmSpec("UCB"),))


def results(trials=4, rounds=(50_000, 100_000), **regrets):
    arrays = {f"a/{name}/pseudo_regret": np.array(regret, dtype=float) for name, regret in regrets.items()}
    return Results(Experiment("x", (PANEL,), (), rounds[-1], trials), {"a/checkpoints": np.array(rounds), **arrays})


def test_errors_ahead_is_the_mean_paired_difference_over_its_standard_error():
    """Differences 1, 2, 3, 4: mean 2.5, standard deviation 1.291, standard error 0.6455."""
    found = results(UCB=[[0, 10], [0, 20], [0, 30], [0, 40]], TS=[[0, 11], [0, 22], [0, 33], [0, 44]])
    assert errors_ahead(found, "a", "UCB", "TS", "pseudo_regret") == pytest.approx(2.5 / 0.6454972)
    assert errors_ahead(found, "a", "TS", "UCB", "pseudo_regret") == pytest.approx(-2.5 / 0.6454972)
    assert errors_ahead(found, "a", "UCB", "TS", "pseudo_regret", 0) == 0.0


def test_a_difference_without_spread_is_certain_and_none_is_nothing():
    assert over_error(np.full(5, 2.0)) == math.inf
    assert over_error(np.full(5, -2.0)) == -math.inf
    assert over_error(np.zeros(5)) == 0.0
    assert math.isnan(over_error(np.array([3.0])))


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


def claim_with(verdict, found, **given):
    """Judge a claim whose statistic is 7, with this verdict if there are enough runs."""
    words = Words("says", "seen", yes="as said", no="not", unknown=given.pop("unknown", ""))
    return judged(found, lambda _: (7, verdict), lambda statistic: words if statistic == 7 else None, **given)


def test_a_claim_holds_its_statistic_its_verdict_and_the_words_for_both():
    found = results(trials=5)
    assert claim_with(YES, found) == Claim(7, YES, "says", "seen", "as said")
    assert claim_with(NO, found) == Claim(7, NO, "says", "seen", "not")


def test_an_open_verdict_says_how_many_runs_there_were():
    found = results(trials=5)
    assert claim_with(UNDECIDED, found) == Claim(7, UNDECIDED, "says", "seen", "from 5 runs")
    assert claim_with(UNDECIDED, found, unknown=": why").why == "from 5 runs: why"


@pytest.mark.parametrize("answer", [YES, NO, UNDECIDED])
def test_too_few_runs_decide_nothing(answer):
    """The standard error of a mean of four is known to within a factor of two only."""
    few = Claim(7, UNDECIDED, "says", "seen", "from 4 runs: that is too few")
    assert claim_with(answer, results()) == few
    assert claim_with(answer, results(trials=1)).why == "from 1 run: that is too few"


def test_what_does_not_depend_on_chance_needs_no_runs():
    assert claim_with(YES, results(trials=1), fewest=0).verdict is YES


def test_a_smaller_experiment_says_so():
    assert smaller_than(results(trials=100), 100_000, 100) == []
    rest = "What differs below may come from that alone, whatever reason is given."
    assert smaller_than(results(), 100_000, 100) == [
        Note(rest, "This is 4 runs of 100,000 rounds instead of 100 of 100,000.")
    ]
    (note,) = smaller_than(results(100, rounds=(10, 50)), 100, 20)
    assert str(note) == f"**This is 100 runs of 50 rounds instead of 20 of 100.** {rest}"


def test_an_answer_reads_as_a_sentence():
    answers = [[Claim(None, verdict, "", "", why).answer for verdict in Verdict] for why in ("why", "")]
    assert answers == [["yes, why", "no, why", "cannot tell why"], ["yes", "no", "cannot tell"]]


def test_a_run_stays_on_a_worse_arm_if_it_loses_as_much_as_a_second_best_arm_would():
    """The second best arm loses 0.2 a round: 10,000 in the last half; half of that is the mark."""
    found = results(UCB=[[0, 10_000], [10_000, 15_001], [10_000, 14_999], [0, 0]])
    assert runs_on_a_worse_arm(found, PANEL, "UCB") == 2
    # In a short game everybody is still learning.
    assert runs_on_a_worse_arm(results(rounds=(50, 100), UCB=[[0, 10]] * 4), PANEL, "UCB") == 0


def test_lists_read_as_in_a_sentence():
    assert [joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
    assert with_names({"x": "1", "y": "2"}) == "1 (x), 2 (y)"
