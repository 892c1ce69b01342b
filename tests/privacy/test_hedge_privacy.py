"""The accounting of Hedge's own draws: exact laws of all sequences of arms never exceed it, and nearly reach it."""

import itertools
import math

import numpy as np
import pytest

from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.accounting import zcdp_within
from dp_bandit_envs.privacy.hedge_privacy import (
    LazySettings,
    hedge_guarantee,
    lazy_hedge_guarantee,
    lazy_settings,
)
from tests.tools.exact_laws import hedge_law, hedge_marginals, lazy_law, marginals, renyi

ORDERS = (1, 1.5, 2, 4, 8, 32, 128)


def neighbours(rounds, n_arms, number):
    """Yield pairs of tables that differ in one round: of equal gains, of coins, or of any gains."""
    rng = np.random.default_rng([rounds, n_arms])
    shape = rounds, n_arms
    for trial in range(number):
        one = [np.zeros(shape), np.ones(shape), rng.integers(0, 2, shape).astype(float), rng.random(shape)][trial % 4]
        other = one.copy()
        changed = 0 if trial % 3 else rng.integers(rounds - 1)
        one[changed] = rng.integers(0, 2, n_arms)
        other[changed] = 1 - one[changed] if trial % 5 else rng.random(n_arms)
        yield one, other


def largest_rho(pairs, law):
    """Return the largest Renyi divergence divided by its order, both ways."""
    found = 0.0
    for one, other in pairs:
        laws = law(one), law(other)
        for first, second in (laws, laws[::-1]):
            found = max(found, *(renyi(first, second, order) / order for order in ORDERS))
    return found


@pytest.mark.parametrize(("rate", "reached"), [(0.1, 0.999), (0.5, 0.98), (1.0, 0.93), (2.0, 0.8)])
def test_hedge_never_exceeds_its_rho_and_nearly_reaches_it(rate, reached):
    rho = hedge_guarantee(draws=6, learning_rate=rate).rho
    found = largest_rho(neighbours(6, 2, 80), lambda table: hedge_law(table, rate))
    assert reached * rho < found <= rho


def test_a_draw_does_not_forget_a_changed_round():
    """With all other gains equal the KL divergence of five later draws is 5 a tanh(a / 2): no contraction."""
    one = np.tile([0.5, 0.5], (6, 1))
    other = one.copy()
    one[0], other[0] = (1, 0), (0, 1)
    # Scores (a, 0) and (0, a): the arm ahead has s = 1 / (1 + e^-a), and the divergence is (2 s - 1) a.
    for rate in (0.1, 1.0):
        base, far = hedge_law(one, rate), hedge_law(other, rate)
        expected = 5 * rate * math.tanh(rate / 2)
        assert renyi(base, far, 1) == pytest.approx(expected, rel=1e-9)
        assert expected < hedge_guarantee(draws=6, learning_rate=rate).rho


@pytest.mark.parametrize("rate", [0.1, 0.7])
def test_the_divergence_from_equal_scores_is_ln_cosh(rate):
    """Where (1, 0) made up for (0, 1) before, and (0, 1) comes instead: scores 0, 0 against -a, a."""
    one = np.array([[0, 1], [1, 0], [0.0, 0], [0, 0]])
    other = np.array([[0, 1], [0, 1], [0.0, 0], [0, 0]])
    assert renyi(hedge_law(one, rate), hedge_law(other, rate), 1) == pytest.approx(2 * math.log(math.cosh(rate)))


LAZY = [
    (7, 2, 1.0, 0.1, 6),
    (7, 2, 0.5, 0.05, 2),
    (7, 2, 0.05, 0.02, 6),
    (4, 5, 0.05, 0.02, 3),
    (3, 6, 0.5, 0.01, 2),
    (2, 40, 0.1, 0.001, 1),
    (2, 3, 1.0, 0.9, 1),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("rounds", "n_arms", "rate", "fresh", "most"), LAZY)
def test_lazy_hedge_never_exceeds_its_rho(rounds, n_arms, rate, fresh, most):
    """And comes within a factor of 4 of it, so that a smaller one would be noticed."""
    rho = LazySettings(rate, fresh, most).rho
    found = largest_rho(neighbours(rounds, n_arms, 40), lambda table: lazy_law(table, rate, fresh, most))
    assert rho / 4 < found <= rho


def test_lazy_hedge_comes_close_to_its_rho_where_it_draws_in_most_rounds():
    rho = LazySettings(1.0, 0.9, 1).rho
    found = largest_rho(neighbours(2, 3, 60), lambda table: lazy_law(table, 1.0, 0.9, 1))
    assert 0.7 * rho < found <= rho


@pytest.mark.parametrize(("rate", "fresh"), [(0.5, 0.2), (0.004, 0.018), (2.0, 0.9), (1.0, 1.0)])
def test_the_range_of_keeping_is_that_of_the_largest_change(rate, fresh):
    """The two log ratios, kept and drawn, for all pairs of gains; the largest range is from 0 to 1."""

    def logs(gain):
        keep = (1 - fresh) * math.exp(-rate * (1 - gain))
        return (math.log(keep) if keep else 0.0), math.log(1 - keep)

    grid = np.linspace(0, 1, 21)
    ranges = []
    for one, other in itertools.product(grid, grid):
        (kept, drawn), (kept_too, drawn_too) = logs(one), logs(other)
        ranges.append(abs((kept - kept_too) - (drawn - drawn_too)))
    assert max(ranges) == pytest.approx(LazySettings(rate, fresh, 5).kept_range, rel=1e-9)


@pytest.mark.parametrize(("rate", "fresh"), [(0.5, 0.2), (0.1, 0.01), (1.0, 0.0), (0.3, 1.0)])
def test_every_round_of_lazy_hedge_has_the_law_of_hedge(rate, fresh):
    rng = np.random.default_rng(4)
    for table in (rng.random((6, 3)), rng.integers(0, 2, (6, 3)).astype(float)):
        law = lazy_law(table, rate, fresh, 6)
        assert sum(law.values()) == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(marginals(law, 3), hedge_marginals(table, rate), rtol=0, atol=1e-12)


def test_too_few_draws_change_the_law():
    """So that the test above means something."""
    table = np.tile([1.0, 0.0], (6, 1))
    apart = marginals(lazy_law(table, 0.5, 0.2, 1), 2) - hedge_marginals(table, 0.5)
    assert np.abs(apart).max() > 0.05


def test_guarantees_by_hand():
    """Two draws after the first: rho = 2 * .5^2 / 2, and 2 * 2 * .5 for pure privacy."""
    hedge = hedge_guarantee(draws=3, learning_rate=0.5)
    assert (hedge.rho, hedge.epsilon) == (0.25, 2.0)
    # a + ln(1 + .5 (1 - 1/2) / .5) = ln 2 + ln 1.5 = ln 3.
    lazy = LazySettings(math.log(2), 0.5, 4)
    assert lazy.kept_range == pytest.approx(math.log(3))
    assert lazy.redraw_probability == pytest.approx(0.75)
    stated = lazy_hedge_guarantee(lazy)
    assert stated.rho == pytest.approx(math.log(3) ** 2 / 8 + 4 * math.log(2) ** 2 / 2)
    # Kept with probability 1/4 or 1/2: log ratios ln 2 and ln 1.5.
    assert stated.epsilon == pytest.approx(math.log(2) + 8 * math.log(2))
    assert hedge_guarantee(draws=1, learning_rate=0.5).epsilon == 0.0


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.01, 1e-10), (50.0, 0.1)])
def test_a_budget_is_spent_and_never_exceeded(epsilon, delta):
    rho = zcdp_within(epsilon, delta)
    one_draw = hedge_guarantee(draws=2, learning_rate=math.sqrt(2 * rho))
    assert epsilon * (1 - 1e-6) < PrivacyGuarantee(math.inf, rho=one_draw.rho).epsilon_at(delta) <= epsilon
    assert rho + 2 * math.sqrt(rho * math.log(1 / delta)) > epsilon  # the conversion of Bun and Steinke (2016)
    assert zcdp_within(math.inf, delta) == math.inf
    # Without an epsilon the total variation counts, at most sqrt(rho / 2) by Pinsker: rho = 2 delta^2 would be enough.
    assert delta**2 < zcdp_within(1e-320, delta) <= zcdp_within(1e-150, delta) < 2 * delta**2


def test_lazy_settings_spend_the_budget_or_need_no_more():
    for rho in [1e-4, 0.0175, 0.5]:
        for horizon in [2, 3, 50, 2**12, 2**18]:
            best = math.sqrt(8 * math.log(10) / horizon)
            settings = lazy_settings(horizon, rho, best)
            assert settings.rho <= rho
            assert settings.learning_rate == best or settings.rho > (1 - 1e-9) * rho
            # M + 4 sqrt(M) draws, M being the largest expected number, or all.
            expected = (horizon - 1) * settings.redraw_probability
            allowed = (expected + 4 * math.sqrt(expected)) * (1 - 1e-9)
            assert horizon - 1 >= settings.most_draws >= min(horizon - 1, allowed)
            of_hedge = min(best, math.sqrt(2 * rho / (horizon - 1)))
            assert settings.learning_rate >= of_hedge * (1 - 1e-9)
    # Without privacy they are those of Hedge, and a game of one round needs no draw.
    assert lazy_settings(1000, math.inf, 0.25) == LazySettings(0.25, 1.0, 999)
    assert LazySettings(0.25, 1.0, 999).rho == hedge_guarantee(draws=1000, learning_rate=0.25).rho
    assert lazy_settings(1, 0.01, 2.0).most_draws == 0
