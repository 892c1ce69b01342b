"""Batch sizes, epsilons and bounds of the papers' algorithms, derived a second time."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from dp_bandit_envs.agents.exp3 import default_exploration_rate
from dp_bandit_envs.agents.tsallis_inf import SKIP_SHARE
from dp_bandit_envs.algorithms import make_algorithm, paper_epsilon
from dp_bandit_envs.privacy import exp3_guarantee
from dp_bandit_envs.privacy.laplace import default_bound
from dp_bandit_envs.theory.adversarial_bounds import exp3_regret_bound, htinf_regret_bound, switching_batch_size
from tests.tools.refusals import refused

FIGURE_1 = {"n_arms": 4, "horizon": 2**18}


# ---- EXP3-tau


def test_epsilon_of_figure_1():
    """28 * 4 ln 4 + sqrt(112 * 4 ln 4 * 18 ln 2) = 155.26 + 88.03."""
    assert paper_epsilon(4, 2**18) == pytest.approx(243.29, abs=0.005)


def test_batches_of_figure_1():
    assert (2**18 / (7 * 4 * math.log(4))) ** (1 / 3) == pytest.approx(18.90, abs=0.005)
    assert switching_batch_size(4, 2**18) == 19


def test_papers_epsilon_is_its_own_theorem_at_its_own_batch_size():
    """At the exact, not whole, tau = (T / (7 K ln K))^(1/3): 4 T / tau^3 + sqrt(8 ln(T^2) T / tau^3)."""
    horizon, share = 2**18, 7 * 4 * math.log(4)
    assert 4 * share + math.sqrt(16 * math.log(horizon) * share) == pytest.approx(paper_epsilon(4, horizon), rel=1e-14)
    paper = make_algorithm("EXP3-tau").paper_guarantee(**FIGURE_1)
    assert paper.delta == 2.0**-36
    assert paper.epsilon == pytest.approx(240.22, abs=0.005)  # tau rounded up to 19


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


def test_a_game_that_cannot_be_played_has_no_guarantee():
    """Batches of 19 do not fit into 10 rounds; epsilon = 0 would be the best guarantee there is."""
    algorithm = make_algorithm("EXP3-tau", batch_size=19)
    with refused(ValueError, "batch_size", "horizon"):
        algorithm.guarantee(n_arms=4, horizon=10)


def test_draws_that_pay_are_those_after_the_first_batch():
    """T // tau batches and one more draw for what is left over; the first draw saw nothing."""
    guarantee = make_algorithm("EXP3-tau", batch_size=3).guarantee(n_arms=4, horizon=1001)
    rate = default_exploration_rate(4, 333)
    one = exp3_guarantee(n_arms=4, draws=1, exploration_rate=rate, sensitivity=1 / 3)
    assert guarantee.epsilon == pytest.approx(333 * one.epsilon, rel=1e-14)


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


def test_regret_bound_of_batches_by_hand():
    """Epsilon = 0.25: batches of 4, 250,000 steps of 10^6 (and 3 rounds more), noise of scale 1."""
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
