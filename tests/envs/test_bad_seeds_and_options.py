"""Wrong seeds and options of reset are refused by name, under every wrapper, and leave the game as it was."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import wrappers
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.wrappers import vector
from tests.tools.plays import play
from tests.tools.refusals import refused

MAKERS = {
    **{id_: lambda id_=id_: gym.make(id_, horizon=9) for id_ in IDS},
    **{f"{id_}, vector": lambda id_=id_: gym.make_vec(id_, num_envs=2, horizon=9) for id_ in IDS},
    "Laplace": lambda: wrappers.LaplaceClipRescale(gym.make("DPBandit-Deterministic-v0", horizon=9), epsilon=1.0),
    "Hybrid": lambda: wrappers.HybridSums(gym.make("DPBandit-Deterministic-v0", horizon=9), epsilon=1.0),
    "Laplace, vector": lambda: vector.LaplaceClipRescale(
        gym.make_vec("DPBandit-Deterministic-v0", num_envs=2, horizon=9), epsilon=1.0
    ),
    "Hybrid, vector": lambda: vector.HybridSums(
        gym.make_vec("DPBandit-Deterministic-v0", num_envs=2, horizon=9), epsilon=1.0
    ),
}

every_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


def arms(env):
    return play(env, [0, 1] if isinstance(env, gym.vector.VectorEnv) else 1)


def goes_on_after(env, error, *words, **wrong):
    """Assert that a reset is refused, and that the game goes on, and the next one begins, as if it had not been."""
    twin = env()
    env = env()
    for each in (env, twin):
        each.reset(seed=1)
        each.step(arms(each))
    with refused(error, *words):
        env.reset(**wrong)
    for call in (lambda each: each.step(arms(each)), lambda each: each.reset(), lambda each: each.step(arms(each))):
        np.testing.assert_equal(call(env), call(twin))


@every_maker
@pytest.mark.parametrize("options", [3, "trial", [3], (("trial", 1),), 1.5, True, {3}], ids=repr)
def test_options_must_be_a_dict(make, options):
    goes_on_after(make, TypeError, "options", "dict", options=options)


@every_maker
@pytest.mark.parametrize("trial", [-1, 2**32, None, "first", 1.5], ids=repr)
def test_the_trial_must_be_a_number(make, trial):
    goes_on_after(make, ValueError, "trial", seed=5, options={"trial": trial})


@every_maker
@pytest.mark.parametrize("seed", [-1, 2**128, "seven", 1.5, True, np.nan], ids=repr)
def test_the_seed_must_be_a_number(make, seed):
    goes_on_after(make, ValueError, "seed", seed=seed)


@pytest.mark.parametrize("name", [name for name in MAKERS if "vector" in name])
@pytest.mark.parametrize("seed", [[1], [1, 2, 3], [1, -1], [1, "two"], [], {1, 2}, 2**128 - 1, [7, 7]], ids=repr)
def test_seeds_of_many_games_must_be_one_for_each(name, seed):
    """Two games with one seed would have one noise."""
    goes_on_after(MAKERS[name], ValueError, "seed", seed=seed)


def test_numpys_integers_and_arrays_are_seeds_too():
    env, again = MAKERS["DPBandit-Stochastic-v0"](), MAKERS["DPBandit-Stochastic-v0"]()
    env.reset(seed=np.int64(7))
    again.reset(seed=7)
    np.testing.assert_equal(env.step(0), again.step(0))
    games, others = MAKERS["DPBandit-Stochastic-v0, vector"](), MAKERS["DPBandit-Stochastic-v0, vector"]()
    games.reset(seed=np.array([7, 8]))
    others.reset(seed=7)
    np.testing.assert_equal(games.step([0, 0]), others.step([0, 0]))
