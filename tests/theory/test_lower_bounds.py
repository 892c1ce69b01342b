"""Divergences and transportation costs, the lower bounds made of them, and the arguments of every bound."""

import importlib
import inspect
import itertools
import math
import pkgutil
from decimal import Decimal

import numpy as np
import pytest

from dp_bandit_envs import algorithm_names, make_algorithm, simulate, theory
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.theory.argument_ranges import RULES
from dp_bandit_envs.theory.divergences import below_kl_upper, bernoulli_kl, kl_upper, private_divergence, private_upper
from dp_bandit_envs.theory.experts_bounds import hedge_regret_bound
from dp_bandit_envs.theory.identification_bounds import (
    characteristic_time,
    identification_lower_bound,
    total_variation_time,
)
from dp_bandit_envs.theory.linear_bounds import exp2_regret_bound, linear_elimination_bound
from dp_bandit_envs.theory.lower_bounds import (
    experts_lower_bound,
    graph_lower_bound,
    lai_robbins,
    minimax_lower_bound,
    private_lower_bound,
)
from dp_bandit_envs.theory.transport_costs import (
    bernoulli_cost,
    episode_threshold,
    exceeds_noisy_cost,
    gaussian_cost,
    noisy_divergence,
    noisy_threshold,
    noisy_tilt,
    private_cost,
    private_slope,
    sequential_threshold,
)
from tests.tools.refusals import refused

EPSILONS = [0.01, 0.3, 1.0, 4.0, 60.0, 2000.0, math.inf]
# The ends, next to the ends, and between.
MEANS = [0.0, 1e-320, 1e-30, 1e-9, 0.01, 0.3, 0.5, 0.77, 0.999, 1 - 1e-9, 1 - 2**-53, 1.0]
LEVELS = [0.0, 1e-30, 1e-13, 1e-6, 1e-3, 0.05, 0.4, 3.0, 26.0, 30.0, 700.0, 1e300, math.inf]


def test_divergence_by_hand():
    """kl(1/4, 1/2) = 1/4 ln(1/2) + 3/4 ln(3/2); kl(1/2, 1/4) = 1/2 ln 2 + 1/2 ln(2/3)."""
    assert bernoulli_kl(0.25, 0.5) == pytest.approx(-0.25 * math.log(2) + 0.75 * math.log(1.5), rel=1e-14)
    assert bernoulli_kl(0.5, 0.25) == pytest.approx(0.5 * math.log(4 / 3), rel=1e-14)
    # Divergence at the ends.
    assert bernoulli_kl(0.0, 0.0) == bernoulli_kl(1.0, 1.0) == bernoulli_kl(0.3, 0.3) == 0
    assert bernoulli_kl(0.0, 0.75) == pytest.approx(math.log(4), rel=1e-15)
    assert bernoulli_kl(1.0, 0.25) == pytest.approx(math.log(4), rel=1e-15)
    for x in (0.3, 1.0):
        assert bernoulli_kl(x, 0.0) == math.inf
    for x in (0.0, 0.3):
        assert bernoulli_kl(x, 1.0) == math.inf


def test_divergence_keeps_its_digits_close_to_the_diagonal():
    """kl(x, x + d) = d^2 / (2 x (1 - x)) + (2 x - 1) d^3 / (3 (x (1 - x))^2) + O(d^4); d is the float difference."""
    x = 0.3
    for d in (1e-4, 1e-6, 1e-8):
        y = x + d
        d = y - x
        variance = x * (1 - x)
        series = d**2 / (2 * variance) + (2 * x - 1) * d**3 / (3 * variance**2)
        # The fourth-order term is less than 10 d^4 here; the two terms of size d are each rounded once or twice.
        assert abs(bernoulli_kl(x, y) - series) <= 10 * d**4 + 4 * 2**-53 * d
    # One float apart, the terms round to nothing, and Pinsker's 2 d^2 remains.
    assert bernoulli_kl(0.5, math.nextafter(0.5, 1)) >= 2 * (2**-53) ** 2


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_private_divergence_is_the_least_over_a_grid(epsilon):
    """The infimum lies in [x, y]; a grid finds it from above, to second order in the step where it is inside."""
    grid = 4000
    for x, y in [(0.0, 0.4), (0.1, 0.15), (0.2, 0.7), (0.5, 0.999), (0.9, 0.95)]:
        zs = x + (y - x) * np.arange(grid + 1) / grid
        least = min((epsilon * (z - x) if z > x else 0.0) + bernoulli_kl(z, y) for z in zs.tolist())
        # The second derivative of kl(., y) at the infimum z, of log-odds at least logit(y) - epsilon, or at x.
        at = max(x, y * math.exp(-epsilon) / (1 - y + y * math.exp(-epsilon)))
        curvature = max(1 / (z * (1 - z)) for z in (max(at - (y - x) / grid, (y - x) / grid / 2), y))
        value = private_divergence(x, y, epsilon)
        assert least - curvature * ((y - x) / grid) ** 2 <= value <= least + 1e-15


def test_private_divergence_by_hand_and_at_its_limits():
    """d_1(0.1, 0.9): the log-odds differ by 2 ln 9 > 1, so it is -0.1 - ln(1 - 0.9 (1 - 1/e)) = 0.7414...

    For y = 1 it is epsilon (1 - x): only moving all the mass of x up makes the two the same.
    """
    assert private_divergence(0.1, 0.9, 1.0) == pytest.approx(-0.1 - math.log(0.1 + 0.9 / math.e), rel=1e-14)
    assert private_divergence(0.25, 1.0, 3.0) == 2.25
    assert private_divergence(0.25, 1.0, 1000.0) == 750.0
    assert private_divergence(0.4, 0.4, 1.0) == private_divergence(0.6, 0.4, 1.0) == 0
    for x, y in [(0.0, 0.2), (0.1, 0.6), (0.5, 1.0), (0.0, 1.0)]:
        assert private_divergence(x, y, math.inf) == bernoulli_kl(x, y)
        # As epsilon vanishes it is epsilon times the total variation distance.
        assert private_divergence(x, y, 1e-7) == pytest.approx(1e-7 * (y - x), rel=1e-6)


def bisected(divergence, mean, level):
    """The largest float q in [mean, 1] found by halving."""
    if divergence(mean, 1.0) <= level:
        return 1.0
    low, high = mean, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if divergence(mean, middle) <= level else (low, middle)
    return low


@pytest.mark.parametrize("mean", MEANS)
def test_upper_ends_equal_those_found_by_halving(mean):
    for level in LEVELS:
        assert kl_upper(mean, level) == pytest.approx(bisected(bernoulli_kl, mean, level), rel=0, abs=1e-13)
        for epsilon in EPSILONS:
            found = bisected(lambda x, y, epsilon=epsilon: private_divergence(x, y, epsilon), mean, level)
            assert private_upper(mean, level, epsilon) == pytest.approx(found, rel=0, abs=1e-13)


@pytest.mark.parametrize("share", [0.5, 0.95, 1 - 1e-9, 1.0, 1 + 1e-9, 1.05, 2.0])
def test_private_upper_end_where_its_cases_meet(share):
    """At the level whose q has log-odds exactly epsilon above the mean's, and around it."""
    for mean, epsilon in [(0.3, 0.5), (0.01, 3.0), (0.9, 1.0), (0.5, 1e-3)]:
        level = share * bernoulli_kl(mean, mean / (mean + (1 - mean) * math.exp(-epsilon)))
        found = bisected(lambda x, y, epsilon=epsilon: private_divergence(x, y, epsilon), mean, level)
        assert private_upper(mean, level, epsilon) == pytest.approx(found, rel=0, abs=1e-13)


def test_upper_ends_by_hand():
    """From 0: 1 - e^-level; with privacy (1 - e^-level) / (1 - e^-epsilon), which is 1 from level epsilon on."""
    assert kl_upper(0.0, math.log(2)) == pytest.approx(0.5, rel=1e-15)
    assert kl_upper(0.25, bernoulli_kl(0.25, 0.5)) == pytest.approx(0.5, rel=1e-13)
    assert private_upper(0.0, math.log(2), math.log(3)) == pytest.approx(0.75, rel=1e-15)
    assert private_upper(0.1, private_divergence(0.1, 0.9, 1.0), 1.0) == pytest.approx(0.9, rel=1e-13)
    # From the level that covers all means on it is 1.
    assert private_upper(0.25, 0.75 * 0.5, 0.5) == 1 > private_upper(0.25, 0.75 * 0.5 - 1e-3, 0.5) > 0.99
    # Upper ends at their limits.
    for mean in MEANS:
        assert kl_upper(mean, 0.0) == private_upper(mean, 0.0, 1.0) == mean
        assert kl_upper(mean, math.inf) == private_upper(mean, math.inf, 1.0) == 1
        for level in LEVELS:
            assert private_upper(mean, level, math.inf) == kl_upper(mean, level)


@pytest.mark.parametrize("mean", [1e-3, 0.1, 0.5, 0.9, 0.999])
def test_a_number_a_little_below_an_upper_end(mean):
    """At small levels it is within two thousandths of the way from the mean; nan without a level, or at 0 and 1."""
    for level in (1e-7 * mean * (1.0 - mean), 1e-4 * mean * (1.0 - mean)):
        way = kl_upper(mean, level) - mean
        assert 0.998 * way < below_kl_upper(mean, level) - mean < way
    for wrong in [(0.0, 1e-3), (1.0, 1e-3), (mean, 0.0), (mean, 1.0), (-0.1, 1e-3), (1.1, 1e-3)]:
        assert math.isnan(below_kl_upper(*wrong))


def random_arguments():
    rng = np.random.default_rng(0)
    means = np.concatenate(
        [rng.uniform(0, 1, 300), 10.0 ** rng.uniform(-30, 0, 50), 1 - 10.0 ** rng.uniform(-15, 0, 50)]
    )
    levels = 10.0 ** rng.uniform(-12, 2, len(means))
    epsilons = 10.0 ** rng.uniform(-3, 2, len(means))
    corners = [(mean, level, epsilon) for mean in MEANS for level in LEVELS for epsilon in EPSILONS]
    return [*zip(means.tolist(), levels.tolist(), epsilons.tolist(), strict=True), *corners]


@pytest.mark.thorough
def test_compiled_functions_give_the_same_bits():
    functions = (bernoulli_kl, private_divergence, kl_upper, below_kl_upper, private_upper)
    compiled = {function.__name__: CompiledFunction(function, {}) for function in functions}
    for mean, level, epsilon in random_arguments():
        assert compiled["kl_upper"](mean, level) == kl_upper(mean, level)
        assert str(compiled["below_kl_upper"](mean, level)) == str(below_kl_upper(mean, level))
        assert compiled["private_upper"](mean, level, epsilon) == private_upper(mean, level, epsilon)
        other = min(level, 1.0)
        assert compiled["bernoulli_kl"](mean, other) == bernoulli_kl(mean, other)
        assert compiled["private_divergence"](mean, other, epsilon) == private_divergence(mean, other, epsilon)


def test_lai_robbins_by_hand():
    """Means 1/2, 1/4 and 1/2: one gap of 1/4, over kl(1/4, 1/2) = 0.1308..., times ln 1000."""
    nats = -0.25 * math.log(2) + 0.75 * math.log(1.5)
    assert lai_robbins([0.5, 0.25, 0.5], 1000) == pytest.approx(0.25 / nats * math.log(1000), rel=1e-13)
    # Each suboptimal arm adds its own term.
    pairs = [lai_robbins([0.7, mean], 99) for mean in (0.1, 0.3, 0.6)]
    assert lai_robbins(np.array([0.1, 0.7, 0.3, 0.6]), 99) == pytest.approx(sum(pairs), rel=1e-14)
    # Means 0.9 and 0.1, epsilon 1: gap 0.8 over -0.1 - ln(0.1 + 0.9 / e), times ln 1000.
    nats = -0.1 - math.log(0.1 + 0.9 / math.e)
    assert private_lower_bound([0.9, 0.1], 1000, 1) == pytest.approx(0.8 / nats * math.log(1000), rel=1e-13)


def test_what_bounds_are_not_for_is_refused():
    for bound in (lai_robbins, lambda means, horizon: private_lower_bound(means, horizon, 1.0)):
        for means, horizon, error, words in [
            ([0.5, 1.5], 10, ValueError, ("means[1]", "[0, 1]", 1.5)),
            ([math.nan, 0.5], 10, ValueError, ("means[0]", "[0, 1]", "nan")),
            (["a", 0.5], 10, TypeError, ("means[0]", "'a'")),
            ([0.5], 10, ValueError, ("means", 2, 1)),
            ([0.5, 0.4], 0, ValueError, ("horizon", 1, 0)),
        ]:
            with refused(error, *words):
                bound(means, horizon)
    for epsilon in (0.0, -1.0, math.nan):
        with refused(ValueError, "epsilon", 0, epsilon):
            private_lower_bound([0.5, 0.4], 10, epsilon)
    for wrong in ({"n_arms": 1}, {"horizon": 0}, {"epsilon": 0}, {"model": "shuffled"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            minimax_lower_bound(**{"n_arms": 3, "horizon": 9, "epsilon": 1.0, **wrong})


# ---- finite bounds for the worst game of a size; the proofs are docs/notes/lower-bounds.md


def test_finite_bounds_are_those_of_their_formulas():
    """By hand: the best gap for T (1 - b gap)^n gap / 4 is 1 / (b (n + 1)); and what is said about large T."""
    k, t, epsilon = 5, 10**7, 0.2
    b, n = 2 * -math.expm1(-epsilon), t / (k - 1)
    private = t / 4 * (1 - 1 / (n + 1)) ** n / (b * (n + 1))
    assert private == pytest.approx((k - 1) / (8 * math.e * -math.expm1(-epsilon)), rel=1e-3)
    assert minimax_lower_bound(k, t) == pytest.approx(math.sqrt(t * (k - 1)) / 32, rel=1e-3)
    shown = math.tanh(epsilon / 2)
    assert minimax_lower_bound(k, t, epsilon, model="local") == pytest.approx(
        minimax_lower_bound(k, t) / shown, rel=1e-3
    )
    # One arm pays: 1 + floor(ln 5 / .2) = 9 rounds count, by hand 9 - (e^1.8 - 1) / (e^.2 - 1) / 5.
    one_pays = 9 - math.expm1(1.8) / math.expm1(0.2) / 5
    assert experts_lower_bound(5, 9, epsilon) == pytest.approx(max(one_pays, experts_lower_bound(5, 9)))
    assert minimax_lower_bound(2, 50, 1e-4) == pytest.approx(50 - math.expm1(50e-4) / math.expm1(1e-4) / 2)
    # A single round: whoever knows nothing finds the paying arm once in n times.
    assert experts_lower_bound(4, 1, 1.0) == minimax_lower_bound(4, 1, 1.0) == pytest.approx(0.75)
    assert minimax_lower_bound(50, 10**6, 0.001) >= (50 - 1) / (8 * math.e * -math.expm1(-0.001)) * 0.999


@pytest.mark.filterwarnings("error")
def test_finite_bounds_end_at_any_epsilon():
    """From 710 on e^epsilon is no double, and from 37 on 1 - e^-epsilon is 1; the bounds are those without privacy."""
    for epsilon in (40.0, 1e3, 1e300):
        for model in ("central", "local"):
            least = max(minimax_lower_bound(10, 1000), 1 - 1 / 10)
            assert minimax_lower_bound(10, 1000, epsilon, model=model) == pytest.approx(least)
        assert experts_lower_bound(10, 1000, epsilon) == experts_lower_bound(10, 1000)
    assert minimax_lower_bound(4, 10, 1e-300) == experts_lower_bound(4, 10, 1e-300) == 7.5


def test_fair_coins_by_enumeration():
    for n, t in ((2, 3), (3, 4)):
        games = itertools.product(itertools.product((0, 1), repeat=t), repeat=n)
        best = [max(sum(coins) for coins in game) for game in games]
        assert experts_lower_bound(n, t) == pytest.approx(sum(best) / len(best) - t / 2, rel=1e-12)
    assert experts_lower_bound(2, 10**8) == pytest.approx(math.sqrt(10**8 / (4 * math.pi)), rel=1e-6)


def test_bounds_grow_as_they_must():
    bounds = [private_lower_bound([0.9, 0.6, 0.2], 1000, epsilon) for epsilon in EPSILONS]
    assert bounds == sorted(bounds, reverse=True) and bounds[0] > 10 * bounds[-1]
    levels = [minimax_lower_bound(10, 1000, epsilon) for epsilon in (0.001, 0.01, 0.1, 1, 10, math.inf)]
    assert levels == sorted(levels, reverse=True)
    sizes = [minimax_lower_bound(k, 1000, 0.1) for k in (2, 3, 10, 100)]
    assert sizes == sorted(sizes)
    assert max(minimax_lower_bound(k, t, 0.01) / t for k in (2, 50) for t in (1, 10, 100)) <= 1
    # On a graph where rounds may look around a bound is below that of as many arms, and reaches it.
    for alpha, t in ((2, 100), (10, 1000), (10, 10**6)):
        assert graph_lower_bound(alpha, t) < minimax_lower_bound(alpha, t)
    assert graph_lower_bound(10, 10**7) > 0.999 * minimax_lower_bound(10, 10**7)
    # Lower bounds at their limits.
    means = [0.9, 0.6, 0.2]
    assert private_lower_bound(means, 1000, math.inf) == lai_robbins(means, 1000)
    assert private_lower_bound(means, 1000, 1e3) == lai_robbins(means, 1000)
    # Small epsilon: Delta / (epsilon Delta) ln T for each of the two arms.
    assert private_lower_bound(means, 1000, 1e-7) == pytest.approx(2e7 * math.log(1000), rel=1e-6)
    assert lai_robbins(means, 1) == lai_robbins([0.4, 0.4], 1000) == 0
    # A single failure tells an arm from one that never fails, but not in private.
    assert lai_robbins([1.0, 0.6], 1000) == 0
    assert private_lower_bound([1.0, 0.6], 1000, 2.0) == pytest.approx(math.log(1000) / 2, rel=1e-14)


@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_what_is_proven_of_algorithms_is_above_what_none_can_beat(epsilon):
    """In pure privacy at the epsilon that each really has; a bound below would refute one proof or the other."""
    compared = 0
    for name in ALGORITHMS:
        try:
            algorithm = make_algorithm(name, epsilon=epsilon)
            guarantee = algorithm.guarantee(n_arms=5, horizon=2000)
            above = algorithm.regret_bound(n_arms=5, horizon=2000)
        except (TypeError, ValueError):
            continue
        if algorithm.make_agent is None or not math.isfinite(above):
            continue
        full = algorithm.feedback == "full"
        least = (experts_lower_bound if full else minimax_lower_bound)(5, 2000, guarantee.pure_epsilon)
        assert above >= least, name
        compared += 1
    assert compared >= 5


@pytest.mark.thorough
def test_a_good_private_algorithm_is_above_the_bound_in_the_worst_of_the_worlds():
    """The worlds of the proof, 30 games each, for 3 arms at epsilon = .02."""
    bound, regret = minimax_lower_bound(3, 400, 0.02), 0.0
    for arm in range(3):
        means = [1.0 if each == arm else 0.0 for each in range(3)]
        results = simulate(
            "Stochastic", "DP-IMED:epsilon=.02", horizon=400, trials=30, seed=1, env_kwargs={"means": means}
        )
        regret = max(regret, next(iter(results.values())).pseudo_regret[:, -1].mean())
    assert 20 < bound <= regret


# ---- the search for the best arm


GRID = np.linspace(0, 1, 20_001)


def test_costs_by_hand():
    """4 ones against 4 zeros: 4 ln 2 + 4 ln 2; squares: 2 / (1/4 + 1/4) = 4; both 0 if the arm is not ahead."""
    assert bernoulli_cost(1.0, 4, 0.0, 4) == pytest.approx(8 * math.log(2), rel=1e-14)
    assert gaussian_cost(1.0, 4, 0.0, 4) == 4
    # At a small epsilon the divergence is about epsilon times the distance, whatever u: 4 epsilon in all.
    assert private_cost(1.0, 4, 0.0, 4, 1e-6) == pytest.approx(4e-6, rel=1e-5)
    for cost in (bernoulli_cost, gaussian_cost, lambda *pair: private_cost(*pair, 1.0)):
        assert cost(0.5, 4, 0.5, 9) == cost(0.3, 4, 0.5, 9) == 0
    # Slopes are those of the divergence.
    for x, y, epsilon in itertools.product((0.0, 0.2, 0.6), (0.61, 0.9), (0.1, 1.0, 5.0)):
        slope = (private_divergence(x, y + 1e-6, epsilon) - private_divergence(x, y - 1e-6, epsilon)) / 2e-6
        assert private_slope(x, y, epsilon) == pytest.approx(slope, rel=1e-5)


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 30.0])
def test_the_private_cost_is_the_least_over_a_grid(epsilon):
    for high, n_high, low, n_low in [(0.9, 30, 0.2, 50), (0.55, 1000, 0.5, 7), (1.0, 12, 0.0, 40), (0.3, 5, 0.0, 5)]:
        inside = GRID[(low < GRID) & (high > GRID)]
        costs = [
            n_high * private_divergence(1 - high, 1 - u, epsilon) + n_low * private_divergence(low, u, epsilon)
            for u in inside
        ]
        cost = private_cost(high, n_high, low, n_low, epsilon)
        assert cost <= min(costs) + 1e-12
        # The grid's step is 5e-5; the cost's slope is at most (n + n') epsilon, or it is smooth there.
        assert cost >= min(costs) - 5e-5 * (n_high + n_low) * min(epsilon, 1)


def laplace_sum_cdf(x, draws):
    """P(a sum of one or two Laplace draws of scale 1 is at most x): e^x / 2, and e^x (2 - x) / 4, for x < 0."""
    below = np.exp(-np.abs(x)) * (0.5 if draws == 1 else (2 + np.abs(x)) / 4)
    return np.where(x < 0, below, 1 - below)


@pytest.mark.parametrize("draws", [1, 2])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_chernoffs_bound_holds_exactly(draws, epsilon):
    """P(n coins plus k draws <= n x) by the exact law, for every x on a grid, against e^(-n d)."""
    n, y = 30, 0.7
    ones = np.arange(n + 1)
    law = np.array([math.comb(n, k) * y**k * (1 - y) ** (n - k) for k in range(n + 1)])
    for x in np.linspace(0, 0.69, 24):
        tail = float(law @ laplace_sum_cdf((n * x - ones) * epsilon, draws))
        t = noisy_tilt(x, y, epsilon, draws / n)
        bound = math.exp(-n * noisy_divergence(x, y, epsilon, draws / n, t))
        assert tail <= bound * (1 + 1e-12)
        # No other tilt gives more, but for what halving leaves.
        others = [noisy_divergence(x, y, epsilon, draws / n, s) for s in np.linspace(0, epsilon, 400)[:-1]]
        assert bound <= math.exp(-n * max(others)) * (1 + 1e-6)


@pytest.mark.thorough
def test_the_noisy_cost_is_compared_at_its_least():
    high, n_high, k_high, low, n_low, k_low, epsilon = 0.85, 60.0, 2.0, 0.2, 90.0, 3.0, 0.6

    def side(x, y, n, k):
        return n * noisy_divergence(x, y, epsilon, k / n, noisy_tilt(x, y, epsilon, k / n))

    inside = GRID[(low < GRID) & (high > GRID)]
    least = min(side(low, u, n_low, k_low) + side(1 - high, 1 - u, n_high, k_high) for u in inside)
    pair = (high, n_high, k_high, low, n_low, k_low, epsilon)
    assert exceeds_noisy_cost(*pair, least - 1e-4)
    assert not exceeds_noisy_cost(*pair, least + 1e-9)
    assert not exceeds_noisy_cost(low, n_low, k_low, high, n_high, k_high, epsilon, 0.0)
    # Chernoff's bound counts the draws, which the divergence alone does not.
    assert least < private_cost(high, n_high, low, n_low, epsilon)


def test_thresholds_by_hand():
    odds = math.log(1 / 0.01)
    assert sequential_threshold(9, 4, odds) == pytest.approx(math.log(100 * 3 * 2 * 4), rel=1e-14)
    chance = math.log(2 * 100 * 6 * 2)  # episodes 2 and 1
    noise = (chance + 0.003) / 0.5 * math.sqrt(2 * (1 / 4 + 1 / 1))
    assert episode_threshold(4, 1, 2, 1, odds, 0.5) == pytest.approx((math.sqrt(chance) + noise) ** 2, rel=1e-14)
    x = noisy_threshold(2, 1, odds) - 0.003 * 3
    assert (1 + x) * math.exp(-x) == pytest.approx(0.01 / (6 * 2), rel=1e-9)
    # B(s + 1/2, n - s + 1/2) / pi >= (s/n)^s (1 - s/n)^(n - s) / (2 sqrt n), which the first threshold is made of.
    for n in (1, 2, 3, 10, 77, 500):
        for s in np.linspace(0, n, 41):
            mixture = math.lgamma(s + 0.5) + math.lgamma(n - s + 0.5) - math.lgamma(n + 1) - math.log(math.pi)
            best = sum(part * math.log(part / n) for part in (s, n - s) if part > 0)
            assert mixture >= best - 0.5 * math.log(n) - math.log(2) - 1e-12


def time_of_two(worse, best, epsilon):
    """The characteristic time of two arms over a grid of shares and of u."""
    inside = np.linspace(worse, best, 4001)[1:-1]

    def divergences(x, places):
        kind = bernoulli_kl if math.isinf(epsilon) else lambda one, other: private_divergence(one, other, epsilon)
        return np.array([kind(x, place) for place in places])

    down, up = divergences(1 - best, 1 - inside), divergences(worse, inside)
    return 1 / max((share * down + (1 - share) * up).min() for share in np.linspace(0.001, 0.999, 999))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, math.inf])
@pytest.mark.parametrize("means", [(0.2, 0.8), (0.0, 0.5), (0.9, 1.0), (0.0, 1.0), (0.4, 0.45)], ids=str)
def test_two_arms_over_a_grid(means, epsilon):
    assert characteristic_time(means, epsilon) == pytest.approx(time_of_two(*means, epsilon), rel=2e-3)


def test_times_of_more_arms():
    """With equal others and squares T* is (1 + sqrt(K - 1))^2 / (2 gap^2), which coins near 1/2 come close to."""
    means = [0.505, *[0.5] * 4]
    near = (1 + math.sqrt(4)) ** 2 / (2 * 0.005**2)
    assert characteristic_time(means) == pytest.approx(near, rel=1e-3)
    assert total_variation_time([0.2, 0.8, 0.5]) == pytest.approx(1 / 0.3 + 1 / 0.3 + 1 / 0.6)


@pytest.mark.thorough
@pytest.mark.parametrize("means", [(0.2, 0.8), (0.1, 0.5, 0.9, 0.7)], ids=str)
def test_the_two_regimes_of_privacy(means):
    free, distance = characteristic_time(means), total_variation_time(means)
    for epsilon in (1e-3, 0.03, 0.5, 2.0, 9.0):
        assert characteristic_time(means, epsilon) >= max(free, distance / epsilon) * (1 - 1e-9)
    assert characteristic_time(means, 1e-4) == pytest.approx(distance / 1e-4, rel=1e-3)
    assert characteristic_time(means, 20.0) == pytest.approx(free, rel=1e-6)


@pytest.mark.thorough
def test_bounds_by_hand():
    """kl(beta, 1 - beta) = (1 - 2 beta) ln((1 - beta) / beta); 0 from 1/2 on."""
    means, beta = (0.2, 0.8), 0.05
    nats = 0.9 * math.log(19)
    assert identification_lower_bound(means, beta) == pytest.approx(characteristic_time(means) * nats)
    local = identification_lower_bound(means, beta, 1.0, model="local")
    kept = math.tanh(0.5)  # (e - 1) / (e + 1)
    assert local == pytest.approx(characteristic_time([0.5 - 0.3 * kept, 0.5 + 0.3 * kept]) * nats)
    assert identification_lower_bound(means, 0.5) == 0
    assert identification_lower_bound((0.4, 0.4), beta) == math.inf
    assert 0 < identification_lower_bound(means, 1e-300, 1.0) < math.inf


def test_algorithms_that_stop_have_a_lower_bound():
    found = {name: make_algorithm(name).sample_lower_bound(means=[0.2, 0.8]) for name in algorithm_names()}
    assert {name for name, rounds in found.items() if rounds} == {"Top-Two", "AdaP-TT", "DP-TT", "CTB-TT"}
    assert found["Top-Two"] < found["AdaP-TT"] == found["DP-TT"] < found["CTB-TT"]


@pytest.mark.parametrize("beta", [0.0, 1.0, -0.1, math.nan])
def test_failure_probability_must_be_between_0_and_1(beta):
    with refused(ValueError, "failure_probability", "(0, 1)"):
        identification_lower_bound((0.2, 0.8), beta)


def test_the_model_must_be_known():
    with refused(ValueError, "model", "'shuffle'"):
        identification_lower_bound((0.2, 0.8), 0.1, 1.0, model="shuffle")


# ---- arguments of every bound


UNCHECKED = ("argument_ranges", "divergences", "tails", "transport_costs")
"""Bounds check what the third takes; compiled agents call the second and the last for every arm in every round."""
MODULES = [
    importlib.import_module(f"{theory.__name__}.{module.name}")
    for module in pkgutil.iter_modules(theory.__path__)
    if module.name not in UNCHECKED
]
BOUNDS = {
    name: one
    for module in MODULES
    for name, one in vars(module).items()
    if inspect.isfunction(one) and one.__module__ == module.__name__ and not name.startswith("_")
}
USUAL = {
    **dict.fromkeys(("n_arms", "dimension", "rank", "batches", "independent", "cover"), 3),
    **dict.fromkeys(("batch_size", "most", "most_draws", "nodes", "pulls", "releases", "choices"), 4),
    **dict.fromkeys(("steps", "window", "period", "trials"), 20),
    **dict.fromkeys(("scale", "noise_scale", "deviation", "epsilon", "leverage", "largest", "nats"), 2.0),
    **dict.fromkeys(("learning_rate", "rate", "exploration_rate", "failure_probability", "redraw_probability"), 0.1),
    **dict.fromkeys(("probability", "discount", "bonus", "failure_weight", "variance", "squares", "widest"), 0.5),
    **{"horizon": 100, "memory": 1, "sigma": 2.5, "clip": 3.0, "width": 5.0, "slope": 3.5, "alpha": 3.1, "v": 1.1},
    **{"means": [0.5, 0.3, 0.2], "gaps": [0.0, 0.2], "deviations": [1.0, 2.0], "ends": [1, 2, 4, 8]},
    **{"set_name": "ball", "kind": "laplace", "rates": "paper", "model": "local", "counter": "binary", "normal": True},
    **{"by_count": True, "redraws": True},
    "bound": lambda n_arms, horizon, memory=0: 2.0 * n_arms,
    "enough": lambda gap: 7.0,
    "plays": lambda gap: 7.0,
}
OWN = {"counter_ucb_bound": {"width": lambda items, failure: 5.0}}
NASTY = [None, True, 0, -1, 3.7, math.nan, math.inf, -math.inf, 1e-300, 1e300, 5e-324, 10**30, 10**400, 2**53 + 1]
NASTY += ["", "1", b"x", [], [1], [math.nan], [[1]], {}, object(), 1j, Decimal("NaN"), np.array([1])]
NASTY += [np.float32("nan"), np.array(0.5), np.uint8(200), range(3), {0.1}, ...]


@pytest.mark.thorough
@pytest.mark.parametrize("name", BOUNDS)
def test_one_nasty_value_ends_in_a_number_or_in_an_error_that_names_it(name):
    bound, own = BOUNDS[name], {**USUAL, **OWN.get(name, {})}
    usual = {one: own[one] for one in inspect.signature(bound).parameters if one != "options"}
    assert not has_nan(bound(**usual))
    for argument in usual:
        for nasty in NASTY:
            try:
                value = bound(**{**usual, argument: nasty})
            except (ValueError, TypeError) as error:
                assert argument in str(error), (argument, nasty, error)
            else:
                assert not has_nan(value), (argument, nasty)


def has_nan(value):
    return any(isinstance(one, float) and math.isnan(one) for one in (value if isinstance(value, tuple) else (value,)))


def test_every_argument_of_a_bound_has_a_rule():
    """Or it is checked in the function: of a counter."""
    taken = {argument for bound in BOUNDS.values() for argument in inspect.signature(bound).parameters}
    assert taken - set(RULES) == {"counter", "options"}
    assert set(RULES) <= taken


def test_a_bound_that_no_float_holds_is_refused_with_its_arguments():
    with refused(ValueError, "exp2_rates", "horizon=100", "scale=1e+300"):
        exp2_regret_bound("paper", 3, 2, 2.0, 1.0, 100, 1e300, 3.0)
    # Gaps have that of the best arm.
    with refused(ValueError, "gaps", 0):
        linear_elimination_bound(2, None, 100, 1.0, gaps=[0.1, 0.2])
    # A vacuous bound is still a number.
    assert hedge_regret_bound(3, 100, 0) == math.inf
