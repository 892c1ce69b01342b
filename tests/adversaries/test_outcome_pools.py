"""Pools of recorded gains: random order, no patient twice before all had a turn, arms independent of one another."""

import csv
from collections import Counter
from importlib import resources

import numpy as np
import pytest

from dp_bandit_envs.adversaries import OutcomePools, Trial

POOLS = [np.linspace(0, 1, 40), np.linspace(0, 0.5, 7)]


def gains_of(pools, rounds, seed=0):
    adversary = OutcomePools(pools, horizon=rounds)
    adversary.begin(np.random.default_rng(seed))
    return adversary.next_gains(rounds)


def test_each_pass_through_a_pool_is_a_permutation_of_it():
    gains = gains_of(POOLS, 200)
    for arm, pool in enumerate(POOLS):
        count = 200 // len(pool)
        passes = gains[: count * len(pool), arm].reshape(count, -1)
        np.testing.assert_array_equal(np.sort(passes, axis=1), np.tile(pool, (count, 1)))
        assert len(np.unique(passes, axis=0)) > 1  # reshuffled


def test_an_arms_order_does_not_depend_on_the_other_arms_pool():
    np.testing.assert_array_equal(gains_of(POOLS, 100)[:, 0], gains_of([POOLS[0], np.ones(3)], 100)[:, 0])
    gains = gains_of([POOLS[0], POOLS[0]], 40)
    assert (gains[:, 0] != gains[:, 1]).any()


@pytest.mark.thorough
def test_every_outcome_comes_first_equally_often():
    """7,000 games: each count is binomial with deviation sqrt(7000 * 1/7 * 6/7) = 29.3; allow five of them.

    False alarm: 4e-6 (five standard errors, two sides, seven counts).
    """
    adversary, rng = OutcomePools(POOLS), np.random.default_rng(0)
    first = []
    for _ in range(7000):
        adversary.begin(rng)
        first.append(adversary.next_gains(1)[0, 1])
    counts = np.unique(first, return_counts=True)[1]
    assert np.abs(counts - 1000).max() <= 5 * np.sqrt(7000 * 6 / 49)


def test_horizon_defaults_to_all_outcomes():
    assert OutcomePools(POOLS).horizon == 47
    np.testing.assert_allclose(OutcomePools(POOLS).means, [0.5, 0.25], rtol=1e-15)


# ---- the clinical trial --------------------------------------------------------------------------------------------


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
    assert (Trial().horizon, Trial().n_arms) == (2139, 4)


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
    adversary.arm_order = "given"
    adversary.begin(np.random.default_rng(0))
    gains = adversary.next_gains(3000)
    for arm, (count, rate) in enumerate(zip(PATIENTS, RATES[outcome], strict=True)):
        passes = gains[: 3000 // count * count, arm].reshape(-1, count)
        assert passes.sum(axis=1).tolist() == [round(count * rate)] * len(passes)
        assert len(passes) == 5
        assert len(np.unique(passes, axis=0)) == 5  # reshuffled, not repeated
