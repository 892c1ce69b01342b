"""The bounds behind the statistical rules fail as rarely as they say: by exact sums over all outcomes."""

import numpy as np
import pytest
from scipy import stats

from dp_bandit_envs.conformance.bounds import chance_at_least, chance_at_most, mean_width

CHANCES = np.array([0.0, 0.001, 0.03, 0.2, 0.5, 0.77, 0.99, 1.0])


@pytest.mark.parametrize("n", [2, 50, 1000])
@pytest.mark.parametrize("failure", [0.1, 1e-3, 5e-7])
def test_bounds_on_chances_fail_as_rarely_as_they_say(n, failure):
    hits = np.arange(n + 1)
    low, high = chance_at_least(hits, n, failure), chance_at_most(hits, n, failure)
    assert np.all((low >= 0) & (low <= hits / n) & (hits / n <= high) & (high <= 1))
    for chance in CHANCES:
        weights = stats.binom.pmf(hits, n, chance)
        assert weights[low > chance].sum() <= failure
        assert weights[high < chance].sum() <= failure


def test_bounds_on_chances_by_hand():
    """Without a hit, ln(1 / failure) = -n ln(1 - chance); and with n hits the other way round."""
    upper = 1 - 1e-6 ** (1 / 500)
    assert chance_at_most(np.array([0]), 500, 1e-6)[0] == pytest.approx(upper)
    assert chance_at_least(np.array([500]), 500, 1e-6)[0] == pytest.approx(1 - upper)
    assert chance_at_least(np.array([0]), 500, 1e-6)[0] == 0
    assert chance_at_most(np.array([500]), 500, 1e-6)[0] == 1


@pytest.mark.parametrize("failure", [0.1, 1e-3, 1e-10])
def test_the_width_of_a_mean_fails_as_rarely_as_it_says(failure):
    n = 300
    hits = np.arange(n + 1)
    samples = (np.arange(n)[:, np.newaxis] < hits).astype(float)  # column h has h ones
    widths = np.array([mean_width(samples[:, [h]], failure)[0] for h in hits])
    for chance in CHANCES:
        weights = stats.binom.pmf(hits, n, chance)
        assert weights[np.abs(hits / n - chance) > widths].sum() <= failure
    together = mean_width(samples, failure)
    assert np.all(together >= widths)
