"""Game i of a vector wrapper is, to the last bit, the scalar wrapper with that game's seed, game after game."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.adversaries import Stochastic, SwitchingCost
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv, ExpertsVectorEnv
from dp_bandit_envs.wrappers import CounterSums, vector
from tests.tools.boundary_games import EVERY, ORDERS, SUMS, around, game, games, wrapped
from tests.tools.refusals import refused

HORIZON = 13
NUM_ENVS = 3


def same(one, other):
    """Assert that two results of a step or reset of many games are the same to the last bit."""
    assert set(one[0]) == set(other[0])
    for key in one[0]:
        assert one[0][key].tobytes() == other[0][key].astype(one[0][key].dtype).tobytes()
    for left, right in zip(one[1:-1], other[1:-1], strict=True):
        np.testing.assert_array_equal(left, right)
    assert set(one[-1]) == set(other[-1])
    for key in one[-1]:
        np.testing.assert_array_equal(one[-1][key], other[-1][key])


CASES = [
    *((order, {"tau": 2, "outside": "reject", "epsilon": 0.5}, Stochastic) for order in ORDERS),
    ("Laplace(Laplace)", {"outside": "clip", "epsilon": 4.0}, SwitchingCost),
    ("Laplace(MiniBatch)", {"tau": 2, "epsilon": math.inf}, SwitchingCost),
    *((name, {}, Stochastic if place % 2 else SwitchingCost) for place, name in enumerate(SUMS)),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "options", "kind"), CASES)
def test_three_routes_to_the_same_games(name, options, kind):
    """Native games in vector wrappers; scalar games, each wrapped; scalar games below vector wrappers."""
    horizon = HORIZON if name in ORDERS else 14  # so that batches of 2 below sums leave no round over

    def adversary():
        return kind(3, horizon)

    native = wrapped(BanditVectorEnv(NUM_ENVS, adversary()), name, **options)
    alone = gym.vector.SyncVectorEnv([lambda: wrapped(BanditEnv(adversary()), name, **options)] * NUM_ENVS)
    mixed = wrapped(gym.vector.SyncVectorEnv([lambda: BanditEnv(adversary())] * NUM_ENVS), name, **options)
    routes = [native, alone, mixed]
    first, *others = [env.reset(seed=21) for env in routes]
    for other in others:
        same(first, other)
    rng, ends, last = np.random.default_rng(5), 0, set()
    for _ in range(3 * (horizon + 1)):  # several ends of games, and the steps that begin the next ones
        arms = rng.integers(0, 3, NUM_ENVS)
        first, *others = [env.step(arms) for env in routes]
        for other in others:
            same(first, other)
        assert all(env.observation_space.contains(first[0]) for env in routes)
        if first[2].all():
            ends += 1
            last.add(first[0]["sum"].tobytes() if name in SUMS else ends)
    assert ends >= 2 and len(last) == ends  # every game has its own gains and noise
    first, other = (env.reset(seed=[7, 8, 30], options={"trial": 4}) for env in (native, mixed))
    same(first, other)
    for _ in range(4):
        same(*(env.step(np.array([0, 0, 0])) for env in (native, mixed)))


@pytest.mark.parametrize("noise", ["laplace", "own-norm", "gaussian"])
def test_two_routes_to_the_same_sums_of_vectors(noise):
    """Full information: all coordinates share a position in each game, and the games have noise of their own."""
    more = {"counter": "honaker", "epsilon": 1.0, "noise": noise}
    native = vector.CounterSums(ExpertsVectorEnv(NUM_ENVS, gains=Stochastic(3, 14, means=[0.55, 0.5, 0.5])), **more)
    wrapped = gym.vector.SyncVectorEnv(
        [lambda: CounterSums(ExpertsEnv(gains=Stochastic(3, 14, means=[0.55, 0.5, 0.5])), **more)] * NUM_ENVS
    )
    same(native.reset(seed=21), wrapped.reset(seed=21))
    rng = np.random.default_rng(5)
    for _ in range(2 * 15):
        arms = rng.integers(0, 3, NUM_ENVS)
        first, other = native.step(arms), wrapped.step(arms)
        same(first, other)
        if first[2].any():
            assert len(set(first[0]["sum"].ravel().tolist())) == 3 * NUM_ENVS


@pytest.mark.thorough
def test_noise_is_fetched_ahead_without_changing_its_order():
    """More draws than are fetched at once, and a number of draws a step that differs between games."""
    horizon = 1400
    options = {"epsilon": 2.0, "bound": 1.0}  # about one release in eight falls outside
    env = around(games(2, np.zeros((horizon, 2))), "Laplace(Laplace)", **options)
    scalar = gym.vector.SyncVectorEnv([lambda: around(game(np.zeros((horizon, 2))), "Laplace(Laplace)", **options)] * 2)
    same(env.reset(seed=1), scalar.reset(seed=1))
    withheld = 0
    for _ in range(horizon):
        one, other = env.step(np.array([0, 1])), scalar.step(np.array([0, 1]))
        same(one, other)
        withheld += 2 - int(one[0]["observed"].sum())
    assert withheld > horizon / 10


@pytest.mark.thorough
@pytest.mark.parametrize("name", EVERY)
def test_declared_facts_are_the_same(name):
    scalar, many = wrapped(game(np.zeros((HORIZON, 2))), name), wrapped(games(2, np.zeros((HORIZON, 2))), name)
    facts = ["sensitivity", "guarantee", "horizon", "n_arms", "inputs", "releases_sums", "noise"]
    for fact in [*facts, *(["batch_size"] if name in ORDERS else [])]:
        assert getattr(scalar, fact) == getattr(many, fact), fact
    assert scalar.observation_space == many.single_observation_space
    if name in ORDERS:
        assert vars(scalar.mechanism) == vars(many.mechanism)


def test_every_game_has_noise_of_its_own():
    env = around(games(50, np.zeros((1, 2))), "Laplace", outside="clip", epsilon=1.0)
    env.unwrapped.horizon = 1
    env.reset(seed=0)
    # horizon 1: the bound is 0 and half of all values are clipped, so compare those between the ends
    values = env.step(np.zeros(50, int))[0]["gain"][:, 0]
    inside = values[(values > 0) & (values < 1)]
    # Noise is rounded to a grid of 1/1024, so a few of 50 draws may meet by chance; shared noise would make one value.
    assert len(inside) > 5 and len(set(inside.tolist())) >= len(inside) - 3


def test_games_with_one_seed_are_refused():
    """They would have the same noise, which cancels in a difference of their releases."""
    table = np.zeros((5, 2))
    routes = (games(3, table), around(games(3, table), "Laplace", epsilon=1.0))
    for env in routes:
        with refused(ValueError, "seed", 3, 2) as caught:
            env.reset(seed=[71234567, 8, 71234567])
        assert "71234567" not in str(caught.value)
        env.reset(seed=[7, None, None])
