"""From rho, sigma and Renyi divergences to (epsilon, delta) and zCDP, by second routes.

Against a numeric minimum over alpha, exact curves and `dp_accounting`.
"""

import dataclasses
import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.special import log_ndtr

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.accounting import (
    FINE_ORDERS,
    ORDERS,
    curve_of_group,
    delta_from_renyi,
    epsilon_from_renyi,
    gaussian_curve_epsilon,
    gaussian_law,
    rho_from_renyi,
    zcdp_delta,
    zcdp_epsilon,
)
from dp_bandit_envs.privacy.gaussian import gaussian_epsilon, gaussian_sigma
from tests.tools.doors import one_each
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


@pytest.mark.thorough
@pytest.mark.slow_cases("1e-06-0.0001", "1e-06-0.0175", "1e-06-1e-12", "1e-06-32768.0", "1e-06-4.777")
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


@pytest.mark.parametrize(("sigma", "delta"), one_each([1.0, 0.3, 7.0, 50.0], [1e-6, 1e-3, 1e-12]))
def test_epsilon_of_a_gaussian_mechanism_is_its_exact_curve(sigma, delta):
    """Phi(1 / (2 s) - e s) - exp(e) Phi(-1 / (2 s) - e s) = delta; two other routes, less than by rho.

    False alarm: none.
    """
    from scipy.stats import norm

    guarantee = PrivacyGuarantee(math.inf, rho=1 / (2 * sigma**2), noise_law=gaussian_law(sigma))
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
    assert PrivacyGuarantee(10.0, rho=0.5, noise_law=gaussian_law(sigma)).epsilon_at(delta) == pytest.approx(
        2.0, rel=2e-9
    )
    pair = PrivacyGuarantee(1.0, delta=1e-3)
    assert (pair.epsilon_at(1e-4), pair.epsilon_at(1e-3), pair.epsilon_at(0.1)) == (math.inf, 1.0, 1.0)
    assert PrivacyGuarantee(3.0).epsilon_at(1e-9) == 3.0
    curve = gaussian_curve(0.01)
    alone = epsilon_from_renyi(curve, 1e-6)
    assert PrivacyGuarantee(50.0, curve=curve).epsilon_at(1e-6) == alone
    assert PrivacyGuarantee(alone / 2, curve=curve).epsilon_at(1e-6) == alone / 2
    assert PrivacyGuarantee(50.0, rho=1e-6, curve=curve).epsilon_at(1e-6) < alone
    # A guarantee for a larger delta says nothing at a smaller one, but the curve does.
    assert PrivacyGuarantee(0.1, delta=1e-3, curve=curve).epsilon_at(1e-6) == alone


def test_delta_at_is_the_least_of_all_that_is_known():
    guarantee = PrivacyGuarantee(3.0, delta=1e-3, rho=0.5)
    assert guarantee.delta_at(3.0) == guarantee.delta_at(3.5) == 1e-3
    assert guarantee.delta_at(4.5 + math.log(0.8)) == pytest.approx(math.exp(-8) / 5)
    assert PrivacyGuarantee(3.0).delta_at(3.0) == 0.0 and PrivacyGuarantee(3.0).delta_at(2.9) == 1.0
    assert PrivacyGuarantee.none("no noise").delta_at(100) == 1.0
    assert PrivacyGuarantee.none("no noise").delta_at(math.inf) == 0.0
    curve = gaussian_curve(0.01)
    renyi_filter = delta_from_renyi(curve, 1.0)
    assert PrivacyGuarantee(50.0, curve=curve).delta_at(1.0) == renyi_filter
    assert PrivacyGuarantee(1.0, delta=renyi_filter / 2, curve=curve).delta_at(1.0) == renyi_filter / 2
    assert PrivacyGuarantee(0.9, curve=curve).delta_at(1.0) == 0.0
    exp3 = make_algorithm("EXP3-tau").guarantee(n_arms=4, horizon=2**18)
    assert exp3.delta_at(exp3.epsilon_at(1e-9)) == pytest.approx(1e-9, rel=1e-6)


@pytest.mark.parametrize("epsilon", [-1.0, math.nan])
def test_delta_is_asked_at_an_epsilon_of_at_least_zero(epsilon):
    with refused(ValueError, "epsilon", epsilon):
        PrivacyGuarantee(epsilon=1.0).delta_at(epsilon)


# ---- Renyi divergences


def gaussian_curve(rho, orders=FINE_ORDERS):
    return tuple((order, rho * order) for order in orders)


def gaussian_delta(rho, epsilon):
    """Return the exact delta of Gaussian noise with rho = 1 / (2 sigma^2) (Balle and Wang 2018, theorem 8)."""
    mu = math.sqrt(2 * rho)
    return math.exp(log_ndtr(mu / 2 - epsilon / mu)) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))


def test_one_order_by_hand():
    """Order 2, divergence 1, delta = e^-10: 1 + ln(1 / 2) + 10 - ln 2 = 9.6137; at epsilon 3, e^(1 - 3) / 2 / 2."""
    assert epsilon_from_renyi([(2.0, 1.0)], math.exp(-10)) == pytest.approx(11 - 2 * math.log(2), rel=1e-11)
    assert delta_from_renyi([(2.0, 1.0)], 3.0) == pytest.approx(math.exp(-2) / 4, rel=1e-11)
    assert delta_from_renyi([(2.0, 1.0)], 11 - 2 * math.log(2)) == pytest.approx(math.exp(-10), rel=1e-10)


def test_random_laws_keep_what_is_promised():
    """The curve of two laws on five points, and their exact delta: sum of max(0, p - e^epsilon q); both ways."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        p, q = rng.dirichlet(np.ones(5), 2)
        curve = [(order, math.log((p**order * q ** (1 - order)).sum()) / (order - 1)) for order in (1.1, 1.5, 2, 4, 9)]
        for delta in (0.01, 0.2):
            epsilon = epsilon_from_renyi(curve, delta)
            assert np.maximum(0, p - math.exp(epsilon) * q).sum() <= delta
        for epsilon in (0.0, 0.5, 2.0):
            assert np.maximum(0, p - math.exp(epsilon) * q).sum() <= delta_from_renyi(curve, epsilon) <= 1


def test_rho_covers_every_order():
    """Randomised response: divergences bend from rho alpha to a pure epsilon; rho is their largest ratio."""
    epsilon = 1.5
    p = 1 / (1 + math.exp(-epsilon))

    def divergence(order):
        peak = order * math.log(p) + (1 - order) * math.log1p(-p)
        return (peak + math.log1p(math.exp(order * math.log1p(-p) + (1 - order) * math.log(p) - peak))) / (order - 1)

    rho = rho_from_renyi([(order, divergence(order)) for order in ORDERS if order < 1000], epsilon)
    largest = max(divergence(order) / order for order in 1 + np.geomspace(1e-4, 1e4, 5000))
    assert largest <= rho <= 1.05 * largest
    # Beyond the last order the pure epsilon counts.
    assert rho_from_renyi([(2.0, 0.0)], epsilon) == pytest.approx(epsilon / 2)


# ---- delta at an epsilon


@pytest.mark.parametrize("rho", [1e-4, 0.3, 5.0])
def test_delta_is_the_inverse_of_epsilon_and_never_below_the_true_one(rho):
    curve = gaussian_curve(rho)
    for delta in (1e-3, 1e-6, 2.0**-36):
        epsilon = epsilon_from_renyi(curve, delta)
        found = delta_from_renyi(curve, epsilon)
        assert found == pytest.approx(delta, rel=1e-8) and gaussian_delta(rho, epsilon) <= found
        assert zcdp_delta(rho, epsilon) <= found * (1 + 1e-12) <= 1.01 * zcdp_delta(rho, epsilon)


def test_deltas_at_the_ends():
    """No curve promises nothing, and nothing is below zero."""
    assert delta_from_renyi([], 1.0) == delta_from_renyi([(2.0, math.inf)], 1.0) == 1.0
    assert delta_from_renyi(gaussian_curve(1.0), math.inf) == 0.0
    assert delta_from_renyi(gaussian_curve(100.0), 0.0) == 1.0
    assert epsilon_from_renyi([], 0.1) == epsilon_from_renyi([(2.0, math.inf)], 0.1) == math.inf
    assert epsilon_from_renyi(gaussian_curve(0.0), 0.9) == 0.0


# ---- groups


def divergences(p, q, orders):
    """Return the larger of both directions at each order."""
    both = [np.log((two * (one / two) ** orders[:, None]).sum(axis=1)) for one, two in ((p, q), (q, p))]
    return np.maximum(*both) / (orders - 1)


@pytest.mark.thorough
@pytest.mark.parametrize("rounds", [2, 3])
def test_a_group_of_random_laws_stays_below_its_curve(rounds):
    """A chain of laws on four points; its neighbours' largest divergences give the curve."""
    rng = np.random.default_rng(2)
    orders = 1 + np.geomspace(0.01, 200, 120)
    closest = 0.0
    for _ in range(100):
        chain = [rng.dirichlet(np.ones(4))]
        for _ in range(rounds):
            moved = chain[-1] * np.exp(rng.uniform(-0.1, 0.1, 4))
            chain.append(moved / moved.sum())
        lost = np.max([divergences(one, two, orders) for one, two in itertools.pairwise(chain)], axis=0)
        found = curve_of_group(tuple(zip(orders.tolist(), lost.tolist(), strict=True)), rounds)
        kept = np.array([order for order, _ in found])
        bound = np.array([divergence for _, divergence in found])
        exact = divergences(chain[0], chain[-1], kept)
        assert len(kept) > 60
        closest = max(closest, float((exact / bound).max()))
    assert 0.7 < closest <= 1


@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_a_group_of_gaussian_curves_grows_like_the_square(rounds):
    """A shift of r is r^2 rho at every order: nothing less is true, and the best exponents give little more."""
    found = dict(curve_of_group(gaussian_curve(1e-3), rounds))
    for order, divergence in found.items():
        assert divergence >= rounds**2 * 1e-3 * order * (1 - 1e-9)
        if 2 < order < 1000:
            assert divergence <= rounds**2 * 1e-3 * order * 1.25


def test_groups_without_orders_say_nothing():
    """One order alone leaves none for Hölder's inequality."""
    assert curve_of_group(((2.0, 1.0),), 2) is None
    guarantee = PrivacyGuarantee(epsilon=0.5, delta=1e-6, curve=((2.0, 1.0),))
    assert guarantee.for_group(2).curve is None and guarantee.for_group(1).curve == ((2.0, 1.0),)
    # Three rounds: the pair and rho alone give far more.
    exp3 = make_algorithm("EXP3-tau", batch_size=162).guarantee(n_arms=4, horizon=2**18)
    group = exp3.for_group(3)
    alone = dataclasses.replace(group, curve=None)
    assert 3 * exp3.epsilon_at(1e-9) < group.epsilon_at(1e-9) < 0.8 * alone.epsilon_at(1e-9)
