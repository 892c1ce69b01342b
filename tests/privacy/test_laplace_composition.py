"""The composition of Laplace draws: closed forms, a discretised second route from both sides, and `dp_accounting`."""

import dataclasses
import functools
import math

import numpy as np
import pytest
from scipy.signal import fftconvolve

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.privacy.accounting import gaussian_curve_epsilon, laplace_law, zcdp_epsilon
from dp_bandit_envs.privacy.mechanisms import IntervalSums
from tests.tools.refusals import refused

LISTS = {
    "one": [0.7],
    "five": [0.5, 0.3, 0.2, 0.2, 0.1],
    "alike": [0.4] * 12,
    "falling": list(np.arange(1, 40) ** -0.55),
    "a large one": [3.0, *[0.05] * 50],
}
DELTAS = [0.05, 1e-4, 1e-8]


def rounded_losses(distance, step, up):
    """Return the law of one loss, rounded up or down to multiples of a step: first multiple, and probabilities.

    P(l <= x) = e^((x - e) / 2) / 2 on [-e, e), and the rest is at e.
    """
    last = math.ceil(distance / step) + 1
    grid = np.arange(-last - 1, last + 1)
    edges = grid * step
    below = np.where(edges >= distance, 1.0, np.where(edges < -distance, 0.0, 0.5 * np.exp((edges - distance) / 2)))
    masses = np.diff(below)  # of (grid[i], grid[i + 1]]
    return (int(grid[1]) if up else int(grid[0])), masses


def delta_by_convolution(distances, epsilon, up, step):
    """Return an upper or a lower bound on the smallest delta, by convolving rounded losses."""
    law, first = np.ones(1), 0
    for distance in distances:
        start, masses = rounded_losses(distance, step, up)
        first += start
        law = np.maximum(0, fftconvolve(law, masses))
    losses = (first + np.arange(len(law))) * step
    return float((law * np.maximum(0, -np.expm1(epsilon - losses))).sum())


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_is_enough_and_hardly_more(name, delta):
    """Losses rounded down give too small a delta, and even that must be reached a little below epsilon."""
    distances = LISTS[name]
    found = laplace_law(distances).epsilon(delta)
    step = sum(distances) / 20_000
    assert delta_by_convolution(distances, found, up=False, step=step) <= delta
    # A bound that is too large by more than 0.3 % and the rounding of both routes would fail.
    slack = 0.003 * found + step * len(distances)
    assert found == 0 or delta_by_convolution(distances, max(0.0, found - slack), up=True, step=step) > delta


@pytest.mark.parametrize("distance", [0.01, 0.3, 1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-10, 0.01, 0.2, 0.5, 0.9])
def test_one_draw_has_a_closed_form(distance, delta):
    """1 - e^((epsilon - e) / 2) = delta, so epsilon = e + 2 ln(1 - delta); not below 0."""
    exact = max(0.0, distance + 2 * math.log1p(-delta))
    assert exact <= laplace_law([distance]).epsilon(delta) <= exact + 0.005 * distance


def delta_of_two(a, b, epsilon):
    """Return the smallest delta of two draws, b <= a, for 0 <= epsilon <= a + b, as in docs/accounting.md."""
    return 1 - math.exp((epsilon - a - b) / 2) * (1 + b / 2 - max(0.0, epsilon - a + b) / 4)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1.0, 0.2), (3.0, 0.01), (2.0, 1.5)])
def test_two_draws_lose_less_than_one_of_both_distances(a, b):
    """The closed form is that of a numeric mean over the second loss; and the search finds its inverse."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    for share in np.linspace(0, 1, 21):
        epsilon = float(share * (a + b))

        def one(x):
            return np.maximum(0, np.maximum(1 - np.exp((x - a) / 2), 1 - np.exp(x)))

        middle = 0.0
        # The function has a kink where epsilon - l is a.
        for low, high in ((-b, min(b, max(-b, epsilon - a))), (min(b, max(-b, epsilon - a)), b)):
            points = (low + high) / 2 + (high - low) / 2 * nodes
            middle += (high - low) / 2 * float((weights * np.exp((points - b) / 2) / 4 * one(epsilon - points)).sum())
        numeric = one(epsilon - b) / 2 + math.exp(-b) / 2 * one(epsilon + b) + middle
        exact = delta_of_two(a, b, epsilon)
        assert exact == pytest.approx(float(numeric), abs=1e-12)
        assert exact <= 1 - math.exp((epsilon - a - b) / 2) + 1e-15
        if 1e-6 < exact < 1:
            found = laplace_law([a, b]).epsilon(exact)
            assert epsilon <= found <= epsilon + 0.003 * (a + b)


def test_many_small_draws_are_all_but_normal():
    """A hundred thousand of e = 0.001: the loss has mean rho = .05 and variance 2 rho; the Gaussian curve is its limit.

    E l = e - 1 + e^-e = e^2 / 2 - e^3 / 6, so rho is smaller by e / 3, and the rest of the difference is the 1e-4 that
    the added draw costs.
    """
    together = laplace_law(np.full(100_000, 1e-3))
    assert together.pure == pytest.approx(100)
    for delta in (1e-2, 1e-6, 1e-12):
        normal = gaussian_curve_epsilon(1 / math.sqrt(0.1), delta)
        assert together.epsilon(delta) == pytest.approx(normal, rel=1e-3)
        assert together.epsilon(delta) < 0.97 * zcdp_epsilon(0.05, delta)


def test_epsilon_falls_as_delta_grows_and_never_exceeds_pure_privacy():
    together = laplace_law(LISTS["falling"])
    found = [together.epsilon(delta) for delta in (1e-300, 1e-60, 1e-20, 1e-6, 1e-2, 0.3, 0.9, 0.999)]
    assert found == sorted(found, reverse=True) and found[0] <= together.pure and found[-1] == 0
    assert found[0] > 0.99 * together.pure


def test_merged_releases_lose_no_less():
    """Epsilons that differ by less than 1 / 2,000 are taken at the largest."""
    fine = np.linspace(0.01, 0.010004, 500)
    merged = laplace_law(fine)
    assert len(merged.laplace) <= 2 and merged.draws == 500
    assert laplace_law([0.01] * 500).epsilon(1e-6) <= merged.epsilon(1e-6)
    assert merged.epsilon(1e-6) <= laplace_law([0.010004] * 500).epsilon(1e-6) * (1 + 1e-9)


def test_no_release_loses_nothing():
    assert laplace_law([]).epsilon(1e-6) == laplace_law([0.0, 0.0]).epsilon(1e-6) == 0.0


@pytest.mark.parametrize("distances", [[-0.1], [math.nan], [0.1, math.inf]])
def test_distances_are_finite_numbers(distances):
    with refused(ValueError, "distances"):
        laplace_law(distances)


def test_what_dp_ucb_int_spends():
    """At the paper's setting .447, where zCDP's optimal conversion gives .604."""
    ends = IntervalSums(epsilon=1.0).ends(100_000)
    guarantee = make_algorithm("DP-UCB-INT", epsilon=1.0).guarantee(n_arms=2, horizon=100_000)
    assert guarantee.delta == math.exp(-10) and guarantee.epsilon == pytest.approx(0.4467, abs=2e-4)
    assert guarantee.pure == pytest.approx(math.fsum(ends**-0.55))
    assert dataclasses.replace(guarantee, tau=0.0).epsilon_at(1e-300) == pytest.approx(guarantee.pure, rel=1e-9)
    assert zcdp_epsilon(guarantee.rho, math.exp(-10)) == pytest.approx(0.604, abs=1e-3)


@pytest.mark.parametrize("name", LISTS)
def test_it_is_the_composition_of_dp_accounting(name):
    """Between its optimistic and its pessimistic epsilon, and 0.2 % of the pure one and its rounding."""
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")

    def theirs(pessimistic):
        options = {
            "value_discretization_interval": 1e-4,
            "pessimistic_estimate": pessimistic,
            "use_connect_dots": False,
        }
        laws = [pld.from_laplace_mechanism(1 / distance, **options) for distance in LISTS[name]]
        return functools.reduce(lambda one, other: one.compose(other), laws)

    lower, upper = theirs(False), theirs(True)
    composition = laplace_law(LISTS[name])
    slack = 2e-3 * composition.pure + 1e-4 * len(LISTS[name])
    for delta in DELTAS:
        found = composition.epsilon(delta)
        assert lower.get_epsilon_for_delta(delta) <= found * (1 + 1e-9)
        assert found <= upper.get_epsilon_for_delta(delta) + slack
