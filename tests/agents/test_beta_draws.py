"""Lazy Beta draws: the density and the bound behind them, the tail, and the law of the largest against drawing all."""

import math
from itertools import pairwise

import numpy as np
import pytest

from dp_bandit_envs.agents.beta_draws import LAZY_FROM, TANGENT_MARGIN, above, largest, log_density, stirling
from dp_bandit_envs.compiling.compiled import compile_with


def exponent(alpha, beta, floor):
    """The x of `above`, computed from its definition: n (c - mode)^2 / (2 v), and 0 left of the mode."""
    n = alpha + beta - 2
    if n == 0 or floor <= (alpha - 1) / n:
        return 0.0
    mode = (alpha - 1) / n
    nearest = min(max(0.5, mode), floor)
    return n * (floor - mode) ** 2 / (2 * nearest * (1 - nearest))


class Boosted:
    """A generator whose first exponential variable after `again(least)` is above `least`, as if by chance."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def again(self, least):
        """Return the generator, ready for a call that the forced variable begins."""
        self.left = least
        return self

    def standard_exponential(self):
        """Return an exponential variable; memoryless, it is above `least` by another one."""
        least, self.left = self.left, 0.0
        return least + self.rng.standard_exponential()


def test_stirling_remainder_at_known_points():
    # Gamma(1) = Gamma(2) = 1 and Gamma(1/2 + 2) = 3 sqrt(pi) / 4; and it falls like 1 / (12 x).
    half = 0.5 * math.log(2 * math.pi)
    assert stirling(1.0) == pytest.approx(1 - half, abs=1e-13)
    assert stirling(2.0) == pytest.approx(2 - 1.5 * math.log(2) - half, abs=1e-13)
    gamma = math.log(0.75 * math.sqrt(math.pi))
    assert stirling(2.5) == pytest.approx(gamma - 2 * math.log(2.5) + 2.5 - half, abs=1e-13)
    assert stirling(1e7) == pytest.approx(1 / 12e7, rel=1e-13)


@pytest.mark.parametrize("beta", [1.0, 1.5, 2.0, 7.9, 8.0, 123.4, 1e4, 1e7])
def test_density_with_a_parameter_of_1_is_a_power(beta):
    for theta in (1e-12, 1e-7, 1e-3, 0.3, 0.5, 0.51, 0.9, 1 - 1e-9):
        expected = math.log(beta) + (beta - 1) * math.log1p(-theta)
        assert log_density(1.0, beta, theta) == pytest.approx(expected, rel=1e-12, abs=1e-11)
        # 1 - theta is exact from 1/2 on.
        if theta >= 0.5:
            expected = math.log(beta) + (beta - 1) * math.log1p(-(1 - theta))
            assert log_density(beta, 1.0, 1 - theta) == pytest.approx(
                math.log(beta) + (beta - 1) * math.log(1 - theta), rel=1e-12, abs=1e-11
            )


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


@pytest.mark.parametrize("alpha", [200.0, 1e4, 3e5, 1e7])
@pytest.mark.parametrize("beta", [150.0, 1e4, 4e5, 1e7])
def test_density_of_large_parameters_has_mass_1(alpha, beta):
    """The trapezoid rule is exact to rounding here, as the density and its derivatives vanish at both ends."""
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


@pytest.mark.parametrize(("beta", "floor", "chance"), [(3.0, 0.7, 0.027), (2.0, 0.9, 0.01), (1.0, 0.8, 0.2)])
def test_chance_to_exceed_by_hand(beta, floor, chance):
    """P(Beta(1, b) > c) = (1 - c)^b; within five standard errors. Only the first two are lazy.

    False alarm: 6e-7 (five standard errors, two sides).
    """
    assert (exponent(1.0, beta, floor) >= LAZY_FROM) == (beta > 1)
    rng, n = np.random.default_rng(0), 40_000
    count = sum(above(1.0, beta, floor, rng) > floor for _ in range(n))
    assert abs(count - n * chance) < 5 * math.sqrt(n * chance * (1 - chance))


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


@pytest.mark.parametrize(("alpha", "beta", "floor"), TAILS)
def test_tail_and_the_law_beyond_agree_with_scipy(alpha, beta, floor):
    """Chance of exceeding c, and P(Beta > draw) / P(Beta > c), which is uniform: mean, square, five standard errors.

    The tangent has mass f(c) / s. The first exponential is forced above -ln of 1.05 times that, or else the far tail
    would never be seen.

    False alarm: 1.8e-6 (five standard errors, two sides, three numbers).
    """
    special = pytest.importorskip("scipy.special")
    assert exponent(alpha, beta, floor) >= LAZY_FROM
    log_height = special.xlogy(alpha - 1, floor) + special.xlog1py(beta - 1, -floor) - special.betaln(alpha, beta)
    least = math.log((beta - 1) / (1 - floor) - (alpha - 1) / floor) - log_height - math.log(1.05)
    rng, n = Boosted(1), 5_000
    draws = [above(alpha, beta, floor, rng.again(least)) for _ in range(n)]
    found = np.array([draw for draw in draws if draw > floor])
    tail = special.betaincc(alpha, beta, floor)
    chance = tail * math.exp(least)
    assert 0.2 < chance < 1 / 1.05
    assert abs(len(found) - n * chance) < 5 * math.sqrt(n * chance * (1 - chance))
    uniform = special.betaincc(alpha, beta, found) / tail
    assert abs(np.mean(uniform) - 1 / 2) < 5 * math.sqrt(1 / 12 / len(found))
    assert abs(np.mean(uniform**2) - 1 / 3) < 5 * math.sqrt(4 / 45 / len(found))


def test_an_arm_is_drawn_outright_where_x_is_small():
    """The bound on the mass holds for the x of the definition, so the code must use that x; a beta draw tells.

    x grows in proportion to n where mode and floor stay, so each case is put within 1 % of the border.
    """
    setting, sides = np.random.default_rng(3), set()
    for _ in range(3000):
        mode, floor = sorted(setting.random(2))
        n = LAZY_FROM / exponent(1 + mode, 2 - mode, floor) * setting.uniform(0.99, 1.01)
        alpha, beta = 1 + n * mode, 1 + n * (1 - mode)
        rng, other = np.random.default_rng(4), np.random.default_rng(4)
        above(alpha, beta, floor, rng)
        other.beta(alpha, beta)
        outright = rng.bit_generator.state == other.bit_generator.state
        if abs(exponent(alpha, beta, floor) / LAZY_FROM - 1) > 1e-6:
            assert outright == (exponent(alpha, beta, floor) < LAZY_FROM)
            sides.add((outright, floor < 0.5, mode > 0.5))
    assert len(sides) == 6


def test_an_arm_far_behind_costs_one_exponential():
    rng, other = np.random.default_rng(4), np.random.default_rng(4)
    for _ in range(100):
        assert above(20.0, 80.0, 0.55, rng) <= 0.55
        other.standard_exponential()
    assert rng.bit_generator.state == other.bit_generator.state


def test_a_hopeless_arm_costs_nothing():
    """Here x is at least 2 n (c - k / n)^2 = 2 * 98 * (0.9 - 19 / 98)^2 = 98, beyond 40: a chance below e^-40."""
    rng, other = np.random.default_rng(4), np.random.default_rng(4)
    assert above(20.0, 80.0, 0.9, rng) == 0.0
    assert rng.bit_generator.state == other.bit_generator.state
    assert pytest.importorskip("scipy.special").betaincc(20.0, 80.0, 0.9) < math.exp(-40)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (1.0, 1e7), (1e7, 1.0), (3.0, 2.0)])
def test_a_floor_at_an_end_is_a_limit_case(alpha, beta):
    rng, other = np.random.default_rng(5), np.random.default_rng(5)
    for _ in range(100):
        assert above(alpha, beta, 0.0, rng) == other.beta(alpha, beta)
    for _ in range(100):
        assert above(alpha, beta, 1.0, rng) <= 1.0
    # Here too the forced variable passes the bound.
    assert above(3.0, 5.0, 1.0, Boosted(5).again(1000.0)) <= 1.0


def test_a_lazy_draw_never_leaves_the_interval():
    rng = Boosted(6)
    for floor in (0.9, 0.99, 1 - 1e-6, 1 - 1e-12, 1 - 2**-53):
        for beta in (1.0 + 1e-9, 1.001, 1.5, 3.0):
            if exponent(1.0, beta, floor) < LAZY_FROM:
                continue
            for least in (0.0, 1.0, 5.0, 40.0, 1e4):
                for _ in range(20):
                    assert 0.0 <= above(1.0, beta, floor, rng.again(least)) <= 1.0


def test_one_arm_is_the_largest():
    rng, other = np.random.default_rng(7), np.random.default_rng(7)
    assert largest([2.0], [3.0], 0, rng) == 0
    other.beta(2.0, 3.0)
    assert rng.bit_generator.state == other.bit_generator.state


def test_arms_without_gains_are_equally_likely():
    """Counts of n choices have standard deviation sqrt(n (1/K) (1 - 1/K)): allow five.

    False alarm: 3.5e-6 (five standard errors, two sides, six counts).
    """
    rng, n, n_arms = np.random.default_rng(8), 30_000, 6
    ones = [1.0] * n_arms
    counts = np.bincount([largest(ones, ones, 2, rng) for _ in range(n)], minlength=n_arms)
    assert np.all(np.abs(counts - n / n_arms) < 5 * math.sqrt(n / n_arms * (1 - 1 / n_arms)))


def test_two_arms_by_hand():
    """P(Beta(1, 3) > Beta(1, 5)) = 5 / 8: minima of 3 and of 5 uniform variables, and the least of 8 is among the 5.

    False alarm: 1.2e-6 (five standard errors, two sides, two counts).
    """
    for first in (0, 1):
        rng, n = np.random.default_rng(9), 30_000
        count = sum(largest([1.0, 1.0], [3.0, 5.0], first, rng) == 0 for _ in range(n))
        assert abs(count - n * 5 / 8) < 5 * math.sqrt(n * 15 / 64)


POSTERIORS = {
    "unequal sizes, equal means": ([2.0, 20.0, 200.0, 2000.0], [3.0, 30.0, 300.0, 3000.0]),
    "small counts": ([1.0, 2.0, 1.0, 3.0, 2.0], [1.0, 1.0, 2.0, 2.0, 3.0]),
    "no success in a thousand": ([1.0, 1.0, 1.0, 2.0], [1000.0, 900.0, 1.5e4, 2000.0]),
    "no failure": ([1000.0, 800.0, 5.0, 1.0], [1.0, 2.0, 1.0, 1.0]),
    "a million": ([1e6, 1e6, 1e5, 300.0], [1e5, 1.002e5, 1.01e4, 40.0]),
    "a leader and its followers": ([7000.0, 60.0, 110.0, 12.0, 210.0, 1.0], [3000.0, 40.0, 60.0, 9.0, 100.0, 2.0]),
    "many alike": ([30.0] * 12, [70.0] * 12),
}


@pytest.mark.parametrize(("alphas", "betas"), POSTERIORS.values(), ids=POSTERIORS.keys())
def test_the_largest_has_the_same_law_as_drawing_all(alphas, betas):
    """For every `first`: shares of n and of m choices differ by at most five standard errors and three choices.

    The three are for rare ones, whose counts are not normal.

    False alarm: 2e-5 (five standard errors, two sides, up to twelve arms and four times).
    """
    n, m, n_arms = 8_000, 200_000, len(alphas)
    draws = np.random.default_rng(10).beta(alphas, betas, size=(m, n_arms))
    expected = np.bincount(draws.argmax(axis=1), minlength=n_arms) / m
    for first in {0, 1, n_arms // 2, n_arms - 1}:
        rng = np.random.default_rng(11 + first)
        shares = np.bincount([largest(alphas, betas, first, rng) for _ in range(n)], minlength=n_arms) / n
        # One choice more in either sample where both would claim certainty.
        variance = expected * (1 - expected) * (1 / n + 1 / m) + 1 / (n * m)
        assert np.all(np.abs(shares - expected) < 5 * np.sqrt(variance) + 3 / n)


def test_compiled_and_interpreted_agree_bit_for_bit():
    compiled = compile_with(largest, {})
    setting, one, other = (np.random.default_rng(seed) for seed in (12, 13, 13))
    winners = set()
    for call in range(2000):
        n_arms = int(setting.integers(1, 12))
        top = 10 ** setting.uniform(0, 7, n_arms)
        alphas = 1 + np.floor(top * setting.random(n_arms)) * (call % 3 > 0) + setting.random(n_arms) * (call % 2)
        betas = 1 + np.floor(top * setting.random(n_arms)) * (call % 5 > 0)
        first = int(setting.integers(n_arms))
        arm = largest(alphas.tolist(), betas.tolist(), first, one)
        assert compiled(alphas, betas, first, other) == arm
        winners.add(arm)
    assert one.bit_generator.state == other.bit_generator.state
    assert winners == set(range(11))
