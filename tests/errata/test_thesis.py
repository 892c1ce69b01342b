"""Counterexamples to the thesis (Tossou 2017) that have no place elsewhere: see docs/errata.md."""

import math
from itertools import pairwise

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs  # noqa: F401 registers the environments
from dp_bandit_envs import make_algorithm, play


def test_table_3_1_1_has_the_rates_of_each_others_theorems():
    """At ln t = 1e3 to 1e9: counts of the proofs over rates of the table; a rate that is right has a bounded ratio."""
    logs = np.array([1e3, 1e6, 1e9])
    b = math.sqrt(8) * (math.log(4) + 4 * logs)
    bound = b * (np.log(b) + 7)  # theorem 3.2
    assert np.ptp(bound / (logs * np.log(logs))) < 20
    over_table = bound / (logs * np.log(logs) ** 2)
    assert over_table[-1] < over_table[0] / 2
    needed = ((math.log(4) + 3.5 * logs) * (logs / math.log(2) + 1)) ** 2 / logs  # DP-UCB: ln^3 t
    assert all(later > 100_000 * earlier for earlier, later in pairwise(needed / (logs * np.log(logs))))


def test_a_batch_is_one_arm():
    """The thesis plays by one policy through a batch; a draw in each round would be tau releases and more switches."""
    env = gym.make("DPBandit-Stochastic-v0", n_arms=4, horizon=200)
    arms = play(env, make_algorithm("EXP3-tau", batch_size=10), seed=3).arms.reshape(20, 10)
    assert (arms == arms[:, :1]).all() and len(set(arms[:, 0])) > 1


def thompson_on_a_complete_graph(n_arms, horizon, games, seed=0):
    """Return mean and standard error of the Bayesian regret: one arm, drawn uniformly, has .6, the others .5.

    All gains are seen in every round and the prior is right, so an arm is played with its posterior probability. By
    symmetry arm 0 is the good one; its chance is summed in place of drawing arms.
    """
    rng, regrets = np.random.default_rng(seed), []
    for _ in range(games):
        scores, regret = np.zeros(n_arms), 0.0
        for _ in range(horizon):
            weights = np.exp(scores - scores.max())
            regret += 0.1 * (1 - weights[0] / weights.sum())
            drawn = rng.random(n_arms)
            gains = drawn < 0.5
            gains[0] = drawn[0] < 0.6
            scores += np.where(gains, math.log(0.6 / 0.5), math.log(0.4 / 0.5))
        regrets.append(regret)
    return np.mean(regrets), np.std(regrets, ddof=1) / math.sqrt(games)


@pytest.mark.thorough
def test_the_thesis_bayesian_bound_is_false():
    """A complete graph has chi = 1: sqrt(T / 2) = 13.8 at T = 380; with the entropy ln K under the root 38.0.

    The mean is 31.2 with a standard error near 1.6. False alarm: 1e-6.
    """
    mean, error = thompson_on_a_complete_graph(2000, 380, games=60)
    assert mean - 5 * error > math.sqrt(380 / 2)


@pytest.mark.slow
def test_the_thesis_bayesian_bound_is_false_at_full_size():
    """Four standard errors, twice. False alarm: 1e-4."""
    mean, error = thompson_on_a_complete_graph(2000, 380, games=400)
    assert abs(mean - 31.2) < 4 * math.hypot(error, 0.6)
    assert mean - 20 * error > math.sqrt(380 / 2)
    mean, error = thompson_on_a_complete_graph(20_000, 495, games=60)
    assert abs(mean - 41.4) < 4 * math.hypot(error, 1.0)
    assert mean - 10 * error > math.sqrt(495 / 2)
