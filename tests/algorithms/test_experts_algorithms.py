"""Algorithms for prediction with expert advice: limits, guarantees, and regret where it is known from elsewhere."""

import math

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.agents import Hedge
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from tests.tools.playable import EXPERTS, FULL_INFORMATION

WITH_DELTA = ["DP-Hedge", "Lazy-Hedge"]
WITH_BOUND = ["Hedge", "DP-Hedge", "Lazy-Hedge", "Noisy-Hedge"]
K, T, GAP = 10, 2**16, 0.1
MEANS = [0.5 + GAP / 2, *[0.5 - GAP / 2] * (K - 1)]


def test_with_infinite_epsilon_lazy_hedge_and_dp_hedge_still_guarantee_what_hedge_does():
    size = {"n_arms": 4, "horizon": 1000}
    expected = make_algorithm("Hedge").guarantee(**size)
    assert expected.rho == pytest.approx(4 * math.log(4) * 999 / 1000)
    for name in WITH_DELTA:
        found = make_algorithm(name, epsilon=math.inf, delta=1e-6).guarantee(**size)
        assert found.rho == pytest.approx(expected.rho) and found.epsilon == pytest.approx(expected.epsilon_at(1e-6))
    assert make_algorithm("DP-Epochs", epsilon=math.inf).guarantee(**size).model == "none"
    pure = make_algorithm("DP-Epochs", epsilon=0.5).guarantee(**size)
    assert (pure.epsilon, pure.delta, pure.rho) == (0.5, 0.0, 0.5**2 / 8)


def test_a_requested_guarantee_is_given():
    for n_arms, horizon in [(2, 1), (2, 2), (10, 500), (1000, 2**18)]:
        for epsilon, delta in [(0.1, 1e-6), (1.0, 1e-10), (5.0, 1e-3)]:
            for name in WITH_DELTA:
                found = make_algorithm(name, epsilon=epsilon, delta=delta).guarantee(n_arms=n_arms, horizon=horizon)
                assert found.epsilon <= epsilon and found.delta == delta
                # Where the game is long enough for privacy to bind, what is asked is met.
                if horizon >= 500 and epsilon < 5:
                    # Lazy-Hedge is made by rho, and its curve says less.
                    assert found.epsilon >= epsilon * (0.85 if name == "Lazy-Hedge" else 1 - 1e-6)


def test_noise_of_noisy_hedge_is_for_all_gains_of_a_round_and_it_undoes_the_rescaling():
    """Scores are rate * sum of noisy gains, and what all arms share cancels: compare with the noise taken apart."""
    algorithm = make_algorithm("Noisy-Hedge", epsilon=2.0)
    env = algorithm.wrap(ExpertsEnv(4, 200))
    assert env.noise.scale == pytest.approx(2.0, rel=2e-9)
    assert env.guarantee.model == "local" and env.guarantee.epsilon == 2.0
    bound = env.noise.bound
    assert bound == pytest.approx(2 * math.log(200))
    rate = Hedge(learning_rate=algorithm.agent().learning_rate).rate(4, 200) / (1 + 2 * bound)
    assert rate == pytest.approx(math.sqrt(math.log(4) / (200 * (1 / 8 + 4))))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [name if name == "Lazy-Hedge" else pytest.param(name, marks=pytest.mark.slow) for name in FULL_INFORMATION]
)
def test_the_complete_graph_is_the_same_game(name):
    algorithm = make_algorithm(name)
    given = {"gains": Stochastic(4, 400)}
    outcomes = [
        simulate(make, [algorithm], trials=2, seed=3, checkpoints=range(1, 401))[name]
        for make in (lambda: ExpertsEnv(**given), lambda: GraphEnv("complete", **given))
    ]
    np.testing.assert_array_equal(outcomes[0].external_regret, outcomes[1].external_regret)
    assert [outcome.engine for outcome in outcomes] == ["compiled"] * 2


def last_regrets(algorithms, trials, *, horizon=T, measure="external_regret", **env_kwargs):
    simulation = simulate(
        EXPERTS, algorithms, horizon=horizon, trials=trials, seed=1, checkpoints=1, env_kwargs=env_kwargs
    )
    return {name: getattr(outcome, measure)[:, -1] for name, outcome in simulation.items()}


def mean_and_error(sample):
    return sample.mean(), sample.std(ddof=1) / math.sqrt(len(sample))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("gains", "epsilon", "n_arms"),
    [("Deterministic", 0.3, K), pytest.param("Oblivious", 3.0, 4, marks=pytest.mark.slow)],
)
def test_mean_regret_is_below_the_bound(gains, epsilon, n_arms):
    """The mean less five standard errors.

    False alarm: 1e-5 (the closest bound is two standard errors above the mean, so seven must come together).
    """
    algorithms = [make_algorithm(name, **({} if name == "Hedge" else {"epsilon": epsilon})) for name in WITH_BOUND]
    regrets = last_regrets(algorithms, 24, horizon=2000, n_arms=n_arms, gains=gains)
    for algorithm in algorithms:
        bound = algorithm.regret_bound(n_arms=n_arms, horizon=2000, sensitivity=float(n_arms))
        mean, error = mean_and_error(regrets[algorithm.name])
        assert math.isfinite(bound) and mean - 5 * error <= bound, algorithm.name


@pytest.mark.parametrize("means", [(0.9, 0.6), (0.6, 0.5, 0.5, 0.4)])
def test_pseudo_regret_of_dp_epochs_is_below_its_bound(means):
    """The mean less five standard errors; the bound is for independent gains only. False alarm: 1e-6."""
    algorithm = make_algorithm("DP-Epochs")
    assert algorithm.regret_bound(n_arms=4, horizon=1000) == math.inf
    regret = last_regrets([algorithm], 200, horizon=4096, measure="pseudo_regret", means=means)["DP-Epochs"]
    mean, error = mean_and_error(regret)
    assert mean - 5 * error <= algorithm.pseudo_regret_bound(means=means, horizon=4096)


# Specified means and standard errors, of an independent prototype, and the settings they were found with.
SPECIFIED = {"Hedge": (133, 9), "DP-Epochs": (40, 13), "Noisy-Hedge": (4201, 620)}


@pytest.mark.thorough
@pytest.mark.parametrize("trials", [30, pytest.param(100, marks=pytest.mark.slow)])
def test_regret_is_the_specified_one(trials):
    """Five standard errors of both means. False alarm: 1e-4 (Student's law for 30 games, three comparisons).

    The laws of lazy Hedge's arms are exact in `tests/agents/test_hedge.py`.
    """
    algorithms = [make_algorithm(name) for name in ("Hedge", "DP-Hedge", "DP-Epochs", "Lazy-Hedge", "Noisy-Hedge")]
    regrets = last_regrets(algorithms, trials, means=MEANS)
    for name, (expected, its_error) in SPECIFIED.items():
        mean, error = mean_and_error(regrets[name])
        assert abs(mean - expected) < 5 * math.hypot(error, its_error), (name, mean, error)
    for name in WITH_BOUND:
        mean, error = mean_and_error(regrets[name])
        assert mean - 5 * error < make_algorithm(name).regret_bound(n_arms=K, horizon=T), name


@pytest.mark.slow
def test_identical_fair_coins_cost_every_algorithm_the_same():
    """E max_i G_i - T / 2 for all: for two arms sqrt(T / (4 pi)) nearly. Within five standard errors.

    False alarm: 3e-6 (five algorithms).
    """
    algorithms = [make_algorithm(name) for name in FULL_INFORMATION]
    regrets = last_regrets(algorithms, 1500, horizon=400, means=[0.5, 0.5])
    for name, sample in regrets.items():
        mean, error = mean_and_error(sample)
        assert abs(mean - math.sqrt(400 / (4 * math.pi))) < 5 * error, name
