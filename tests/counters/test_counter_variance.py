"""The noise has the declared variance at every time: exactly as a linear map, and as measured; and known numbers."""

import math

import numpy as np
import pytest

from dp_bandit_envs.privacy.counters import (
    HybridCounter,
    SegmentTreesCounter,
    SmoothBinaryCounter,
    SquareRootCounter,
    make_counter,
)
from dp_bandit_envs.privacy.counters.k_ary import best_base
from dp_bandit_envs.privacy.counters.square_root import exponentials
from dp_bandit_envs.privacy.counters.table import compare
from tests.tools.counter_noise import ALL, ANYTIME, counter, linear_map, measured_noise
from tests.tools.refusals import refused


def exact_variances(name: str, some, items: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance of every release from what it adds up, and the times of the releases."""
    noise, scales, covers = linear_map(some, items)
    per_draw = scales**2 if name == "square-root" else 2 * scales**2
    return noise**2 @ per_draw, covers


def check_exact(name: str, horizon: int, **more) -> None:
    some = counter(name, horizon, 0.7, **more)
    variances, covers = exact_variances(name, some, horizon)
    declared = [some.variance(int(t)) for t in covers]
    assert variances == pytest.approx(declared, rel=1e-11)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("horizon", [1, 2, 63, 64, 65])
def test_declared_variance_is_that_of_the_draws_in_the_release(name, horizon):
    check_exact(name, horizon)


@pytest.mark.parametrize(("base", "horizon"), [(3, 13), (3, 40), (5, 62), (5, 40), (7, 24), (9, 41)])
def test_declared_variance_holds_in_every_base(base, horizon):
    check_exact("k-ary", horizon, base=base)


def test_declared_variance_of_the_papers_hybrid():
    check_exact("hybrid", 64, budget="paper")


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("horizon", [300, 511, 512, 513])
def test_declared_variance_is_that_of_the_draws_in_every_release_up_to(name, horizon):
    check_exact(name, horizon)


def near_powers(most: int) -> np.ndarray:
    """Return 1 to 300, and 2^k - 1, 2^k, 2^k + 1 up to 2^most + 1."""
    powers = 2 ** np.arange(1, most + 1)
    return np.unique(np.concatenate([np.arange(1, 301), powers - 1, powers, powers + 1]))


def check_measured(name: str, most: int, trials: int, **more) -> None:
    """Sample means of squares and fourth powers: the variance has standard error sqrt((m4 - m2^2) / trials).

    Six of them at some 330 times for each counter. The tail is fatter than a normal one, but m4 of the same sample
    moves with it.

    False alarm: 1.3e-6 (six standard errors, two sides, mean and variance at 330 times).
    """
    at = near_powers(most)
    some = counter(name, int(at[-1]), 0.7, **more)
    noise = measured_noise(some, name, at, trials, seed=1)
    declared = np.array([some.variance(int(t)) for t in at])
    squares = noise**2
    error = squares.std(axis=1) / math.sqrt(trials)
    assert (np.abs(squares.mean(axis=1) - declared) <= 6 * error).all()
    assert (error < 0.06 * declared).all()  # so a wrong level or a forgotten node cannot hide
    assert (np.abs(noise.mean(axis=1)) <= 6 * np.sqrt(declared / trials)).all()


@pytest.mark.parametrize("name", ALL)
def test_measured_variance_is_the_declared_one_at_every_time_and_around_powers_of_two(name):
    check_measured(name, 10, 4000)


def test_measured_variance_of_the_papers_hybrid():
    check_measured("hybrid", 10, 4000, budget="paper")


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_measured_variance_is_the_declared_one_in_many_trials(name):
    check_measured(name, 12, 10_000)


# ---- known numbers -------------------------------------------------------------------------------------------------


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


def test_variances_of_the_square_root_at_100_000_items_in_units_of_sigma_squared(at_100_000):
    row = at_100_000["square-root"]
    assert row.mean / row.counter.sigma**2 == pytest.approx(20.9, abs=0.05)
    assert row.maximum / row.counter.sigma**2 == pytest.approx(22.4, abs=0.05)


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


def test_mean_variance_of_segment_trees_and_hybrid_without_a_horizon():
    """At T = 2^17 - 1: 6468 against 13,964."""
    at = range(1, 2**17)
    for kind, mean in ((SegmentTreesCounter, 6_468), (HybridCounter, 13_964)):
        some = kind(epsilon=1.0)
        assert round(np.mean([some.variance(t) for t in at])) == mean


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


def test_counters_for_an_unknown_horizon_ignore_the_one_they_are_given():
    for name in ANYTIME:
        assert counter(name, 100).variance(77) == counter(name, 10**6).variance(77)


def own_counter(name: str, horizon: int, **more):
    """Return a counter with a budget of 1."""
    extra = {"delta": 1e-6} if name == "square-root" else {}
    return make_counter(name, epsilon=1.0, horizon=horizon, **extra, **more)


IN_BASES = [*((name, {}) for name in ALL), *(("k-ary", {"base": base}) for base in (3, 5, 23, 99))]


@pytest.mark.parametrize(("name", "more"), IN_BASES, ids=str)
def test_the_mean_variance_is_that_of_a_look_at_every_time(name, more):
    """At every number of items up to 3,000; the sums of doubles of one counter may differ by their rounding."""
    own = own_counter(name, 3000, **more)
    sums = np.cumsum([own.variance(t) for t in range(1, 3001)])
    means = [own.mean_variance(t) for t in range(1, 3001)]
    np.testing.assert_allclose(means, sums / np.arange(1, 3001), rtol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_the_mean_variance_goes_with_the_horizon_the_counter_was_made_for(name):
    """A counter for each T, as `compare` makes them: the number of levels changes with T."""
    for horizon in (*range(1, 70), 127, 128, 250, 251, 252, 1000, 2999, 3000):
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


@pytest.mark.parametrize(
    ("name", "horizon", "more"),
    [*((name, 700, {}) for name in IN_FEW), *(("k-ary", 1500, {"base": base}) for base in (3, 5, 9, 23))],
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


def test_compare_sorts_by_mean_and_leaves_out_what_does_not_fit():
    """The logarithmic counter is silent between powers of two, the padded one at the end; one needs a delta."""
    rows = compare(50, 1.0)
    assert [row.mean for row in rows] == sorted(row.mean for row in rows)
    assert {row.name for row in rows} == set(ALL) - {"logarithmic", "padded-binary", "square-root"}
    assert {row.name for row in compare(50, 1.0, 1e-6)} == set(ALL) - {"logarithmic", "padded-binary"}
