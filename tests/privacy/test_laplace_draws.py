"""The two Laplace draws: one law, and the same numbers in Python and compiled."""

import math

import numpy as np
import pytest

from dp_bandit_envs.privacy.laplace import draw, draw_signed
from dp_bandit_envs.simulation.compiling import compile_with
from tests.tools.fake_draws import Counting

DRAWS = [draw, draw_signed]
N = 100_000


def drawn(function, scale: float, seed: int) -> np.ndarray:
    """Return N draws in Python."""
    rng = np.random.Generator(np.random.SFC64(seed))
    return np.array([function(scale, rng) for _ in range(N)])


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
    compiled = compile_with(function, {})
    rng = np.random.Generator(np.random.SFC64(7))
    assert [compiled(0.7, rng) for _ in range(N)] == drawn(function, 0.7, seed=7).tolist()


@pytest.mark.parametrize("function", DRAWS)
def test_scale_0_draws_nothing(function):
    rng = Counting()
    assert function(0.0, rng) == 0.0
    assert rng.draws == 0


def test_the_sign_is_that_of_the_second_draw_less_a_half():
    """Of the 2^53 numbers that `random` returns, half are below 1/2: both signs are equally likely."""

    class Given:
        def __init__(self, second: float) -> None:
            self.standard_exponential, self.random = lambda: 3.0, lambda: second

    expected = [(0.0, -6.0), (0.5 - 2**-53, -6.0), (0.5, 6.0), (1 - 2**-53, 6.0)]
    assert [(second, draw_signed(2.0, Given(second))) for second, _ in expected] == expected
