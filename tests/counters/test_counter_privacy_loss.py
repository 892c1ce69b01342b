"""The exact privacy loss of one item over all releases, found without believing what a counter says of its nodes.

Each test recovers the linear map L from draws to releases from outside, and asks by how much the draws must change to
hide a change of one item: L R_j = (the step of item j). For Laplace draws the log-density of all releases together then
moves by at most sum_i |R_ij| / scale_i, and by exactly that at the least such R_j; for Gaussian ones the distance is
||R_j||_2 / sigma.

The items may depend on earlier releases, and L need not be lower triangular: all that this needs is draws that do not
depend on the items (the density of the outputs is that of L z, shifted). `linear_map` asserts that their scales and
order do not depend on other draws, and `test_counter_contract` that they do not depend on the items.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import log_ndtr

from dp_bandit_envs.privacy.counters import HybridCounter
from dp_bandit_envs.privacy.counters.counter import node_scale
from tests.tools.counter_noise import (
    LAPLACE,
    counter,
    laplace_losses,
    linear_map,
    measured_noise,
    shifts,
)
from tests.tools.fake_draws import Impulse

EPSILON = 0.7


@pytest.mark.thorough
def test_no_item_loses_more_than_epsilon():
    for horizon in [1, 2, 3, 4, 7, 8, 9, 31, 32, 33, 40]:
        for name in LAPLACE:
            some = counter(name, horizon, EPSILON)
            assert laplace_losses(some, horizon).max() <= EPSILON * (1 + 1e-9)


FULL = [
    *[(name, horizon) for name in ("logarithmic", "binary", "honaker") for horizon in (1, 4, 31, 32, 64)],
    *[(name, horizon) for name in ("hybrid", "segment-trees") for horizon in (5, 31, 32, 64)],
    *[("smooth-binary", horizon) for horizon in (1, 3, 5, 10, 19, 35, 64)],
    *[("k-ary", horizon) for horizon in (1, 4, 31, 32, 64)],
]


@pytest.mark.thorough
def test_some_item_loses_exactly_epsilon():
    """The scale of the smooth counter, too, is that of the items' exact loss."""
    for name, horizon in FULL:
        some = counter(name, horizon, EPSILON)
        assert laplace_losses(some, horizon).max() == pytest.approx(EPSILON, rel=2e-9)


@pytest.mark.parametrize(("base", "horizon"), [(3, 13), (3, 41), (5, 62), (9, 41)])
def test_no_item_loses_more_than_epsilon_in_any_base(base, horizon):
    some = counter("k-ary", horizon, EPSILON, base=base)
    assert laplace_losses(some, horizon).max() == pytest.approx(EPSILON, rel=2e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAPLACE)
@pytest.mark.parametrize("horizon", [63, 64, 65, 127, 128, 129])
def test_no_item_loses_more_than_epsilon_in_long_runs(name, horizon):
    some = counter(name, horizon, EPSILON)
    assert laplace_losses(some, horizon).max() <= EPSILON * (1 + 1e-9)


@pytest.mark.parametrize("horizon", [5, 8, 31, 32, 64])
def test_the_papers_hybrid_loses_twice_epsilon_and_says_so(horizon):
    some = HybridCounter(epsilon=EPSILON, budget="paper")
    worst = laplace_losses(some, horizon).max()
    assert worst == pytest.approx(2 * EPSILON, rel=2e-9)
    assert worst == pytest.approx(some.guarantee.epsilon, rel=2e-9)


def test_losses_of_the_hybrid_by_hand():
    """T = 8, epsilon = 1; a draw of the logarithmic part has scale 2, a node of the tree of k levels 2 k.

    Items 1, 2, 4 and 8 enter one logarithmic draw: 1/2. Item 3 also enters its tree's only node: 1/2 more. Items 5 to 7
    have a tree of two levels: item 5 enters the node of itself and that of 5 and 6 (1/4 each), item 6 the latter only,
    and item 7 its own only.
    """
    losses = laplace_losses(HybridCounter(epsilon=1.0), 8)
    assert losses == pytest.approx([0.5, 0.5, 1.0, 0.5, 1.0, 0.75, 0.75, 0.5], rel=2e-9)


@pytest.mark.parametrize("name", ["binary", "honaker", "smooth-binary", "k-ary", "logarithmic"])
def test_an_item_enters_at_most_the_stated_number_of_nodes(name):
    some = counter(name, 40, EPSILON)
    scales = linear_map(some, 40)[1]
    assert set(scales.tolist()) == {node_scale(some.nodes_per_item, EPSILON)}
    entered = laplace_losses(some, 40) * scales[0]
    assert entered.max() == pytest.approx(some.nodes_per_item, rel=2e-9)


@pytest.mark.parametrize("name", LAPLACE)
def test_the_recovered_map_gives_the_noise_of_true_draws(name):
    """L times the draws of a seed is what a counter with that seed adds, up to rounding: the noise is linear."""
    some = counter(name, 40, EPSILON)
    noise, scales, covers = linear_map(some, 40)
    rng = np.random.default_rng(5)
    draws = np.array([rng.laplace(0.0, scale) for scale in scales])
    state, rng = some.new_state(1), np.random.default_rng(5)
    released = [some.noise(state, 0, rng)[0] for _ in range(40)]
    assert np.abs(noise @ draws - np.array(released)[covers - 1]).max() < 1e-12 * np.abs(draws).sum()


# ---- Gaussian ------------------------------------------------------------------------------------------------------


def smallest_delta(distance: float, epsilon: float) -> float:
    """Return the exact delta of two normals `distance` standard deviations apart (Balle and Wang 2018, theorem 8)."""
    first = log_ndtr(distance / 2 - epsilon / distance)
    second = epsilon + log_ndtr(-distance / 2 - epsilon / distance)
    return math.exp(first) * -math.expm1(second - first)


def test_the_square_root_counter_spends_exactly_epsilon_and_delta():
    """The longest column is that of item 1, in all T releases; nothing is left over and nothing is overdrawn."""
    for epsilon, delta in [(0.7, 1e-6), (1.0, 1e-10), (3.0, 1e-3)]:
        for horizon in [1, 2, 17, 64]:
            some = counter("square-root", horizon, epsilon, delta=delta)
            noise, scales, covers = linear_map(some, horizon)
            lengths = np.linalg.norm(shifts(noise, scales, covers, horizon) / scales[:, np.newaxis], axis=0)
            assert lengths.argmax() == 0
            assert smallest_delta(lengths.max(), epsilon) == pytest.approx(delta, rel=1e-7)
            assert lengths.max() == pytest.approx(math.sqrt(2 * some.guarantee.rho), rel=1e-10)


@pytest.mark.thorough
def test_releases_of_the_square_root_are_as_correlated_as_its_map_says():
    """Not only each variance: L L^T scale^2 for a few pairs of times, with the standard error of a mean of products.

    False alarm: 6e-6 (five standard errors, two sides, ten different products).
    """
    some = counter("square-root", 64)
    noise, scales, _ = linear_map(some, 64)
    covariance = noise @ np.diag(scales**2) @ noise.T
    at = np.array([1, 2, 31, 64])
    sample = measured_noise(some, "square-root", at, 20_000, seed=2)
    for i, first in enumerate(at):
        for j, second in enumerate(at):
            products = sample[i] * sample[j]
            error = products.std() / math.sqrt(products.size)
            assert abs(products.mean() - covariance[first - 1, second - 1]) < 5 * error


# ---- rounding ------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("name", LAPLACE)
def test_scales_are_never_rounded_towards_less_noise(name):
    """In exact arithmetic, every draw has at least the scale that its share of epsilon asks for.

    A tree of k levels in the hybrid has 2 k / epsilon; segment (2^j, 2^(j+1)] has (j + 1) / epsilon.
    """
    for epsilon in (0.03, 0.1, 0.3, 0.7, 1.1, 1.7, 2.9):
        some = counter(name, 1000, epsilon)
        impulse = Impulse()
        state = some.new_state(1)
        for t in range(1, 1001):
            before = len(impulse.asked)
            some.noise(state, 0, impulse)
            power = t & (t - 1) == 0
            if name == "hybrid":
                nodes = 2 * (1 if power else t.bit_length() - 1)
            elif name == "segment-trees":
                nodes = max((t - 1).bit_length(), 1)
            else:
                nodes = some.nodes_per_item
            for scale in set(impulse.asked[before:]):
                assert Fraction(scale) >= Fraction(nodes) / Fraction(epsilon)
