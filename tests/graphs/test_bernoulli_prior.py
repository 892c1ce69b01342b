"""Coins whose means are drawn for each game: the Bayesian bandit."""

import math

import numpy as np
import pytest

from dp_bandit_envs import play
from dp_bandit_envs.adversaries import BernoulliPrior
from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv, GraphVectorEnv
from dp_bandit_envs.errors import NotAnIntegerError
from dp_bandit_envs.seeding import ADVERSARY, stream
from dp_bandit_envs.simulation import simulate
from tests.tools.refusals import refused


def means_of(trial, seed=3, n_arms=6, prior=(1, 1)):
    """Return the means that a game must have: the first numbers of the adversary's stream."""
    rng = stream(seed, trial=trial, role=ADVERSARY)
    return np.array([rng.beta(*prior) for _ in range(n_arms)])


def test_each_game_draws_means_of_its_own():
    env = GraphEnv("cycle", n_arms=6, horizon=5)
    assert env.adversary.means is None  # before a game
    drawn = []
    for trial in (0, 1, 0, 2):
        env.reset(seed=3, options={"trial": trial})
        drawn.append(env.adversary.means.tolist())
        assert drawn[-1] == means_of(trial).tolist()
    assert drawn[0] == drawn[2]
    assert len({tuple(means) for means in drawn}) == 3
    env.reset()
    assert env.adversary.means.tolist() not in drawn


def test_gains_follow_the_means_of_their_game():
    """A mean over n coins has standard error at most 1 / (2 sqrt(n)); allow five of them.

    False alarm: 7e-6 (five standard errors, two sides, two games of six arms).
    """
    n = 20_000
    adversary = BernoulliPrior(6, n)
    for seed in (1, 2):
        adversary.begin(stream(seed, role=ADVERSARY))
        gains = adversary.next_gains(n)
        assert set(np.unique(gains)) <= {0.0, 1.0}
        assert np.abs(gains.mean(axis=0) - adversary.means).max() < 2.5 / math.sqrt(n)


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (2, 6), (0.5, 0.5)])
def test_means_follow_the_prior(alpha, beta):
    """Beta(a, b) has mean a / (a + b) and variance m (1 - m) / (a + b + 1); allow five standard errors.

    The variance of a number in [0, 1] is estimated with standard error at most 1 / (2 sqrt(n)) / 2, and five of them.

    False alarm: 1.2e-6 (five standard errors, two sides, mean and variance).
    """
    n = 4000
    adversary = BernoulliPrior(n, 1, alpha=alpha, beta=beta)
    adversary.begin(np.random.default_rng(7))
    mean = alpha / (alpha + beta)
    variance = mean * (1 - mean) / (alpha + beta + 1)
    assert abs(adversary.means.mean() - mean) < 5 * math.sqrt(variance / n)
    assert abs(adversary.means.var() - variance) < 5 * 0.25 / math.sqrt(n)
    assert np.all((adversary.means >= 0) & (adversary.means <= 1))


def test_gains_do_not_depend_on_how_rounds_are_cut():
    whole, cut = BernoulliPrior(3, 50), BernoulliPrior(3, 50)
    whole.begin(np.random.default_rng(1))
    cut.begin(np.random.default_rng(1))
    pieces = np.vstack([cut.next_gains(rounds) for rounds in (1, 7, 42)])
    assert np.array_equal(whole.next_gains(50), pieces)
    long = GraphEnv("empty", n_arms=3, horizon=50)
    short = GraphEnv("empty", n_arms=3, horizon=50, block_length=4)
    long.reset(seed=1)
    short.reset(seed=1)
    for t in range(50):
        assert long.step(t % 3)[1] == short.step(t % 3)[1]


@pytest.mark.parametrize("name", ["TS-N", "DP-IMED", "Uniform"])
def test_pseudo_regret_is_that_of_the_means_of_the_game_both_ways(name):
    """Added up here from the arms played and the means that the game must have drawn."""
    algorithm = make_algorithm(name)
    every_round = range(1, 201)
    outcome = simulate(
        "DPBandit-Graph-v0",
        [algorithm],
        horizon=200,
        trials=4,
        seed=3,
        checkpoints=every_round,
        env_kwargs={"graph": "cycle", "n_arms": 6},
    )[name]
    assert outcome.engine == "compiled"
    for trial in range(4):
        means = means_of(trial)
        env = GraphEnv("cycle", n_arms=6, horizon=200)
        game = play(env, algorithm, seed=3, trial=trial)
        by_hand = np.cumsum(means.max() - means[game.arms])
        assert game.pseudo_regret == pytest.approx(by_hand, rel=1e-12)
        assert outcome.pseudo_regret[trial] == pytest.approx(by_hand, rel=1e-12)
    assert len(set(outcome.pseudo_regret[:, -1])) == 4


def test_the_mean_over_games_is_the_bayesian_regret_of_uniform_play():
    """K = 2 and a uniform prior: E max - E mean = 2/3 - 1/2 a round. Its spread over games is at most 1/2 a round."""
    games = 400
    outcome = simulate(lambda: BanditEnv(BernoulliPrior(2, 100)), ["Uniform"], trials=games, checkpoints=[100])[
        "Uniform"
    ]
    assert abs(outcome.pseudo_regret.mean() / 100 - 1 / 6) < 5 * 0.5 / math.sqrt(games)


def test_games_side_by_side_have_regrets_of_their_own_means():
    def make_env():
        return BanditEnv(BernoulliPrior(3, 200))

    outcome = simulate(make_env, ["EXP3"], trials=20, seed=3, checkpoints=[200])["EXP3"]
    assert outcome.engine == "lanes"
    for trial in range(20):
        game = play(make_env(), make_algorithm("EXP3"), seed=3, trial=trial)
        assert outcome.pseudo_regret[trial, -1] == pytest.approx(game.pseudo_regret[-1], rel=1e-12)


def test_games_in_lockstep_have_means_of_their_own():
    many = GraphVectorEnv(3, "empty", n_arms=4, horizon=5)
    many.reset(seed=9)
    for index, adversary in enumerate(many.adversaries):
        assert adversary.means.tolist() == means_of(0, seed=9 + index, n_arms=4).tolist()


def test_the_prior_is_handed_on():
    env = GraphEnv("empty", n_arms=6, prior=(2, 8), horizon=5)
    env.reset(seed=3)
    assert env.adversary.means.tolist() == means_of(0, prior=(2, 8)).tolist()


@pytest.mark.parametrize("name", ["alpha", "beta"])
@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf])
def test_parameters_of_the_prior_must_be_positive(name, value):
    with refused(ValueError, name, 0, f"received {value}"):
        BernoulliPrior(4, 5, **{name: value})


def test_numbers_of_arms_and_rounds_are_checked():
    with refused(ValueError, "n_arms", 2, 1):
        BernoulliPrior(1)
    with refused(NotAnIntegerError, "horizon", 1, 2.5):
        BernoulliPrior(4, 2.5)
