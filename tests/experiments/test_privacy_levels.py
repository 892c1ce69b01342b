"""The level of privacy in a few words."""

import math

import pytest

from dp_bandit_envs import PrivacyGuarantee, compare, make_algorithm
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.cli.show_commands import about, listed
from dp_bandit_envs.privacy.accounting import zcdp_epsilon
from dp_bandit_envs.privacy.guarantee import CONVENTION, Level, in_words, level_of
from tests.tools.pages import PAGES

FREE = Level(math.inf, 0.0)


def test_levels_in_words():
    for levels, words in [
        ([FREE], "(no privacy)"),
        ([Level(1, 0)], "eps 1"),
        ([Level(1, 1e-10)], "eps 1, delta 1e-10"),
        ([Level(262144, 0)], "eps 262,144"),
        ([Level(1, 1e-6), Level(0.1, 1e-6)], "eps 1 or 0.1, delta 1e-06"),
        ([Level(1, 1e-6), Level(0.1, 0)], "eps 1, delta 1e-06 or eps 0.1"),
        ([Level(epsilon, 0) for epsilon in (0.05, 2, 0.1, 1)], "eps 0.05 to 2"),
        ([Level(1, 0), FREE], "eps 1 or (no privacy)"),
        ([Level(20, 0, exact=True)], "eps 20 with exact noise"),
        ([Level(20, 0, exact=True), Level(1, 0)], "eps 20 with exact noise or eps 1"),
    ]:
        assert in_words(levels) == words


def test_the_level_of_a_guarantee():
    assert level_of(PrivacyGuarantee.none("no noise")) == FREE
    # Pure where that was asked for, or is at most 30.
    assert level_of(PrivacyGuarantee(2.0)) == level_of(PrivacyGuarantee(2.0, rho=0.001)) == Level(2.0, 0)
    assert level_of(PrivacyGuarantee(30.0, rho=0.001)) == Level(30.0, 0)
    assert level_of(PrivacyGuarantee(243.0)) == Level(243.0, 0)
    assert level_of(PrivacyGuarantee(0.5, delta=1e-4, pure=2.5, rho=0.01)) == Level(2.5, 0)
    # Else the least epsilon at 1e-6, whatever delta was asked for; else the guarantee's own pair.
    assert level_of(PrivacyGuarantee(50.0, rho=0.01)) == Level(zcdp_epsilon(0.01, 1e-6), 1e-6)
    assert level_of(PrivacyGuarantee(0.5, delta=1e-4, rho=0.01)) == Level(zcdp_epsilon(0.01, 1e-6), 1e-6)
    assert level_of(PrivacyGuarantee(0.5, delta=1e-9)) == Level(0.5, 1e-6)
    assert level_of(PrivacyGuarantee(0.5, delta=1e-4)) == Level(0.5, 1e-4)


def test_a_large_epsilon_with_fast_draws_is_that_of_exact_noise():
    size = {"n_arms": 4, "horizon": 1000}
    small, large = (make_algorithm("DP-EXP3-Lap", epsilon=one).guarantee(**size) for one in (10, 11))
    assert (str(level_of(small)), str(level_of(large))) == ("eps 10", "eps 11 with exact noise")
    # Nothing is drawn here but arms.
    drawn = make_algorithm("EXP3-tau", batch_size=9).guarantee(n_arms=4, horizon=2500)
    assert 10 < drawn.pure_epsilon < 30 and str(level_of(drawn)) == f"eps {drawn.pure_epsilon:.4g}"


def test_exp3_has_one_epsilon_everywhere():
    """In `list`, `show`, a report, a comparison, docs/algorithms.md and its generated page: 85.8 at 1e-6."""
    size = {"n_arms": 4, "horizon": 2**18}
    level = level_of(make_algorithm("EXP3").guarantee(**size))
    assert level.delta == 1e-6 and level.epsilon == pytest.approx(85.8, abs=0.1)
    line = next(line for line in listed() if line.startswith("  EXP3 "))
    assert f" {level} " in line and any(CONVENTION in line for line in listed())
    assert f"{level} ({CONVENTION})" in " ".join(about("algorithm", "EXP3", ALGORITHMS["EXP3"]).split())
    compared = compare("Stochastic", "EXP3", horizon=2**18, trials=1, n_arms=4)
    assert compared[0].level == level
    row = next(line for line in PAGES["docs/algorithms.md"].splitlines() if line.startswith("| `EXP3` |"))
    assert f"| epsilon = {level.epsilon:.3g} at delta = 1e-6 |" in row
