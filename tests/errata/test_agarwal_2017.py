"""Counterexamples to Agarwal and Singh (2017) that have no place elsewhere: see docs/errata.md."""

import math
from itertools import pairwise

import gymnasium as gym
import numpy as np
import pytest
from scipy import stats

import dp_bandit_envs  # noqa: F401 registers the environments
from dp_bandit_envs import make_algorithm
from tests.tools.exact_laws import best_of_coins


def test_theorem_3_4_is_below_what_every_algorithm_loses():
    """Experts with fair signs, no noise: sqrt(D_R sum |l|^2) = sqrt(T ln N); every algorithm loses E max_i S_i."""
    horizon = 4096
    for n in (10, 1000):
        claimed = math.sqrt(horizon * math.log(n))
        assert claimed < best_of_coins(n, horizon) < 2 * claimed
    assert best_of_coins(1000, horizon) > 1.2 * math.sqrt(horizon * math.log(1000))


def test_gaussian_noise_is_never_purely_private():
    """Theorem 3.5 says epsilon-DP: far out in the tail two normals differ by any factor, whatever sigma is."""
    for sigma in (1.0, 100.0):
        losses = [stats.norm.logsf(c - 1 / sigma) - stats.norm.logsf(c + 1 / sigma) for c in (1, 10, 1000 * sigma)]
        assert losses[0] < losses[1] < losses[2] and losses[2] > 1000


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_the_gaussian_noise_of_theorem_a_1_is_enough(delta):
    """At epsilon = 1, |Y|_2 = 1, from T = 8 on: ln T ln(ln T / delta) against 2 sqrt m sqrt(2 ln(1.25 / delta))."""

    def spare(levels):
        log = levels * math.log(2)
        return log * math.log(log / delta) / (2 * math.sqrt(2 * levels * math.log(1.25 / delta)))

    assert 1 < min(spare(levels) for levels in range(3, 60)) < 2


def test_noise_for_losses_in_minus_one_to_one_is_doubled():
    """Theorem 4.1 and lemma 4.2, lambda = B / epsilon with B = 1: the losses -1 and 1 are 2 apart, not 1."""
    epsilon = 1.0
    loss = stats.laplace.logsf(2, loc=1, scale=1 / epsilon) - stats.laplace.logsf(2, loc=-1, scale=1 / epsilon)
    assert loss == pytest.approx(2 * epsilon)
    env = gym.make("DPBandit-Ball-v0", dimension=3, horizon=1000, feedback="bandit")
    scale = make_algorithm("AS-SCRiBLe", epsilon=epsilon).wrap(env).get_wrapper_attr("noise").scale
    assert stats.laplace.logsf(9, 1, scale) - stats.laplace.logsf(9, -1, scale) <= epsilon + 1e-12


@pytest.mark.parametrize(("d", "horizon", "epsilon", "short"), [(2, 2**16, 1, 9.7), (10, 2**20, 0.1, 11.3)])
def test_the_exploration_of_theorem_4_1_is_too_small(d, horizon, epsilon, short):
    """The proof asks for eta N (1 + 4 lambda ln NT) <= gamma; and ln^2 NT does not become ln T."""
    lam, log = 1 / epsilon, math.log(d * horizon)
    eta = math.sqrt(math.log(d) / (2 * d * horizon * (1 + 2 * lam**2 * log)))
    gamma = eta * d * math.sqrt(1 + 2 * lam**2 * log)
    assert eta * d * (1 + 4 * lam * log) > short * gamma
    ratios = [math.sqrt(1 + (lam * x) ** 2) / (lam * math.sqrt(x)) for x in (10, 1000, 100_000)]
    assert all(later > 5 * earlier for earlier, later in pairwise(ratios))


def test_the_rate_of_theorem_4_5_is_not_always_small_enough():
    """The ball, N = 5, nu = 1, M = 1, epsilon = 1: eta <= 1 / (4 N (M + L)), with |Y|_1 = sqrt N, holds late only."""
    n, lam = 5, math.sqrt(5)

    def allowed(horizon):
        eta = math.sqrt(math.log(horizon) / (2 * n**2 * horizon * (1 + lam**2 * n)))
        return eta <= 1 / (4 * n * (1 + 4 * lam * math.sqrt(n) * math.log(n * horizon)))

    assert not allowed(2**14) and allowed(2**24)


def test_one_estimate_of_scrible_has_n_squared_in_its_local_norm():
    """Theorem D.1 prints N: estimates n z s sqrt(lambda_i) v_i have (n z)^2 in the norm of the inverse Hessian."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(4, 4))
    hessian = root @ root.T + np.eye(4)
    values, vectors = np.linalg.eigh(hessian)
    for i in range(4):
        estimate = 4 * 0.5 * math.sqrt(values[i]) * vectors[:, i]
        assert estimate @ np.linalg.solve(hessian, estimate) == pytest.approx(4**2 * 0.5**2)


def test_privacy_is_not_free_from_one_over_the_root_of_T_on():
    """Experts: N ln N lg^2 T / epsilon <= sqrt(T ln N) asks for epsilon >= N sqrt(ln N) lg^2 T / sqrt T."""
    n, horizon = 10, 2**16
    least = n * math.sqrt(math.log(n)) * 16**2 / math.sqrt(horizon)
    assert least > 15
    assert n * math.log(n) * 16**2 / least == pytest.approx(math.sqrt(horizon * math.log(n)))
    env = gym.make("DPBandit-Experts-v0", n_arms=n, horizon=horizon)
    paid = [make_algorithm("AS-FTRL", epsilon=e).regret_bound_in(env) for e in (1 / math.sqrt(horizon), math.inf)]
    assert paid[0] > 100 * paid[1]


@pytest.mark.parametrize("d", [2, 3, 10, 100, 1000])
def test_ftpl_on_the_ball_needs_no_fourth_root_of_N(d):
    """Curvature of E|G + Z| at G = 0: (d-1)/d E[1/|Z|] = (d-1)/d Gamma((d-1)/2) / (sqrt 2 Gamma(d/2)) <= 1/sqrt d."""
    inverse = math.exp(math.lgamma((d - 1) / 2) - math.lgamma(d / 2)) / math.sqrt(2)
    assert 0.88 < math.sqrt(d) * (d - 1) / d * inverse < 1
    s = math.sqrt(2**16 / (2 * d))
    assert s * math.sqrt(d) + 2**16 / (2 * s * math.sqrt(d)) == pytest.approx(math.sqrt(2 * 2**16))


def test_table_2_hides_the_dimension():
    """The ball: four times the dimension is four times the bound, not twice; with the paper's vector noise 16 times."""
    bounds = {}
    for name in ("AS-SCRiBLe", "AS-OSMD"):
        for d in (25, 100):
            env = gym.make("DPBandit-Ball-v0", dimension=d, horizon=2**40, feedback="bandit")
            bounds[name, d] = make_algorithm(name, epsilon=0.1).regret_bound_in(env)
        assert 3.8 < bounds[name, 100] / bounds[name, 25] < 4.2
    # Theorem 4.5: sqrt(N^2 nu (M^2 + N |X|^2 |Y|_1^2 / epsilon^2)) with |Y|_1 = sqrt N.
    printed = [math.sqrt(d**2 * (1 + d * d / 0.01)) for d in (25, 100)]
    assert printed[1] / printed[0] == pytest.approx(16, rel=0.01)


def test_the_bound_of_as_exp2():
    """10 arms, T = 2^16, epsilon = 1, gains in [0, 1]: exploring costs gamma T; for losses in [-1, 1] 2 gamma T."""
    n, horizon, root = 10, 2**16, math.sqrt(3)  # 1 + 2 lambda^2 = 3
    c = math.sqrt(10) * math.log(n * horizon)
    parts = [math.sqrt(n * horizon * math.log(n)) * part for part in (2 * root, (1 + c) / root)]
    assert parts[0] + 2 * parts[1] == pytest.approx(65_700, rel=0.01)
    env = gym.make("DPBandit-Stochastic-v0", n_arms=n, horizon=horizon)
    assert make_algorithm("AS-EXP2", epsilon=1.0).regret_bound_in(env) == pytest.approx(sum(parts), rel=0.001)
