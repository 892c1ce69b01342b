"""From Renyi divergences to (epsilon, delta) and zCDP, by second routes."""

import dataclasses
import itertools
import math

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
    rho_from_renyi,
    zcdp_delta,
)


def gaussian_curve(rho, orders=FINE_ORDERS):
    return tuple((order, rho * order) for order in orders)


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


@pytest.mark.parametrize(("own", "gain"), [(ORDERS, 0.007), (FINE_ORDERS, 0.001)])
def test_a_finer_grid_of_orders_would_gain_little(own, gain):
    orders = 1 + np.geomspace(1e-3, 1e6, 200_001)
    for rho in (1e-6, 1e-3, 1.0, 30.0):
        exact = epsilon_from_renyi([(order, rho * order) for order in orders], 1e-9)
        found = epsilon_from_renyi(gaussian_curve(rho, own), 1e-9)
        assert exact <= found * (1 + 1e-12) <= (1 + gain) * exact


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
    assert PrivacyGuarantee(epsilon=50.0, curve=curve).epsilon_at(1e-6) == alone
    assert PrivacyGuarantee(epsilon=alone / 2, curve=curve).epsilon_at(1e-6) == alone / 2
    assert PrivacyGuarantee(epsilon=50.0, rho=1e-6, curve=curve).epsilon_at(1e-6) < alone
    # A guarantee for a larger delta says nothing at a smaller one, but the curve does.
    assert PrivacyGuarantee(epsilon=0.1, delta=1e-3, curve=curve).epsilon_at(1e-6) == alone


# ---- delta at an epsilon


def test_delta_of_one_order_by_hand():
    """Order 2, divergence 1, epsilon 3: e^(1 - 3) / 2 / 2; and the inverse of the epsilon above."""
    assert delta_from_renyi([(2.0, 1.0)], 3.0) == pytest.approx(math.exp(-2) / 4, rel=1e-11)
    assert delta_from_renyi([(2.0, 1.0)], 11 - 2 * math.log(2)) == pytest.approx(math.exp(-10), rel=1e-10)


@pytest.mark.parametrize("rho", [1e-4, 0.3, 5.0])
def test_delta_is_the_inverse_of_epsilon_and_never_below_the_true_one(rho):
    curve = gaussian_curve(rho)
    for delta in (1e-3, 1e-6, 2.0**-36):
        epsilon = epsilon_from_renyi(curve, delta)
        found = delta_from_renyi(curve, epsilon)
        assert found == pytest.approx(delta, rel=1e-8) and gaussian_delta(rho, epsilon) <= found
        assert zcdp_delta(rho, epsilon) <= found * (1 + 1e-12) <= 1.01 * zcdp_delta(rho, epsilon)


def test_deltas_at_the_ends():
    assert delta_from_renyi([], 1.0) == delta_from_renyi([(2.0, math.inf)], 1.0) == 1.0
    assert delta_from_renyi(gaussian_curve(1.0), math.inf) == 0.0
    assert delta_from_renyi(gaussian_curve(100.0), 0.0) == 1.0


def test_a_guarantee_takes_the_smallest_delta_it_knows():
    curve = gaussian_curve(0.01)
    by_curve = delta_from_renyi(curve, 1.0)
    assert PrivacyGuarantee(epsilon=50.0, curve=curve).delta_at(1.0) == by_curve
    assert PrivacyGuarantee(epsilon=1.0, delta=by_curve / 2, curve=curve).delta_at(1.0) == by_curve / 2
    assert PrivacyGuarantee(epsilon=0.9, curve=curve).delta_at(1.0) == 0.0
    exp3 = make_algorithm("EXP3-tau").guarantee(n_arms=4, horizon=2**18)
    assert exp3.delta_at(exp3.epsilon_at(1e-9)) == pytest.approx(1e-9, rel=1e-6)


# ---- groups


def divergences(p, q, orders):
    """Return the larger of both directions at each order."""
    both = [np.log((two * (one / two) ** orders[:, None]).sum(axis=1)) for one, two in ((p, q), (q, p))]
    return np.maximum(*both) / (orders - 1)


@pytest.mark.parametrize("rounds", [2, 3, 5])
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


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 7])
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


def test_a_group_of_exp3_tau_profits_from_its_curve():
    """Three rounds: the pair and rho alone give far more."""
    exp3 = make_algorithm("EXP3-tau", batch_size=162).guarantee(n_arms=4, horizon=2**18)
    group = exp3.for_group(3)
    alone = dataclasses.replace(group, curve=None)
    assert 3 * exp3.epsilon_at(1e-9) < group.epsilon_at(1e-9) < 0.8 * alone.epsilon_at(1e-9)
