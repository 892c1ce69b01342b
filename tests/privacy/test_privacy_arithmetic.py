"""Arithmetic behind guarantees: a factor on scales for all rounding, and the numbers of a PrivacyGuarantee by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dp_bandit_envs.privacy import PrivacyGuarantee, laplace, noise_scale
from dp_bandit_envs.privacy.counters import BinaryCounter
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from dp_bandit_envs.privacy.laplace import MARGIN, default_bound, draw
from dp_bandit_envs.privacy.mechanisms.laplace_gains import State, release
from dp_bandit_envs.privacy.node_noise import fill, fill_own_norm
from dp_bandit_envs.seeding import stream
from tests.tools.fake_draws import Counting
from tests.tools.refusals import refused


def sizes():
    """Return epsilons and distances of all kinds, and random doubles."""
    rng = np.random.default_rng(0)
    usual = [0.1, 0.3, 1.0, 1 / 3, 2.7, 243.29, math.pi, 1e-5, *np.ldexp(1.0, np.arange(-30, 10)).tolist()]
    drawn = np.ldexp(rng.random(300) + 1, rng.integers(-30, 8, 300)).tolist()
    return [*usual, *(math.nextafter(each, 0.0) for each in usual), *drawn]


@pytest.mark.thorough
def test_claims_hold_exactly_with_the_factor_on_scales():
    """Epsilon times the scale is at least the distance, with 5e-10 to spare for what a draw rounds.

    For single values, averages of batches and nodes of trees: in exact arithmetic, with all numbers as they are stored.
    """
    room = 1 + Fraction(5, 10**10)
    for epsilon in sizes():
        for distance in (1.0, 0.1, 1 / 3, 7.0, math.nextafter(1.0, 2.0)):
            exact = Fraction(distance) / Fraction(epsilon)
            assert exact * room <= Fraction(noise_scale(distance, epsilon)) <= exact * (1 + Fraction(2, 10**9))
    for epsilon in sizes()[::20]:
        for tau in range(1, 800):
            assert Fraction(noise_scale(1.0 / tau, epsilon)) * Fraction(epsilon) * tau >= room
        for horizon in (1, 2, 3, 1000, 2**20):
            counter = BinaryCounter(epsilon=epsilon, horizon=horizon)
            ((scale, nodes),) = counter.item_draws()
            assert Fraction(nodes) / Fraction(scale) * room <= Fraction(epsilon)


def test_claims_of_gaussian_nodes_hold_exactly_with_the_factor():
    """The squares of an item's distances add up to at most those of one draw at the sigma that the theorem asks for."""
    for horizon in (1, 3, 1000, 2**20):
        counter = BinaryCounter(epsilon=1.0, delta=1e-6, horizon=horizon, values=0)
        ((scale, nodes),) = counter.item_draws()
        least = Fraction(gaussian_sigma(1.0, 1e-6)) / Fraction(MARGIN)
        assert nodes / Fraction(scale) ** 2 * (1 + Fraction(1, 10**9)) <= 1 / least**2


def test_too_small_an_epsilon_is_refused():
    with refused(ValueError, 1.0, 5e-324, "epsilon"):
        noise_scale(1.0, 5e-324)


def test_infinite_epsilon_is_no_noise():
    assert noise_scale(1.0, math.inf) == 0.0
    assert default_bound(0.0, 100) == 0.0
    assert release(State(0.0, 0.0, 0.0, True, 0.0, 1.0), 0, 0.3, np.random.default_rng(0)) == (0.3, 1)


def test_default_bound_is_scale_times_ln_of_releases():
    assert default_bound(2.0, 100) == pytest.approx(2 * math.log(100), rel=1e-15)
    assert default_bound(2.0, 1) == 0.0
    assert default_bound(2.0, 0) == 0.0


# ---- the guarantee object


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan, 2.0])
def test_delta_must_lie_between_zero_and_one(delta):
    with refused(ValueError, "delta", "(0, 1)", delta):
        PrivacyGuarantee(epsilon=1.0).epsilon_at(delta)


def test_text_of_a_guarantee_says_what_and_for_whom():
    text = str(PrivacyGuarantee(epsilon=2.0, delta=1e-6, rho=0.25, theorem="because"))
    assert text == (
        "epsilon = 2, delta = 1e-06, zCDP rho = 0.25"
        " (central; covers arms; replace the gains of all arms in one round; any agent): because"
    )
    assert str(PrivacyGuarantee.none("no noise")) == "none: no noise"


# ---- Laplace draws of mechanisms


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
