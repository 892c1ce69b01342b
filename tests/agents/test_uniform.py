"""The baseline: uniform whatever happens."""

import math

import numpy as np
import pytest

from dp_bandit_envs import simulate
from dp_bandit_envs.agents import Uniform


def test_it_plays_every_arm_alike():
    """Pulls have standard deviation sqrt(T p (1 - p)): allow five.

    False alarm: 3e-6 (five standard errors, two sides, five arms).
    """
    outcome = simulate("DPBandit-Deterministic-v0", ["Uniform"], horizon=100_000, env_kwargs={"n_arms": 5})["Uniform"]
    assert np.all(np.abs(outcome.pulls - 20_000) < 5 * math.sqrt(100_000 * 0.2 * 0.8))


def test_nothing_it_sees_changes_what_it_plays():
    games = []
    for gain in (0.0, 1.0):
        agent = Uniform()
        agent.begin(n_arms=3, horizon=50, rng=np.random.default_rng(7))
        arms = []
        for _ in range(50):
            arms.append(agent.select_arm())
            agent.update(arms[-1], {"gain": np.full(3, gain), "observed": np.ones(3, np.int8)})
        games.append(arms)
        assert agent.probabilities() == pytest.approx([1 / 3] * 3)
    assert games[0] == games[1]


def test_it_never_draws_an_arm_that_does_not_exist():
    class AlmostOne:
        def random(self):
            return math.nextafter(1.0, 0.0)

    for n_arms in (2, 3, 7, 10, 1000):
        agent = Uniform()
        agent.begin(n_arms=n_arms, horizon=1, rng=AlmostOne())
        assert agent.select_arm() == n_arms - 1
