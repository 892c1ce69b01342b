"""The exact privacy loss of one item over all releases, and the width that errors exceed no more often than claimed."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import gammaincc, gammaln, log_ndtr, roots_legendre
from scipy.stats import binom

from dp_bandit_envs.privacy.counters import HybridCounter
from dp_bandit_envs.privacy.counters.counter import laplace_width, node_scale
from tests.tools.counter_noise import ALL, LAPLACE, counter, laplace_losses, linear_map, measured_noise, shifts
from tests.tools.fake_draws import Impulse

EPSILON = 0.7


SHORT = [1, 2, 3, 4, 7, 8, 9, 31, 32, 33, 40]


LONG = [63, 64, 65, 127, 128, 129]


@pytest.mark.thorough
@pytest.mark.parametrize("name", LAPLACE)
@pytest.mark.parametrize("horizons", [SHORT, pytest.param(LONG, marks=pytest.mark.slow)], ids=["short", "long"])
def test_no_item_loses_more_than_epsilon(horizons, name):
    for horizon in horizons:
        assert laplace_losses(counter(name, horizon, EPSILON), horizon).max() <= EPSILON * (1 + 1e-9)


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


@pytest.mark.parametrize("horizon", [5, 8, 31, 32, 64])
def test_the_papers_hybrid_loses_twice_epsilon_and_says_so(horizon):
    some = HybridCounter(epsilon=EPSILON, budget="paper")
    worst = laplace_losses(some, horizon).max()
    assert worst == pytest.approx(2 * EPSILON, rel=2e-9)
    assert worst == pytest.approx(some.guarantee.epsilon, rel=2e-9)


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


# ---- Gaussian


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


# ---- rounding


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


# ---- widths


HORIZON = 130
AT = np.array([1, 2, 7, 64, 65, 100, 127, 128])
TRIALS = 30_000
PROBABILITIES = [0.99, 0.5, 0.05, 0.01, 1e-3, 1e-6, 1e-12, 1e-50, 1e-300]


@functools.cache
def errors(name: str) -> np.ndarray:
    """Return the absolute errors of independent releases, `(times, trials)`."""
    return np.abs(measured_noise(counter(name, HORIZON), name, AT, TRIALS, seed=3))


@functools.cache
def widths(name: str) -> dict[float, list[float]]:
    """Return the widths at all times, asked for as a user would, by the failure probability."""
    some, found = (
        counter(name, HORIZON, rng=np.random.default_rng(0)),
        {probability: [] for probability in PROBABILITIES},
    )
    for t in range(1, AT[-1] + 1):
        some.insert(0.0)
        for probability in PROBABILITIES if t in AT else ():
            found[probability].append(some.error_width(probability))
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("failure_probability", [0.5, 0.01, 1e-3])
def test_errors_exceed_the_width_no_more_often_than_claimed(name, failure_probability):
    """Failures are binomial with at most this probability: so many or more of them must not be rarer than 1e-6.

    False alarm: 8e-6 (1e-6 at each of eight times).
    """
    for place in range(len(AT)):
        failures = int((errors(name)[place] > widths(name)[failure_probability][place]).sum())
        assert binom.sf(failures - 1, TRIALS, failure_probability) > 1e-6


def tail(draws: int, beyond: float) -> float:
    """Return P(|Lap(1) + ... + Lap(1)| > beyond): a Laplace sum is a difference of two Gamma(draws) variables."""
    nodes, weights = roots_legendre(400)
    y = (nodes + 1) / 2 * (60 + 3 * draws)
    density = np.exp((draws - 1) * np.log(y) - y - gammaln(draws))
    return (60 + 3 * draws) * float(weights @ (density * gammaincc(draws, beyond + y)))


def exact_quantile(draws: int, failure_probability: float) -> float:
    return brentq(lambda beyond: tail(draws, beyond) - failure_probability, 0, 80 + draws)


def test_exact_quantiles_by_hand():
    """P(|Lap(1)| > w) = exp(-w), and for two draws exp(-w) (1 + w / 2)."""
    assert exact_quantile(1, 0.01) == pytest.approx(math.log(100), rel=1e-8)
    assert tail(2, 3.0) == pytest.approx(math.exp(-3) * 2.5, rel=1e-9)
    # Width is no wider than the best chernoff bound.
    for failure_probability in [0.9, 0.05, 1e-6, 1e-20, 1e-100]:
        for scales in [
            [(1.0, 1)],
            [(3.0, 17)],
            [(1.0, 1), (100.0, 2)],
            [(1e-3, 1000), (1.0, 1)],
            [(0.5, 4), (2.0, 3), (7.0, 2)],
        ]:
            assert laplace_width(scales, failure_probability) <= chernoff(scales, failure_probability) * (1 + 1e-12)


@pytest.mark.parametrize("draws", [1, 2, 3])
@pytest.mark.parametrize("failure_probability", [0.05, 0.01])
def test_width_of_few_draws_is_within_1_6_of_the_exact_quantile(draws, failure_probability):
    """At t = 2^k the binary counter releases one draw: there the width should be b ln(1 / gamma), or not far above."""
    assert laplace_width([(1.0, draws)], failure_probability) <= 1.6 * exact_quantile(draws, failure_probability)


def test_errors_exceed_the_width_with_at_most_the_failure_probability_exactly():
    """Up to 1e-12, what the integral may be off by."""
    for failure_probability in [0.9, 0.5, 0.05, 1e-3, 1e-9]:
        for draws in [1, 2, 5, 17, 100]:
            assert tail(draws, laplace_width([(1.0, draws)], failure_probability)) <= failure_probability + 1e-12


def chernoff(scales: list[tuple[float, int]], failure_probability: float) -> float:
    """Return the Chernoff bound's least value on a fine grid of s / s_max, dense at both ends."""
    widest = max(scale for scale, _ in scales)
    share = np.concatenate([np.geomspace(1e-4, 0.5, 20_001), 1 - np.geomspace(1e-6, 0.5, 20_001)])
    logs = sum(number * np.log1p(-((scale / widest * share) ** 2)) for scale, number in scales)
    return float(((math.log(2 / failure_probability) - logs) * widest / share).min())


def test_widths_of_the_hybrid_at_131071_items():
    """Epsilon = 1 and failure probability n^-4: 2497.6, and 1248.8 when each part has all of epsilon, exactly half."""
    n = 2**17 - 1
    split = laplace_width(HybridCounter(epsilon=1.0).scales(n), n**-4)
    paper = laplace_width(HybridCounter(epsilon=1.0, budget="paper").scales(n), n**-4)
    assert split == pytest.approx(2497.6, abs=0.1)
    assert paper == pytest.approx(1248.8, abs=0.1)
    assert split == pytest.approx(2 * paper, rel=1e-12)
    # 2 / 5e-324 is more than a double holds; its logarithm is not.
    assert 744 < laplace_width([(1.0, 1)], 5e-324) < 760
    assert laplace_width([], 0.1) == laplace_width([(0.0, 5), (2.0, 0)], 0.1) == 0.0
    assert laplace_width([(1.0, 3), (0.0, 7), (9.0, 0)], 0.1) == laplace_width([(1.0, 3)], 0.1)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALL)
def test_width_grows_as_the_failure_probability_falls(name):
    for at_one_time in zip(*widths(name).values(), strict=True):
        assert all(0 < narrow < wide < math.inf for narrow, wide in itertools.pairwise(at_one_time))


@pytest.mark.parametrize("failure_probability", [0.5, 0.05, 1e-6, 1e-12])
def test_gaussian_width_covers_and_is_tight(failure_probability):
    """P(|N| > w) = erfc(w / sqrt 2), exactly."""
    some = counter("square-root", 50, rng=np.random.default_rng(0))
    for _ in range(50):
        some.insert(0.0)
    deviations = some.error_width(failure_probability) / math.sqrt(some.variance(50))
    assert 0.1 * failure_probability < math.erfc(deviations / math.sqrt(2)) <= failure_probability
