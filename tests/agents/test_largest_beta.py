"""The arm with the largest Beta draw: densities, bounds on chances, and the law in all ways to find it."""

import copy
import functools
import math
from itertools import pairwise

import numpy as np
import pytest

from dp_bandit_envs.agents.largest_beta import (
    LAZY_BELOW,
    LAZY_FROM,
    LEADER,
    TANGENT_MARGIN,
    UNKNOWN,
    above,
    among_many,
    chance,
    changed,
    distance,
    log_density,
    log_scale,
    one_by_one,
    rough_chance,
    start,
)
from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.compiling.functions import stream_address
from dp_bandit_envs.compiling.intrinsics import put_back, stream_at
from dp_bandit_envs.draws import Stream


def exponent(alpha, beta, floor):
    """The x of `above`, computed from its definition: n (c - mode)^2 / (2 v), and 0 left of the mode."""
    n = alpha + beta - 2
    if n == 0 or floor <= (alpha - 1) / n:
        return 0.0
    mode = (alpha - 1) / n
    nearest = min(max(0.5, mode), floor)
    return n * (floor - mode) ** 2 / (2 * nearest * (1 - nearest))


def tangent(alpha, beta, floor):
    """Return the mass under the tangent of the density at the floor, f(c) / s, right of the mode."""
    slope = ((alpha + beta - 2) * floor - (alpha - 1)) / (floor * (1 - floor))
    return math.exp(log_density(alpha, beta, floor)) / slope


@pytest.mark.parametrize("alpha", [1.0, 3.0, 50.0, 1e4, 1e7])
def test_density_near_1_keeps_its_digits(alpha):
    """Beta(a, 2) has density a (a + 1) t^(a - 1) (1 - t); powers of 2 make 1 - t exact."""
    for power in (2, 10, 22, 24, 40):
        left = 2.0**-power
        expected = math.log(alpha * (alpha + 1)) + (alpha - 1) * math.log1p(-left) + math.log(left)
        assert log_density(alpha, 2.0, 1 - left) == pytest.approx(expected, rel=1e-14, abs=1e-12)


def test_density_agrees_with_scipy():
    special = pytest.importorskip("scipy.special")
    for alpha in (1.0, 1.3, 2.0, 5.7, 30.0, 1000.0):
        for beta in (1.0, 1.1, 3.0, 8.2, 70.0, 900.0):
            for theta in (1e-6, 0.01, 0.2, 0.5, 0.77, 0.999, 1 - 1e-6):
                size = special.xlogy(alpha - 1, theta) + special.xlog1py(beta - 1, -theta)
                expected = size - special.betaln(alpha, beta)
                assert log_density(alpha, beta, theta) == pytest.approx(expected, rel=1e-13, abs=1e-11)


def test_density_of_large_parameters_has_mass_1():
    """The trapezoid rule is exact to rounding here, as the density and its derivatives vanish at both ends."""
    for beta in [150.0, 1e4, 4e5, 1e7]:
        for alpha in [200.0, 1e4, 3e5, 1e7]:
            mean = alpha / (alpha + beta)
            deviation = math.sqrt(mean * (1 - mean) / (alpha + beta + 1))
            # Not symmetric about the mean, so that errors of opposite sign on its two sides would show.
            step = 0.0371 * deviation
            low = max(mean - 12 * deviation, step)
            points = [low + i * step for i in range(900) if low + i * step < 1]
            gaps = [b - a for a, b in pairwise(points)]
            heights = [math.exp(log_density(alpha, beta, point)) for point in points]
            mass = math.fsum(gap * (a + b) / 2 for gap, (a, b) in zip(gaps, pairwise(heights), strict=True))
            assert mass == pytest.approx(1, abs=2e-11)


@pytest.mark.thorough
def test_the_mass_under_the_tangent_is_below_its_bound():
    """ln(f(c) / s) <= -x - TANGENT_MARGIN at x = LAZY_FROM, the worst c, for parameters 1 + [0, 1e5]; less beyond."""
    worst = -math.inf
    steps = [0.0, *(10 ** (i / 8 - 4) for i in range(73))]
    for k in steps:
        for rest in steps:
            alpha, beta = 1 + k, 1 + rest
            if exponent(alpha, beta, 1 - 1e-9) < LAZY_FROM:
                continue
            low, high = (alpha - 1) / (alpha + beta - 2), 1 - 1e-9
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (low, middle) if exponent(alpha, beta, middle) >= LAZY_FROM else (middle, high)
            last = -TANGENT_MARGIN
            for share in (0.0, 0.01, 0.1, 0.4, 0.8):
                c = high + share * (1 - high)
                slope = ((alpha + beta - 2) * c - (alpha - 1)) / (c * (1 - c))
                spare = log_density(alpha, beta, c) - math.log(slope) + exponent(alpha, beta, c)
                # Rounding of c near 1 and of x is worth 1e-6 at most.
                assert spare <= last + 1e-6
                last = spare
                worst = max(worst, spare)
    assert worst == pytest.approx(-0.93, abs=0.01)


TAILS = [
    (1.0, 1000.0, 0.004),
    (1.0, 1e7, 9e-7),
    (1.0, 2.0, 0.99),
    (1.2, 2.9, 0.97),
    (3.0, 5.0, 1 - 1e-6),
    (60.0, 8.0, 0.999),
    (5.0, 5.0, 0.82),
    (5.0, 5.0, 0.99),
    (2.0, 40.0, 0.3),
    (300.0, 20.0, 0.97),
    (30.0, 70.0, 0.4),
    (30.0, 70.0, 0.6),
    (1e6, 1e5, 0.90975),
    (1e6, 1e5, 0.912),
    (1e7, 1e7, 0.5005),
    (1e7, 20.0, 1 - 1e-6),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("alpha", "beta", "floor"), TAILS)
def test_tail_and_the_law_beyond_agree_with_scipy(alpha, beta, floor):
    """Chance of exceeding c, and P(Beta > draw) / P(Beta > c), which is uniform: mean, square, five standard errors.

    The coin's chance is 1.05 times the mass under the tangent, or else the far tail would never be seen.

    False alarm: 1.8e-6 (five standard errors, two sides, three numbers).
    """
    special = pytest.importorskip("scipy.special")
    assert exponent(alpha, beta, floor) >= LAZY_FROM
    bound = 1.05 * tangent(alpha, beta, floor)
    rng, n = Stream(np.random.SFC64(1)), 5_000
    draws = [above(alpha, beta, floor, bound, rng) for _ in range(n)]
    found = np.array([draw for draw in draws if draw > floor])
    tail = special.betaincc(alpha, beta, floor)
    share = tail / bound
    assert 0.2 < share < 1 / 1.05
    assert abs(len(found) - n * share) < 5 * math.sqrt(n * share * (1 - share))
    uniform = special.betaincc(alpha, beta, found) / tail
    assert abs(np.mean(uniform) - 1 / 2) < 5 * math.sqrt(1 / 12 / len(found))
    assert abs(np.mean(uniform**2) - 1 / 3) < 5 * math.sqrt(4 / 45 / len(found))


def test_no_bound_is_below_the_chance():
    """With the scale it is the mass under the tangent, above it by at most its allowance for rounding."""
    for alpha, beta, floor in [*TAILS, (3.0, 2.0, 0.7), (20.0, 80.0, 0.21), (1e7, 1e7, 0.50002)]:
        logs = math.log(floor), math.log1p(-floor)
        mass = tangent(alpha, beta, floor)
        bound = chance(alpha, beta, log_scale(alpha, beta), floor, *logs)
        allowance = 2e-9 + 3e-14 * (alpha + beta)
        if mass < LAZY_BELOW * (1 - allowance):
            assert mass <= bound <= mass * (1 + allowance) * (1 + 1e-10)
        else:
            assert bound == 1
        without = chance(alpha, beta, UNKNOWN, floor, *logs)
        x = exponent(alpha, beta, floor)
        assert without == pytest.approx(math.exp(-x - TANGENT_MARGIN) if x >= LAZY_FROM else 1, rel=1e-9)
        assert rough_chance(alpha, beta, floor) >= without or x > 40


def test_steps_are_above_the_bound_on_both_sides_of_each():
    """Beta(1 + n / 2, 1 + n / 2) has v = 1 / 4, so x = n (3/4 - 1/2)^2 / (2 / 4) = n / 8 at 3/4."""
    for x in (1.4999, 1.5001, 4.9999, 5.0001, 9.9999, 10.0001, 39.999):
        n = 8 * x
        assert distance(1 + n / 2, 1 + n / 2, 0.75) == pytest.approx(x, rel=1e-12)
        found = rough_chance(1 + n / 2, 1 + n / 2, 0.75)
        assert found == 1 if x < LAZY_FROM else math.exp(-x - TANGENT_MARGIN) <= found < 0.1
    # Not drawn at all: its chance is below e^-40.9.
    assert rough_chance(160.0, 160.0, 0.75) > 0 == rough_chance(162.0, 162.0, 0.75)


def test_distance_is_that_of_the_definition():
    setting, sides = np.random.default_rng(3), set()
    for _ in range(3000):
        mode, floor = setting.random(2)
        n = 10 ** setting.uniform(-1, 6)
        alpha, beta = 1 + n * mode, 1 + n * (1 - mode)
        assert distance(alpha, beta, floor) == pytest.approx(exponent(alpha, beta, floor), rel=1e-6, abs=1e-9)
        sides.add((floor < mode, floor < 0.5, mode > 0.5))
    assert len(sides) == 6


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (1.0, 1e7), (1e7, 1.0), (3.0, 2.0)])
def test_a_floor_at_an_end_is_a_limit_case(alpha, beta):
    rng = Stream(np.random.SFC64(5))
    assert rough_chance(alpha, beta, 0.0) == 1
    for _ in range(100):
        assert above(3.0, 5.0, 1.0, 1e-300, rng) <= 1.0
    for scale in (UNKNOWN, log_scale(alpha, beta)):
        assert chance(alpha, beta, scale, 1.0, 0.0, -math.inf) in (0.0, 1.0)


def test_a_lazy_draw_never_leaves_the_interval():
    rng = Stream(np.random.SFC64(6))
    for floor in (0.9, 0.99, 1 - 1e-6, 1 - 1e-12, 1 - 2**-53):
        for beta in (1.0 + 1e-9, 1.001, 1.5, 3.0):
            if exponent(1.0, beta, floor) < LAZY_FROM:
                continue
            for bound in (1.0, 0.3, 1e-3, 1e-17, 1e-300):
                for _ in range(20):
                    assert 0.0 <= above(1.0, beta, floor, bound, rng) <= 1.0


def one_by_one_often(addresses, alphas, betas, search, first, counts, calls, changes):
    """Add up how often each arm has the largest draw."""
    rng = stream_at(addresses[0])
    for _ in range(calls):
        counts[one_by_one(alphas, betas, first, rng)] += 1
    put_back(addresses[0], rng)


def among_many_often(addresses, alphas, betas, search, first, counts, calls, changes):
    """Add up how often each arm has the largest draw; before each call, some arms' posteriors count as changed."""
    rng = stream_at(addresses[0])
    for call in range(calls):
        for arm in range(changes):
            changed(search, (call + arm) % len(alphas))
        counts[among_many(alphas, betas, search, rng)] += 1
    put_back(addresses[0], rng)


ONE_BY_ONE, AMONG_MANY = CompiledFunction(one_by_one_often, {}), CompiledFunction(among_many_often, {})
WAYS = {
    "one by one": (ONE_BY_ONE, 0),
    "many": (AMONG_MANY, 0),
    "many, one changed": (AMONG_MANY, 1),
    "many, all changed": (AMONG_MANY, 50),
}


def search_from(n_arms, first):
    """Return the state before a search that is led by an arm."""
    search = start(n_arms)
    search.status[LEADER] = first
    return search


def shares(way, alphas, betas, first, calls, seed):
    """Return how often each arm has the largest of its draws, as a share."""
    find, changes = WAYS[way]
    alphas, betas = np.array(alphas, float), np.array(betas, float)
    search, counts = search_from(len(alphas), first), np.zeros(len(alphas))
    rng = Stream(np.random.SFC64(seed))
    find((stream_address(rng),), alphas, betas, search, first, counts, calls, changes)
    return counts / calls


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
def test_two_arms_by_hand(way):
    """P(Beta(1, 3) > Beta(1, 5)) = 5 / 8: minima of 3 and of 5 uniform variables, and the least of 8 is among the 5.

    False alarm: 1.2e-6 (five standard errors, two sides, two shares).
    """
    for first in (0, 1):
        n = 100_000
        assert abs(shares(way, [1.0, 1.0], [3.0, 5.0], first, n, 9)[0] - 5 / 8) < 5 * math.sqrt(15 / 64 / n)


POSTERIORS = {
    "unequal sizes, equal means": ([2.0, 20.0, 200.0, 2000.0], [3.0, 30.0, 300.0, 3000.0]),
    "small counts": ([1.0, 2.0, 1.0, 3.0, 2.0], [1.0, 1.0, 2.0, 2.0, 3.0]),
    "no success in a thousand": ([1.0, 1.0, 1.0, 2.0], [1000.0, 900.0, 1.5e4, 2000.0]),
    "no failure": ([1000.0, 800.0, 5.0, 1.0], [1.0, 2.0, 1.0, 1.0]),
    "a million": ([1e6, 1e6, 1e5, 300.0], [1e5, 1.002e5, 1.01e4, 40.0]),
    "a leader and its followers": ([7000.0, 60.0, 110.0, 12.0, 210.0, 1.0], [3000.0, 40.0, 60.0, 9.0, 100.0, 2.0]),
    "without gains": ([1.0] * 6, [1.0] * 6),
    "many alike": ([30.0] * 12, [70.0] * 12),
    "forty, a good one in each span": (
        [700.0, *[20.0] * 4, 60.0, *[20.0] * 14, 60.0, *[20.0] * 14, 60.0, *[20.0] * 4],
        [300.0, *[80.0] * 4, 40.0, *[80.0] * 14, 40.0, *[80.0] * 14, 40.0, *[80.0] * 4],
    ),
}


@functools.cache
def expected_shares(alphas, betas, calls):
    """Return how often NumPy's draw of each arm is the largest, as a share."""
    draws = np.random.default_rng(10).beta(alphas, betas, size=(calls, len(alphas)))
    return np.bincount(draws.argmax(axis=1), minlength=len(alphas)) / calls


EVERY = ("one by one", "many, one changed")
"""Both ways to look for it; how many arms changed before matters where there are many."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "way"),
    [
        *((name, way) for name in POSTERIORS for way in EVERY),
        *((name, way) for name in ("small counts", "many alike") for way in WAYS if way not in EVERY),
    ],
)
def test_the_largest_has_the_same_law_as_numpys_draws_of_all(name, way):
    """For every `first`: shares of n and of m choices differ by at most five standard errors and three choices.

    The three are for rare ones, whose counts are not normal.

    False alarm: 3e-5 (five standard errors, two sides, up to forty arms and three times).
    """
    alphas, betas = POSTERIORS[name]
    n, m, n_arms = 40_000, 160_000, len(alphas)
    expected = expected_shares(tuple(alphas), tuple(betas), m)
    for first in {0, 1, n_arms - 1}:
        found = shares(way, alphas, betas, first, n, 11 + first)
        # One choice more in either sample where both would claim certainty.
        variance = expected * (1 - expected) * (1 / n + 1 / m) + 1 / (n * m)
        assert np.all(np.abs(found - expected) < 5 * np.sqrt(variance) + 3 / n)


@pytest.mark.thorough
@pytest.mark.parametrize("before", [(20.0, 80.0), (450.0, 550.0)], ids=["far behind", "close"])
def test_a_changed_posterior_has_a_new_chance(before):
    """Arm 3 catches up with the leader between two calls: in the next one it wins as often.

    False alarm: 6e-7 (five standard errors of 300 fair coins, two sides).
    """
    n, rng, wins = 300, Stream(np.random.SFC64(5)), 0
    for _ in range(n):
        search = start(40)
        alphas, betas = [500.0, *[20.0] * 39], [500.0, *[80.0] * 39]
        alphas[3], betas[3] = before
        for _ in range(3):
            among_many(alphas, betas, search, rng)
        alphas[3], betas[3] = 500.0, 500.0
        changed(search, 3)
        wins += among_many(alphas, betas, search, rng) == 3
    assert abs(wins - n / 2) < 5 * math.sqrt(n / 4)


@pytest.mark.thorough
def test_the_line_is_never_above_the_floor():
    alphas, betas = [500.0, *[20.0] * 39], [500.0, *[80.0] * 39]
    search, rng = start(40), Stream(np.random.SFC64(6))
    below = 0
    for _ in range(2000):
        line, leader = search.line[0], search.status[LEADER]
        floor = copy.deepcopy(rng).beta(alphas[leader], betas[leader])
        among_many(alphas, betas, search, rng)
        assert search.line[0] <= floor
        below += floor < line
    assert below > 3


@pytest.mark.thorough
def test_compiled_and_interpreted_agree_bit_for_bit():
    setting, one, other = np.random.default_rng(12), Stream(np.random.SFC64(13)), Stream(np.random.SFC64(13))
    address = (stream_address(other),)
    winners = set()
    for call in range(1000):
        n_arms = int(setting.integers(1, 40))
        top = 10 ** setting.uniform(0, 7, n_arms)
        alphas = 1 + np.floor(top * setting.random(n_arms)) * (call % 3 > 0) + setting.random(n_arms) * (call % 2)
        betas = 1 + np.floor(top * setting.random(n_arms)) * (call % 5 > 0)
        first = int(setting.integers(n_arms))
        search, twin = search_from(n_arms, first), search_from(n_arms, first)
        given = (alphas.tolist(), betas.tolist())
        counts = np.zeros(n_arms)
        for _ in range(3):
            counts[one_by_one(*given, first, one)] += 1
            counts[among_many(*given, twin, one)] += 1
        for _ in range(3):
            for find in (ONE_BY_ONE, AMONG_MANY):
                found = np.zeros(n_arms)
                find(address, alphas, betas, search, first, found, 1, 0)
                counts -= found
                winners.add(int(found.argmax()))
        assert not counts.any()
        for array, other_array in zip(search, twin, strict=True):
            assert array.tolist() == other_array.tolist()
    assert one.random() == other.random()
    assert len(winners) > 30
