"""What fast draws add to delta, and how far they are from exact noise: counted exactly."""

import math

import numpy as np
import pytest

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.privacy.counters import COUNTERS, make_counter
from dp_bandit_envs.privacy.draws_distance import NORMAL, PER_STEP, distance_of_draws
from dp_bandit_envs.privacy.laplace import grid_of
from dp_bandit_envs.wrappers import BlockSums, CounterSums, IntervalSums, LaplaceClipRescale, RandomizedResponse
from tests.tools.draw_counts import DRAWS, FAR, counted_delta, counted_distance, counts, in_a_row, points
from tests.tools.led_stream import UNIFORMS, led

SCALES = [1.0, 1.1, 1.3, 1.5, 1.7, 1.9, 1.99, 1.9999999]
"""From 1,024 grid steps in a scale to 2,048."""


def game(rounds=64):
    return BanditEnv(GainTable(np.zeros((rounds, 2))))


def declared(epsilon):
    return LaplaceClipRescale(game(), epsilon=epsilon).guarantee


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 10.0])
def test_the_declared_delta_is_at_least_the_counted_one_and_at_most_twelve_times(epsilon):
    """1.7e-12 at epsilon 1, 1.5e-11 at 3, 1.4e-8 at 10."""
    counted = counted_delta(epsilon, counts(0.0, 1 / epsilon), counts(1.0, 1 / epsilon))
    assert 0 < counted <= declared(epsilon).delta_with_draws <= 12 * counted


def test_at_epsilon_30_fast_draws_protect_nothing_and_the_guarantee_says_so():
    counted = counted_delta(30.0, counts(0.0, 1 / 30), counts(1.0, 1 / 30))
    assert counted == pytest.approx(0.53, abs=0.01)
    found = declared(30.0)
    assert found.epsilon == 30.0 and found.delta_with_draws == 1.0 and found.epsilon_at(0.5) == math.inf
    assert "nothing with fast draws" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", np.geomspace(0.1, 30, 25).tolist())
def test_the_declared_delta_is_at_least_the_counted_one_for_many_epsilons(epsilon):
    counted = counted_delta(epsilon, counts(0.0, 1 / epsilon), counts(1.0, 1 / epsilon))
    assert 0 < counted <= declared(epsilon).delta_with_draws <= max(17 * counted, 1.0 * (epsilon > 20))


@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("scale", [1.0, 1.9999999, 0.3])
def test_the_distance_of_a_draw_is_counted(kind, scale):
    """The proof allows each cell to be off by one number and the largest error; on average they are off by less.

    Laplace 1.2e-15 for each grid step in the scale, exponential 6.4e-16, normal 3.3e-16.
    """
    declared = distance_of_draws(scale, grid_of(scale), normal=kind == "normal")
    assert counted_distance(scale, kind) <= declared <= 7 * counted_distance(scale, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("scale", SCALES)
def test_the_distance_of_a_draw_is_counted_for_many_scales(kind, scale):
    declared = distance_of_draws(scale, grid_of(scale), normal=kind == "normal")
    assert counted_distance(scale, kind) <= declared <= 7 * counted_distance(scale, kind)


def test_the_bound_of_the_proof_is_below_the_constant():
    for steps in (1024, 2048, 2.0**15, 2.0**25):
        proved = 2.0**-54 * (steps * (2 * math.log(2.0**52 / steps) + 4 + 9.4) + 100)
        assert proved <= distance_of_draws(steps, 1.0) == PER_STEP * steps
    for steps in (1, 16, 2048, 2.0**25):
        x = math.sqrt(2 * math.log(2.0**53 / (steps * math.sqrt(2 * math.pi))))
        proved = 2.0**-54 * (steps * (2 * x + 4 / x + 16.1) + 14)
        assert proved <= distance_of_draws(steps, 1.0, normal=True) == NORMAL[0] * steps + NORMAL[1]
    assert 2 * 2.0**53 * (4e-16 + 1.2e-16) <= 9.4 and 2 * 2.0**53 * (1e-15 + 1.2e-16) * math.sqrt(2 / math.pi) <= 16.1


@pytest.mark.parametrize("kind", ["laplace", "normal"])
def test_a_number_and_its_negative_are_released_equally_often(kind):
    found = dict(zip(points(0.7, kind), counts(0.0, 0.7, kind), strict=True))
    assert all(found[-point] == number for point, number in found.items() if point <= 0)


@pytest.mark.parametrize("kind", DRAWS)
def test_draws_end_where_the_middles_of_the_first_and_the_last_cell_do(kind):
    """Laplace: ln 2^-53. Normal: the quantile of 2^-54. An exponential draw is from 0 to ln 2^53."""
    low, high = (DRAWS[kind](led(k), 1.0) for k in (0, UNIFORMS - 1))
    assert high == pytest.approx({"normal": 8.292361075813595}.get(kind, 53 * math.log(2)), rel=1e-15)
    assert low == (0.0 if kind == "exponential" else -high)
    assert high < FAR[kind]


@pytest.mark.parametrize("kind", DRAWS)
def test_draws_fall_by_rounding_errors_between_neighbours_only(kind):
    """Counting by bisection needs it: a draw is never smaller than one that is two or more numbers before.

    Looked at: 2^16 numbers in a row all over the range, in both tails, and where the quantile changes its form, .075
    and e^-25 from an end.
    """
    tails = [*(2.0**-place for place in range(2, 37)), 0.075, math.exp(-25)]
    shares = [*tails, *(1 - share for share in tails), *np.linspace(0.01, 0.99, 50)]
    for start in [0, UNIFORMS - 2**16, *(round(share * UNIFORMS) - 2**15 for share in shares)]:
        values = in_a_row(kind, start, 2**16)
        assert (values[2:] >= np.maximum.accumulate(values)[:-2]).all()


def test_nothing_can_be_said_without_a_grid_and_without_noise_nothing_is_off():
    assert distance_of_draws(1.0, 0.0) == 1.0 and distance_of_draws(0.0, 0.0) == 0.0
    assert distance_of_draws(1e300, 1e-300, 5) == 1.0


@pytest.mark.parametrize("name", [name for name in COUNTERS if name != "square-root"])
@pytest.mark.parametrize("horizon", [1, 13, 1024, 100_000])
def test_the_draws_that_an_item_influences_are_those_that_the_theorem_counts(name, horizon):
    """Pure: the reciprocals of their scales add up to epsilon. Normal: those of the squares, to 1 / sigma^2."""
    pure = make_counter(name, epsilon=0.7, horizon=horizon)
    drawn = [(scale, number) for scale, number in pure.item_draws() if number]
    full = 0.35 if name == "hybrid" and horizon == 1 else 0.7  # one item is in no tree
    assert sum(number / scale for scale, number in drawn) == pytest.approx(full, rel=1e-9)
    normal = make_counter(name, epsilon=0.7, horizon=horizon, delta=1e-5)
    drawn = [(scale, number) for scale, number in normal.item_draws() if number]
    total = sum(number / scale**2 for scale, number in drawn)
    assert total == pytest.approx(full / 0.7 / normal.sigma**2, rel=1e-9)


def test_the_square_root_counter_counts_all_draws_of_the_game():
    counter = make_counter("square-root", epsilon=1.0, horizon=500)
    ((scale, number),) = counter.item_draws()
    assert number == 500 and scale > counter.sigma
    assert counter.guarantee.draws_distance == distance_of_draws(scale, counter.grid, 500, normal=True) > 0


def test_each_wrapper_counts_the_draws_of_one_round():
    """One for a gain, one for a block, one for each release of an interval, one a level and coordinate for counters."""
    one = 1024 * PER_STEP
    everything = ExpertsEnv(gains=GainTable(np.zeros((64, 8))))
    assert LaplaceClipRescale(game(), epsilon=1.0).guarantee.draws_distance == one
    assert LaplaceClipRescale(everything, epsilon=1.0).guarantee.draws_distance == 8 * one
    assert BlockSums(game(), epsilon=1.0).guarantee.draws_distance == one
    assert BlockSums(everything, epsilon=8.0).guarantee.draws_distance == 8 * one
    intervals = IntervalSums(game(), epsilon=16.0, intervals="uniform")
    assert 21 * one < intervals.guarantee.draws_distance < 21 * 2 * one  # releases at 3, 6, ..., 63
    binary = CounterSums(game(), counter="binary", epsilon=7.0)
    assert binary.guarantee.draws_distance == pytest.approx(7 * one)
    joint = CounterSums(everything, counter="binary", epsilon=7.0)  # eight times the scale on the same grid
    assert joint.guarantee.draws_distance == pytest.approx(7 * 8 * 8 * one)
    assert RandomizedResponse(game(), epsilon=1.0).guarantee.draws_distance == 0.0
