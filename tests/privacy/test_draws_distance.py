"""What fast draws add to delta: counted exactly for Laplace draws, and how the ziggurats draw."""

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
from tests.tools.laplace_counts import UNIFORMS, counted_delta, counts, masses

SCALES = [1.0, 1.1, 1.3, 1.5, 1.7, 1.9, 1.99, 1.9999999]
"""From 1,024 grid steps in a scale to 2,048."""


def game(rounds=64):
    return BanditEnv(GainTable(np.zeros((rounds, 2))))


def declared(epsilon):
    return LaplaceClipRescale(game(), epsilon=epsilon).guarantee


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 10.0])
def test_the_declared_delta_is_at_least_the_counted_one_and_at_most_twelve_times(epsilon):
    """2.6e-12 at epsilon 1, 2.2e-11 at 3, 2.2e-8 at 10."""
    counted = counted_delta(epsilon, counts(0.0, 1 / epsilon), counts(1.0, 1 / epsilon))
    assert 0 < counted <= declared(epsilon).delta_with_draws <= 12 * counted


def test_at_epsilon_30_fast_draws_protect_nothing_and_the_guarantee_says_so():
    counted = counted_delta(30.0, counts(0.0, 1 / 30), counts(1.0, 1 / 30))
    assert counted == pytest.approx(0.56, abs=0.01)
    found = declared(30.0)
    assert found.epsilon == 30.0 and found.delta_with_draws == 1.0 and found.epsilon_at(0.5) == math.inf
    assert "nothing with fast draws" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", np.geomspace(0.1, 30, 25).tolist())
def test_the_declared_delta_is_at_least_the_counted_one_for_many_epsilons(epsilon):
    counted = counted_delta(epsilon, counts(0.0, 1 / epsilon), counts(1.0, 1 / epsilon))
    assert 0 < counted <= declared(epsilon).delta_with_draws <= max(12 * counted, 1.0 * (epsilon > 20))


@pytest.mark.parametrize("scale", [1.0, 1.9999999, pytest.param(0.3, marks=pytest.mark.slow)])
def test_the_distance_of_a_laplace_draw_is_counted(scale):
    """The proof allows each cell to be off by one number; they are off by a third of that on average."""
    counted = np.abs(counts(0.0, scale) / UNIFORMS - masses(scale)).sum() / 2
    assert counted <= distance_of_draws(scale, grid_of(scale)) <= 8 * counted


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_the_distance_of_a_laplace_draw_is_counted_for_many_scales(scale):
    counted = np.abs(counts(0.0, scale) / UNIFORMS - masses(scale)).sum() / 2
    assert counted <= distance_of_draws(scale, grid_of(scale)) <= 8 * counted


def test_the_bound_of_the_proof_is_below_the_constant():
    for steps in (1024, 2048, 2.0**15, 2.0**25):
        proved = 2.0**-54 * (steps * (2 * math.log(2.0**52 / steps) + 10) + 100)
        assert proved <= distance_of_draws(steps, 1.0) == PER_STEP * steps
    ends = strips(*EXPONENTIAL), strips(*NORMALS)
    assert 2.0**-54 * (1024 * np.mean(ends[0]) + 1) + 1024 * 2.2e-16 + 3e-15 < distance_of_draws(1024, 1.0)
    for steps in (16, 2048):
        assert 2.0**-53 * (steps * np.mean(ends[1]) + 1) + steps * 2.2e-16 < NORMAL[0] * steps + NORMAL[1]


def test_nothing_can_be_said_without_a_grid_and_without_noise_nothing_is_off():
    assert distance_of_draws(1.0, 0.0) == 1.0 and distance_of_draws(0.0, 0.0) == 0.0
    assert distance_of_draws(1e300, 1e-300, 5) == 1.0


EXPONENTIAL = (
    7.69711747013104972,
    lambda x: math.exp(-x),
    lambda y: -math.log(y),
    lambda r: math.exp(-r) * (r + 1),
)
NORMALS = (
    3.6541528853610088,
    lambda x: math.exp(-x * x / 2),
    lambda y: math.sqrt(-2 * math.log(y)),
    lambda r: r * math.exp(-r * r / 2) + math.sqrt(math.pi / 2) * math.erfc(r / math.sqrt(2)),
)


def strips(right, density, inverse, area):
    """Return where the 256 strips of equal area end, in NumPy's order: that with the tail, then from the top down."""
    ends = [right]
    for _ in range(254):
        ends.append(inverse(density(ends[-1]) + area(right) / ends[-1]))
    return np.array([area(right) / density(right), *reversed(ends)])


@pytest.mark.parametrize("kind", ["standard_exponential", "standard_normal"])
def test_ziggurats_draw_equal_steps_of_53_or_52_bits_in_a_strip(kind):
    """All but a few draws are the strip's end times a whole number over 2^53 (2^52): those of the first kind."""
    normal = kind == "standard_normal"
    ends = strips(*(NORMALS if normal else EXPONENTIAL))
    rng = np.random.Generator(np.random.SFC64(5))
    equal, number = 0, 4000
    for _ in range(number):
        before = rng.bit_generator.state
        raw = int(rng.bit_generator.random_raw())
        rng.bit_generator.state = before
        value = getattr(rng, kind)()
        if normal:
            strip, sign, share = raw & 255, 1 - 2 * (raw >> 8 & 1), (raw >> 9 & 2**52 - 1) / 2**52
        else:
            strip, sign, share = raw >> 3 & 255, 1, (raw >> 11) / 2**53
        equal += math.isclose(value, sign * share * ends[strip], rel_tol=1e-11)
    assert number * 0.97 < equal <= number


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
