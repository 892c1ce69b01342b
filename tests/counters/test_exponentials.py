"""Two exact factors of the matrix of sums from a few exponentials, and how close they are to its square root."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dp_bandit_envs.privacy.counters import SquareRootCounter
from dp_bandit_envs.privacy.counters.square_root import (
    Exponentials,
    exponentials,
    number_of_terms,
    of_items,
    of_releases,
)


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
