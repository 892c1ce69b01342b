"""Bounds of KL-UCB, Gaussian-TS, AdaP-KLUCB, Private-UCB, DP-UCB and UCB-MaxN by hand, and against simulated games."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, laplace

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.privacy.counters import HybridCounter
from dp_bandit_envs.theory.divergences import bernoulli_kl
from dp_bandit_envs.theory.lower_bounds import lai_robbins
from dp_bandit_envs.theory.padded_bounds import (
    CELL,
    CELLS,
    HEIGHTS,
    LAYERS,
    _above,
    _bad_blocks,
    _factors,
    _laplace_sums,
    _shares,
    padded_ucb_bound,
)
from dp_bandit_envs.theory.stochastic_bounds import (
    _best_arm_too_low,
    _rounds_below,
    adap_klucb_bound,
    adap_ucb_bound,
    gaussian_ts_bound,
    kl_ucb_bound,
    private_ucb_default_bound,
    ucb_bound,
    ucb_max_n_bound,
)
from tests.tools.refusals import refused

PLAIN = ("KL-UCB", "Gaussian-TS", "TS")
PRIVATE = ("AdaP-KLUCB", "Private-UCB", "Lazy-DP-TS", "DP-TS", "DP-KLUCB", "DP-IMED", "DP-UCB-INT", "DP-UCB")
PRIVATE += ("Tuned-TS",)
ON_GRAPHS = ("UCB-N", "UCB-MaxN", "TS-N", "TS-MaxN")


def test_the_integral_is_above_the_sum():
    """The first rounds count as 1 each."""
    assert _best_arm_too_low(1) == 0
    assert _best_arm_too_low(3) == 2
    for horizon in (2**12, 2**12 + 1, 10**5):
        terms = [min(1.0, math.e * math.ceil(math.log(t) ** 2) / t) for t in range(2, horizon + 1)]
        assert math.fsum(terms) <= _best_arm_too_low(horizon) * (1 + 1e-12) <= 1.1 * math.fsum(terms)


def test_kl_ucb_by_hand():
    """With one x, half way: N, the geometric series and the sum, times the gap; the bound takes the best of 19."""
    horizon, gap = 10**6, 0.3
    least = math.ceil(math.log(horizon) / bernoulli_kl(0.75, 0.9))
    rate = bernoulli_kl(0.75, 0.6)
    series = sum(math.exp(-n * rate) for n in range(least, least + 4000))
    by_hand = gap * (least + series + _best_arm_too_low(horizon))
    assert 0.8 * by_hand < kl_ucb_bound([0.9, 0.6], horizon) <= by_hand * (1 + 1e-9)
    assert kl_ucb_bound([1.0, 0.0], horizon) == pytest.approx(1 + _best_arm_too_low(horizon), abs=0.1)
    # At T where both have the same N = 2048, they differ by the factor c alone.
    r = 2**-1.1
    parts = r / (1 - r) ** 2 + 3 * r / (1 - r)
    one, other = (bound([0.9, 0.6], 10**6, 1.0) for bound in (adap_klucb_bound, adap_ucb_bound))
    assert one - other == pytest.approx(0.3 * (1.5 - 2**-3.1 - 0.5) * parts)


def test_private_ucb_without_noise_is_ucb_and_with_it_is_never_more_than_all():
    assert private_ucb_default_bound([0.9, 0.6], 10**5, math.inf) == ucb_bound([0.9, 0.6], 10**5)
    for horizon in (1, 2, 5, 19, 20, 1000):
        assert private_ucb_default_bound([0.9, 0.6], horizon, 1.0) <= 0.3 * horizon * (1 + 1e-12)
    assert private_ucb_default_bound([0.9, 0.6], 10**8, 1.0) < 0.02 * 0.3 * 10**8


@pytest.mark.parametrize(("deviation", "pulls"), [(1.0, 0), (1.5, 0), (4.0, 0), (1.0, 30), (2.5, 7)])
@pytest.mark.parametrize(("y", "gap"), [(0.8, 0.1), (0.3, 0.2)])
def test_what_gaussian_draws_wait_for_is_below_h(y, gap, deviation, pulls):
    """E(1 / p_n - 1) for coins of mean y + gap, exactly, against the sum of h_n; of one gain by hand."""
    total, best = 0.0, y + gap
    for n in range(pulls, 120):
        law = [math.comb(n, s) * best**s * (1 - best) ** (n - s) for s in range(n + 1)]
        below = [(y - s / (n + 1)) * math.sqrt(n + 1) / deviation for s in range(n + 1)]
        total += sum(chance * (2 / math.erfc(u / math.sqrt(2)) - 1) for chance, u in zip(law, below, strict=True))
    assert total <= _rounds_below(y, gap, 120, deviation, pulls) < 6 * total
    # n = 0: the integral of (1 / Phi(-y - v) - 1) 4 v exp(-2 v^2), with trapezoids.
    v = np.linspace(0, 6, 60_001)
    values = [(2 / math.erfc((y + x) / math.sqrt(2) / deviation) - 1) * 4 * x * math.exp(-2 * x * x) for x in v]
    assert 0 <= _rounds_below(y, gap, 1, deviation, 0) / (sum(values) * 1e-4) - 1 < 0.025


@pytest.mark.thorough
def test_the_gaussian_bound_is_near_the_least_of_its_theorem():
    """Means .9 and .6, 2^16 rounds: 296.4 with every h_n, steps of 1 / 128 and the best N, by a program of its own."""
    assert 296 < gaussian_ts_bound([0.9, 0.6], 2**16) < 299
    # N is 2 ln T / (y - x)^2, where x and y come nearer to the means, from .6 to .88 of the gap, in longer games.
    step = gaussian_ts_bound([0.9, 0.4], 10**30) - gaussian_ts_bound([0.9, 0.4], 10**15)
    assert 1 <= step / (2 * 15 * math.log(10) / 0.5) < 3
    assert gaussian_ts_bound([0.9, 0.9], 1000) == 0
    assert gaussian_ts_bound([0.9, 0.9 - 1e-9, 0.0], 5) <= 4.5


@pytest.mark.thorough
@pytest.mark.parametrize(("variance", "pulls"), [(1.0, 0), (2.0, 40), (9.0, 0), (9.0, 300)])
def test_wider_draws_after_pulls_are_below_their_bound_which_counts_the_pulls(variance, pulls):
    """False alarm: none (fixed seed); the means are .13 to .43 of their bounds."""
    horizon, means = 20_000, [0.9, 0.3]
    bound = gaussian_ts_bound(means, horizon, variance, pulls)
    assert bound == make_algorithm("Tuned-TS", variance=variance, pulls=pulls).pseudo_regret_bound(
        means=means, horizon=horizon
    )
    algorithm = make_algorithm("Tuned-TS", variance=variance, pulls=pulls)
    outcome = simulate(("Stochastic", {"means": means}), [algorithm], horizon=horizon, trials=20, seed=5)["Tuned-TS"]
    mean = outcome.mean("pseudo_regret")[-1]
    assert 0.6 * pulls <= mean < bound < 0.6 * horizon / 4
    assert gaussian_ts_bound(means, horizon, 0.9) == pytest.approx(0.6 * horizon)
    assert gaussian_ts_bound(means, 100, 1.0, 200) == pytest.approx(60)
    assert bound >= gaussian_ts_bound(means, horizon) or variance == 1


def settings(number, seed):
    """Yield means, horizons and epsilons."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        means = np.round(rng.random(rng.integers(2, 7)), 3)
        yield means.tolist(), int(2 ** rng.uniform(3, 13)), float(rng.choice([0.1, 0.5, 1.0, 5.0, 50.0]))


def check(algorithms, game, means, horizon, trials, seed, shares):
    """Compare mean regrets with bounds; note how near they are, for each whose bound says something.

    False alarm: none (fixed seed).
    """
    played = simulate(game, algorithms, horizon=horizon, trials=trials, seed=seed)
    for algorithm in algorithms:
        sensitivity = 1.0 if game[0] == "Stochastic" else 2.0
        bound = algorithm.pseudo_regret_bound(means=means, horizon=horizon, sensitivity=sensitivity)
        outcome = played[algorithm.name]
        mean, error = (of("pseudo_regret")[-1] for of in (outcome.mean, outcome.standard_error))
        assert mean - 4 * error <= bound * (1 + 1e-9), (algorithm.name, means, horizon, algorithm.parameters)
        if bound < 0.999 * horizon * (max(means) - min(means)):
            shares.setdefault(algorithm.name, []).append(mean / bound)


def report(shares, number, capsys):
    with capsys.disabled():
        for name, ratios in shares.items():
            print(f"{name}: {len(ratios) / number:.0%} not vacuous, means up to {max(ratios):.3f} of the bound")


@pytest.mark.thorough
def test_one_setting_of_each_is_below_its_bound():
    """Two arms far apart, so that short games are enough for bounds to say something."""
    shares, means = {}, [0.95, 0.1]
    algorithms = [*map(make_algorithm, PLAIN), *(make_algorithm(name, epsilon=20.0) for name in PRIVATE)]
    check(algorithms, ("Stochastic", {"means": means}), means, 2000, 8, 3, shares)
    assert set(shares) > {*PLAIN, "Lazy-DP-TS", "DP-TS", "DP-KLUCB", "DP-IMED", "DP-UCB-INT", "Tuned-TS"}


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "seed"), [(6, 1), pytest.param(200, 2, marks=pytest.mark.slow)])
def test_no_setting_violates_a_bound(number, seed, capsys):
    """Means of 12 games. False alarm: below 1e-5 in all: where a bound says something it is far above."""
    shares = {}
    for means, horizon, epsilon in settings(number, seed):
        algorithms = [make_algorithm(name) for name in PLAIN]
        algorithms += [make_algorithm(name, epsilon=epsilon) for name in PRIVATE]
        check(algorithms, ("Stochastic", {"means": means}), means, horizon, 12, seed, shares)
    report(shares, number, capsys)
    assert min(len(shares[name]) for name in PLAIN) > number / 4


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "seed"), [(2, 1), pytest.param(200, 2, marks=pytest.mark.slow)])
def test_no_graph_violates_a_bound(number, seed, capsys):
    """One graph for each game, or another every five rounds, on which arms reveal themselves and some others."""
    shares, rng = {}, np.random.default_rng(seed)
    for means, horizon, _ in settings(number, seed):
        again = [None, 5][rng.integers(2)]
        game = {"means": means, "n_arms": len(means), "graph": "erdos-renyi", "redraw_every": again}
        check([make_algorithm(name) for name in ON_GRAPHS], ("Graph", game), means, horizon, 12, seed, shares)
    report(shares, number, capsys)
    assert number < 10 or min(map(len, shares.values())) > number / 4


def test_ucb_max_n_by_hand():
    """Gap 1/2 at T = 1000: N = ceil(32 ln T) = 222 for each of C arms that UCB may have chosen."""
    n = math.ceil(32 * math.log(1000))
    failures = 2 * sum(t**-3 for t in range(2, 10**5))
    for choices in (1, 3):
        by_hand = min(0.5 * (choices * n + failures), 500.0)
        assert ucb_max_n_bound([0.9, 0.4], 1000, choices) == pytest.approx(by_hand, abs=1e-6)
    assert ucb_max_n_bound([0.9, 0.4], 1000) <= ucb_bound([0.9, 0.4], 1000)
    assert make_algorithm("UCB-MaxN").pseudo_regret_bound(means=[0.9, 0.4, 0.4], horizon=9000) < 1000


# ---- the bound of DP-UCB


def test_sums_of_laplace_draws_are_exact():
    """One draw, and two by hand, (2 + h) e^-h / 4; many by the difference of two gamma variables.

    False alarm: none, as these are numbers and no samples.
    """
    h, tails = CELL * np.arange(CELLS + 1), _laplace_sums()
    assert tails[1] == pytest.approx(laplace.sf(h))
    assert tails[2] == pytest.approx((2 + h) * np.exp(-h) / 4)
    for m, cell in ((3, 0), (3, 8), (12, 20), (40, 100)):
        exact = quad(lambda x, m=m, z=h[cell]: gamma.pdf(x, m) * gamma.sf(x + z, m), 0, 200, limit=500)[0]
        assert tails[m][cell] == pytest.approx(exact, rel=1e-6)
    assert (np.diff(tails[1:], axis=1) < 0).all()
    assert (tails[0] == [1.0, *[0.0] * CELLS]).all()


@pytest.mark.parametrize("low", [2, 6])
def test_shares_of_blocks_are_those_of_the_counter(low):
    """The counter itself, from 2^9 on: noise of a block's rounds less that at its start, on many games."""
    games, k = 4000, 9
    rounds, scale = 1 << low, HybridCounter(epsilon=1.0).scales((2 << k) - 1)[1][0]
    rng = np.random.default_rng(3)
    noise = np.zeros((rounds, games))
    for level in range(low):
        draws = rng.laplace(0, 1, (rounds >> level, games))
        has = np.arange(rounds) >> level & 1 == 1
        noise[has] += draws[(np.arange(rounds) >> level)[has]]
    for cell in (CELLS - 16, CELLS - 4, CELLS, CELLS + 4, CELLS + 12):
        h = (cell - CELLS) * CELL
        assert np.mean(h + noise >= 0) == pytest.approx(_shares(low)[cell], abs=0.01)
    # And the levels are those of the release after 2^k + r items.
    assert scale == pytest.approx(2 * k)
    assert [dict(HybridCounter(epsilon=1.0).scales((1 << k) + r))[scale] for r in range(8)] == [0, 1, 1, 2, 1, 2, 2, 3]


@pytest.mark.parametrize(("low", "height"), [(3, 1.5), (7, 5.0), (11, 12.0)])
def test_no_layer_has_more_bad_blocks_than_the_first(low, height):
    """[1 - (1 + lambda_i) p(H + c)]^+ is at most that for i = 0, for all H, by interpolation between the grid."""
    factors, grid = _factors(low, height), CELL * np.arange(-CELLS, CELLS + 1)
    h = np.linspace(-40, 5, 3001)

    def bad(factor, shift):
        return np.maximum(1 - (1 + factor) * np.interp(h + shift, grid, _shares(low)), 0)

    first = bad(factors[0], 0.0)
    assert (first[h >= -height] < 1e-9).all()
    for factor, layer in zip(factors, LAYERS, strict=True):
        assert (bad(factor, layer) <= first + 1e-6).all()
    assert (np.diff(factors) <= 0).all()
    assert factors[-1] < 0.1 < factors[0]


@pytest.mark.thorough
def test_bad_blocks_are_counted_from_above():
    """Simulated: 2^k times the mean of [ ] over blocks, for noise of the higher levels and the logarithmic part."""
    rng, games = np.random.default_rng(4), 200_000
    for k, low, height in ((12, 5, 3.0), (15, 9, 5.0), (9, 3, 1.5)):
        octave = HybridCounter(epsilon=0.5).scales((2 << k) - 1)
        (first, number), (tree, _) = octave
        noise = rng.laplace(0, first / tree, (number, games)).sum(axis=0)
        ones = rng.binomial(k - low, 0.5, games)
        for level in range(k - low):
            noise += np.where(level < ones, rng.laplace(0, 1, games), 0)
        p = np.interp(noise, CELL * np.arange(-CELLS, CELLS + 1), _shares(low))
        lost = 2**k * np.mean(np.maximum(1 - (1 + _factors(low, height)[0]) * p, 0))
        assert lost < _bad_blocks(tuple(octave), k, low, height) < 6 * lost + 1


@pytest.mark.thorough
def test_low_noise_is_counted_from_above():
    """R(z) for 127 rounds, simulated from the scales of each release."""
    counter, rng = HybridCounter(epsilon=1.0), np.random.default_rng(5)
    octaves = [counter.scales((2 << k) - 1) for k in range(7)]
    z = np.array([-1.0, 10.0, 30.0, 80.0])
    found = np.zeros(4)
    for t in range(1, 128):
        noise = sum(rng.laplace(0, scale, (number, 20_000)).sum(axis=0) for scale, number in counter.scales(t) if scale)
        found += [np.mean(noise >= level) for level in z]
    assert (found < _above(octaves, z)).all()
    assert _above(octaves, z)[0] == 127
    assert _above(octaves, z)[3] < 12


@pytest.mark.thorough
def test_limits():
    for means in ([0.9, 0.6], [0.9, 0.8, 0.5]):
        assert padded_ucb_bound(means, 10**5, math.inf) == ucb_bound(means, 10**5)
        worst = 10**7 * (max(means) - min(means))
        bounds = [padded_ucb_bound(means, 10**7, epsilon) for epsilon in (0.01, 0.1, 1.0, 10.0, math.inf)]
        assert bounds == sorted(bounds, reverse=True)
        assert lai_robbins(means, 10**7) < bounds[-1] < bounds[1] < 0.5 * worst
        bounds = [padded_ucb_bound(means, 10**power, 1.0) for power in range(12)]
        assert bounds == sorted(bounds)
        # It falls below any share of T.
        shares = [bound / 10**power for power, bound in enumerate(bounds)]
        assert shares[6] < 0.35 * (max(means) - min(means)) and shares[11] < shares[8] < 0.4 * shares[6]
    assert padded_ucb_bound([0.5, 0.5], 100, 1.0) == 0
    assert padded_ucb_bound([0.5, 0.4], 10, 1e-300) == pytest.approx(1)
    # A counter with all of epsilon in each part has half the noise.
    assert padded_ucb_bound([0.9, 0.6], 10**6, 1.0, budget="paper") == pytest.approx(
        padded_ucb_bound([0.9, 0.6], 10**6, 2.0)
    )
    with refused(ValueError, "epsilon", 0):
        padded_ucb_bound([0.5, 0.4], 10, 0.0)


@pytest.mark.thorough
def test_by_hand():
    """K = 2: one term after the other, with what the functions above say, for all levels, blocks and heights."""
    best, mean, horizon, epsilon = 0.95, 0.05, 2**17 - 1, 5.0
    counter = HybridCounter(epsilon=epsilon)
    octaves = [counter.scales((2 << k) - 1) for k in range(17)]
    scale, bounds = 2 * 16 / epsilon, []
    for share in (0.2, 0.35, 0.55):
        g = 0.9 * share
        y = best - g
        for low in range(3, 14):
            for height in HEIGHTS:
                lam = _factors(low, height)
                bad = sum(_bad_blocks(tuple(octave), k, low, height) for k, octave in enumerate(octaves) if k > low)
                layers = [math.ceil(layer * scale / g) for layer in LAYERS]
                waits = []
                for m in range(1, len(layers)):
                    climbs = sum(lam[i] * (layers[i + 1] - layers[i] + 2**low) for i in range(m))
                    waits.append(climbs + _above(octaves, np.array([layers[m] * g]))[0])
                # Its own plays are few at any N of a few thousand.
                n = 400.0
                late = min(
                    math.exp(-n * kl(x, mean)) / (1 - math.exp(-kl(x, mean)))
                    + _above(octaves, np.array([n * (y - x) - math.sqrt(2 * n * math.log(horizon))]))[0]
                    for x in (mean + (y - mean) * part for part in (0.1, 0.2, 0.35))
                )
                bounds.append(n + late + lam[0] * late + min(waits) + bad + 3 * 2**low + (1 + lam[0]) / 4)
    found = padded_ucb_bound([best, mean], horizon, epsilon)
    assert 0.9 * 0.9 * min(bounds) < found <= 0.9 * min(bounds) * (1 + 1e-3)


def kl(x, y):
    return x * math.log(x / y) + (1 - x) * math.log((1 - x) / (1 - y))


@pytest.mark.parametrize("counter", ["hybrid", "segment-trees"])
def test_the_algorithm_has_it_for_hybrid_counters_only(counter):
    bound = make_algorithm("DP-UCB", counter=counter).pseudo_regret_bound(means=[0.9, 0.6], horizon=10**6)
    assert (bound < 0.2 * 0.3 * 10**6) if counter == "hybrid" else bound == math.inf


@pytest.mark.slow
def test_no_long_game_violates_it(capsys):
    """Means of 8 games of 2^14 to 2^18 rounds with two or three arms. False alarm: none (fixed seed)."""
    rng, ratios = np.random.default_rng(6), []
    for _ in range(200):
        means = np.round(rng.random(rng.integers(2, 4)), 2).tolist()
        horizon, epsilon = int(2 ** rng.uniform(14, 18)), float(rng.choice([0.3, 1.0, 5.0, 50.0]))
        algorithm = make_algorithm("DP-UCB", epsilon=epsilon)
        bound = algorithm.pseudo_regret_bound(means=means, horizon=horizon)
        played = simulate(("Stochastic", {"means": means}), [algorithm], horizon=horizon, trials=8, seed=2)["DP-UCB"]
        regret = played.mean("pseudo_regret")[-1] - 4 * played.standard_error("pseudo_regret")[-1]
        assert regret <= bound * (1 + 1e-9), (means, horizon, epsilon)
        if bound < 0.999 * horizon * (max(means) - min(means)):
            ratios.append(regret / bound)
    with capsys.disabled():
        print(f"{len(ratios)} of 200 not vacuous, means up to {max(ratios):.3f} of the bound")
    assert len(ratios) > 60


def test_games_stay_below_it():
    algorithm, means = make_algorithm("DP-UCB", epsilon=10.0), [1.0, 0.1]
    bound = algorithm.pseudo_regret_bound(means=means, horizon=50_000)
    assert bound < 0.4 * 0.9 * 50_000
    played = simulate(("Stochastic", {"means": means}), [algorithm], horizon=50_000, trials=4, seed=1)
    assert played["DP-UCB"].mean("pseudo_regret")[-1] < bound / 5
