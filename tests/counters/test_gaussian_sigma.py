"""Sigma is the smallest that the exact condition allows, never a bit smaller; and the square root's exponentials."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import log_ndtr

from dp_bandit_envs.privacy.counters import SquareRootCounter
from dp_bandit_envs.privacy.counters.square_root import (
    Exponentials,
    exponentials,
    number_of_terms,
    of_items,
    of_releases,
)
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from tests.tools.refusals import refused


def log_delta(sigma: float, epsilon: float) -> float:
    """Return the log of the exact delta of N(0, sigma^2) against N(1, sigma^2), without subtracting like numbers.

    The privacy loss is normal with mean m^2 / 2 and deviation m = 1 / sigma, so with a = epsilon / m - m / 2,
    delta = E[(1 - exp(epsilon - loss))^+] = int_0^oo (1 - exp(-m v)) phi(a + v) dv, all of one sign.
    """
    m = 1 / sigma
    a = epsilon / m - m / 2
    unit = 1 / (1 + max(a, 0))  # how fast phi(a + v) / phi(a) falls

    def scaled(x: float) -> float:
        v = x * unit
        return -math.expm1(-m * v) * math.exp(-max(a, 0) * v - v * v / 2 if a >= 0 else -((a + v) ** 2) / 2)

    ends = np.linspace(0, 45 + max(-a, 0), 46)
    area = sum(quad(scaled, low, high, epsabs=0, epsrel=1e-13)[0] for low, high in itertools.pairwise(ends))
    return math.log(area * unit) - (a * a / 2 if a >= 0 else 0) - math.log(2 * math.pi) / 2


def by_root_finding(epsilon: float, delta: float) -> float:
    """Return sigma by SciPy alone: Phi through log_ndtr, the root by Brent's method."""

    def excess(log_sigma: float) -> float:
        sigma = math.exp(log_sigma)
        first = log_ndtr(1 / (2 * sigma) - epsilon * sigma)
        second = epsilon + log_ndtr(-1 / (2 * sigma) - epsilon * sigma)
        return math.exp(first - math.log(delta)) * -math.expm1(second - first) - 1

    high = 0.01
    while excess(math.log(high)) > 0:
        high *= 1.5
    return math.exp(brentq(excess, math.log(high / 1.5), math.log(high), xtol=1e-14, rtol=1e-14))


EVERYDAY = [(epsilon, delta) for epsilon in (0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 100.0) for delta in (0.1, 1e-3, 1e-6)]
SMALL_DELTA = [(epsilon, delta) for epsilon in (0.1, 1.0, 5.0) for delta in (1e-10, 1e-20, 1e-100)]


@pytest.mark.parametrize(("epsilon", "delta"), [*EVERYDAY, *SMALL_DELTA])
def test_sigma_is_the_one_found_by_other_means(epsilon, delta):
    assert gaussian_sigma(epsilon, delta) == pytest.approx(by_root_finding(epsilon, delta), rel=2e-9)


@pytest.mark.parametrize(("delta", "sigma"), [(1e-6, 4.224678889), (1e-10, 5.867777750), (1e-20, 8.838226922)])
def test_known_sigmas_at_epsilon_one(delta, sigma):
    """By 50-digit arithmetic, rounded."""
    assert gaussian_sigma(1.0, delta) == pytest.approx(sigma * (1 + 1e-9), abs=1e-9)


@pytest.mark.parametrize(
    ("delta", "mean", "maximum"), [(1e-6, 372.9, 399.8), pytest.param(1e-9, 631.2, 676.8, marks=pytest.mark.slow)]
)
def test_variances_of_the_square_root_counter_at_100_000_items(delta, mean, maximum):
    """At epsilon = 1, where the best counter with pure privacy has 680 in the mean and 1,312 at most."""
    some = SquareRootCounter(epsilon=1.0, delta=delta, horizon=100_000)
    variances = [some.variance(t) for t in range(1, 100_001)]
    assert np.mean(variances) == pytest.approx(mean, abs=0.05)
    assert max(variances) == pytest.approx(maximum, abs=0.05)


@pytest.mark.parametrize(("epsilon", "delta"), [*EVERYDAY, *SMALL_DELTA])
def test_sigma_spends_all_of_delta_and_no_more(epsilon, delta):
    sigma = gaussian_sigma(epsilon, delta)
    assert log_delta(sigma, epsilon) <= math.log(delta)
    assert log_delta(sigma * (1 - 1e-8), epsilon) > math.log(delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(700.0, 1e-6), (1000.0, 1e-6), (1000.0, 1e-20), (1.0, 1e-295)])
def test_far_tails_are_not_rounded_towards_less_noise(epsilon, delta):
    """Where Phi underflows, an approximation takes over: it has to err towards a larger delta."""
    assert log_delta(gaussian_sigma(epsilon, delta), epsilon) <= math.log(delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-6, 1e-6), (1e-6, 1e-20), (1e-4, 1e-100)])
def test_cancellation_at_small_epsilon_is_not_rounded_towards_less_noise(epsilon, delta):
    """Two numbers that differ in the eighth digit are subtracted; what that loses must be added back."""
    assert log_delta(gaussian_sigma(epsilon, delta), epsilon) <= math.log(delta)


@pytest.mark.parametrize(("sigma", "epsilon"), [(1.0, 1.0), (2.0, 0.1), (0.3, 5.0), (4.0, 0.5)])
def test_the_reference_is_the_formula_where_that_is_well_conditioned(sigma, epsilon):
    """Balle and Wang's difference of two normal tails, against the integral."""
    first = math.erfc(-(1 / (2 * sigma) - epsilon * sigma) / math.sqrt(2)) / 2
    second = math.erfc((1 / (2 * sigma) + epsilon * sigma) / math.sqrt(2)) / 2
    assert log_delta(sigma, epsilon) == pytest.approx(math.log(first - math.exp(epsilon) * second), abs=1e-11)


def test_smaller_parameters_need_more_noise():
    for delta in (1e-2, 1e-6, 1e-12):
        sigmas = [gaussian_sigma(epsilon, delta) for epsilon in (0.01, 0.1, 1.0, 10.0)]
        assert sigmas == sorted(sigmas, reverse=True)
    sigmas = [gaussian_sigma(1.0, delta) for delta in (0.5, 1e-2, 1e-6, 1e-12)]
    assert sigmas == sorted(sigmas)


def test_limits():
    assert gaussian_sigma(math.inf, 1e-6) == 0.0
    # The classical sufficient sigma sqrt(2 ln(1.25 / delta)) / epsilon (Dwork and Roth 2014, theorem A.1) is larger.
    assert gaussian_sigma(0.5, 1e-6) < math.sqrt(2 * math.log(1.25e6)) / 0.5


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.1), (-1.0, 0.1), (math.nan, 0.1)])
def test_epsilon_must_be_positive_for_sigma(epsilon, delta):
    with refused(ValueError, "epsilon", 0, epsilon):
        gaussian_sigma(epsilon, delta)


@pytest.mark.parametrize("delta", [0.0, 1.0, math.nan])
def test_delta_must_lie_between_zero_and_one_for_sigma(delta):
    with refused(ValueError, "delta", "(0, 1)", delta):
        gaussian_sigma(1.0, delta)


# ---- exponentials: two exact factors of the matrix of sums, close to its square root


def entries(of: Exponentials, number: int) -> np.ndarray:
    """Return the first entries."""
    k = np.arange(number - 1)[:, np.newaxis]
    return np.concatenate([[of.first], (of.weights * (1 - of.gaps) ** k).sum(axis=1)])


@pytest.mark.parametrize("horizon", [1, 2, 30, 1000, 2**20, 2**40])
def test_the_product_of_the_factors_is_the_matrix_of_sums(horizon):
    decay, weights = exponentials(horizon)
    releases, items = of_releases(decay, weights), of_items(decay, weights)
    assert entries(releases, 500) == pytest.approx((weights * decay ** np.arange(500)[:, np.newaxis]).sum(axis=1))
    product = np.convolve(entries(releases, 500), entries(items, 500))[:500]
    assert np.abs(product - 1).max() < 1e-13
    assert (items.weights > 0).all() and (weights > 0).all() and (np.diff(decay) < 0).all()


@pytest.mark.parametrize("horizon", [1, 2, 3, 10, 40])
def test_the_noise_is_never_scaled_to_less_than_the_longest_column(horizon):
    """In exact arithmetic: c from L c = 1, term by term, for the very doubles that the noise is made of."""
    decay, weights = ([Fraction(one) for one in part.tolist()] for part in exponentials(horizon))
    releases = [sum(w * d**k for d, w in zip(decay, weights, strict=True)) for k in range(horizon)]
    items: list[Fraction] = []
    for t in range(horizon):
        rest = 1 - sum(one * releases[t - place] for place, one in enumerate(items))
        # Fractions with thousands of digits would take long; 300 bits are enough to compare.
        items.append(Fraction(round(rest / releases[0] * 2**300), 2**300))
    longest = sum(one * one for one in items)
    some = SquareRootCounter(epsilon=1.0, horizon=horizon)
    scale = Fraction(some.new_state(1).scale)
    assert longest <= (scale / Fraction(some.sigma)) ** 2 <= longest * (1 + Fraction(1, 10**11))


@pytest.mark.parametrize("number", [1, 2, 3, 100, 5000])
def test_sums_of_squares_are_those_of_the_entries(number):
    decay, weights = exponentials(2**14)
    for factor in (of_releases(decay, weights), of_items(decay, weights)):
        squares = np.cumsum(entries(factor, number) ** 2)
        assert factor.sum_of_squares(number) == pytest.approx(squares[-1], rel=1e-12)
        assert factor.sum_of_sums(number) == pytest.approx(math.fsum(squares), rel=1e-12)


@pytest.mark.parametrize("power", range(21))
def test_variances_are_close_to_those_of_the_square_root(power):
    """f_0 = 1, f_k = f_(k - 1) (1 - 1 / (2 k)) is the square root itself, whose factors are equal."""
    horizon = 2**power
    k = np.arange(1, horizon)
    squares = np.cumsum(np.concatenate([[1.0], np.cumprod(1 - 1 / (2 * k)) ** 2]))
    some = SquareRootCounter(epsilon=1.0, horizon=horizon)
    mean = some.mean_variance(horizon) / (some.sigma**2 * squares[-1] * squares.mean())
    largest = some.variance(horizon) / (some.sigma**2 * squares[-1] ** 2)
    assert 1 - 0.007 < mean < 1.003 and 1 - 1e-9 < largest < 1.001
    if power >= 10:
        assert mean > 1 - 0.001


def test_the_longest_horizons_are_close_too():
    """The squares of f add up to (ln T + 4 ln 2 + Euler's constant) / pi, up to 1 / T."""
    for power in (25, 30):
        squares = (power * math.log(2) + 4 * math.log(2) + 0.5772156649) / math.pi
        some = SquareRootCounter(epsilon=1.0, horizon=2**power)
        assert some.variance(2**power) == pytest.approx(some.sigma**2 * squares**2, rel=1e-3)
        assert some.mean_variance(2**power) == pytest.approx(
            some.sigma**2 * squares * (squares - 1 / math.pi), rel=3e-3
        )


@pytest.mark.parametrize(("horizon", "terms"), [(1, 5), (2**10, 8), (2**14, 10), (2**20, 12), (2**40, 19), (2**53, 19)])
def test_memory_is_a_few_numbers_for_each_arm(horizon, terms):
    assert number_of_terms(horizon) == terms
    some = SquareRootCounter(epsilon=math.inf, horizon=horizon)
    assert some.new_state(3).sums.shape == (3, terms)
    assert some.new_joint_state(3).sums.shape == (terms, 3)
