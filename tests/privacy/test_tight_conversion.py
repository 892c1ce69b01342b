"""From rho and sigma to (epsilon, delta): against a numeric minimum over alpha, exact curves and `dp_accounting`."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.accounting import gaussian_curve_epsilon, gaussian_law, zcdp_delta, zcdp_epsilon
from dp_bandit_envs.privacy.gaussian import gaussian_epsilon, gaussian_sigma
from tests.tools.refusals import refused

RHOS = [1e-12, 1e-4, 0.0175, 0.5, 4.777, 100.0, 32768.0]
DELTAS = [0.3, 1e-3, 1e-6, 2.0**-36, 1e-100]


def at_alpha(alpha, rho, delta):
    """Return epsilon for one alpha in 60 digits: alpha rho + (L - ln alpha) / (alpha - 1) + ln(1 - 1 / alpha)."""
    with localcontext() as context:
        context.prec = 60
        alpha, one = Decimal(alpha), Decimal(1)
        log = -Decimal(delta).ln()
        return alpha * Decimal(rho) + (log - alpha.ln()) / (alpha - 1) + (one - one / alpha).ln()


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize(
    "delta", [DELTAS[2], *[pytest.param(d, marks=pytest.mark.slow) for d in DELTAS if d != DELTAS[2]]]
)
def test_epsilon_is_the_minimum_over_alpha_and_rounded_up(rho, delta):
    """On 4,000 values of alpha around the optimum; the best of them is beaten by at most the grid's width squared."""
    found = zcdp_epsilon(rho, delta)
    typical = math.sqrt(-math.log(delta) / rho)
    low, high = (1 + beta for beta in (typical * 1e-3, typical * 3))
    grid = 1 + np.geomspace(low - 1, high - 1, 4000)
    best = min((at_alpha(alpha, rho, delta) for alpha in map(float, grid)), default=None)
    assert Decimal(found) <= max(best, Decimal(0)) * (1 + Decimal("1e-12")) + Decimal("1e-14")
    assert found >= max(0.0, float(best) * (1 - 1e-5))
    assert found <= rho + 2 * math.sqrt(rho * -math.log(delta))  # Bun and Steinke's


def test_epsilon_at_its_own_alpha_by_hand():
    """With rho = 1/2 and alpha = 5, L = 16 / 2 + ln 5 is where alpha is best: epsilon = 4.5 + ln(4/5)."""
    delta = math.exp(-8) / 5
    assert zcdp_epsilon(0.5, delta) == pytest.approx(4.5 + math.log(0.8), rel=1e-13)
    # And delta = exp(4 (2.5 - 4.5 - ln .8)) / 5 (4/5)^4 = e^-8 / 5.
    assert zcdp_delta(0.5, 4.5 + math.log(0.8)) == pytest.approx(delta, rel=1e-12)


def test_a_conversion_is_never_below_its_exact_value():
    """The best alpha is known here: L = rho (alpha - 1)^2 + ln alpha; 60 digits for the rest."""
    for rho in RHOS:
        for alpha in (1.001, 1.5, 7.0, 400.0):
            delta = math.exp(-(rho * (alpha - 1) ** 2)) / alpha
            if 0 < delta < 1:
                exact = at_alpha(alpha, rho, delta)
                assert Decimal(zcdp_epsilon(rho, delta)) >= exact * (1 - Decimal("1e-20"))
                assert zcdp_epsilon(rho, delta) <= max(0.0, float(exact)) * (1 + 1e-11) + 1e-12


@pytest.mark.parametrize("rho", RHOS)
def test_delta_and_epsilon_are_inverse(rho):
    for delta in DELTAS:
        epsilon = zcdp_epsilon(rho, delta)
        if epsilon > 0:
            assert zcdp_delta(rho, epsilon) == pytest.approx(delta, rel=1e-7)
    # At alpha = 2: exp(2 rho - epsilon) / 4, which the smallest delta does not exceed.
    for epsilon in (0.5, 3.0):
        assert zcdp_delta(rho, epsilon) <= min(1.0, math.exp(min(2 * rho - epsilon, 2.0)) / 4) * (1 + 1e-12)


def test_limits_of_the_conversions():
    assert zcdp_epsilon(0.0, 1e-6) == 0.0 and zcdp_epsilon(math.inf, 1e-6) == math.inf
    assert zcdp_delta(0.0, 0.0) == 0.0 and zcdp_delta(math.inf, 9.0) == 1.0 and zcdp_delta(1.0, math.inf) == 0.0
    assert zcdp_delta(5.0, 0.0) <= 1.0
    assert gaussian_curve_epsilon(0.0, 0.1) == math.inf and gaussian_curve_epsilon(math.inf, 0.1) == 0.0
    assert zcdp_epsilon(1e-300, 5e-324) < 1e-140


@pytest.mark.parametrize("rho", [5e-324, 1e-300, 1e-10, 1.0, 1e12, 1e40, 1e150, 1e308])
def test_no_delta_remains_at_a_huge_epsilon(rho):
    """Far above rho, delta is at most exp(-(epsilon - rho)^2 / (4 rho)), which no double holds."""
    for epsilon in (2 * rho + 2e4 * math.sqrt(rho), 1e100 * max(rho, 1.0), 1e308):
        if epsilon >= 2 * rho + 1e4 * math.sqrt(rho):
            assert zcdp_delta(rho, epsilon) == 0.0


@pytest.mark.parametrize("sigma", [0.3, 1.0, 7.0, 50.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_epsilon_of_a_gaussian_mechanism_is_its_exact_curve(sigma, delta):
    """Phi(1 / (2 s) - e s) - exp(e) Phi(-1 / (2 s) - e s) = delta; two other routes, less than by rho.

    False alarm: none.
    """
    from scipy.stats import norm

    guarantee = PrivacyGuarantee(math.inf, rho=1 / (2 * sigma**2), law=gaussian_law(sigma))
    epsilon = guarantee.epsilon_at(delta)
    log_second = epsilon + norm.logcdf(-1 / (2 * sigma) - epsilon * sigma)
    assert norm.sf(epsilon * sigma - 1 / (2 * sigma)) - math.exp(log_second) == pytest.approx(delta, rel=1e-6)
    assert epsilon == pytest.approx(gaussian_epsilon(sigma, delta), rel=1e-8)
    assert guarantee.delta_at(epsilon) == pytest.approx(delta, rel=1e-8) and guarantee.delta_at(epsilon) <= delta
    by_rho = PrivacyGuarantee(math.inf, rho=guarantee.rho)
    # The optimal conversion holds for all rho-zCDP mechanisms, so it loses something on a Gaussian; not a third.
    assert epsilon < by_rho.epsilon_at(delta) < 1.5 * epsilon
    assert guarantee.delta_at(epsilon) < by_rho.delta_at(epsilon) < 20 * delta


def test_epsilon_at_is_the_least_of_all_that_is_known():
    delta = math.exp(-8) / 5
    by_rho = 4.5 + math.log(0.8)
    assert PrivacyGuarantee(10.0, rho=0.5).epsilon_at(delta) == pytest.approx(by_rho)
    assert PrivacyGuarantee(3.0, rho=0.5).epsilon_at(delta) == 3.0
    sigma = gaussian_sigma(2.0, delta)
    assert PrivacyGuarantee(10.0, rho=0.5, law=gaussian_law(sigma)).epsilon_at(delta) == pytest.approx(2.0, rel=2e-9)
    pair = PrivacyGuarantee(1.0, delta=1e-3)
    assert (pair.epsilon_at(1e-4), pair.epsilon_at(1e-3), pair.epsilon_at(0.1)) == (math.inf, 1.0, 1.0)
    assert PrivacyGuarantee(3.0).epsilon_at(1e-9) == 3.0


def test_delta_at_is_the_least_of_all_that_is_known():
    guarantee = PrivacyGuarantee(3.0, delta=1e-3, rho=0.5)
    assert guarantee.delta_at(3.0) == guarantee.delta_at(3.5) == 1e-3
    assert guarantee.delta_at(4.5 + math.log(0.8)) == pytest.approx(math.exp(-8) / 5)
    assert PrivacyGuarantee(3.0).delta_at(3.0) == 0.0 and PrivacyGuarantee(3.0).delta_at(2.9) == 1.0
    assert PrivacyGuarantee.none("no noise").delta_at(100) == 1.0
    assert PrivacyGuarantee.none("no noise").delta_at(math.inf) == 0.0


@pytest.mark.parametrize("epsilon", [-1.0, math.nan])
def test_delta_is_asked_at_an_epsilon_of_at_least_zero(epsilon):
    with refused(ValueError, "epsilon", epsilon):
        PrivacyGuarantee(epsilon=1.0).delta_at(epsilon)


@pytest.mark.parametrize("rho", [1e-4, 0.0175, 0.5, 4.777])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_the_conversion_is_that_of_dp_accounting(rho, delta):
    accountant = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant")
    orders = 1 + np.geomspace(0.1, 10 * math.sqrt(-math.log(delta) / rho), 5000)
    theirs, _ = accountant.compute_epsilon(orders, orders * rho, delta)
    assert zcdp_epsilon(rho, delta) == pytest.approx(theirs, rel=1e-5)
