"""Upper bounds on the pseudo-regret: by hand, in their limits, and each step of their proofs a second time."""

import functools
import math

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.privacy.counters import HybridCounter, SegmentTreesCounter
from dp_bandit_envs.privacy.counters.counter import laplace_width
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from dp_bandit_envs.theory import stochastic_bounds as bounds
from dp_bandit_envs.theory.lower_bounds import lai_robbins, private_lower_bound
from tests.tools.refusals import refused

PAPER_MEANS = [(0.9, 0.6), (0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.55, 0.2)]
FAILURES = 2 * sum(t**-3 for t in range(2, 100_000))


def counter_width(counter, epsilon):
    scales = counter(epsilon=epsilon).scales
    return functools.cache(lambda items, failure_probability: laplace_width(scales(items), failure_probability))


def dp_ucb_bound_bound(means, horizon, epsilon):
    return bounds.counter_ucb_bound(means, horizon, counter_width(HybridCounter, epsilon))


PRIVATE = {
    "DP-UCB-BOUND": dp_ucb_bound_bound,
    "LDP-UCB-L": bounds.ldp_ucb_l_paper_bound,
    "LDP-UCB-L, improved": bounds.ldp_ucb_l_bound,
    "LDP-UCB-B": bounds.ldp_ucb_b_bound,
    "AdaP-UCB": bounds.adap_ucb_bound,
    "AdaC-UCB": lambda means, horizon, epsilon: bounds.adac_ucb_bound(means, horizon, gaussian_sigma(epsilon, 1e-6)),
    "DP-SE": bounds.dp_se_bound,
}


def test_ucb_by_hand():
    """Gaps 0.3 and 0.1 at T = 10^5: 8 ln T (1 / 0.3 + 1 / 0.1) + (1 + pi^2 / 3) 0.4; the best arm adds nothing."""
    by_hand = 8 * math.log(1e5) * (1 / 0.3 + 1 / 0.1) + (1 + math.pi**2 / 3) * 0.4
    assert bounds.ucb_bound([0.6, 0.9, 0.8], 100_000) == pytest.approx(by_hand, rel=1e-12)
    # Gap 1/2 and n_0 = 7: at most 7 + 2 c (1/8 + 1/27 + ...) plays; n_0 is asked for that gap only.
    asked = []
    regret = bounds.optimistic_bound([0.25, 0.75], 1000, lambda gap: asked.append(gap) or 7.0, 3)
    # What is left out of the sum from t = 100,000 on is below 1e-10.
    assert regret == pytest.approx(0.5 * (7 + 3 * FAILURES), abs=1e-9)
    assert asked == [0.5]
    # e^epsilon = 3 keeps s = 1/2 of a gap: 0.3 is 0.15 to UCB, which plays it 8 ln T / 0.15^2 + 1 + pi^2 / 3 times.
    plays = 8 * math.log(1e5) / 0.15**2 + 1 + math.pi**2 / 3
    assert bounds.ldp_ucb_b_bound([0.9, 0.6], 100_000, math.log(3)) == pytest.approx(0.3 * plays, rel=1e-12)


def test_failures_counted_once_are_below_those_of_auer():
    """The same theorem from the common tool: never above 8 ln T / Delta + (1 + pi^2 / 3) Delta, and near it."""
    for means in PAPER_MEANS:
        ours, published = bounds.private_ucb_bound(means, 100_000, 0, 0), bounds.ucb_bound(means, 100_000)
        assert published - (1 + math.pi**2 / 3) * len(means) <= ours < published
        # And it is what others are without noise, the counter's with failures of both kinds.
        assert bounds.ldp_ucb_b_bound(means, 10**5, math.inf) == published
        assert bounds.ldp_ucb_l_bound(means, 10**5, math.inf) == ours
        without = bounds.counter_ucb_bound(means, 100_000, lambda items, failure_probability: 0.0)
        gaps = sum(max(means) - mean for mean in means)
        assert without == pytest.approx(ours + gaps * FAILURES, abs=1e-7)


def laplace_bonus(epsilon, t, n):
    variance, slope = bounds.ldp_laplace_bonus(epsilon)
    return math.sqrt(variance * math.log(t) / n) + slope * math.log(t) / n


def test_laplace_bonus_covers_gains_and_noise_together():
    """Chernoff's bound, at the best s of a grid, with the moment generating functions themselves.

    For one and two gains without spread by the exact tails: P(X > x) = e^-x / 2 for a draw of scale 1, and
    (2 + x) e^-x / 4 for the sum of two.
    """
    assert bounds.ldp_laplace_bonus(0.5) == (66.0, 8.0) and bounds.ldp_laplace_bonus(math.inf) == (2.0, 0.0)
    for epsilon in [0.1, 1.0, 10.0]:
        for t in (2, 10, 1e3, 1e6, 1e12):
            one, two = (n * epsilon * laplace_bonus(epsilon, t, n) for n in (1, 2))
            assert math.exp(-one) / 2 <= t**-4
            assert (2 + two) * math.exp(-two) / 4 <= t**-4
    for n in [1, 3, 30, 1000, 10**6]:
        for epsilon in [0.1, 1.0, 10.0]:
            s = epsilon * (1 - np.logspace(0, -6, 4000))[1:]
            s = np.concatenate([s, epsilon * np.logspace(-6, 0, 4000)[:-1]])
            moments = s**2 / 8 - np.log1p(-((s / epsilon) ** 2))
            for t in (2, 10, 1e3, 1e6, 1e12):
                exponent = np.min(n * (moments - s * laplace_bonus(epsilon, t, n)))
                assert exponent <= -4 * math.log(t)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_the_papers_laplace_bonus_covers_the_noise_of_as_many_gains_as_it_forces(epsilon):
    """Chernoff's bound on n >= 4 ln t draws at the best s of a grid; with a quarter of them it need not hold."""
    s = epsilon * np.linspace(0, 1, 4000)[1:-1]
    moments = -np.log1p(-((s / epsilon) ** 2))
    for t in (2, 10, 1e3, 1e6, 1e12):
        for times in (1, 1.5, 10, 1000):
            n = math.ceil(4 * math.log(t) * times)
            reach = (bounds.ldp_paper_bonus(epsilon) - math.sqrt(2)) * math.sqrt(math.log(t) / n)
            assert np.min(n * (moments - s * reach)) <= -4 * math.log(t)
    # One gain at t = 10^12: e^-x / 2 with x = sqrt(32 ln t) = 29.7 is far above t^-4 = e^-110.
    assert math.exp(-math.sqrt(32 * math.log(1e12))) / 2 > 1e-48


def test_private_ucb_finds_the_smallest_count_by_looking():
    for means, horizon, width in [((0.9, 0.6), 5000, 90.0), ((0.3, 0.8), 800, 11.5), ((0.5, 0.45), 100_000, 2.0)]:
        gap = abs(means[0] - means[1])

        def twice_the_bonus(n, width=width, horizon=horizon):
            return 2 * (math.sqrt(2 * math.log(horizon) / n) + width / n)

        smallest = next(n for n in range(1, horizon) if twice_the_bonus(n) <= gap)
        by_hand = gap * (smallest + FAILURES)
        assert bounds.private_ucb_bound(means, horizon, width, 0) == pytest.approx(by_hand, abs=1e-8)
        with_failure = bounds.private_ucb_bound(means, horizon, width, 1e-3)
        assert with_failure == pytest.approx(min(by_hand + 1e-3 * horizon * gap, gap * horizon), abs=1e-8)


@pytest.mark.parametrize("counter", [HybridCounter, SegmentTreesCounter])
def test_widths_of_counters_are_largest_at_the_end_of_a_doubling(counter):
    """What the search for n_0 relies on."""
    width = counter_width(counter, 1.0)
    for k in range(7):
        for probability in (0.01, 1e-12, 1e-30):
            last = width((2 << k) - 1, probability)
            assert max(width(n, probability) for n in range(1 << k, 2 << k)) <= last * (1 + 1e-12)


@pytest.mark.parametrize("counter", [HybridCounter, SegmentTreesCounter])
def test_dp_ucb_bound_needs_as_many_plays_as_it_says(counter):
    """From the n_0 in the bound on, twice the bonus is at most the gap at every n; and it is not far too large."""
    horizon, gap, epsilon = 3000, 0.8, 5.0
    width = counter_width(counter, epsilon)
    regret = bounds.counter_ucb_bound([0.1, 0.9], horizon, width)
    # Two ways to stray for each of two arms.
    enough = round(regret / gap - 2 * FAILURES)
    assert regret == pytest.approx(gap * (enough + 2 * FAILURES), abs=1e-8)
    scales = counter(epsilon=epsilon).scales
    by_scales = functools.cache(lambda terms: laplace_width(terms, horizon**-4))
    bonus = {n: by_scales(tuple(scales(n))) / n + math.sqrt(2 * math.log(horizon) / n) for n in range(1, horizon + 1)}
    exact = max(n for n in bonus if 2 * bonus[n] > gap) + 1
    # The widest release of a doubling stands for all of it, which costs the rest of the last one at most.
    assert exact <= enough <= 2 * exact


def test_dp_ucb_bound_is_below_the_corrected_theorem():
    """Theorem 3.2 with half of epsilon for each part, the factor 2, 1 / Delta and lg put back, at its best lambda."""
    horizon = 10**7
    for means in PAPER_MEANS:
        gaps = [max(means) - mean for mean in means if mean < max(means)]

        def corrected(share, epsilon=1.0, gaps=gaps):
            total = 0.0
            for gap in gaps:
                b = 4 * math.sqrt(8) * math.log(4 * horizon**4) / (math.log(2) * epsilon * (1 - share) * gap)
                plays = max(b * (math.log(b) + 7), 8 * math.log(horizon) / (share * gap) ** 2)
                total += gap * (plays + 1 + 2 * math.pi**2 / 3)
            return total

        best = min(corrected(share / 100) for share in range(1, 100))
        assert best / 4 < dp_ucb_bound_bound(means, horizon, 1.0) < best


@pytest.mark.thorough
def test_dp_ucb_int_by_hand():
    """The first end at which twice the bonus is at most the gap, and the failures term by term."""
    horizon, gap, v = 10**6, 0.8, 1.1
    log = math.log(horizon)

    def twice_the_bonus(n, slope):
        return 2 * (math.sqrt(2 * log / n) + slope * log * n ** (v / 2 - 1))

    ends = [7**k for k in range(1, 30)]
    for slope in (3.5, 0.0):
        first = next(end for end in ends if twice_the_bonus(end, slope) <= gap)
        # Failures: 2 t (t^-4 + t^-3.5 / 2) over t from 2 on.
        failed = sum(2 * t**-3 + (t**-2.5 if slope else 0.0) for t in range(2, 10**6))
        bound = bounds.dp_ucb_int_bound([0.1, 0.9], horizon, ends, v, slope)
        assert bound == pytest.approx(gap * (first + failed), rel=1e-6)
    # Where no release comes in time, all rounds may be lost.
    assert bounds.dp_ucb_int_bound([0.1, 0.9], 1000, [2000], v) == pytest.approx(800)
    with refused(ValueError, "slope", 2, 1.5):
        bounds.dp_ucb_int_bound([0.1, 0.9], 1000, ends, v, 1.5)


@pytest.mark.thorough
def test_dp_ucb_int_stays_below_its_bound():
    """With the bonus, and without noise; `test_thompson_bounds.py` has the bound without the bonus."""
    arguments = {"means": [0.95, 0.05], "horizon": 60_000}
    for parameters in ({"mode": "bonus", "epsilon": 1.0}, {"epsilon": math.inf}):
        algorithm = make_algorithm("DP-UCB-INT", **parameters)
        bound = algorithm.pseudo_regret_bound(**arguments)
        assert bound < 0.9 * 60_000
        played = simulate(
            "DPBandit-Stochastic-v0", [algorithm], trials=5, env_kwargs={"means": [0.95, 0.05]}, horizon=60_000
        )
        assert played[algorithm.name].pseudo_regret[:, -1].mean() < bound


@pytest.mark.parametrize(("horizon", "power"), [(1400, 64), (2000, 128)])
def test_adap_ucb_by_hand(horizon, power):
    """Gap 1, epsilon = inf, alpha = 4: 2 sqrt(2 ln(2 T) / N) <= 1 needs N >= 63.5 or 66.4; at most 2 N plays.

    Failures: (1/16 + 1/2) (r / (1 - r)^2 + 3 r / (1 - r)) with r = 1/4, so 9/16 (4/9 + 1) = 13/16.
    """
    by_hand = 2 * power + 13 / 16
    assert bounds.adap_ucb_bound([0.0, 1.0], horizon, math.inf, alpha=4) == pytest.approx(by_hand, rel=1e-14)


@pytest.mark.parametrize("alpha", [2.5, 3.1, 5.0])
def test_failures_of_adap_ucb_add_up_to_less_than_their_bound(alpha):
    """What the bound has on top of the power of two 2 N covers the sum of c t^(1 - alpha) (floor(lg t) + 3), t >= 2."""
    whole = bounds.adap_ucb_bound([0.0, 1.0], 10**9, math.inf, alpha=alpha)
    constant = whole - 2 ** math.floor(math.log2(whole))
    total = sum((2**-alpha + 0.5) * t ** (1 - alpha) * (t.bit_length() + 2) for t in range(2, 20_000))
    assert total < constant < 2 * total


def adap_bonus(n, epsilon, horizon, alpha):
    return math.sqrt(alpha * math.log(2 * horizon) / (2 * n)) + alpha * math.log(horizon) / (epsilon * n)


def adac_bonus(n, deviation, horizon, alpha):
    return math.sqrt(2 * (1 / (4 * n) + (deviation / n) ** 2) * alpha * math.log(horizon))


@pytest.mark.parametrize(
    ("bound", "bonus", "noises"),
    [
        (bounds.adap_ucb_bound, adap_bonus, (0.05, 1.0, 100.0)),
        (bounds.adac_ucb_bound, adac_bonus, (0.0, 4.2, 400.0)),
    ],
)
def test_adap_ucb_needs_as_many_gains_as_it_says(bound, bonus, noises):
    """The bonus at half of N is too wide and at N is not, for noise at which either of its terms rules; so AdaC-UCB."""
    alpha, horizon, gap = 3.1, 10**6, 0.3
    for noise in noises:
        whole = bound([0.5, 0.2], horizon, noise, alpha=alpha) / gap
        n = 2 ** math.floor(math.log2(whole)) // 2
        assert 2 * bonus(n, noise, horizon, alpha) <= gap < 2 * bonus(n // 2, noise, horizon, alpha)


def test_adac_ucb_by_hand():
    """Gap 1, alpha = 4, T = e^2, sigma = 2: (1 / (2 n) + 8 / n^2) 4 * 2 <= 1/4 from n = 26.1 on, so N = 32.

    n^2 - 16 n - 256 = 0 at 8 + sqrt(320) = 25.9; horizon 8 > e^2 moves it to 26.3. Failures: 4/9 + 1 at r = 1/4, c = 1.
    """
    n = (0.5 + math.sqrt(0.25 + 8 * 4 * 1 / (16 * math.log(8)))) / (2 / (16 * math.log(8)))
    assert 26 < n < 27
    assert bounds.adac_ucb_bound([0.0, 1.0], 8, 2.0, alpha=4) == 8  # more than all rounds
    horizon = 10**6
    pulls = bounds.adac_ucb_bound([0.0, 1.0], horizon, 2.0, alpha=4)
    # (1 / (2 n) + 8 / n^2) 4 ln T <= 1 / 4: n = 124.9 for ln T = 13.8.
    assert pulls == pytest.approx(2 * 128 + 13 / 9, rel=1e-12)


def epochs(n_arms, horizon, epsilon):
    """Yield (D, R, h + c) of each epoch."""
    e = 0
    while True:
        e += 1
        d = 2.0**-e
        gains, noise = math.log(8 * n_arms * e**2 * horizon), math.log(4 * n_arms * e**2 * horizon)
        r = math.ceil(max(32 * gains / d**2, 8 * noise / (epsilon * d))) + 1
        yield d, r, math.sqrt(gains / (2 * r)) + noise / (epsilon * r)


def test_successive_elimination_by_hand():
    """Gap 0.6, T = 10^6, two arms, epsilon = inf: 4 h is just below D / 2, so the first epoch, D = 1/2, is enough.

    It plays each arm ceil(128 ln(16 * 10^6)) + 1 = 2125 times.
    """
    assert math.ceil(128 * math.log(16e6)) + 1 == 2125
    by_hand = 0.6 * 2125 + math.pi**2 / 12 * 0.6
    assert bounds.dp_se_bound([0.8, 0.2], 10**6, math.inf) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.02, 0.3, 1.0, math.inf])
def test_successive_elimination_ends_by_the_epoch_of_the_gap(epsilon):
    """4 (h + c) < D, so an arm is gone by the epoch with D <= Delta: after the first with 4 (h + c) < Delta."""
    horizon, gap = 10**8, 0.07
    plays, last = 0, None
    for d, r, half in epochs(3, horizon, epsilon):
        assert 4 * half < d
        plays += r
        if last is None and 4 * half < gap:
            last = plays
        if d <= gap:
            break
    assert last is not None
    by_hand = gap * last + math.pi**2 / 12 * gap
    assert bounds.dp_se_bound([0.5, 0.5 - gap, 0.5], horizon, epsilon) == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("bound", PRIVATE.values(), ids=PRIVATE)
def test_bounds_grow_with_privacy_and_rounds_and_stay_between_the_lower_bound_and_the_worst_play(bound):
    """The former is not a theorem at a given horizon, as it is asymptotic; but constants of 8 leave room."""
    for means in PAPER_MEANS:
        found = [bound(means, 10**6, epsilon) for epsilon in (0.01, 0.1, 0.5, 1.0, 3.0, 20.0, math.inf)]
        assert found == sorted(found, reverse=True)
        assert found[0] > 2 * found[-1]
        found = [bound(means, horizon, 1.0) for horizon in (1, 2, 3, 10, 99, 1000, 10**4, 10**5, 10**6, 10**7)]
        assert found == sorted(found)
        # Not linear in the end: from 10^6 on the bound no longer follows the number of rounds.
        assert found[-1] < 3 * found[-2]
        for epsilon in (0.3, 1.0, math.inf):
            assert bound(means, 10**6, epsilon) > private_lower_bound(means, 10**6, epsilon)
        assert bounds.ucb_bound(means, 10**6) > lai_robbins(means, 10**6)
    for epsilon in (1e-200, 0.1, math.inf):
        for horizon in (1, 2, 50):
            assert bound([0.9, 0.6, 0.8], horizon, epsilon) <= 0.3 * horizon * (1 + 1e-12)
    assert bound([0.4, 0.4, 0.4], 1000, 1.0) == 0
    for epsilon in (0.0, -1.0, math.nan):
        with refused(ValueError, "epsilon", 0, epsilon):
            bound([0.5, 0.4], 10, epsilon)


def test_rounds_are_shared_out_to_the_worst_arms_first():
    """Ten rounds, of which the arm with gap 1/2 takes at most 4.4 and 0.404 and the one with 1/4 the rest."""
    shared = bounds.optimistic_bound([0.75, 0.25, 0.5], 10, lambda gap: 4.0 if gap == 0.5 else 100.0, 1)
    worst = 4 + FAILURES
    assert shared == pytest.approx(0.5 * worst + 0.25 * (10 - worst), abs=1e-9)


def test_what_bounds_are_not_for_is_refused():
    for means, horizon, words in [
        ([0.5, 1.5], 10, ("means[1]", "[0, 1]", 1.5)),
        ([0.5, math.nan], 10, ("means[1]", "[0, 1]", "nan")),
        ([0.5], 10, ("means", 2, 1)),
        ([0.5, 0.4], 0, ("horizon", 1, 0)),
        ([0.5, 0.4], 1.5, ("horizon", 1, 1.5)),
    ]:
        for bound in (bounds.ucb_bound, lambda *sizes: bounds.private_ucb_bound(*sizes, 1.0, 0.1)):
            with refused(ValueError, *words):
                bound(means, horizon)
        for bound in PRIVATE.values():
            with refused(ValueError, *words):
                bound(means, horizon, 1.0)
    with refused(ValueError, "alpha", 2):
        bounds.adap_ucb_bound([0.5, 0.4], 10, 1.0, alpha=2)
    with refused(ValueError, "width", 0, -1):
        bounds.private_ucb_bound([0.5, 0.4], 10, -1, 0.1)
    with refused(ValueError, "width", 0, "nan"):
        bounds.counter_ucb_bound([0.5, 0.4], 10, lambda items, failure_probability: math.nan)
    with refused(ValueError, "failure_probability", "[0, 1]", 1.5):
        bounds.private_ucb_bound([0.5, 0.4], 10, 1, 1.5)
