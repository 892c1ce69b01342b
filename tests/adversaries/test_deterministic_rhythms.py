"""The deterministic adversary against its definition, by hand."""

import numpy as np
import pytest

from dp_bandit_envs.adversaries import Deterministic


def first_rounds(adversary, rounds):
    adversary.begin(np.random.default_rng(0))
    return adversary.next_gains(rounds)


def test_first_seven_rounds_match_the_definition_by_hand():
    expected = [
        [0.38, 0, 0, 0],  # round 1
        [0.38, 1, 0, 0],  # 2: even
        [0.38, 0, 1, 0],  # 3: a multiple of three
        [0.38, 1, 0, 0],
        [0.38, 0, 0, 0],
        [0.38, 1, 1, 0],  # 6: both
        [0.38, 0, 0, 0],
    ]
    np.testing.assert_array_equal(first_rounds(Deterministic(), 7), expected)


def test_six_hundred_rounds_sum_to_228_300_200_and_nothing():
    np.testing.assert_allclose(first_rounds(Deterministic(), 600).sum(axis=0), [228, 300, 200, 0], rtol=1e-12)


@pytest.mark.parametrize("n_arms", [2, 3, 9])
def test_other_numbers_of_arms_drop_the_last_or_add_worthless_ones(n_arms):
    gains = first_rounds(Deterministic(n_arms=n_arms), 12)
    shared = min(n_arms, 4)
    np.testing.assert_array_equal(gains[:, :shared], first_rounds(Deterministic(), 12)[:, :shared])
    assert not gains[:, 3:].any()
