r"""The noise of one node: its density, its moments, and what Agarwal and Singh's printed noise loses.

A vector z with density proportional to :math:`e^{-\lVert z \rVert}` in d dimensions has a norm of the distribution
Gamma(d), in every norm, and a direction that does not depend on the norm's size.
"""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import gamma, kstest

from dp_bandit_envs.draws import Stream
from dp_bandit_envs.privacy.mechanisms.counter_sums import CounterSums
from dp_bandit_envs.privacy.node_noise import NORM_CODES, fill, fill_normal, fill_own_norm
from tests.tools.vector_sums import box

NORMS = {
    "l1": lambda nodes: np.abs(nodes).sum(axis=1),
    "l2": lambda nodes: np.linalg.norm(nodes, axis=1),
    "sup": lambda nodes: np.abs(nodes).max(axis=1),
}
DRAWS = 4000


def nodes(norm: str, d: int, scale: float = 2.0, fills=fill_own_norm, draws: int = DRAWS) -> np.ndarray:
    """Return nodes drawn one after another, `(draws, d)`."""
    rng = Stream(np.random.SFC64(d))
    drawn = np.empty((draws, d))
    for node in drawn:
        fills(node, scale, NORM_CODES[norm], rng)
    return drawn


@pytest.mark.thorough
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_the_norm_of_a_node_has_the_distribution_gamma(norm, d):
    """False alarm: 1.2e-5 (1e-6 for each of twelve Kolmogorov-Smirnov tests)."""
    assert kstest(NORMS[norm](nodes(norm, d)) / 2.0, gamma(d).cdf).pvalue > 1e-6


@pytest.mark.parametrize("norm", NORMS)
def test_the_direction_of_a_node_is_that_of_the_unit_ball(norm):
    """Uniform points of the unit ball made by rejection; drawing z from its norm and such a direction is the density.

    The first coordinate of the direction, compared in halves of large and small norms: independent of the norm's size.
    False alarm: 9e-6 (1e-6 for each of nine tests).
    """
    cube = np.random.default_rng(1).uniform(-1, 1, (60_000, 3))
    inside = cube[NORMS[norm](cube) <= 1]
    direction = (inside / NORMS[norm](inside)[:, np.newaxis])[:, 0]
    drawn = nodes(norm, 3)
    size = NORMS[norm](drawn)
    found = drawn[:, 0] / size
    for part in (found, found[size > np.median(size)], found[size <= np.median(size)]):
        assert kstest(part, direction).pvalue > 1e-6


@pytest.mark.thorough
@pytest.mark.parametrize(("d", "ratio"), [(2, 1.41), (10, 2.13), (100, 2.41)])
def test_own_norm_noise_of_experts_is_smaller_than_laplace_noise(d, ratio):
    """Standard deviations sqrt(2) d and sqrt((d + 1)(d + 2) / 3), in units of m / epsilon.

    False alarm: 2e-6 (five standard errors).
    """
    exact = math.sqrt((d + 1) * (d + 2) / 3)
    assert math.sqrt(2) * d / exact == pytest.approx(ratio, abs=0.005)
    squares = (nodes("sup", d, 1.0, draws=2000) ** 2).mean(axis=1)
    assert abs(squares.mean() - exact**2) < 5 * squares.std() / math.sqrt(len(squares))


@pytest.mark.thorough
@pytest.mark.parametrize("d", [1, 2, 3, 10, 100])
def test_moments_of_own_norm_noise_are_at_most_those_of_laplace_noise(d):
    """So confidence widths from moments, made for Laplace noise of the L1 distance, hold for own-norm noise too.

    False alarm: none, as these are numbers and no samples.

    Of one coordinate: E |z|^k = (d + 1) ... (d + k) / (k + 1) in the sup norm, against d^k k!; in L2, E z^(2 k) =
    d (d + 1) ... (d + 2 k - 1) (1 3 ... (2 k - 1)) / (d (d + 2) ... (d + 2 k - 2)), against d^k (2 k)!.
    """
    for k in range(1, 12):
        assert math.prod(range(d + 1, d + k + 1)) <= (k + 1) * d**k * math.factorial(k)
        odd, even = math.prod(range(1, 2 * k, 2)), math.prod(range(d, d + 2 * k, 2))
        assert math.prod(range(d, d + 2 * k)) * odd <= d**k * math.factorial(2 * k) * even
    sup, l2 = nodes("sup", d, 1.0, draws=2000), nodes("l2", d, 1.0, draws=2000)
    for drawn, second in ((sup, (d + 1) * (d + 2) / 3), (l2, d + 1)):
        squares = (drawn**2).mean(axis=1)
        assert abs(squares.mean() - second) < 5 * squares.std() / math.sqrt(len(squares))


@pytest.mark.parametrize(("fills", "variance"), [(fill, 8.0), (fill_normal, 4.0)])
def test_independent_draws_have_the_declared_scale(fills, variance):
    """Variances 2 b^2 and sigma^2 at 2. False alarm: 6e-7 for each (five standard errors)."""
    drawn = nodes("l1", 4, fills=fills)
    squares = drawn**2
    assert abs(squares.mean() - variance) < 5 * squares.std() / math.sqrt(squares.size)
    assert np.abs(np.corrcoef(drawn.T) - np.eye(4)).max() < 6 / math.sqrt(DRAWS)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("fills", [fill, fill_normal, fill_own_norm])
def test_scale_0_is_no_noise(norm, fills):
    assert not nodes(norm, 3, 0.0, fills, draws=2).any()


# ---- what the printed noise loses ----------------------------------------------------------------------------------


def above(x: float, scale: float) -> float:
    """Return P(Z_1 - Z_2 > x) for independent Laplace draws of this scale."""
    tail = math.exp(-abs(x) / scale) * (2 + abs(x) / scale) / 4
    return tail if x >= 0 else 1 - tail


def loss_by_plays(scale: float, probability: float = 0.005) -> float:
    """Return ln of the ratio of the chances that the second play of d = 2 experts puts a weight beyond c on the first.

    The weight is the softmax of the first release, which grows with S_1 - S_2. Gains of round 1 are (1, -1) or (-1, 1),
    so the difference is 2 or -2 before noise; c is such that the larger chance is the given one.
    """
    c = brentq(lambda c: above(c - 2, scale) - probability, 0, 100 * scale)
    return math.log(above(c - 2, scale) / above(c + 2, scale))


def test_the_printed_noise_loses_more_than_it_claims():
    """Agarwal and Singh (2017), algorithm 2, T = 2, epsilon = 1: Lap(|Y|_1 ln T / epsilon), |Y|_1 = 2 in [-1, 1]^2.

    The limit is 4 / (2 ln 2) = 2.885; with logarithms in base 2 it is 2.
    """
    assert 2.5 <= loss_by_plays(2 * math.log(2)) <= 4 / (2 * math.log(2))
    assert 1.7 <= loss_by_plays(2 * math.log2(2)) <= 2


def test_the_corrected_noise_loses_no_more_than_it_claims():
    """Scale 4 m / epsilon: one node for the one release that plays see, and two for both, at half the loss."""
    losses = []
    for horizon, nodes_per_item in ((1, 1), (2, 2)):
        state = CounterSums(counter="binary", epsilon=1.0).new_state(box(2, horizon))
        (scale,) = state.together.scales
        assert scale == pytest.approx(4 * nodes_per_item, rel=2e-9)
        losses.append(loss_by_plays(scale))
    assert losses[0] == pytest.approx(0.88, abs=0.01)
    assert losses[1] < losses[0] <= 1
