"""The error of a release exceeds its width no more often than claimed, and the width is not much too wide."""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import gammaincc, gammaln, roots_legendre
from scipy.stats import binom

from dp_bandit_envs.privacy.counters import HybridCounter
from dp_bandit_envs.privacy.counters.counter import laplace_width
from tests.tools.counter_noise import ALL, counter, measured_noise

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


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("failure_probability", [0.05, 0.01, 1e-3])
def test_width_is_within_1_6_of_the_empirical_quantile(name, failure_probability):
    """At t = 65 = 2^6 + 1 the hybrid has one draw far wider than all others, which is the hardest case.

    How many errors lie above the true quantile is binomial, with a standard error of sqrt(gamma / trials) of them all:
    two of those are allowed.

    False alarm: below 1e-18 (widths are at most 1.33 quantiles: 19 of 97 expected errors may lie above 0.83 of one).
    """
    allowed = 2 * math.sqrt(failure_probability / TRIALS)
    quantiles = np.quantile(errors(name), 1 - failure_probability + allowed, axis=1)
    assert (widths(name)[failure_probability] / quantiles).max() <= 1.6


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


def test_width_is_no_wider_than_the_best_chernoff_bound():
    for failure_probability in [0.9, 0.05, 1e-6, 1e-20, 1e-100]:
        for scales in [
            [(1.0, 1)],
            [(3.0, 17)],
            [(1.0, 1), (100.0, 2)],
            [(1e-3, 1000), (1.0, 1)],
            [(0.5, 4), (2.0, 3), (7.0, 2)],
        ]:
            assert laplace_width(scales, failure_probability) <= chernoff(scales, failure_probability) * (1 + 1e-12)


def test_widths_of_the_hybrid_at_131071_items():
    """Epsilon = 1 and failure probability n^-4: 2497.6, and 1248.8 when each part has all of epsilon, exactly half."""
    n = 2**17 - 1
    split = laplace_width(HybridCounter(epsilon=1.0).scales(n), n**-4)
    paper = laplace_width(HybridCounter(epsilon=1.0, budget="paper").scales(n), n**-4)
    assert split == pytest.approx(2497.6, abs=0.1)
    assert paper == pytest.approx(1248.8, abs=0.1)
    assert split == pytest.approx(2 * paper, rel=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALL)
def test_width_grows_as_the_failure_probability_falls(name):
    for at_one_time in zip(*widths(name).values(), strict=True):
        assert all(0 < narrow < wide < math.inf for narrow, wide in itertools.pairwise(at_one_time))


def test_width_exists_for_the_smallest_failure_probability_and_without_noise():
    """2 / 5e-324 is more than a double holds; its logarithm is not."""
    assert 744 < laplace_width([(1.0, 1)], 5e-324) < 760
    assert laplace_width([], 0.1) == laplace_width([(0.0, 5), (2.0, 0)], 0.1) == 0.0
    assert laplace_width([(1.0, 3), (0.0, 7), (9.0, 0)], 0.1) == laplace_width([(1.0, 3)], 0.1)


@pytest.mark.parametrize("failure_probability", [0.5, 0.05, 1e-6, 1e-12])
def test_gaussian_width_covers_and_is_tight(failure_probability):
    """P(|N| > w) = erfc(w / sqrt 2), exactly."""
    some = counter("square-root", 50, rng=np.random.default_rng(0))
    for _ in range(50):
        some.insert(0.0)
    deviations = some.error_width(failure_probability) / math.sqrt(some.variance(50))
    assert 0.1 * failure_probability < math.erfc(deviations / math.sqrt(2)) <= failure_probability
