"""The level of privacy in a few words."""

import math

import pytest

from dp_bandit_envs import PrivacyGuarantee, compare, make_algorithm
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.cli.show_commands import describe, list_names
from dp_bandit_envs.privacy.accounting import zcdp_epsilon
from dp_bandit_envs.privacy.guarantee import CONVENTION, ShownEpsilon, format_levels, shown_epsilon
from tests.tools.pages import PAGES

FREE = ShownEpsilon(math.inf, 0.0)


def test_levels_in_words():
    for levels, words in [
        ([FREE], "(no privacy)"),
        ([ShownEpsilon(1, 0)], "eps 1"),
        ([ShownEpsilon(1, 1e-10)], "eps 1, delta 1e-10"),
        ([ShownEpsilon(262144, 0)], "eps 262,144"),
        ([ShownEpsilon(1, 1e-6), ShownEpsilon(0.1, 1e-6)], "eps 1 or 0.1, delta 1e-06"),
        ([ShownEpsilon(1, 1e-6), ShownEpsilon(0.1, 0)], "eps 1, delta 1e-06 or eps 0.1"),
        ([ShownEpsilon(epsilon, 0) for epsilon in (0.05, 2, 0.1, 1)], "eps 0.05 to 2"),
        ([ShownEpsilon(1, 0), FREE], "eps 1 or (no privacy)"),
        ([ShownEpsilon(20, 0, exact=True)], "eps 20 with exact noise"),
        ([ShownEpsilon(20, 0, exact=True), ShownEpsilon(1, 0)], "eps 20 with exact noise or eps 1"),
    ]:
        assert format_levels(levels) == words


def test_the_level_of_a_guarantee():
    assert shown_epsilon(PrivacyGuarantee.none("no noise")) == FREE
    # Pure where that was asked for, or is at most 30.
    assert (
        shown_epsilon(PrivacyGuarantee(2.0)) == shown_epsilon(PrivacyGuarantee(2.0, rho=0.001)) == ShownEpsilon(2.0, 0)
    )
    assert shown_epsilon(PrivacyGuarantee(30.0, rho=0.001)) == ShownEpsilon(30.0, 0)
    assert shown_epsilon(PrivacyGuarantee(243.0)) == ShownEpsilon(243.0, 0)
    assert shown_epsilon(PrivacyGuarantee(0.5, delta=1e-4, pure=2.5, rho=0.01)) == ShownEpsilon(2.5, 0)
    # Else the least epsilon at 1e-6, whatever delta was asked for; else the guarantee's own pair.
    assert shown_epsilon(PrivacyGuarantee(50.0, rho=0.01)) == ShownEpsilon(zcdp_epsilon(0.01, 1e-6), 1e-6)
    assert shown_epsilon(PrivacyGuarantee(0.5, delta=1e-4, rho=0.01)) == ShownEpsilon(zcdp_epsilon(0.01, 1e-6), 1e-6)
    assert shown_epsilon(PrivacyGuarantee(0.5, delta=1e-9)) == ShownEpsilon(0.5, 1e-6)
    assert shown_epsilon(PrivacyGuarantee(0.5, delta=1e-4)) == ShownEpsilon(0.5, 1e-4)


def test_a_large_epsilon_with_fast_draws_is_that_of_exact_noise():
    size = {"n_arms": 4, "horizon": 1000}
    small, large = (make_algorithm("DP-EXP3-Lap", epsilon=one).guarantee(**size) for one in (10, 11))
    assert (str(shown_epsilon(small)), str(shown_epsilon(large))) == ("eps 10", "eps 11 with exact noise")
    # Nothing is drawn here but arms.
    drawn = make_algorithm("EXP3-tau", batch_size=9).guarantee(n_arms=4, horizon=2500)
    assert 10 < drawn.pure_epsilon < 30 and str(shown_epsilon(drawn)) == f"eps {drawn.pure_epsilon:.4g}"


def test_exp3_has_one_epsilon_everywhere():
    """In `list`, `show`, a report, a comparison, docs/algorithms.md and its generated page: 85.8 at 1e-6."""
    size = {"n_arms": 4, "horizon": 2**18}
    level = shown_epsilon(make_algorithm("EXP3").guarantee(**size))
    assert level.delta == 1e-6 and level.epsilon == pytest.approx(85.8, abs=0.1)
    line = next(line for line in list_names("algorithms") if line.startswith("  EXP3 "))
    assert f" {level} " in line and any(CONVENTION in line for line in list_names("algorithms"))
    assert f"{level} ({CONVENTION})" in " ".join(describe("algorithm", "EXP3", ALGORITHMS["EXP3"]).split())
    compared = compare("Stochastic", "EXP3", horizon=2**18, trials=1, n_arms=4)
    assert compared[0].level == level
    row = next(line for line in PAGES["docs/algorithms.md"].splitlines() if line.startswith("| `EXP3` |"))
    assert f"| epsilon = {level.epsilon:.3g} at delta = 1e-6 |" in row
