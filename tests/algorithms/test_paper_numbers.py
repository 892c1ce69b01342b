"""The papers' default parameters and figures, as numbers; and EXP3-tau's batches for a given (epsilon, delta)."""

import math

import gymnasium as gym
import pytest

from dp_bandit_envs import make_algorithm
from dp_bandit_envs.agents.exp3 import default_exploration_rate
from dp_bandit_envs.algorithms import paper_epsilon
from dp_bandit_envs.algorithms.exp3_family import batches_guarantee, private_batch_size
from dp_bandit_envs.theory.adversarial_bounds import (
    exp3_regret_bound,
    htinf_regret_bound,
    laplace_batch_size,
    switching_batch_size,
    tsallis_regret_bound,
)
from tests.tools.refusals import missing, refused

K, T = 4, 2**18


def wrapped(name, n_arms=K, horizon=T, **parameters):
    return make_algorithm(name, **parameters).wrap(gym.make("DPBandit-Stochastic-v0", n_arms=n_arms, horizon=horizon))


def first_state(env):
    """Return what the outermost mechanism begins a game with, and see that agents are told the same noise."""
    state = env.mechanism.new_state(env.inputs)
    assert (env.noise.scale, env.noise.bound) == (state.scale, state.bound)
    return state


def agent_above(algorithm, env):
    """Return its agent, told of the noise as `play` and `simulate` do."""
    agent = algorithm.agent()
    agent.see_noise(env.noise)
    return agent


def test_the_papers_epsilon():
    # Corollary 3.2: 28 K ln K + sqrt(112 K ln K ln T) = 155.26 + 88.02 at K = 4, T = 2^18.
    assert paper_epsilon(K, T) == pytest.approx(243.29, abs=0.005)
    assert 28 * 4 * math.log(4) == pytest.approx(155.26, abs=0.01)


def test_the_papers_batch_size():
    # Corollary 3.2: (7 K ln K)^(-1/3) T^(1/3) = 18.90, so tau = 19 and 13,797 batches.
    assert math.cbrt(T / (7 * K * math.log(K))) == pytest.approx(18.90, abs=0.005)
    assert switching_batch_size(K, T) == 19
    # Rounded up: 24^3 * 7 K ln K = 536,595.7, so a round more needs another unit.
    assert [switching_batch_size(K, horizon) for horizon in (536_595, 536_596)] == [24, 25]
    env = wrapped("EXP3-tau")
    assert (env.batch_size, env.horizon, env.sensitivity) == (19, 13797, pytest.approx(1 / 19))
    # Algorithm 1 with J = T // tau rounds: gamma = sqrt(K ln K / ((e - 1) J)). Batches never outlast the game.
    state = make_algorithm("EXP3-tau").agent().initial_state(K, env.horizon)
    assert state.exploration_rate == pytest.approx(math.sqrt(K * math.log(K) / ((math.e - 1) * 13797)))
    assert wrapped("EXP3-tau", horizon=3).horizon >= 1 and wrapped("Batched-Lap-EXP3", horizon=3, epsilon=0.01).horizon


def test_what_exp3_tau_really_guarantees_and_what_its_paper_claims():
    guarantee = make_algorithm("EXP3-tau").guarantee(n_arms=K, horizon=T)
    # 13,797 draws, each moved by at most .3417 / 19; the bound 1 / 19 alone gave 26.6 at delta = T^-2.
    assert guarantee.epsilon == pytest.approx(13797 * 0.3417 / 19, rel=1e-4)
    assert guarantee.epsilon_at(T**-2) == pytest.approx(1.436, abs=0.001)
    claimed = make_algorithm("EXP3-tau").paper_guarantee(n_arms=K, horizon=T)
    # 4 T / tau^3 + sqrt(16 ln T T / tau^3) with T / tau^3 = 38.219: 152.9 + 87.3 (its rounding of tau gives 243.3).
    assert claimed.epsilon == pytest.approx(240.2, abs=0.1)
    assert claimed.delta == pytest.approx(T**-2)


def test_what_exp3_guarantees_by_itself():
    guarantee = make_algorithm("EXP3").guarantee(n_arms=K, horizon=T)
    assert guarantee.epsilon == pytest.approx(0.34106 * T, rel=1e-4)
    assert guarantee.epsilon_at(T**-2) == pytest.approx(109.4, abs=0.1)
    # With exploration rate .9 the mixture's ratio, ln((4 * .1 + .9) / .9) = 0.3677, is the smaller one.
    explorer = make_algorithm("EXP3", exploration_rate=0.9).guarantee(n_arms=4, horizon=10)
    assert explorer.epsilon == pytest.approx(10 * math.log(1.3 / 0.9))
    assert make_algorithm("EXP3", exploration_rate=1).guarantee(n_arms=4, horizon=10).epsilon == 0


def test_algorithm_1_keeps_what_is_within_ln_T_over_epsilon():
    state = first_state(wrapped("DP-EXP3-Lap", epsilon=2.0))
    assert (state.scale, state.bound, state.reject) == pytest.approx((0.5, math.log(T) / 2, True))


def test_batches_of_one_over_epsilon():
    for name in ["Batched-Lap-EXP3", "Batched-Lap-HTINF"]:
        for epsilon, expected in [
            (1.0, 1),
            (20.0, 1),
            (math.inf, 1),
            (0.5, 2),
            (0.3, 4),
            (0.1, 10),
            (0.01, 100),
            (0.003, 334),
        ]:
            assert laplace_batch_size(epsilon) == expected
            env = wrapped(name, epsilon=epsilon)
            assert env.horizon == T // expected
            state = first_state(env)
            assert state.scale <= 1 + 2e-9
            if expected > 1:
                assert state.scale == pytest.approx(1 / (expected * epsilon))
                # b = scale * ln of the number of releases.
                assert state.bound == pytest.approx(state.scale * math.log(T // expected))


def test_batched_htinf_uses_the_papers_second_moment_and_undoes_the_rescaling():
    algorithm = make_algorithm("Batched-Lap-HTINF", epsilon=0.3)
    env = wrapped("Batched-Lap-HTINF", epsilon=0.3)
    state = agent_above(algorithm, env).initial_state(K, env.horizon)
    assert state.sigma == pytest.approx(math.sqrt(6))
    assert state.bound == pytest.approx(first_state(env).bound, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 7.0])
def test_lambda_htinf_learns_behind_its_own_noise(epsilon):
    algorithm = make_algorithm("DP-Lambda-Lap", epsilon=epsilon, base="HTINF")
    env = wrapped("DP-Lambda-Lap", epsilon=epsilon, base="HTINF")
    state = agent_above(algorithm, env).initial_state(K, env.horizon)
    # E[(1 - g - N)^2] <= 1 + 2 / epsilon^2.
    assert state.sigma == pytest.approx(math.sqrt(1 + 2 / epsilon**2))
    assert state.bound == pytest.approx(first_state(env).bound, rel=1e-12)
    given = {"epsilon": epsilon, "base": "HTINF", "bound": 0.7}
    agent = agent_above(make_algorithm("DP-Lambda-Lap", **given), wrapped("DP-Lambda-Lap", **given))
    assert agent.initial_state(K, 100).bound == 0.7


def test_bounds_by_hand():
    # 2 sqrt((e - 1) T K ln K) = 2 sqrt(1.718282 * 262144 * 5.545177).
    assert exp3_regret_bound(K, T) == pytest.approx(3160.9, abs=0.1)
    assert tsallis_regret_bound(4, 10_000) == 801.0
    # sigma sqrt(T) (2 (sqrt K - 1) + 4 sqrt K + 2 sqrt K / Theta) with K = 4, T = 100, sigma = 2: 20 (2 + 8 + 19.39).
    assert htinf_regret_bound(4, 100, 2.0) == pytest.approx(587.8, abs=0.1)
    # DP-EXP3-Lap: (2 ln T / epsilon + 1) times EXP3's, and a bias of (ln T + 1) / epsilon + 1/2.
    found = make_algorithm("DP-EXP3-Lap", epsilon=2.0).regret_bound(n_arms=K, horizon=T)
    log = math.log(T)
    assert found == pytest.approx((log + 1) * exp3_regret_bound(K, T) + (log + 1) / 2 + 0.5)
    # Batched at epsilon = 0.1: 10 times that of T / 10 steps with noise of scale 1, plus the 4 rounds left over.
    steps, log = T // 10, math.log(T // 10)
    expected = 10 * ((2 * log + 1) * exp3_regret_bound(K, steps) + log + 1.5) + T % 10
    assert make_algorithm("Batched-Lap-EXP3", epsilon=0.1).regret_bound(n_arms=K, horizon=T) == pytest.approx(expected)


@pytest.mark.thorough
def test_private_batch_size_is_the_inverse_of_the_guarantee():
    """Enough at this size; and at no smaller one, by trying them all."""
    assert private_batch_size(4, 1000, math.inf, 0.1) == private_batch_size(4, 2, math.inf, 0.1) == 1
    for delta in [1e-2, 2.0**-36]:
        for epsilon in [0.1, 1.0, 243.29]:
            for horizon in [300, 2139, 2**14]:
                try:
                    size = private_batch_size(4, horizon, epsilon, delta)
                except ValueError as error:
                    assert missing(str(error), "horizon", horizon) == []
                    size = horizon + 1
                else:
                    algorithm = make_algorithm("EXP3-tau", epsilon=epsilon, delta=delta)
                    guarantee = algorithm.guarantee(n_arms=4, horizon=horizon)
                    assert guarantee.epsilon_at(delta) <= epsilon and guarantee.delta == delta
                    assert guarantee.epsilon_at(delta) == batches_guarantee(4, horizon, size).epsilon_at(delta)
                for smaller in range(1, size):
                    # Batches so large that EXP3 plays uniformly are no answer.
                    if default_exploration_rate(4, horizon // smaller) < 1:
                        assert batches_guarantee(4, horizon, smaller).epsilon_at(delta) > epsilon


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("horizon", "epsilon", "expected", "before"), [(2**18, 1.0, 26, 150), (2**22, 1.0, 47, 403), (2**14, 0.1, 92, 252)]
)
def test_private_batch_sizes_at_delta_t_to_the_minus_two(horizon, epsilon, expected, before):
    """Before: T / (8 tau^3) <= rho with rho + 2 sqrt(rho ln(1 / delta)) = epsilon."""
    log = 2 * math.log(horizon)
    assert math.ceil(math.cbrt(horizon / (8 * (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2))) == before
    assert private_batch_size(4, horizon, epsilon, horizon**-2.0) == expected


@pytest.mark.thorough
def test_where_the_theorem_ends_batches_are_not_lost():
    """K = 10, T = 2^14, epsilon = .1: between batches for which the theorem, and the older bound, is enough, a gap.

    K = 20, T = 132: at 16 rounds a batch, 8 steps, the exploration rate is 1 and nothing is lost.
    """
    size = private_batch_size(10, 2**14, 0.1, 2.0**-28)
    assert size == 110
    holds = [batches_guarantee(10, 2**14, tau).epsilon_at(2.0**-28) <= 0.1 for tau in range(size - 1, 253, 13)]
    assert not holds[0] and holds[1] and holds[-1] and not all(holds[1:])
    assert default_exploration_rate(20, 132 // 16) == 1
    assert private_batch_size(20, 132, 0.39, 2.9e-6) == 16
    assert batches_guarantee(20, 132, 18).epsilon == 0
    with refused(ValueError, "horizon", 132):
        private_batch_size(20, 132, 0.01, 2.9e-6)
