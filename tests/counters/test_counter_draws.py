"""How many draws an item costs: a constant on average, and O(log T) at once where the mechanism allows it."""

import math

import numpy as np
import pytest

from tests.tools.counter_noise import ALL, counter
from tests.tools.fake_draws import Counting

HORIZON = 2**14


def draws(name: str, horizon: int, **more) -> np.ndarray:
    """Return how many draws each insert makes."""
    some = counter(name, horizon, **more)
    state, rng = some.new_state(1), Counting(0)
    made = [0]
    for _ in range(horizon):
        some.noise(state, 0, rng)
        made.append(rng.draws)
    return np.diff(made)


@pytest.mark.parametrize("name", ["binary", "hybrid", "segment-trees", "square-root"])
def test_one_draw_an_item(name):
    assert (draws(name, HORIZON) == 1).all()


def test_the_logarithmic_counter_draws_at_powers_of_two_only():
    made = draws("logarithmic", HORIZON)
    assert (np.flatnonzero(made) + 1).tolist() == [2**k for k in range(15)]
    assert made.max() == 1


def test_honaker_draws_one_for_each_node_that_closes():
    """Node (level l) closes every 2^l items: after t items there are 2 t - (number of ones of t) of them."""
    made = draws("honaker", HORIZON)
    assert made.sum() == 2 * HORIZON - 1
    assert made.max() == 15  # at 2^14: the leaf and 14 nodes above it
    assert np.cumsum(made)[1000 - 1] == 2000 - (1000).bit_count()


def test_the_smooth_counter_draws_few_on_average_and_half_its_height_at_most():
    """2^14 items need height 18 (C(16, 8) = 12,870): at most 9 ones in a leaf. Twice and a bit on average."""
    made = draws("smooth-binary", HORIZON)
    assert made.min() >= 1
    assert made.max() <= 9
    assert made.mean() < 2.5
    assert draws("smooth-binary", 2**11).mean() < 2.5  # and not more for a longer horizon


@pytest.mark.parametrize("base", [3, 5, 11])
def test_the_k_ary_counter_draws_one_an_item_on_average(base):
    """A digit makes (k - 1) / 2 draws when it wraps and one for each step up from 0: k - 1 in each turn of k.

    So level l costs (k - 1) / k^(l + 1) an item, and all levels 1 together, up to what is drawn ahead: half a turn
    on each level. At once: half a turn on all levels but one, and one more draw.
    """
    some = counter("k-ary", HORIZON, base=base)
    levels, half = some.nodes_per_item, base // 2
    made = draws("k-ary", HORIZON, base=base)
    assert abs(made.sum() - HORIZON) <= levels * half
    assert made.max() <= (levels - 1) * half + 1
    assert made.min() == 0  # a negative digit steps towards 0 by giving up a node


@pytest.mark.parametrize("name", ALL)
def test_without_noise_nothing_is_drawn(name):
    assert not draws(name, 200, epsilon=math.inf).any()
