"""The Laplace draws of mechanisms, one by one, for all coordinates of a node and for many games at once."""

import numpy as np
import pytest

from dp_bandit_envs.privacy import laplace
from dp_bandit_envs.privacy.laplace import draw
from dp_bandit_envs.privacy.node_noise import fill, fill_own_norm
from dp_bandit_envs.seeding import stream
from tests.tools.fake_draws import Counting


def test_scale_0_draws_nothing():
    rng, numbers = Counting(), np.ones(3)
    fill(numbers, 0.0, 0, rng)
    assert draw(0.0, rng) == 0.0 and numbers.tolist() == [0.0] * 3
    assert rng.draws == 0


@pytest.mark.parametrize("fills", [fill, fill_own_norm])
def test_a_node_has_a_draw_for_each_coordinate(fills):
    """Own-norm noise of the L1 norm is independent Laplace noise."""
    numbers, rng = np.empty(4), stream(3, role=2)
    fills(numbers, 0.7, 0, stream(3, role=2))
    assert numbers.tolist() == [draw(0.7, rng) for _ in range(4)]


@pytest.mark.parametrize("deviation", [1e-9, 0.3, 1e6, 1e250, 1e300])
def test_rounding_to_the_grid_is_that_of_whole_numbers(deviation):
    """A grid is a power of two, so that a shift of any size rounds as that of grid 1; and none overflows."""
    grid = laplace.grid_of(deviation)
    for number in (0.0, 0.4999, 0.5, 1.5, -2.5, 12345.678, -(2.0**40) - 0.5):
        assert laplace.to_grid(number * grid, grid) == round(number) * grid
