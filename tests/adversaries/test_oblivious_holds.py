"""The oblivious adversary: draws of the fully oblivious one, each held for 200 rounds."""

import numpy as np
import pytest

from dp_bandit_envs.adversaries import FullyOblivious, Oblivious
from dp_bandit_envs.seeding import ADVERSARY, stream
from tests.tools.refusals import refused


def gains_of(adversary, rounds):
    adversary.begin(stream(11, role=ADVERSARY))
    return adversary.next_gains(rounds)


def test_gains_are_redrawn_in_rounds_200_and_400_and_held_in_between():
    """The draws are those of the fully oblivious adversary with the same stream, in order."""
    held, draws = gains_of(Oblivious(n_arms=50), 600), gains_of(FullyOblivious(n_arms=50), 4)
    np.testing.assert_array_equal(held[:199], np.tile(draws[0], (199, 1)))  # rounds 1 to 199
    np.testing.assert_array_equal(held[199:399], np.tile(draws[1], (200, 1)))  # rounds 200 to 399
    np.testing.assert_array_equal(held[399:599], np.tile(draws[2], (200, 1)))  # rounds 400 to 599
    np.testing.assert_array_equal(held[599], draws[3])  # round 600
    assert len(np.unique(draws, axis=0)) == 4  # 50 coins: four equal draws would hide a missing redraw


def test_period_one_is_the_fully_oblivious_adversary():
    np.testing.assert_array_equal(gains_of(Oblivious(period=1), 300), gains_of(FullyOblivious(), 300))


def test_period_beyond_the_horizon_never_redraws():
    assert len(np.unique(gains_of(Oblivious(n_arms=50, horizon=500, period=501), 500), axis=0)) == 1


def test_held_gains_have_the_declared_means():
    """20,000 draws of an arm have mean p with standard error below 0.5 / sqrt(20,000): allow five of them.

    False alarm: 2.3e-6 (five standard errors, two sides, four arms).
    """
    gains = gains_of(Oblivious(period=3), 60_000)[2::3]
    assert np.all(np.abs(gains.mean(axis=0) - [0.55, 0.5, 0.5, 0.5]) <= 5 * 0.5 / np.sqrt(20_000))


@pytest.mark.parametrize("period", [0, -200, 1.5])
def test_period_must_be_a_positive_integer(period):
    with refused(ValueError, "period", 1, period):
        Oblivious(period=period)
