"""Coins whose means are drawn for each game: the Bayesian bandit."""

import math

import numpy as np
import pytest

from dp_bandit_envs import play
from dp_bandit_envs.adversaries import BernoulliPrior
from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv, GraphVectorEnv
from dp_bandit_envs.seeding import ADVERSARY, stream
from dp_bandit_envs.simulation import simulate


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
    many = GraphVectorEnv(3, "empty", n_arms=4, prior=(2, 8), horizon=5)
    many.reset(seed=9)
    for index, adversary in enumerate(many.adversaries):
        assert adversary.means.tolist() == means_of(0, seed=9 + index, n_arms=4, prior=(2, 8)).tolist()


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


@pytest.mark.thorough
def test_pseudo_regret_is_that_of_the_means_of_the_game_both_ways():
    """Added up here from the arms played and the means that the game must have drawn."""
    algorithm, game = make_algorithm("TS-N"), {"graph": "cycle", "n_arms": 6}
    outcome = simulate(("Graph", game), [algorithm], horizon=200, trials=4, seed=3, checkpoints=range(1, 201))["TS-N"]
    assert outcome.engine == "compiled"
    for trial in range(4):
        means = means_of(trial)
        played = play(GraphEnv(horizon=200, **game), algorithm, seed=3, trial=trial)
        by_hand = np.cumsum(means.max() - means[played.arms])
        assert played.pseudo_regret == pytest.approx(by_hand, rel=1e-12)
        assert outcome.pseudo_regret[trial] == pytest.approx(by_hand, rel=1e-12)
    assert len(set(outcome.pseudo_regret[:, -1])) == 4


def test_the_mean_over_games_is_the_bayesian_regret_of_uniform_play():
    """K = 2 and a uniform prior: E max - E mean = 2/3 - 1/2 a round. Its spread over games is at most 1/2 a round."""
    games = 400
    outcome = simulate(lambda: BanditEnv(BernoulliPrior(2, 100)), ["Uniform"], trials=games, checkpoints=[100])[
        "Uniform"
    ]
    assert abs(outcome.pseudo_regret.mean() / 100 - 1 / 6) < 5 * 0.5 / math.sqrt(games)


@pytest.mark.thorough
def test_games_side_by_side_have_regrets_of_their_own_means():
    def make_env():
        return BanditEnv(BernoulliPrior(4, 200))

    outcome = simulate(make_env, ["EXP3"], trials=20, seed=3, checkpoints=[200])["EXP3"]
    assert outcome.engine == "lanes"
    for trial in range(20):
        game = play(make_env(), make_algorithm("EXP3"), seed=3, trial=trial)
        assert outcome.pseudo_regret[trial, -1] == pytest.approx(game.pseudo_regret[-1], rel=1e-12)
