"""Pools of recorded gains: random order, no patient twice before all had a turn, arms independent of one another."""

import numpy as np
import pytest

from dp_bandit_envs.adversaries import OutcomePools
from tests.tools.refusals import refused

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


def test_arms_with_equal_pools_are_shuffled_differently():
    gains = gains_of([POOLS[0], POOLS[0]], 40)
    assert (gains[:, 0] != gains[:, 1]).any()


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


def test_pools_are_copies_that_the_caller_cannot_change():
    pool = np.zeros(3)
    adversary = OutcomePools([pool, pool])
    pool[:] = 1.0
    adversary.begin(np.random.default_rng(0))
    assert not adversary.next_gains(6).any()


def test_one_pool_is_no_game():
    with refused(ValueError, "n_arms", 2, 1):
        OutcomePools([np.ones(3)])


@pytest.mark.parametrize("pool", [[0.5, 1.5], [-0.1], [np.nan], []], ids=["above 1", "below 0", "NaN", "empty"])
def test_recorded_gains_must_be_in_the_unit_interval_and_at_least_one(pool):
    """A gain outside [0, 1] would move more than the sensitivity of 1 that privacy mechanisms rely on."""
    with pytest.raises(ValueError, match=r"pool|gain"):
        OutcomePools([np.array(pool), np.array([0.5])])
