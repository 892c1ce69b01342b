"""Batch sizes, epsilons, intervals and bounds of the papers' algorithms, derived a second time."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import zeta as scipy_zeta

from dp_bandit_envs.agents.exp3 import default_exploration_rate
from dp_bandit_envs.agents.tsallis_inf import SKIP_SHARE
from dp_bandit_envs.algorithms import make_algorithm, paper_epsilon
from dp_bandit_envs.privacy import InputFacts, exp3_guarantee
from dp_bandit_envs.privacy.interval_ends import interval_ends, paper_input, zeta
from dp_bandit_envs.privacy.laplace import default_bound
from dp_bandit_envs.privacy.mechanisms import BlockSums, IntervalSums
from dp_bandit_envs.privacy.mechanisms.block_sums import geometric_blocks
from dp_bandit_envs.theory.adversarial_bounds import exp3_regret_bound, htinf_regret_bound, switching_batch_size
from tests.tools.refusals import refused

FIGURE_1 = {"n_arms": 4, "horizon": 2**18}


# ---- EXP3-tau


def test_papers_epsilon_is_its_own_theorem_at_its_own_batch_size():
    """At the exact, not whole, tau = (T / (7 K ln K))^(1/3): 4 T / tau^3 + sqrt(8 ln(T^2) T / tau^3)."""
    horizon, share = 2**18, 7 * 4 * math.log(4)
    assert 4 * share + math.sqrt(16 * math.log(horizon) * share) == pytest.approx(paper_epsilon(4, horizon), rel=1e-14)
    paper = make_algorithm("EXP3-tau").paper_guarantee(**FIGURE_1)
    assert paper.delta == 2.0**-36
    assert paper.epsilon == pytest.approx(240.22, abs=0.005)  # tau rounded up to 19
    # 28 * 4 ln 4 + sqrt(112 * 4 ln 4 * 18 ln 2) = 155.26 + 88.03.
    assert paper_epsilon(4, 2**18) == pytest.approx(243.29, abs=0.005)
    # Batches of figure 1.
    assert (2**18 / (7 * 4 * math.log(4))) ** (1 / 3) == pytest.approx(18.90, abs=0.005)
    assert switching_batch_size(4, 2**18) == 19


@pytest.mark.thorough
def test_what_batches_of_19_really_guarantee():
    """13,797 draws of sensitivity 1/19 at gamma = sqrt(4 ln 4 / ((e - 1) 13797)): the whole game again.

    Second route: its formulas in NumPy, maxima over t taken over a grid, on a finer grid of h and another of orders.
    """
    draws, s, e = 13797, 1 / 19, math.e
    gamma = math.sqrt(4 * math.log(4) / ((e - 1) * draws))
    eta, kappa = gamma / 4, 2 * gamma / (4 * (1 - gamma))
    c = (e - 2) / (1 - (e - 1) * kappa)
    q, t = 1 + c, np.geomspace(1e-2, 1e4, 4000)
    h = np.geomspace(eta, 1, 1000)[:, None]
    most = (1 + c * kappa) * (1 - h) * np.exp(h) + q * h
    least = np.minimum(h, most / (t + q))
    b = s * (t / (1 + t) * least).max(axis=1)
    fisher = s**2 * (eta * most[:, 0] * (t**2 * least / ((1 + t) * (t + q))).max(axis=1) + (eta * most[:, 0]) ** 2)
    alpha = 1 + np.geomspace(1, 100, 1000)[:, None]
    x = (alpha - 1) * b
    phi = np.where(x < 1e-3, 1 + x / 3, 2 * (np.expm1(np.maximum(x, 1e-3)) - x) / x**2)
    game = np.expm1(draws * np.log1p(alpha * (alpha - 1) / 2 * fisher * np.exp(b / 2) * phi))
    whole = 1 + game[:, h[:, 0] <= gamma].max(axis=1) + 3 * (eta / h[:, 0] * game).max(axis=1)
    alpha = alpha[:, 0]
    epsilon = (np.log(whole) - np.log(alpha) + 36 * math.log(2)) / (alpha - 1) + np.log1p(-1 / alpha)

    guarantee = make_algorithm("EXP3-tau").guarantee(**FIGURE_1)
    assert guarantee.epsilon == pytest.approx(draws * b.max(), rel=1e-4)
    assert epsilon.min() * (1 - 1e-4) <= guarantee.epsilon_at(2.0**-36) <= 1.003 * epsilon.min()
    assert guarantee.epsilon_at(2.0**-36) == pytest.approx(1.436, abs=0.001)
    assert 150 > draws * s**2 / guarantee.rho > 140


def test_draws_that_pay_are_those_after_the_first_batch():
    """T // tau batches and one more draw for what is left over; the first draw saw nothing."""
    guarantee = make_algorithm("EXP3-tau", batch_size=3).guarantee(n_arms=4, horizon=1001)
    rate = default_exploration_rate(4, 333)
    one = exp3_guarantee(n_arms=4, draws=1, exploration_rate=rate, sensitivity=1 / 3)
    assert guarantee.epsilon == pytest.approx(333 * one.epsilon, rel=1e-14)
    # Batches of 19 do not fit into 10 rounds; epsilon = 0 would be the best guarantee there is.
    algorithm = make_algorithm("EXP3-tau", batch_size=19)
    with refused(ValueError, "batch_size", "horizon"):
        algorithm.guarantee(n_arms=4, horizon=10)


# ---- rejection


def mean_fed(gain: float, scale: float, bound: float, withheld: float) -> float:
    """Return what a base learns on average from a gain, mapped back to units of gain.

    A kept noisy gain counts as itself, a rejected one as `withheld`: -b for EXP3, whose estimates of gains do not
    grow, and 1 + b for learners from losses, whose estimates of losses do not grow.
    """

    def density(x: float) -> float:
        return math.exp(-abs(x) / scale) / (2 * scale)

    low, high = -bound - gain, 1 + bound - gain
    kept = quad(lambda x: (gain + x) * density(x), low, high, points=[0.0], limit=200)[0]
    rejected = (math.exp(low / scale) + math.exp(-high / scale)) / 2
    return kept + withheld * rejected


def test_bias_of_rejection_differs_between_gains_by_no_more_than_the_bound_says():
    """Over the game: (ln J + 1) / epsilon + 1/2, where the bound on the regret adds it."""
    for end in ["lower", "upper"]:
        for epsilon, releases in [(1.0, 50), (0.1, 50), (5.0, 20), (1.0, 2), (0.3, 1), (1.0, 2000)]:
            scale = 1 / epsilon
            bound = default_bound(scale, releases)
            withheld = -bound if end == "lower" else 1 + bound
            bias = [mean_fed(gain, scale, bound, withheld) - gain for gain in np.linspace(0, 1, 21)]
            spread = releases * (max(bias) - min(bias))
            claimed = (math.log(releases) + 1) * scale + 0.5
            assert spread <= claimed
            assert bias[0] == max(bias) and bias[-1] == min(bias)
            # by hand: the ends differ by (1 - e^(-1/s)) (1 + 2 b + 2 s) / (2 J)
            exact = -math.expm1(-1 / scale) * (1 + 2 * bound + 2 * scale) / 2
            assert spread == pytest.approx(exact, rel=1e-6)


def test_regret_bound_of_dp_exp3_lap_by_hand():
    """T = 10^6, K = 3, epsilon = 2: b = ln T / 2, (2 b + 1) 2 sqrt((e - 1) T K ln K) + (ln T + 1) / 2 + 1/2."""
    inside = 2 * math.sqrt((math.e - 1) * 1e6 * 3 * math.log(3))
    expected = (math.log(1e6) + 1) * inside + (math.log(1e6) + 1) / 2 + 0.5
    assert make_algorithm("DP-EXP3-Lap", epsilon=2.0).regret_bound(n_arms=3, horizon=10**6) == pytest.approx(expected)
    # Epsilon = 0.25: batches of 4, 250,000 steps of 10^6 (and 3 rounds more), noise of scale 1.
    bound = math.log(250_000)
    inside = (2 * bound + 1) * 2 * math.sqrt((math.e - 1) * 250_000 * 3 * math.log(3)) + bound + 1.5
    found = make_algorithm("Batched-Lap-EXP3", epsilon=0.25).regret_bound(n_arms=3, horizon=10**6 + 3)
    assert found == pytest.approx(4 * inside + 3)


@pytest.mark.parametrize("name", ["DP-EXP3-Lap", "Batched-Lap-EXP3"])
def test_without_noise_the_bound_is_the_bases(name):
    """The limit that the paper's (4 ln T / epsilon) form gets wrong: it would go to a constant."""
    found = make_algorithm(name, epsilon=math.inf).regret_bound(n_arms=4, horizon=5000)
    assert found == pytest.approx(exp3_regret_bound(4, 5000), rel=1e-14)


def test_bounds_hold_without_memory_only():
    for name in ("EXP3", "DP-EXP3-Lap", "Batched-Lap-HTINF", "Tsallis-INF"):
        assert make_algorithm(name).regret_bound(n_arms=4, horizon=5000, memory=1) == math.inf
    assert make_algorithm("DP-EXP3-Lap", outside="clip").regret_bound(n_arms=4, horizon=5000) == math.inf


# ---- HTINF


def test_one_step_costs_no_more_than_twice_the_rate_times_the_squared_estimate():
    """Stability: <l, x - y> - D(y, x) <= 2 eta l^2 x^(3/2) for the best y >= 0, where |loss| <= Theta sqrt(x) / eta.

    l = loss / x is the estimate, D the divergence of -2 sqrt(x) / eta; y^(-1/2) = x^(-1/2) + eta l.
    """
    tight = 0.0
    for eta in (0.01, 0.3, 2.0):
        for x in (1e-6, 0.01, 0.4, 1.0):
            for share in np.linspace(-1, 1, 41):
                estimate = share * SKIP_SHARE * math.sqrt(x) / eta / x
                y = (x**-0.5 + eta * estimate) ** -2
                divergence = (-2 * math.sqrt(y) + 2 * math.sqrt(x) + (y - x) / math.sqrt(x)) / eta
                cost = estimate * (x - y) - divergence
                allowed = 2 * eta * estimate**2 * x**1.5
                assert cost <= allowed * (1 + 1e-9) + 1e-15
                tight = max(tight, cost / allowed if allowed else 0.0)
    assert tight > 0.5


def test_bound_of_htinf_is_the_sum_of_its_three_parts():
    """Sigma = 1.5, K = 4, T = 900: 2 sigma sqrt T (sqrt K - 1) + 4 sigma sqrt(K T) + 2 sigma sqrt(K T) / Theta."""
    expected = 2 * 1.5 * 30 * 1 + 4 * 1.5 * 60 + 2 * 1.5 * 60 / (1 - 0.5 ** (1 / 3))
    assert htinf_regret_bound(4, 900, 1.5) == pytest.approx(expected, rel=1e-14)


def test_part_of_a_noisy_loss_beyond_a_threshold_is_not_negative_on_average():
    """What the derivation asks of the losses: E[l; |l| > r] >= 0, for a loss in [0, 1] with Laplace noise.

    With P(l > r) = e^-(r - c) / 2 and mean excess 1 on that side, and likewise on the other (r >= c, scale 1).
    """
    for loss in np.linspace(0, 1, 11):
        for threshold in np.linspace(1, 20, 50):
            above = math.exp(-(threshold - loss)) / 2 * (threshold + 1)
            below = math.exp(-(threshold + loss)) / 2 * (threshold + 1)
            assert above >= below
            assert above + below <= (loss**2 + 2) / threshold  # E[|l|; |l| > r] <= E[l^2] / r


@pytest.mark.parametrize("sigma", [1.0, 0.5, 0.01])
def test_bound_of_htinf_is_not_claimed_for_losses_larger_than_sigma(sigma):
    """K = 2, T = 1, gains (1, 0): any agent that begins with equal probabilities has an expected regret of 1/2."""
    assert make_algorithm("HTINF", sigma=sigma).regret_bound(n_arms=2, horizon=1) >= 0.5


@pytest.mark.parametrize(("epsilon", "batch_size"), [(0.1, 1), (0.1, 2), (0.01, 20)])
def test_bound_of_batched_htinf_is_not_claimed_for_more_noise_than_sigma_covers(epsilon, batch_size):
    """Noise of scale s has E[l^2] = l^2 + 2 s^2, up to 1 + 2 s^2: sigma = sqrt 6 is enough for s <= sqrt(5/2) only."""
    scale = 1 / (epsilon * batch_size)
    enough = math.sqrt(1 + 2 * scale**2)
    settings = {"epsilon": epsilon, "batch_size": batch_size}
    short = make_algorithm("Batched-Lap-HTINF", **settings).regret_bound(n_arms=4, horizon=10_000)
    full = make_algorithm("Batched-Lap-HTINF", **settings, sigma=enough).regret_bound(n_arms=4, horizon=10_000)
    assert math.isfinite(full)
    assert short >= full


# ---- ends of intervals by lemma B.1 (x and y), and lengths of blocks


DELTA = math.exp(-10)


def of_intervals(epsilon, delta=DELTA, intervals="lemma"):
    return IntervalSums(epsilon=epsilon, v=1.1, delta=delta, intervals=intervals)


def one_arm(horizon):
    """Return what is known below where a round reveals one gain."""
    return InputFacts(n_values=1, horizon=horizon)


def brute_force(share: float, v: float, horizon: int) -> list[int]:
    """Return the ends straight from the lemma: the first y with sum over (W, y] of i^-v >= y^-v / share, and so on."""
    ends, last = [], 0
    for y in range(1, horizon + 1):
        if math.fsum(i**-v for i in range(last + 1, y + 1)) >= y**-v / share:
            ends.append(y)
            last = y
    return ends


def test_ends_by_hand():
    """Input 0.4, v = 1.5; needed is 2.5 y^-1.5, and i^-1.5 is 1, 0.3536, 0.1925, 0.125, 0.0894, 0.0680, 0.0540.

    y = 1: 1 < 2.5. y = 2: 1.3536 >= 0.8839, so W_1 = 2. y = 3: 0.1925 < 0.4811; y = 4: 0.3175 >= 0.3125, W_2 = 4.
    y = 5: 0.0894 < 0.2236; y = 6: 0.1574 < 0.1701; y = 7: 0.2114 >= 0.1350, W_3 = 7.
    """
    assert interval_ends(0.4, 1.5, 7, "lemma").tolist() == [2, 4, 7]
    assert interval_ends(0.4, 1.5, 6, "lemma").tolist() == [2, 4]
    assert interval_ends(0.4, 1.5, 1, "lemma").tolist() == []


def test_ends_are_those_of_the_lemma():
    for share in [0.9, 0.55, 0.4, 0.21, 0.1, 0.043]:
        for v in [1.01, 1.1, 1.3, 1.5]:
            found = interval_ends(share, v, 250, "lemma").tolist()
            assert found == brute_force(share, v, 250)
            assert len(found) > 5


@pytest.mark.parametrize("v", [1.1, 1.5])
@pytest.mark.parametrize("share", [0.9, 0.4, 0.1, 0.01])
def test_releases_spend_no_more_than_their_share_of_the_sum(share, v):
    """What the lemma is for: sum over releases of W_j^-v <= share sum over i <= W_last of i^-v <= share zeta(v)."""
    ends = interval_ends(share, v, 20_000, "lemma").astype(float)
    spent = math.fsum(ends**-v)
    assert spent <= share * math.fsum(np.arange(1, ends[-1] + 1) ** -v) * (1 + 1e-12)
    # and one gain less in the first interval would not be paid for
    first = int(ends[0])
    if first > 1:
        assert math.fsum(i**-v for i in range(1, first)) < (first - 1) ** -v / share


@pytest.mark.parametrize("share", [0.4, 0.1, 0.021])
def test_intervals_do_not_shrink_and_stay_at_most_those_of_the_uniform_choice(share):
    """Erratum 10: lengths are nondecreasing up to ceil(1 / input), and the thesis says decreasing."""
    lengths = np.diff(interval_ends(share, 1.1, 50_000, "lemma"), prepend=0)
    assert (np.diff(lengths) >= 0).all()
    assert lengths[0] < lengths[-1] == math.ceil(1 / share)


@pytest.mark.parametrize(("share", "step"), [(0.3, 4), (0.5, 2), (1.0, 1), (0.07, 15)])
def test_uniform_ends_by_hand(share, step):
    """Every ceil(1 / input) gains, the last one at the horizon if it fits."""
    assert interval_ends(share, 1.1, 3 * step, "uniform").tolist() == [step, 2 * step, 3 * step]
    assert interval_ends(share, 1.1, 3 * step - 1, "uniform").tolist() == [step, 2 * step][: 3 if step > 1 else 2]


def test_numbers_of_the_specification():
    """Erratum 7: f = 21,591 and 253; with lemma B.1 (y) f0 = 1751, then 9063 more; and 46. delta = e^-10, v = 1.1."""
    tenth, one = paper_input(0.1, DELTA, 1.1), paper_input(1.0, DELTA, 1.1)
    assert math.ceil(1 / tenth) == 21_591
    assert math.ceil(1 / one) == 253
    assert interval_ends(tenth, 1.1, 11_000, "lemma").tolist() == [1751, 1751 + 9063]
    assert interval_ends(one, 1.1, 100, "lemma").tolist() == [46]
    assert of_intervals(0.1).ends(11_000).tolist() == [1751, 10_814]
    assert of_intervals(1.0).ends(100).tolist() == [46]
    assert of_intervals(1.0, intervals="uniform").ends(600).tolist() == [253, 506]


def test_what_the_papers_setting_spends():
    """Erratum 9: at T = 1e5 and a target of 0.1, S = sum of W_j^-1.1 spends 2 S + sqrt(2 S L) = 0.084.

    Uniform: four releases, S = 21591^-1.1 (1 + 2^-1.1 + 3^-1.1 + 4^-1.1) = 1.7073e-5 * 1.9828 = 3.385e-5, so 0.0261.
    Declared is less: the exact composition, which lies below what rho = S / 2 gives and below the sum of W_j^-0.55.
    """
    for intervals, stated in (("lemma", 0.084), ("uniform", 0.0261)):
        mechanism = of_intervals(0.1, intervals=intervals)
        ends, guarantee = mechanism.ends(100_000), mechanism.guarantee(one_arm(100_000))
        spent = math.fsum(float(end) ** -1.1 for end in ends)
        assert 2 * spent + math.sqrt(20 * spent) == pytest.approx(stated, abs=5e-4)
        assert guarantee.rho == pytest.approx(spent / 2, rel=1e-10)
        pure = math.fsum(float(end) ** -0.55 for end in ends)
        assert guarantee.pure == pytest.approx(pure, rel=1e-10)
        assert 0.8 * pure < guarantee.epsilon < min(spent / 2 + math.sqrt(20 * spent), pure, stated)


def test_the_input_inverts_corollary_3_2():
    """2 zeta x + sqrt(2 zeta x ln(1 / delta)) = target, unless x would exceed 1; zeta is known to 7e-11."""
    for target in [1e-6, 0.1, 1.0, 5.0]:
        for delta in [DELTA, 1e-3, 0.5]:
            for v in [1.05, 1.1, 1.5]:
                found = paper_input(target, delta, v)
                spent = scipy_zeta(v) * found
                log = math.log(1 / delta)
                if found < 1:
                    assert 2 * spent + math.sqrt(2 * spent * log) == pytest.approx(target, rel=1e-10)
                else:
                    assert 2 * spent + math.sqrt(2 * spent * log) <= target
    assert paper_input(1000.0, DELTA, 1.1) == paper_input(math.inf, DELTA, 1.1) == 1.0  # a release for every gain


def test_ends_of_the_pure_form_by_hand():
    """Input 0.4, v = 1: x with sums of i^-.5 from 2.5 x^-.5 on. i^-.5 is 1, .7071, .5774, .5, .4472, .4082, .3780.

    x = 1: 1 < 2.5; x = 2: 1.7071 < 1.7678; x = 3: 2.2845 >= 1.4434, W_1 = 3. x = 4: .5 < 1.25; x = 5: .9472 < 1.118;
    x = 6: 1.3554 >= 1.0206, W_2 = 6. x = 7: .3780 < .9449.
    """
    assert interval_ends(0.4, 1.0, 7, "pure").tolist() == [3, 6]
    assert interval_ends(0.13, 1.4, 250, "pure").tolist() == brute_force(0.13, 0.7, 250)


@pytest.mark.thorough_cases("10.0")
@pytest.mark.parametrize("target", [0.1, 1.0, 10.0])
def test_the_pure_form_spends_a_pure_target(target):
    """Losses W_j^(-v/2) add up to at most the target, and to nearly all of it in a game of 1e5 rounds."""
    mechanism = of_intervals(target, intervals="pure")
    guarantee, ends = mechanism.guarantee(one_arm(100_000)), mechanism.ends(100_000)
    spent = math.fsum(float(end) ** -0.55 for end in ends)
    assert guarantee.epsilon == guarantee.pure == pytest.approx(spent, rel=1e-10)
    assert 0.9 * target < spent <= target or ends.tolist() == list(range(1, 100_001))
    # All of delta is for draws of finite precision.
    assert guarantee.delta < 1e-10
    assert mechanism.guarantee(one_arm(1000)).epsilon <= target


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("target", "delta", "intervals"),
    [
        (0.1, 0.1, "uniform"),
        (0.5, DELTA, "uniform"),
        (2.0, 0.1, "lemma"),
        *(
            pytest.param(target, delta, kind, marks=pytest.mark.slow)
            for target in (10.0, 100.0)
            for delta in (DELTA, 0.1)
            for kind in ("lemma", "uniform")
        ),
    ],
)
def test_what_is_spent_is_at_most_the_target_at_every_horizon(target, delta, intervals):
    last = 0.0
    for horizon in (1, 10, 100, 1000, 30_000):
        guarantee = of_intervals(target, delta, intervals).guarantee(one_arm(horizon))
        assert guarantee.epsilon <= target
        if guarantee.delta > 0:  # one release states what is pure
            assert last <= guarantee.epsilon
            last = guarantee.epsilon


def test_zeta_is_scipys():
    """Up to the first term of the Euler-Maclaurin series left out, v ... (v + 4) 20^(-v - 5) / 30240 < 7e-11."""
    for v in [*np.linspace(1.001, 1.5, 60).tolist(), 2.0]:
        left_out = v * (v + 1) * (v + 2) * (v + 3) * (v + 4) * 20 ** (-v - 5) / 30240
        assert zeta(v) == pytest.approx(scipy_zeta(v), rel=1e-14, abs=left_out)
        assert left_out < 7e-11
    assert zeta(2.0) == pytest.approx(math.pi**2 / 6, abs=2e-11)


# ---- blocks


@pytest.mark.parametrize(
    ("ratio", "horizon", "totals", "lengths"),
    [
        (2.0, 16, True, (1, 1, 2, 4, 8)),  # totals 1, 2, 4, 8, 16
        (2.0, 17, True, (1, 1, 2, 4, 8, 16)),
        (2.0, 16, False, (1, 2, 4, 8, 16)),  # totals 1, 3, 7, 15, 31
        (1.5, 14, True, (1, 1, 1, 2, 3, 4, 6)),  # totals 1, 2, 3, ceil 4.5 = 5, ceil 7.5 = 8, 12, 18
        (1.5, 8, False, (1, 2, 3, 5)),  # lengths ceil 1.5, 3, 4.5
        (1.0, 100, True, (1,)),
        (2.0, 1, True, (1,)),
        (1.001, 5, True, (1, 1, 1, 1, 1)),  # always at least one gain more
    ],
)
def test_geometric_blocks_by_hand(ratio, horizon, totals, lengths):
    assert geometric_blocks(ratio, horizon, totals=totals) == lengths


def test_the_last_length_is_that_of_all_blocks_that_follow():
    """Nothing is released, which is a count of 0, but in the rounds that fill a block."""
    mechanism = BlockSums(epsilon=math.inf, lengths=(2, 3), keep=True)
    state, rng = mechanism.new_state(one_arm(12)), np.random.default_rng(0)
    released = [mechanism.release(state, 0, 1.0, rng) for _ in range(12)]
    assert [count for _, count in released] == [0, 2, 0, 0, 5, 0, 0, 8, 0, 0, 11, 0]
    assert [value for value, count in released if count] == [2.0, 5.0, 8.0, 11.0]
    # y^-v >= y^-v holds with equality, and rounding must not lose it.
    assert interval_ends(1.0, 1.1, 2000, "lemma").tolist() == list(range(1, 2001))


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-170, 1e-3), (1e-320, 0.5), (1.0, 1e-320)])
@pytest.mark.parametrize("intervals", ["lemma", "uniform"])
def test_extreme_targets_are_worked_out_too(epsilon, delta, intervals):
    mechanism = of_intervals(epsilon, delta, intervals)
    assert mechanism.guarantee(one_arm(1000)).epsilon <= epsilon
    assert len(mechanism.ends(1000)) == 0
