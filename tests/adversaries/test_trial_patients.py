"""The clinical trial: the shipped data are the trial's, and each patient has a turn before anyone has a second one."""

import csv
from collections import Counter
from importlib import resources

import numpy as np
import pytest

from dp_bandit_envs.adversaries import Trial
from tests.tools.refusals import refused

PATIENTS = [532, 522, 524, 561]
RATES = {  # to three digits, as published with the data
    "event_free": [0.660, 0.803, 0.792, 0.772],
    "cd4_not_fallen": [0.444, 0.665, 0.559, 0.569],
}


@pytest.fixture(scope="module")
def patients():
    """The shipped file, read without the project's help."""
    with resources.files("dp_bandit_envs.data").joinpath("actg175.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_shipped_file_holds_every_patient_once(patients):
    assert len(patients) == 2139
    assert len({row["patient"] for row in patients}) == 2139
    assert Counter(row["arm"] for row in patients) == dict(zip("0123", PATIENTS, strict=True))


@pytest.mark.parametrize("outcome", RATES)
def test_success_rates_are_those_published_with_the_data(patients, outcome):
    adversary = Trial(outcome=outcome)
    assert np.round(adversary.means, 3).tolist() == RATES[outcome]
    for arm in range(4):
        outcomes = [int(row[outcome]) for row in patients if row["arm"] == str(arm)]
        assert adversary.means[arm] == pytest.approx(sum(outcomes) / PATIENTS[arm], rel=1e-15)


@pytest.mark.parametrize("outcome", RATES)
def test_every_patient_of_an_arm_has_a_turn_before_anyone_has_a_second(outcome):
    """In n consecutive rounds from the start of a pass an arm of n patients pays all its successes, in every pass.

    A window that is one patient too long or too short would miss the count in one of the passes or arms.
    """
    adversary = Trial(horizon=3000, outcome=outcome)
    adversary.begin(np.random.default_rng(0))
    gains = adversary.next_gains(3000)
    for arm, (count, rate) in enumerate(zip(PATIENTS, RATES[outcome], strict=True)):
        passes = gains[: 3000 // count * count, arm].reshape(-1, count)
        assert passes.sum(axis=1).tolist() == [round(count * rate)] * len(passes)
        assert len(passes) == 5
        assert len(np.unique(passes, axis=0)) == 5  # reshuffled, not repeated


def test_default_horizon_is_the_number_of_patients():
    assert Trial().horizon == 2139
    assert Trial().n_arms == 4


def test_outcome_must_be_one_of_the_recorded_ones():
    with refused(ValueError, "outcome", "'event_free'", "'cd4_not_fallen'", "'cured'"):
        Trial(outcome="cured")
