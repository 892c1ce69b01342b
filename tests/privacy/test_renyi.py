"""From Renyi divergences to (epsilon, delta) and zCDP, by second routes."""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr

from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.renyi import ORDERS, epsilon_from_renyi, rho_from_renyi


def gaussian_curve(rho):
    return tuple((order, rho * order) for order in ORDERS)


def gaussian_delta(rho, epsilon):
    """Return the exact delta of Gaussian noise with rho = 1 / (2 sigma^2) (Balle and Wang 2018, theorem 8)."""
    mu = math.sqrt(2 * rho)
    return math.exp(log_ndtr(mu / 2 - epsilon / mu)) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))


def test_one_order_by_hand():
    # Order 2, divergence 1, delta = e^-10: 1 + ln(1 / 2) + 10 - ln 2 = 9.6137.
    assert epsilon_from_renyi([(2.0, 1.0)], math.exp(-10)) == pytest.approx(11 - 2 * math.log(2), rel=1e-11)


@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.3, 5.0])
@pytest.mark.parametrize("delta", [1e-4, 1e-6, 2.0**-36])
def test_gaussian_noise_is_between_its_exact_epsilon_and_the_classic_one(rho, delta):
    epsilon = epsilon_from_renyi(gaussian_curve(rho), delta)
    assert gaussian_delta(rho, epsilon) <= delta
    assert epsilon < rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert gaussian_delta(rho, 0.6 * epsilon) > delta


def test_a_finer_grid_of_orders_would_gain_less_than_a_thousandth():
    orders = 1 + np.geomspace(1e-3, 1e6, 200_001)
    for rho in (1e-6, 1e-3, 1.0, 30.0):
        exact = epsilon_from_renyi([(order, rho * order) for order in orders], 1e-9)
        assert exact <= epsilon_from_renyi(gaussian_curve(rho), 1e-9) * (1 + 1e-12) <= 1.001 * exact


def test_random_laws_keep_what_is_promised():
    """The curve of two laws on five points, and their exact delta: sum of max(0, p - e^epsilon q)."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        p, q = rng.dirichlet(np.ones(5), 2)
        curve = [(order, math.log((p**order * q ** (1 - order)).sum()) / (order - 1)) for order in (1.1, 1.5, 2, 4, 9)]
        for delta in (0.01, 0.2):
            epsilon = epsilon_from_renyi(curve, delta)
            assert np.maximum(0, p - math.exp(epsilon) * q).sum() <= delta


def test_no_curve_promises_nothing_and_nothing_is_below_zero():
    assert epsilon_from_renyi([], 0.1) == math.inf
    assert epsilon_from_renyi([(2.0, math.inf)], 0.1) == math.inf
    assert epsilon_from_renyi(gaussian_curve(0.0), 0.9) == 0.0


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


def test_a_guarantee_takes_the_smallest_epsilon_it_knows():
    curve = gaussian_curve(0.01)
    alone = epsilon_from_renyi(curve, 1e-6)
    assert PrivacyGuarantee(epsilon=50.0, renyi=curve).epsilon_at(1e-6) == alone
    assert PrivacyGuarantee(epsilon=alone / 2, renyi=curve).epsilon_at(1e-6) == alone / 2
    assert PrivacyGuarantee(epsilon=50.0, rho=1e-6, renyi=curve).epsilon_at(1e-6) < alone
    # A guarantee for a larger delta says nothing at a smaller one, but the curve does.
    assert PrivacyGuarantee(epsilon=0.1, delta=1e-3, renyi=curve).epsilon_at(1e-6) == alone
