"""Environments that play with one adversary object take each other's gains; none does so without a word."""

import copy
import pickle

import pytest

from dp_bandit_envs import BanditEnv
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.errors import BoundaryError, StepOutsideGameError
from dp_bandit_envs.wrappers import LaplaceClipRescale
from tests.tools.refusals import refused


def gains(env, rounds=20):
    """Return what arm 0 pays."""
    return [env.step(0)[1] for _ in range(rounds)]


def alone(seed):
    """Return what it pays without another environment."""
    env = BanditEnv(Stochastic(2, 100))
    env.reset(seed=seed)
    return gains(env)


def test_a_game_ends_where_another_one_has_begun_with_its_adversary():
    adversary = Stochastic(2, 100)
    one, two = BanditEnv(adversary, block_length=8), BanditEnv(adversary, block_length=8)
    one.reset(seed=0)
    first = gains(one, 5)
    two.reset(seed=1)
    # The rest of its block was drawn before.
    assert first + gains(one, 3) == alone(0)[:8]
    with refused(StepOutsideGameError, "Stochastic", "copy.copy(adversary)"):
        one.step(0)
    assert gains(two) == alone(1)
    one.reset(seed=0)
    assert gains(one) == alone(0)


def test_it_ends_behind_a_boundary_too():
    adversary = Stochastic(2, 100)
    one, two = BanditEnv(adversary), BanditEnv(adversary)
    behind = LaplaceClipRescale(one, epsilon=1.0)
    behind.reset()
    two.reset()
    with pytest.raises(BoundaryError):
        behind.step(0)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_a_copy_in_the_middle_of_a_game_plays_on(copied):
    env = BanditEnv(Stochastic(2, 100), block_length=8)
    env.reset(seed=0)
    first = gains(env, 5)
    other = copied(env)
    other.reset(seed=1)
    assert first + gains(env, 15) == alone(0)
    assert gains(other) == alone(1)


def test_an_environment_that_is_gone_hinders_none():
    adversary = Stochastic(2, 100)
    one = BanditEnv(adversary)
    BanditEnv(adversary).reset(seed=1)
    one.reset(seed=0)
    assert gains(one) == alone(0)
