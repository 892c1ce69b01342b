"""Rounding and draws: scales, items and grids in exact arithmetic, and what fast draws add to delta."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.draws import Stream, normal_quantile
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.privacy import PrivacyGuarantee, laplace as grids, mechanisms, noise_scale
from dp_bandit_envs.privacy.accounting import (
    LAPLACE,
    NORMAL,
    SECOND_ROUNDING,
    delta_for_exact_draws,
    distance_of_all,
    distance_of_draws,
)
from dp_bandit_envs.privacy.counters import COUNTERS, BinaryCounter, make_counter
from dp_bandit_envs.privacy.facts import (
    STEP,
    InputFacts,
    ValueRange,
    all_gains_of_arms,
    distance_in_norm,
    distance_l1,
    distance_l2,
    to_item,
)
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from dp_bandit_envs.privacy.laplace import DEVIATION, MARGIN, default_bound, draw, grid_of
from dp_bandit_envs.privacy.mechanisms.laplace_gains import State, release
from dp_bandit_envs.privacy.node_noise import deviation, equivalent_laplace_scale, fill, fill_own_norm
from dp_bandit_envs.seeding import stream
from dp_bandit_envs.wrappers import BlockSums, CounterSums, IntervalSums, LaplaceClipRescale, RandomizedResponse
from tests.tools.draw_counts import FAR, NEAR, cells, counted_delta, measured, sizes
from tests.tools.fake_draws import Counting
from tests.tools.refusals import refused
from tests.tools.vector_sums import experts


def epsilons_and_distances():
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
    for epsilon in epsilons_and_distances():
        for distance in (1.0, 0.1, 1 / 3, 7.0, math.nextafter(1.0, 2.0)):
            exact = Fraction(distance) / Fraction(epsilon)
            assert exact * room <= Fraction(noise_scale(distance, epsilon)) <= exact * (1 + Fraction(2, 10**9))
    for epsilon in epsilons_and_distances()[::20]:
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


def test_infinite_epsilon_is_no_noise():
    assert noise_scale(1.0, math.inf) == 0.0
    assert default_bound(0.0, 100) == 0.0
    assert release(State(0.0, 0.0, 0.0, True, 0.0, 1.0), 0, 0.3, np.random.default_rng(0)) == (0.3, 1)
    # Too small an epsilon is refused.
    with refused(ValueError, 1.0, 5e-324, "epsilon"):
        noise_scale(1.0, 5e-324)


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
    grid = grids.grid_of(deviation)
    for number in (0.0, 0.4999, 0.5, 1.5, -2.5, 12345.678, -(2.0**40) - 0.5):
        assert grids.to_grid(number * grid, grid) == round(number) * grid


# ---- gains are rounded before they are added


SUMS = {
    "CounterSums": lambda: mechanisms.CounterSums(counter="binary", epsilon=math.inf),
    "HybridSums": lambda: mechanisms.HybridSums(epsilon=math.inf),
    "BlockSums": lambda: mechanisms.BlockSums(epsilon=math.inf, lengths=[500]),
    "IntervalSums": lambda: mechanisms.IntervalSums(epsilon=math.inf, intervals="uniform"),
}


def last_sum(mechanism, gains) -> Fraction:
    """Return the last released sum of one arm, exactly."""
    state, rng = mechanism.new_state(InputFacts(1, len(gains))), Stream(np.random.SFC64(0))
    found = [mechanism.release(state, 0, gain, rng) for gain in gains]
    return Fraction([value for value, count in found if count][-1])


def apart(make, gains) -> Fraction:
    """Return how far the sums of two games are apart that differ in the first gain, which is 1 or 0."""
    return last_sum(make(), [1.0, *gains]) - last_sum(make(), [0.0, *gains])


@pytest.mark.thorough
@pytest.mark.parametrize("name", SUMS)
def test_neighbouring_sums_are_no_further_apart_than_the_sensitivity(name):
    """Random gains of 53 digits: some sums of doubles are more than 1 apart, and none of those with rounded gains."""
    tables = [np.random.default_rng(seed).random(499).tolist() for seed in range(20)]
    assert max(apart(mechanisms.ExactSums, gains) for gains in tables) > 1
    assert {apart(SUMS[name], gains) for gains in tables} == {1}


@pytest.mark.parametrize("gain", [0.0, 1.0, 0.5, -1.0, STEP, -STEP, 3 * STEP])
def test_multiples_stay(gain):
    assert to_item(gain) == gain


def test_others_move_towards_0_to_the_next_multiple():
    assert to_item(0.1) == math.floor(0.1 * 2**30) / 2**30
    assert to_item(-0.1) == -to_item(0.1)
    assert to_item(math.nextafter(1.0, 0.0)) == 1.0 - STEP
    assert to_item(STEP * 0.999) == to_item(-STEP * 0.999) == 0.0
    # The largest multiple below it has 52 bits.
    assert Fraction(2.0**22 - STEP) + Fraction(STEP) == Fraction(2.0**22 - STEP + STEP)


def test_compiled_rounding_is_the_python_one():
    compiled = CompiledFunction(to_item, {})
    gains = np.random.default_rng(3).uniform(-1, 1, 2000)
    assert [compiled(gain) for gain in gains] == [to_item(gain) for gain in gains.tolist()]
    assert (np.abs([to_item(gain) for gain in gains]) <= np.abs(gains)).all()


# ---- how far rounded values are apart


def test_gains_that_are_the_range_apart_are_no_further_apart_when_rounded():
    inputs = experts(3, 9)
    assert (distance_l1(inputs), distance_in_norm(inputs)) == (3.0, 1.0)
    assert distance_l2(inputs) == inputs.values.l2
    assert distance_l1(InputFacts(4, 9)) == distance_l2(InputFacts(4, 9)) == 1.0
    # Distances in other norms.
    ball = InputFacts(4, 9, 4.0, 4, values=ValueRange(-1.0, 1.0, 2.0, "l2", 2.0, True))
    cube = InputFacts(4, 9, 2.0, 4, values=ValueRange(-1.0, 1.0, 2.0, "l1", 2.0, True))
    assert distance_in_norm(ball) == distance_l2(ball) == 2.0 + 2 * STEP
    assert distance_in_norm(cube) == distance_l1(cube) == 2.0 + 4 * STEP


@pytest.mark.parametrize("batch_size", [3, 7, 100])
def test_averages_may_be_further_apart_when_rounded(batch_size):
    """Neighbouring averages of 3 gains each, 1 / tau apart, on either side of a multiple of 2^-30."""
    low = 100.9 * STEP
    moved = to_item(low + 1 / batch_size) - to_item(low)
    values = ValueRange(l2=math.sqrt(3) / batch_size, norm="sup", norm_distance=1 / batch_size, complete=True)
    inputs = InputFacts(3, 9, 3 / batch_size, 3, values=values)
    assert 1 / batch_size < moved <= distance_in_norm(inputs) == min(1.0, 1 / batch_size + STEP)
    assert distance_l1(inputs) >= 3 / batch_size + 3 * STEP
    assert math.sqrt(3) / batch_size + 1.7 * STEP < distance_l2(inputs) < math.sqrt(3) / batch_size + 1.8 * STEP


# ---- what fast draws add to delta


DECLARED = {"laplace": LAPLACE, "exponential": LAPLACE, "normal": NORMAL}
DEVIATIONS = {"laplace": DEVIATION, "exponential": DEVIATION, "normal": 1.0}
SOME = [(1.0, 0.0), (1.4, 0.3), (0.71, 0.5)]
"""Scales, and where between two numbers on the grid the value is."""


def game(rounds=64):
    return BanditEnv(GainTable(np.zeros((rounds, 2))))


def counted(kind, scale, place, coarser=1.0):
    grid = coarser * grid_of(DEVIATIONS[kind] * scale)
    return measured(kind, place * grid, scale, grid)


def test_compiled_quantiles_are_the_python_ones():
    v = np.random.default_rng(5).random(2000)
    v = np.concatenate([v, 2.0 ** (-64 * v), [1.0]])
    assert sizes("normal", v).tolist() == [normal_quantile(each) for each in v.tolist()]


@pytest.mark.thorough
@pytest.mark.slow_cases(
    "0.71-0.5-exponential", "0.71-0.5-normal", "1.0-0.0-exponential", "1.4-0.3-exponential", "1.4-0.3-normal"
)
@pytest.mark.parametrize("kind", DECLARED)
@pytest.mark.parametrize(("scale", "place"), SOME)
def test_what_is_declared_of_a_draw_is_at_least_what_is_counted_and_at_most_twice(kind, scale, place):
    """Of exponential draws only the former: they are nearer than Laplace draws."""
    for declared, found in zip(DECLARED[kind], counted(kind, scale, place), strict=True):
        assert found <= declared <= (4 if kind == "exponential" else 2) * found


@pytest.mark.slow
@pytest.mark.parametrize("kind", DECLARED)
def test_what_is_declared_is_at_least_what_is_counted_for_many_values_and_scales(kind):
    """64 places of the value and 16 scales in an octave."""
    for scale in 2.0 ** (np.arange(16) / 16):
        for place in range(64):
            found = counted(kind, float(scale), place / 64)
            assert all(one <= most for one, most in zip(found, DECLARED[kind], strict=True)), (scale, place, found)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["laplace", "normal"])
@pytest.mark.parametrize("coarser", [pytest.param(1 / 4, marks=pytest.mark.slow), 32])
def test_distances_grow_with_the_scale_in_grid_steps(kind, coarser):
    """From 8 steps in a standard deviation, as in the square-root counter, to some 2,000, as in deep trees."""
    found = counted(kind, 1.3, 0.2, coarser)
    assert all(one <= most for one, most in zip(found, DECLARED[kind], strict=True))


def test_uniform_numbers_are_less_than_half_as_far_off():
    """By which coordinates of own-norm noise in the sup norm count as Laplace draws of half their radius."""
    for scale, place in SOME:
        found = measured("uniform", place * 2.0**-8, scale, 2.0**-8)
        assert found.whole < LAPLACE.whole / 2 and found.tail < LAPLACE.tail / 2 and found.bulk < LAPLACE.bulk / 2


@pytest.mark.parametrize("d", [1, 3, 10])
def test_coordinates_of_own_norm_noise_have_the_declared_deviation(d):
    """Sup norm: the radius squared is (d + 1)(d + 2) on average, a uniform number's 1 / 3. L2: d (d + 1) over d."""
    assert deviation("own-norm", "sup", d) ** 2 == pytest.approx((d + 1) * (d + 2) / 3)
    assert deviation("own-norm", "l2", d) ** 2 == pytest.approx(d + 1)
    assert deviation("own-norm", "l1", d) == deviation("laplace", "", d) == DEVIATION
    assert 4 * equivalent_laplace_scale("own-norm", "sup", d) ** 2 >= (d + 1) * (d + 2)


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 10.0, 20.0, 30.0])
def test_the_declared_delta_is_at_least_the_counted_one(epsilon):
    """Counted 1.1e-16 at epsilon .1, 1.5e-16 at 1, 1.3e-15 at 3, 8e-13 at 10, 1.7e-8 at 20, 2.9e-4 at 30.

    The declared one is far larger: it adds up the errors of all cells, of which few matter at one epsilon.
    """
    scale = noise_scale(1.0, epsilon)
    found = counted_delta(epsilon, scale, grid_of(DEVIATION * scale))
    assert 0 < found <= LaplaceClipRescale(game(), epsilon=epsilon).guarantee.delta_at(epsilon)


def test_at_epsilon_40_fast_draws_protect_nothing_and_the_guarantee_says_so():
    found = LaplaceClipRescale(game(), epsilon=40.0).guarantee
    assert found.epsilon == 40.0 and found.delta_at(40.0) > 0.999 and found.epsilon_at(0.5) == math.inf
    assert "nothing with fast draws" in str(found)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["laplace", "normal"])
def test_a_number_and_its_negative_are_released_equally_often(kind):
    found = dict(zip(*cells(kind, 0.0, 0.7, 4 * grid_of(0.7))[:2], strict=True))
    assert all(found.get(-point, 0) == chance for point, chance in found.items())


@pytest.mark.parametrize("kind", DECLARED)
def test_draws_end_where_the_first_middle_does(kind):
    """Laplace: 64 ln 2. Exponential: 65 ln 2. Normal: the quantile of 2^-65. And at 1 there is no noise."""
    far, none = sizes(kind, np.array([2.0**-64, 1.0]))
    ends = {"normal": scipy.stats.norm.isf(2.0**-65), "exponential": 65 * math.log(2), "laplace": 64 * math.log(2)}
    assert far == pytest.approx(ends[kind]) and far < FAR[kind]
    assert none == (math.log(2) if kind == "exponential" else 0.0)


@pytest.mark.parametrize("kind", ["laplace", "normal"])
def test_draws_grow_with_v_by_rounding_errors_between_neighbours_only(kind):
    """Counting by bisection needs it: a draw is never larger than one of a v that is 4 (or 48) or more doubles before.

    Looked at: 2^12 doubles in a row all over the range, and where the quantile changes its form, .15. Below 2^-10 words
    are farther apart than doubles.
    """
    for start in [*(2.0**-place for place in range(1, 11)), 0.15, *np.linspace(0.01, 0.99, 30)]:
        bits = np.float64(start).view(np.int64) + np.arange(-(2**11), 2**11)
        falling = sizes(kind, bits[bits <= np.float64(1.0).view(np.int64)].view(np.float64))
        near = NEAR.get(kind, 4)
        assert (falling[near:] <= np.minimum.accumulate(falling)[:-near]).all()


def test_a_delta_that_draws_use_up_is_refused_with_the_one_that_can_be_kept():
    assert delta_for_exact_draws(1.0, 1e-6, 1e-9) == pytest.approx(1e-6 - (1 + math.e) * 1e-9, rel=1e-12)
    with pytest.raises(WrongGameError, match=r"delta = 1e-06 cannot be kept .*smaller epsilon, .* at least 0.00078"):
        delta_for_exact_draws(1.0, 1e-6, 1e-4)
    # No delta is 1 or more.
    with pytest.raises(WrongGameError) as caught:
        delta_for_exact_draws(50.0, 1e-6, 1e-12)
    assert "at least" not in str(caught.value) and "smaller epsilon" in str(caught.value)
    # Many draws are nearer together than one by one.
    one = distance_of_draws(1.0, 1 / 362)
    assert distance_of_draws(1.0, 1 / 362, 2) == 2 * one
    many = distance_of_draws(1.0, 1 / 362, 10**6)
    assert (
        many == pytest.approx(362 * (1e6 * LAPLACE.tail + LAPLACE.bulk * math.sqrt(1e6 / 2)))
        and many < 0.01 * 1e6 * one
    )
    assert distance_of_all([(1.0, 3), (1.0, 2)], 1 / 362) == pytest.approx(5 * one)
    twice = distance_of_all([(1.0, 3), (1.0, 2)], 1 / 362, used_twice=True)
    assert twice == pytest.approx(5 * one + SECOND_ROUNDING * 2 * 5)


@pytest.mark.parametrize(
    ("values", "made"),
    [
        (1, {"counter": "k-ary", "noise": "gaussian"}),
        (1000, {"counter": "k-ary", "noise": "gaussian"}),
        (10**4, {"counter": "binary", "noise": "gaussian"}),
        (10**4, {"counter": "k-ary", "noise": "own-norm"}),
        (10**4, {"counter": "padded-binary"}),
        (2, {"counter": "hybrid"}),
        (64, {"counter": "square-root"}),
    ],
)
def test_draws_add_at_most_a_hundredth_of_the_delta_asked_for(values, made):
    """Or 1e-8, where none is; with 2^24 rounds, for the square-root counter up to 2^30 draws in all."""
    sums = mechanisms.CounterSums(epsilon=1.0, **made)
    inputs = InputFacts(
        n_values=values, horizon=2**24, sensitivity=values, values=all_gains_of_arms(values), gains_in_a_round=values
    )
    found = sums.guarantee(inputs)
    asked = sums.delta or 0.0
    assert (found.epsilon, found.delta) == (1.0, asked)
    assert (1 + math.e) * found.draw_distance <= (asked / 100 or 1e-8)
    if asked:
        assert found.epsilon_at(asked) <= 1.0 and found.delta_at(1.0) <= asked


def test_a_square_root_counter_of_too_many_draws_is_refused_by_name():
    many = InputFacts(
        n_values=2**20, horizon=2**24, sensitivity=2.0**20, values=all_gains_of_arms(2**20), gains_in_a_round=2**20
    )
    with pytest.raises(WrongGameError, match=r"delta = 1e-06 cannot be kept .*counter='k-ary'"):
        mechanisms.CounterSums(epsilon=1.0, counter="square-root").guarantee(many)


def test_nothing_can_be_said_without_a_grid_and_without_noise_nothing_is_off():
    assert distance_of_draws(1.0, 0.0) == 1.0 and distance_of_draws(0.0, 0.0) == 0.0
    assert distance_of_draws(1e300, 1e-300, 5) == 1.0


def test_the_draws_that_an_item_influences_are_those_that_the_theorem_counts():
    """Pure: the reciprocals of their scales add up to epsilon. Normal: those of the squares, to 1 / sigma^2."""
    for horizon in [1, 13, 1024, 100_000]:
        for name in [name for name in COUNTERS if name != "square-root"]:
            pure = make_counter(name, epsilon=0.7, horizon=horizon)
            drawn = [(scale, number) for scale, number in pure.item_draws() if number]
            full = 0.35 if name == "hybrid" and horizon == 1 else 0.7  # one item is in no tree
            assert sum(number / scale for scale, number in drawn) == pytest.approx(full, rel=2e-9)
            normal = make_counter(name, epsilon=0.7, horizon=horizon, delta=1e-5)
            drawn = [(scale, number) for scale, number in normal.item_draws() if number]
            total = sum(number / scale**2 for scale, number in drawn)
            assert total == pytest.approx(full / 0.7 / normal.sigma**2, rel=4e-9)


def test_the_square_root_counter_counts_all_draws_of_the_game():
    counter = make_counter("square-root", epsilon=1.0, horizon=500)
    ((scale, number),) = counter.item_draws()
    assert number == 500 and scale > counter.sigma
    assert counter.guarantee.draw_distance == distance_of_draws(scale, counter.grid, 500, normal=True) > 0
    assert counter.guarantee.delta == 1e-6 >= counter.guarantee.delta_at(1.0)


def test_each_wrapper_counts_the_draws_of_one_round():
    """One for a gain, one for a block, one for each release of an interval, one a level and coordinate for counters."""
    one = distance_of_draws(noise_scale(1.0, 1.0), grid_of(DEVIATION))
    everything = ExpertsEnv(gains=GainTable(np.zeros((64, 8))))
    assert LaplaceClipRescale(game(), epsilon=1.0).guarantee.draw_distance == pytest.approx(one)
    assert LaplaceClipRescale(everything, epsilon=1.0).guarantee.draw_distance == pytest.approx(8 * one)
    assert BlockSums(game(), epsilon=1.0).guarantee.draw_distance == pytest.approx(one)
    assert BlockSums(everything, epsilon=8.0).guarantee.draw_distance == pytest.approx(8 * one)
    intervals = IntervalSums(game(), epsilon=16.0, intervals="uniform")
    assert 21 * 0.4 * one < intervals.guarantee.draw_distance < 21 * 1.42 * one  # releases at 3, 6, ..., 63; many draws
    binary = CounterSums(game(), counter="binary", epsilon=7.0)
    assert binary.guarantee.draw_distance == pytest.approx(7 * one)
    joint = CounterSums(everything, counter="binary", epsilon=7.0)  # eight times the scale, on eight times the grid
    together = distance_of_draws(noise_scale(1.0, 1.0), grid_of(DEVIATION), 7 * 8)
    assert joint.guarantee.draw_distance == pytest.approx(together) and together < 7 * 8 * one
    assert RandomizedResponse(game(), epsilon=1.0).guarantee.draw_distance == 0.0


# ---- what one release of Laplace noise tells


def test_rejection_alone_has_the_probabilities_that_epsilon_allows():
    """Withholding is post-processing: P(withheld | 1) / P(withheld | 0) lies within exp(+-epsilon), exactly."""
    for epsilon in (0.1, 1.0, 5.0):
        scale = noise_scale(1.0, epsilon)
        for bound in (0.0, 0.3 / epsilon, default_bound(scale, 1000)):

            def withheld(gain, scale=scale, bound=bound):
                return 0.5 * math.exp(-(bound + gain) / scale) + 0.5 * math.exp(-(bound + 1 - gain) / scale)

            for one in np.linspace(0, 1, 11):
                for other in np.linspace(0, 1, 11):
                    assert abs(math.log(withheld(one) / withheld(other))) <= epsilon + 1e-12
                    kept = math.log((1 - withheld(one)) / (1 - withheld(other))) if bound > 0 else 0.0
                    assert abs(kept) <= epsilon + 1e-12


# ---- floats are not real numbers
