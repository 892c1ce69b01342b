"""The two Laplace draws: one law, and the same numbers in Python and compiled."""

import math

import numpy as np
import pytest

from dp_bandit_envs.privacy.laplace import draw, draw_all
from dp_bandit_envs.compiling.compiled import compile_with
from tests.tools.fake_draws import Counting

N = 100_000


def one_by_one(numbers, scale: float, rng) -> None:
    """Write draws of `draw`."""
    for i in range(len(numbers)):
        numbers[i] = draw(scale, rng)


DRAWS = [one_by_one, draw_all]


def drawn(function, scale: float, seed: int) -> np.ndarray:
    """Return N draws."""
    numbers = np.empty(N)
    function(numbers, scale, np.random.Generator(np.random.SFC64(seed)))
    return numbers


@pytest.mark.parametrize("function", DRAWS)
def test_draws_have_the_laplace_distribution(function):
    """Their distribution function is sqrt(ln(2 / 1e-6) / (2 N)) off somewhere with probability 1e-6 at most (DKW)."""
    found = np.sort(drawn(function, 2.5, seed=1))
    tail = np.exp(-np.abs(found) / 2.5) / 2
    expected = np.where(found < 0, tail, 1 - tail)
    width = math.sqrt(math.log(2 / 1e-6) / (2 * N))
    assert np.abs(expected - np.arange(1, N + 1) / N).max() <= width + 1 / N


@pytest.mark.parametrize("function", DRAWS)
def test_compiled_draws_are_the_python_ones_bit_for_bit(function):
    """100,000 draws take every way through the ziggurat: its tail about 45 times, and a strip's edge 1,000 times."""
    assert drawn(compile_with(function, {}), 0.7, seed=7).tolist() == drawn(function, 0.7, seed=7).tolist()


@pytest.mark.parametrize("function", DRAWS)
def test_scale_0_draws_nothing(function):
    rng, numbers = Counting(), np.ones(3)
    function(numbers, 0.0, rng)
    assert numbers.tolist() == [0.0] * 3
    assert rng.draws == 0


def test_each_sign_is_a_bit_of_a_uniform_number_which_serves_32_draws():
    """Every bit is used once: with numbers 2^-32 (first bit 1), 1/2 (last bit 1) and 3/4 (last two bits 1)."""

    class Given:
        def __init__(self) -> None:
            self.uniform = iter([2.0**-32, 0.5, 0.75])
            self.standard_exponential, self.random = lambda: 3.0, lambda: next(self.uniform)

    numbers = np.empty(96)
    draw_all(numbers, 2.0, Given())
    assert np.abs(numbers).tolist() == [6.0] * 96
    assert np.flatnonzero(numbers < 0).tolist() == [0, 63, 94, 95]


def test_signs_of_neighbouring_draws_are_independent():
    """Products of signs at distance 1, 2 and 32 have mean 0 and standard error 1 / sqrt(N): allow five.

    False alarm: 2e-6.
    """
    signs = np.sign(drawn(draw_all, 1.0, seed=3))
    for distance in (1, 2, 32):
        assert abs((signs[distance:] * signs[:-distance]).mean()) <= 5 / math.sqrt(N - distance)
