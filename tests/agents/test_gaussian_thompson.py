"""Gaussian Thompson sampling: its draws by hand, arms as often as they are likely to be best, and no guarantee."""

import math

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, play, simulate
from dp_bandit_envs.agents import GaussianThompsonSampling
from tests.tools.invented_releases import begun, told


def test_means_and_deviations_by_hand():
    """Sum 3.5 of 6 is N(3.5 / 7, 1 / 7); an arm without a release keeps N(0, 1)."""
    agent = told(begun(GaussianThompsonSampling(), 3), [3.5, 0, 2], [6, 0, 3])
    assert list(agent._state.means) == [0.5, 0, 0.5]
    assert list(agent._state.deviations) == pytest.approx([1 / math.sqrt(7), 1, 0.5], rel=1e-15)
    # A new release takes the place of the old one; it does not add to it.
    assert list(told(agent, [1, 0, 2], [7, 0, 3])._state.means) == [0.125, 0, 0.5]


def test_two_arms_are_played_as_often_as_the_difference_of_two_normals_is_positive():
    """Phi((4/9 - 1/4) / sqrt(1/9 + 1/4)) = .627 with standard error .0035 in 20,000 draws: five of them are .017.

    False alarm: below 1e-6.
    """
    agent = told(begun(GaussianThompsonSampling(), 2), [4, 0.75], [8, 2])
    assert agent._state.means[1] == 0.25
    agent = told(agent, [4, 1], [8, 3])
    gap = (4 / 9 - 1 / 4) / math.sqrt(1 / 9 + 1 / 4)
    expected = 0.5 * math.erfc(-gap / math.sqrt(2))
    assert expected == pytest.approx(0.627, abs=1e-3)
    rng = np.random.default_rng(0)
    share = np.mean([agent.functions.select(agent._state, rng) == 0 for _ in range(20_000)])
    assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / 20_000)


def test_it_declares_nothing():
    algorithm = make_algorithm("gaussian-ts")
    assert algorithm.guarantee(n_arms=2, horizon=1000).model == "none"


def test_it_learns():
    """It plays the best of two arms in most rounds, which uniform play would lose 180 in 1,000 rounds for."""
    played = simulate("Stochastic", "Gaussian-TS", env_kwargs={"means": [0.2, 0.8]}, horizon=1000, trials=20, seed=0)
    assert played["Gaussian-TS"].pseudo_regret[:, -1].max() < 60


def test_compiled_games_are_those_of_play():
    size = {"n_arms": 5, "horizon": 400, "seed": 3}
    found = simulate("Stochastic", ["Gaussian-TS"], trials=2, checkpoints=9, **size)
    for trial in range(2):
        played = play("Stochastic", "Gaussian-TS", trial=trial, **size).external_regret
        assert found["Gaussian-TS"].external_regret[trial].tolist() == played[found.checkpoints - 1].tolist()
