"""The level of privacy in a few words, and the tail beside the median."""

import math

import numpy as np
import pytest

from dp_bandit_envs import PrivacyGuarantee, make_algorithm
from dp_bandit_envs.metrics import median_and_tail
from dp_bandit_envs.privacy.conversions import zcdp_epsilon
from dp_bandit_envs.privacy.levels import Level, in_words, level_of

FREE = Level(math.inf, 0.0)


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ([FREE], "(no privacy)"),
        ([Level(1, 0)], "eps 1"),
        ([Level(1, 1e-10)], "eps 1, delta 1e-10"),
        ([Level(262144, 0)], "eps 262,144"),
        ([Level(1, 0), Level(0.1, 0)], "eps 1 or 0.1"),
        ([Level(1, 1e-6), Level(0.1, 1e-6)], "eps 1 or 0.1, delta 1e-06"),
        ([Level(1, 1e-6), Level(0.1, 0)], "eps 1, delta 1e-06 or eps 0.1"),
        ([Level(epsilon, 0) for epsilon in (0.05, 2, 0.1, 1)], "eps 0.05 to 2"),
        ([Level(1, 0), FREE], "eps 1 or (no privacy)"),
        ([Level(0, 0)], "eps 0"),
    ],
)
def test_levels_in_words(levels, words):
    assert in_words(levels) == words


def test_the_level_of_a_guarantee():
    assert level_of(PrivacyGuarantee.none("no noise"), 10) == FREE
    assert level_of(PrivacyGuarantee(2.0), 10) == Level(2.0, 0)
    # The conversion of rho at delta = T^-2 where that is the smaller epsilon.
    small = level_of(PrivacyGuarantee(50.0, rho=0.01), 1000)
    assert small == (zcdp_epsilon(0.01, 1000.0**-2), pytest.approx(1e-6))
    assert level_of(PrivacyGuarantee(0.2, rho=0.02), 1000) == Level(0.2, 0)
    assert level_of(make_algorithm("EXP3-tau").guarantee(n_arms=4, horizon=2**18), 2**18).delta == 2.0**-36


def test_the_tail_is_where_one_game_in_a_hundred_ends():
    """0, ..., 199: the median is 99.5; the 99 % quantile at 0.99 * 199 = 197.01."""
    sample = np.arange(200.0)[::-1, None] * [1, 10]
    median, tail = median_and_tail(sample)
    assert median.tolist() == [99.5, 995.0] and tail == pytest.approx([197.01, 1970.1])
