"""Divergences between Bernoulli arms, their inverses, and the lower bounds made of them."""

import itertools
import math

import numpy as np
import pytest

from dp_bandit_envs import simulate
from dp_bandit_envs.algorithms import ALGORITHMS, make_algorithm
from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.theory.divergences import below_kl_upper, bernoulli_kl, kl_upper, private_divergence, private_upper
from dp_bandit_envs.theory.lower_bounds import (
    experts_lower_bound,
    graph_lower_bound,
    lai_robbins,
    minimax_lower_bound,
    private_lower_bound,
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


def test_divergence_at_the_ends():
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


def test_upper_ends_at_their_limits():
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


def test_private_lower_bound_by_hand():
    """Means 0.9 and 0.1, epsilon 1: gap 0.8 over -0.1 - ln(0.1 + 0.9 / e), times ln 1000."""
    nats = -0.1 - math.log(0.1 + 0.9 / math.e)
    assert private_lower_bound([0.9, 0.1], 1000, 1) == pytest.approx(0.8 / nats * math.log(1000), rel=1e-13)


def test_lower_bounds_at_their_limits():
    means = [0.9, 0.6, 0.2]
    assert private_lower_bound(means, 1000, math.inf) == lai_robbins(means, 1000)
    assert private_lower_bound(means, 1000, 1e3) == lai_robbins(means, 1000)
    # Small epsilon: Delta / (epsilon Delta) ln T for each of the two arms.
    assert private_lower_bound(means, 1000, 1e-7) == pytest.approx(2e7 * math.log(1000), rel=1e-6)
    assert lai_robbins(means, 1) == lai_robbins([0.4, 0.4], 1000) == 0
    # A single failure tells an arm from one that never fails, but not in private.
    assert lai_robbins([1.0, 0.6], 1000) == 0
    assert private_lower_bound([1.0, 0.6], 1000, 2.0) == pytest.approx(math.log(1000) / 2, rel=1e-14)


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
