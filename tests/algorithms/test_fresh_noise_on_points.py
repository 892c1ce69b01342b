"""Noisy-Hedge on points: fresh noise in each coordinate and round."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.algorithms.hedge_family import noisy_hedge
from dp_bandit_envs.algorithms.leader_family import as_ftrl
from dp_bandit_envs.simulation import play, simulate
from dp_bandit_envs.theory.experts_bounds import fresh_noise_bound, fresh_noise_rate

SETS = ("Ball", "Cube", "Simplex")


@pytest.mark.parametrize("name", SETS)
def test_play_equals_simulate(name):
    env_id, algorithm = f"DPBandit-{name}-v0", make_algorithm("Noisy-Hedge", epsilon=2.0)
    out = simulate(env_id, [algorithm], horizon=50, trials=2, seed=3, checkpoints=range(1, 51))["Noisy-Hedge"]
    game = play(gym.make(env_id, horizon=50), algorithm, seed=3, trial=1)
    assert out.engine == "compiled" and np.array_equal(out.external_regret[1], game.external_regret)


@pytest.mark.parametrize(("name", "distance"), [("Ball", 2 * math.sqrt(10)), ("Cube", 2.0), ("Simplex", 10.0)])
def test_the_noise_is_scaled_to_two_gain_vectors(name, distance):
    game = gym.make(f"DPBandit-{name}-v0", horizon=100).unwrapped
    algorithm = make_algorithm("Noisy-Hedge", epsilon=0.5)
    below = algorithm.wrap(game).env
    assert below.get_wrapper_attr("noise").scale == pytest.approx(distance / 0.5)
    assert algorithm.guarantee_in(game).epsilon == 0.5 and algorithm.guarantee_in(game).model == "local"


@pytest.mark.parametrize("name", SETS)
def test_without_noise_it_is_the_regularised_leader(name):
    """The rates differ on the simplex only by rounding: sqrt(ln d / (T / 8)) and sqrt(8 ln d / T)."""
    env_id = f"DPBandit-{name}-v0"
    learners = [
        make_algorithm("Noisy-Hedge", epsilon=math.inf),
        make_algorithm("AS-FTRL", epsilon=math.inf, counter="binary"),
    ]
    out = simulate(env_id, learners, horizon=200, trials=2, checkpoints=50)
    fresh, leader = (out[one.name].external_regret for one in learners)
    assert fresh == pytest.approx(leader, abs=1e-6)


@pytest.mark.parametrize("set_name", ["ball", "cube"])
def test_the_bound_is_that_of_the_rate_with_the_smallest_one(set_name):
    rate = fresh_noise_rate(set_name, 10, 5000, 6.3)
    best = fresh_noise_bound(set_name, 10, 5000, rate, 6.3)
    assert best < fresh_noise_bound(set_name, 10, 5000, 1.1 * rate, 6.3)
    assert best < fresh_noise_bound(set_name, 10, 5000, rate / 1.1, 6.3)


def test_the_bound_by_hand():
    # Ball: A = 1/2, d = 4, T = 100, b = 2: 1 / (2 * 0.1) + 0.05 * 100 * (1 + 2 * 4 * 4) + 2 * 2 = 5 + 165 + 4.
    assert fresh_noise_bound("ball", 4, 100, 0.1, 2.0) == pytest.approx(174)
    # Cube: A = d / 2 = 2, and the clipped part is d b = 8.
    assert fresh_noise_bound("cube", 4, 100, 0.1, 2.0) == pytest.approx(20 + 165 + 8)


@pytest.mark.parametrize("name", SETS)
def test_regret_is_within_the_bound(name):
    """The mean of 12 games, four standard errors below the bound. False alarm: 6e-5."""
    env_id, algorithm = f"DPBandit-{name}-v0", make_algorithm("Noisy-Hedge", epsilon=3.0)
    out = simulate(env_id, [algorithm], horizon=4096, trials=12, env_kwargs={"gap": 0.5}, checkpoints=1)
    regret = out["Noisy-Hedge"].external_regret[:, -1]
    bound = algorithm.regret_bound_in(gym.make(env_id, horizon=4096))
    assert 0 < regret.mean() + 4 * regret.std() / math.sqrt(12) < bound < 4096 * 2


def test_it_is_a_baseline_and_no_papers_algorithm():
    """Thakurta and Smith read sums from a tree; table 1's previous best for experts has the order of DP-Hedge."""
    algorithm = make_algorithm("Noisy-Hedge")
    assert "Thakurta" not in algorithm.reference and "A baseline, and no paper's best" in noisy_hedge.__doc__
    assert "previous best" in noisy_hedge.__doc__ and "`DP-Hedge`" in noisy_hedge.__doc__


@pytest.mark.parametrize("seed", [0, 1])
def test_the_first_play_of_as_ftrl_uses_no_noise(seed):
    """Line 3 of algorithm 1 draws noise for it, too; its docstring says where the two differ."""
    env = make_algorithm("AS-FTRL").wrap(gym.make("DPBandit-Ball-v0", horizon=2, dimension=3))
    observation, _ = env.reset(seed=seed)
    assert not np.any(observation["sum"])
    observation, *_ = env.step(np.zeros(3))
    assert np.all(observation["sum"])
    assert "the first play, which uses no noise" in as_ftrl.__doc__
