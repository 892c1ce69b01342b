"""AdaC-UCB: Gaussian block sums and an index in one root; its rho, its calibration, and its place beside AdaP-UCB."""

import math

import pytest

from dp_bandit_envs import BanditEnv, calibrate, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.agents import GaussianUcb
from dp_bandit_envs.errors import UnreachableGuaranteeError
from dp_bandit_envs.wrappers import BlockSums
from tests.tools.refusals import refused

SIZE = {"n_arms": 4, "horizon": 1000}
MEANS = [0.5, 0.4, 0.4, 0.3]


def test_it_states_the_rho_of_one_gaussian_release():
    """The smallest deviation for (1, 1e-6) is 4.2247: rho = 1 / (2 * 4.2247^2) = 0.02801."""
    guarantee = make_algorithm("AdaC-UCB").guarantee(**SIZE)
    assert (guarantee.epsilon, guarantee.delta, guarantee.model) == (1.0, 1e-6, "central")
    assert guarantee.rho == pytest.approx(0.02801, abs=1e-5)
    assert guarantee.covers == "arms and releases" and "one block" in guarantee.theorem
    for rho in (1e-4, 0.02801, 0.5):
        found = make_algorithm("AdaC-UCB", rho=rho).guarantee(**SIZE)
        assert (1 - 1e-3) * rho < found.rho <= rho


def test_it_is_calibrated_to_a_pair_and_a_rho_stays():
    found = calibrate("AdaC-UCB", epsilon=0.5, delta=1e-6, **SIZE)
    assert found.guarantee(**SIZE).epsilon_at(1e-6) == pytest.approx(0.5, rel=1e-6)
    with refused(UnreachableGuaranteeError, "AdaC-UCB", 1):
        calibrate("AdaC-UCB", rho=0.1, epsilon=1, delta=1e-6, **SIZE)


def test_without_noise_the_index_is_that_of_the_gains_alone():
    """At epsilon = inf the second term is gone: it is UCB in episodes with sqrt(alpha ln t / (2 n))."""
    env = BlockSums(BanditEnv(Stochastic(means=MEANS, horizon=3000)), epsilon=math.inf, delta=1e-6)
    agent = GaussianUcb()
    play(env, agent, seed=3)
    assert agent._state.variance == 0.0
    assert min(agent._state.spreads) == pytest.approx(math.sqrt(0.5 / 512), rel=1e-12)


def test_play_and_simulate_agree():
    outcome = simulate("Stochastic", "AdaC-UCB", **SIZE, trials=2, seed=8)["AdaC-UCB"]
    played = play("Stochastic", "AdaC-UCB", **SIZE, seed=8, trial=1)
    assert outcome.external_regret[1][-1] == played.external_regret[-1]


def test_gaussian_noise_costs_less_than_laplace_noise_at_one_epsilon_and_a_delta():
    """T = 10^5, epsilon = 1 (delta 1e-6): 928 against 1,329 in 100 games, 17 standard errors. False alarm: 1e-20."""
    names = ("AdaC-UCB", "AdaP-UCB")
    results = simulate(
        "Stochastic", names, horizon=10**5, trials=100, seed=0, checkpoints=1, env_kwargs={"means": MEANS}
    )
    one, other = (results[name].pseudo_regret[:, -1] for name in names)
    error = (other - one).std(ddof=1) / 10
    assert (other - one).mean() > 5 * error
    bound = make_algorithm("AdaC-UCB").pseudo_regret_bound(means=MEANS, horizon=10**5)
    assert one.mean() < bound < make_algorithm("AdaP-UCB").pseudo_regret_bound(means=MEANS, horizon=10**5)


def test_wrong_parameters_are_refused():
    for parameters, words in (
        ({"rho": 0}, ("rho", 0)),
        ({"rho": 1e9}, ("rho", 1e9)),
        ({"rho": 0.1, "epsilon": 0.3}, ("epsilon", "rho")),
        ({"alpha": 0}, ("alpha", 0)),
        ({"delta": 0}, ("delta", 0)),
    ):
        with refused(ValueError, *words):
            make_algorithm("AdaC-UCB", **parameters)
    assert make_algorithm("AdaC-UCB", alpha=2.0).pseudo_regret_bound(means=MEANS, horizon=99) == math.inf
