"""The noise has the declared variance at every time, as a linear map and as measured; and the smallest sigma."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad

from dp_bandit_envs.privacy.counters import (
    HybridCounter,
    SegmentTreesCounter,
    SmoothBinaryCounter,
    SquareRootCounter,
    make_counter,
)
from dp_bandit_envs.privacy.counters.k_ary import best_base
from dp_bandit_envs.privacy.counters.square_root import Exponentials, exponentials, of_items, of_releases
from dp_bandit_envs.privacy.counters.table import compare
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from tests.tools.counter_noise import ALL, ANYTIME, counter, linear_map, measured_noise
from tests.tools.refusals import refused


def exact_variances(name: str, some, items: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance of every release from what it adds up, and the times of the releases."""
    noise, scales, covers = linear_map(some, items)
    per_draw = scales**2 if name == "square-root" else 2 * scales**2
    return noise**2 @ per_draw, covers


EXACT = [*((name, horizon, {}) for name in ALL for horizon in (1, 2, 63, 64, 65)), ("hybrid", 64, {"budget": "paper"})]
EXACT += [("k-ary", horizon, {"base": base}) for base, horizon in ((3, 13), (5, 62), (9, 41))]
LONG = [(name, horizon, {}) for name in ALL for horizon in (300, 511, 512, 513)]


@pytest.mark.thorough
@pytest.mark.parametrize("cases", [EXACT, pytest.param(LONG, marks=pytest.mark.slow)], ids=["short", "long"])
def test_declared_variance_is_that_of_the_draws_in_the_release(cases):
    for name, horizon, more in cases:
        some = counter(name, horizon, 0.7, **more)
        variances, covers = exact_variances(name, some, horizon)
        assert variances == pytest.approx([some.variance(int(t)) for t in covers], rel=1e-11)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("most", "trials"), [(9, 4000), pytest.param(12, 10_000, marks=pytest.mark.slow)])
def test_measured_variance_is_the_declared_one_at_every_time_and_around_powers_of_two(most, trials, name):
    """Sample means of squares and fourth powers: the variance has standard error sqrt((m4 - m2^2) / trials).

    Six of them at some 330 times for each counter. The tail is fatter than a normal one, but m4 of the same sample
    moves with it.

    False alarm: 1.3e-6 (six standard errors, two sides, mean and variance at 330 times).
    """
    at = near_powers(most)
    some = counter(name, int(at[-1]), 0.7)
    noise = measured_noise(some, name, at, trials, seed=1)
    declared = np.array([some.variance(int(t)) for t in at])
    squares = noise**2
    error = squares.std(axis=1) / math.sqrt(trials)
    assert (np.abs(squares.mean(axis=1) - declared) <= 6 * error).all()
    assert (error < 0.06 * declared).all()  # so a wrong level or a forgotten node cannot hide
    assert (np.abs(noise.mean(axis=1)) <= 6 * np.sqrt(declared / trials)).all()


def near_powers(most: int) -> np.ndarray:
    """Return 1 to 300, and 2^k - 1, 2^k, 2^k + 1 up to 2^most + 1."""
    powers = 2 ** np.arange(1, most + 1)
    return np.unique(np.concatenate([np.arange(1, 301), powers - 1, powers, powers + 1]))


# ---- known numbers


@pytest.fixture(scope="module")
def at_100_000():
    return {row.name: row for row in compare(100_000, 1.0, 1e-6)}


@pytest.mark.parametrize(
    ("name", "mean", "maximum"),
    [
        ("hybrid", 12_772, 30_856),
        ("binary", 4_711, 9_248),
        ("honaker", 2_588, 5_088),
        ("smooth-binary", 2_000, 2_000),
        ("k-ary", 680, 1_312),
    ],
)
def test_variances_at_100_000_items_are_the_known_ones(at_100_000, name, mean, maximum):
    row = at_100_000[name]
    assert (round(row.mean), round(row.maximum)) == (mean, maximum)


def test_maximum_variances_at_100_000_items_by_hand(at_100_000):
    """Where the maximum lies, in units of 2 / epsilon^2.

    Binary: 17 levels, and 2^16 - 1 has 16 ones: 17^2 * 16 = 4624. Hybrid: at 2^16 - 1 there are 16 draws of scale 2 and
    15 nodes of scale 2 * 15: 64 + 30^2 * 15 = 13,564; beyond 2^16 there are 17 of scale 2 and up to 15 nodes of scale
    2 * 16 (98,303 = 2^16 + 2^15 - 1): 68 + 32^2 * 15 = 15,428. Smooth: 10^2 * 10. K-ary: base 23, four levels,
    16 * 41 = 656.
    """
    assert at_100_000["binary"].maximum == pytest.approx(2 * 4624, rel=4e-9)
    assert at_100_000["hybrid"].maximum == pytest.approx(2 * 15_428, rel=4e-9)
    assert HybridCounter(epsilon=1.0).variance(2**16 - 1) == pytest.approx(2 * 13_564, rel=4e-9)
    assert HybridCounter(epsilon=1.0).variance(98_303) == pytest.approx(2 * 15_428, rel=4e-9)
    assert at_100_000["smooth-binary"].maximum == pytest.approx(2 * 1000, rel=4e-9)
    assert (at_100_000["k-ary"].counter.base, at_100_000["k-ary"].counter.nodes_per_item) == (23, 4)
    assert at_100_000["k-ary"].maximum == pytest.approx(2 * 16 * 41, rel=4e-9)
    # 20.9 and 22.4 sigma^2; the best counter with pure privacy has 680 in the mean and 1,312 at most.
    row = at_100_000["square-root"]
    assert (row.mean, row.maximum) == (pytest.approx(372.9, abs=0.05), pytest.approx(399.8, abs=0.05))
    assert row.mean / row.counter.sigma**2 == pytest.approx(20.9, abs=0.05)


@pytest.mark.thorough
def test_mean_variance_of_segment_trees_and_hybrid_without_a_horizon():
    """At T = 2^17 - 1: 6468 against 13,964."""
    for kind, mean in ((SegmentTreesCounter, 6_468), (HybridCounter, 13_964)):
        assert round(kind(epsilon=1.0).mean_variance(2**17 - 1)) == mean


def test_the_best_base_by_brute_force():
    """Digits of all numbers by division, in bases 3 to 99, at horizons where the levels change."""

    def mean_variance(base, horizon):
        levels = next(h for h in range(1, 60) if (base**h - 1) // 2 >= horizon)
        total = 0
        for t in range(1, horizon + 1):
            while t:
                digit = t % base if t % base <= base // 2 else t % base - base
                total += abs(digit)
                t = (t - digit) // base
        return levels**2 * total / horizon

    for horizon in (1, 2, 13, 14, 100, 264, 265, 700):
        costs = {base: mean_variance(base, horizon) for base in range(3, 100, 2)}
        assert costs[best_base(horizon)] == min(costs.values())


def test_variance_of_a_square_root_release_by_hand():
    """T = 3: l_0, l_1, l_2 from the exponentials; c from l_0 c_0 = 1, l_0 c_1 + l_1 c_0 = 1 and so on.

    For the square root itself, l = c = 1, 1/2, 3/8, so the squares add up to 1, 5/4, 89/64.
    """
    some = SquareRootCounter(epsilon=1.0, delta=1e-6, horizon=3)
    decay, weights = exponentials(3)
    l_0, l_1, l_2 = (float((weights * decay**k).sum()) for k in range(3))
    c_0 = 1 / l_0
    c_1 = (1 - l_1 * c_0) / l_0
    c_2 = (1 - l_1 * c_1 - l_2 * c_0) / l_0
    unit = some.sigma**2 * (c_0**2 + c_1**2 + c_2**2)
    by_hand = [unit * l_0**2, unit * (l_0**2 + l_1**2), unit * (l_0**2 + l_1**2 + l_2**2)]
    assert [some.variance(t) for t in (1, 2, 3)] == pytest.approx(by_hand, rel=1e-11)
    exact = [some.sigma**2 * 89 / 64 * squares for squares in (1, 5 / 4, 89 / 64)]
    assert by_hand == pytest.approx(exact, rel=0.02)


def test_the_smooth_counter_has_the_same_variance_at_all_times():
    """C(10, 5) = 252; up to 125 items = C(9, 5) - 1 no release uses the topmost node, so an item is in four."""
    for horizon, nodes in ((251, 5), (126, 5), (125, 4), (70, 4)):
        some = SmoothBinaryCounter(epsilon=0.5, horizon=horizon)
        (variance,) = {some.variance(t) for t in range(1, horizon + 1)}
        assert variance == pytest.approx(2 * (nodes / 0.5) ** 2 * 5, rel=4e-9)


def own_counter(name: str, horizon: int, **more):
    """Return a counter with a budget of 1."""
    extra = {"delta": 1e-6} if name == "square-root" else {}
    return make_counter(name, epsilon=1.0, horizon=horizon, **extra, **more)


IN_BASES = [*((name, {}) for name in ALL), *(("k-ary", {"base": base}) for base in (3, 5, 23, 99))]


@pytest.mark.thorough
def test_the_mean_variance_is_that_of_a_look_at_every_time():
    """At every number of items up to 1,000; the sums of doubles of one counter may differ by their rounding."""
    for name, more in IN_BASES:
        own = own_counter(name, 1000, **more)
        sums = np.cumsum([own.variance(t) for t in range(1, 1001)])
        means = [own.mean_variance(t) for t in range(1, 1001)]
        np.testing.assert_allclose(means, sums / np.arange(1, 1001), rtol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALL)
def test_the_mean_variance_goes_with_the_horizon_the_counter_was_made_for(name):
    """A counter for each T, as `compare` makes them: the number of levels changes with T."""
    for horizon in (*range(1, 40), 127, 128, 251, 252, 1000):
        own = own_counter(name, horizon)
        every = math.fsum(own.variance(t) for t in range(1, horizon + 1)) / horizon
        assert own.mean_variance(horizon) == pytest.approx(every, rel=1e-12)


@pytest.mark.parametrize("name", sorted(set(ALL) - {"square-root"}))
def test_the_mean_variance_of_the_longest_game_takes_no_time(name):
    """It lies below the maximum, and above that of half the time but for counters with the same noise at all times."""
    own = own_counter(name, 2**40)
    mean = own.mean_variance(2**40)
    assert own.mean_variance(2**39) <= mean <= max(map(own.variance, own.peaks(2**40)))


IN_FEW = ["binary", "hybrid", "segment-trees", "honaker", "smooth-binary", "square-root"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "horizon", "more"),
    [*((name, 300, {}) for name in IN_FEW), *(("k-ary", 800, {"base": base}) for base in (3, 9, 23))],
    ids=str,
)
def test_the_peaks_hold_the_largest_variance(name, horizon, more):
    """Against a look at every time, for every horizon."""
    own = own_counter(name, horizon, **more)
    largest = 0.0
    for items in range(1, horizon + 1):
        largest = max(largest, own.variance(items))
        peaks = own.peaks(items)
        assert all(0 <= peak <= items for peak in peaks)
        assert max(map(own.variance, peaks)) == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize(("name", "at_least"), [("hybrid", 52_144), ("segment-trees", 19_342)])
def test_the_maximum_at_a_million_is_that_of_a_look_at_every_time(name, at_least):
    """Found at 786,431 = 2^19 + 2^18 - 1."""
    row = next(row for row in compare(10**6, 1.0) if row.name == name)
    assert row.maximum == pytest.approx(at_least, abs=1)
    assert row.maximum == row.counter.variance(2**19 + 2**18 - 1)


def test_variances_are_for_items_that_fit():
    own = make_counter("binary", epsilon=1.0, horizon=10)
    for items, end in ((11, 10), (-1, 0)):
        with refused(ValueError, items, end):
            own.variance(items)
    for items in (0, -1, 11):
        with refused(ValueError, "items"):
            own.mean_variance(items)
    # Sigma is for a positive epsilon and a delta between 0 and 1.
    for epsilon in (0.0, -1.0, math.nan):
        with refused(ValueError, "epsilon", 0, epsilon):
            gaussian_sigma(epsilon, 0.1)
    for delta in (0.0, 1.0, math.nan):
        with refused(ValueError, "delta", "(0, 1)", delta):
            gaussian_sigma(1.0, delta)


def test_compare_sorts_by_mean_and_leaves_out_what_does_not_fit():
    """The logarithmic counter is silent between powers of two, the padded one at the end; one needs a delta."""
    rows = compare(50, 1.0)
    assert [row.mean for row in rows] == sorted(row.mean for row in rows)
    assert {row.name for row in rows} == set(ALL) - {"logarithmic", "padded-binary", "square-root"}
    assert {row.name for row in compare(50, 1.0, 1e-6)} == set(ALL) - {"logarithmic", "padded-binary"}
    # Counters for an unknown horizon ignore the one they are given.
    for name in ANYTIME:
        assert counter(name, 100).variance(77) == counter(name, 10**6).variance(77)


# ---- sigma is the smallest that the exact condition allows, never a bit smaller; and the square root's exponentials


def log_delta(sigma: float, epsilon: float) -> float:
    """Return the log of the exact delta of N(0, sigma^2) against N(1, sigma^2), without subtracting like numbers.

    The privacy loss is normal with mean m^2 / 2 and deviation m = 1 / sigma, so with a = epsilon / m - m / 2,
    delta = E[(1 - exp(epsilon - loss))^+] = int_0^oo (1 - exp(-m v)) phi(a + v) dv, all of one sign.
    """
    m = 1 / sigma
    a = epsilon / m - m / 2
    unit = 1 / (1 + max(a, 0))  # how fast phi(a + v) / phi(a) falls

    def scaled(x: float) -> float:
        v = x * unit
        return -math.expm1(-m * v) * math.exp(-max(a, 0) * v - v * v / 2 if a >= 0 else -((a + v) ** 2) / 2)

    ends = np.linspace(0, 45 + max(-a, 0), 46)
    area = sum(quad(scaled, low, high, epsabs=0, epsrel=1e-13)[0] for low, high in itertools.pairwise(ends))
    return math.log(area * unit) - (a * a / 2 if a >= 0 else 0) - math.log(2 * math.pi) / 2


EVERYDAY = [(epsilon, delta) for epsilon in (0.01, 0.5, 3.0, 100.0) for delta in (0.1, 1e-6)]
SMALL_DELTA = [(0.1, 1e-10), (1.0, 1e-20), (5.0, 1e-100)]


@pytest.mark.parametrize(("delta", "sigma"), [(1e-6, 4.224678889), (1e-10, 5.867777750), (1e-20, 8.838226922)])
def test_known_sigmas_at_epsilon_one(delta, sigma):
    """By 50-digit arithmetic, rounded."""
    assert gaussian_sigma(1.0, delta) == pytest.approx(sigma * (1 + 1e-9), abs=1e-9)


def test_sigma_spends_all_of_delta_and_no_more():
    for epsilon, delta in [*EVERYDAY, *SMALL_DELTA]:
        sigma = gaussian_sigma(epsilon, delta)
        assert log_delta(sigma, epsilon) <= math.log(delta)
        assert log_delta(sigma * (1 - 1e-8), epsilon) > math.log(delta)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(700.0, 1e-6), (1000.0, 1e-20), (1.0, 1e-295), (1e-6, 1e-6), (1e-6, 1e-20), (1e-4, 1e-100)],
)
def test_far_tails_and_cancellation_are_not_rounded_towards_less_noise(epsilon, delta):
    """Where Phi underflows, an approximation takes over, which has to err towards a larger delta.

    At a small epsilon two numbers that differ in the eighth digit are subtracted; what that loses is added back.
    """
    assert log_delta(gaussian_sigma(epsilon, delta), epsilon) <= math.log(delta)


@pytest.mark.parametrize(("sigma", "epsilon"), [(1.0, 1.0), (2.0, 0.1), (0.3, 5.0), (4.0, 0.5)])
def test_the_reference_is_the_formula_where_that_is_well_conditioned(sigma, epsilon):
    """Balle and Wang's difference of two normal tails, against the integral."""
    first = math.erfc(-(1 / (2 * sigma) - epsilon * sigma) / math.sqrt(2)) / 2
    second = math.erfc((1 / (2 * sigma) + epsilon * sigma) / math.sqrt(2)) / 2
    assert log_delta(sigma, epsilon) == pytest.approx(math.log(first - math.exp(epsilon) * second), abs=1e-11)


def test_smaller_parameters_need_more_noise():
    """And less than the classical sufficient sigma sqrt(2 ln(1.25 / delta)) / epsilon (Dwork and Roth 2014, A.1)."""
    for delta in (1e-2, 1e-6, 1e-12):
        sigmas = [gaussian_sigma(epsilon, delta) for epsilon in (0.01, 0.1, 1.0, 10.0, math.inf)]
        assert sigmas == sorted(sigmas, reverse=True) and sigmas[-1] == 0.0
    sigmas = [gaussian_sigma(1.0, delta) for delta in (0.5, 1e-2, 1e-6, 1e-12)]
    assert sigmas == sorted(sigmas)
    assert gaussian_sigma(0.5, 1e-6) < math.sqrt(2 * math.log(1.25e6)) / 0.5


# ---- exponentials: two exact factors of the matrix of sums, close to its square root


def entries(of: Exponentials, number: int) -> np.ndarray:
    """Return the first entries."""
    k = np.arange(number - 1)[:, np.newaxis]
    return np.concatenate([[of.first], (of.weights * (1 - of.gaps) ** k).sum(axis=1)])


@pytest.mark.parametrize("horizon", [1, 2, 30, 1000, 2**20, 2**40])
def test_the_product_of_the_factors_is_the_matrix_of_sums(horizon):
    decay, weights = exponentials(horizon)
    releases, items = of_releases(decay, weights), of_items(decay, weights)
    assert entries(releases, 500) == pytest.approx((weights * decay ** np.arange(500)[:, np.newaxis]).sum(axis=1))
    product = np.convolve(entries(releases, 500), entries(items, 500))[:500]
    assert np.abs(product - 1).max() < 1e-13
    assert (items.weights > 0).all() and (weights > 0).all() and (np.diff(decay) < 0).all()


@pytest.mark.parametrize("horizon", [1, 2, 3, 10, 40])
def test_the_noise_is_never_scaled_to_less_than_the_longest_column(horizon):
    """In exact arithmetic: c from L c = 1, term by term, for the very doubles that the noise is made of."""
    decay, weights = ([Fraction(one) for one in part.tolist()] for part in exponentials(horizon))
    releases = [sum(w * d**k for d, w in zip(decay, weights, strict=True)) for k in range(horizon)]
    items: list[Fraction] = []
    for t in range(horizon):
        rest = 1 - sum(one * releases[t - place] for place, one in enumerate(items))
        # Fractions with thousands of digits would take long; 300 bits are enough to compare.
        items.append(Fraction(round(rest / releases[0] * 2**300), 2**300))
    longest = sum(one * one for one in items)
    some = SquareRootCounter(epsilon=1.0, horizon=horizon)
    scale = Fraction(some.new_state(1).scale)
    assert longest <= (scale / Fraction(some.sigma)) ** 2 <= longest * (1 + Fraction(1, 10**11))


@pytest.mark.parametrize("number", [1, 2, 3, 100, 5000])
def test_sums_of_squares_are_those_of_the_entries(number):
    decay, weights = exponentials(2**14)
    for factor in (of_releases(decay, weights), of_items(decay, weights)):
        squares = np.cumsum(entries(factor, number) ** 2)
        assert factor.sum_of_squares(number) == pytest.approx(squares[-1], rel=1e-12)
        assert factor.sum_of_sums(number) == pytest.approx(math.fsum(squares), rel=1e-12)


def test_variances_are_close_to_those_of_the_square_root():
    """f_0 = 1, f_k = f_(k - 1) (1 - 1 / (2 k)) is the square root itself, whose factors are equal."""
    for power in range(21):
        horizon = 2**power
        k = np.arange(1, horizon)
        squares = np.cumsum(np.concatenate([[1.0], np.cumprod(1 - 1 / (2 * k)) ** 2]))
        some = SquareRootCounter(epsilon=1.0, horizon=horizon)
        mean = some.mean_variance(horizon) / (some.sigma**2 * squares[-1] * squares.mean())
        largest = some.variance(horizon) / (some.sigma**2 * squares[-1] ** 2)
        assert 1 - 0.007 < mean < 1.003 and 1 - 1e-9 < largest < 1.001
        if power >= 10:
            assert mean > 1 - 0.001
