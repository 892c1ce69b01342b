"""Environments that play with one adversary object take each other's gains; none does so without a word."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dp_bandit_envs import BanditEnv, play
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
    assert first + gains(other, 15) == first + gains(env, 15) == alone(0)
    other.reset(seed=1)
    env.reset(seed=1)
    assert gains(other) == gains(env) == alone(1)


def test_an_environment_that_is_gone_hinders_none():
    adversary = Stochastic(2, 100)
    one = BanditEnv(adversary)
    BanditEnv(adversary).reset(seed=1)
    one.reset(seed=0)
    assert gains(one) == alone(0)


def test_a_game_that_was_begun_in_between_counts_though_its_environment_is_gone():
    adversary = Stochastic(2, 100)
    one = BanditEnv(adversary)
    one.reset(seed=0)
    BanditEnv(adversary).reset(seed=1)
    with refused(StepOutsideGameError, "Stochastic"):
        one.step(0)


class Meeting:
    """An agent that waits in its first round for a second game to begin, or to be refused."""

    def __init__(self, *events):
        self.here, self.go_on = events

    def begin(self, *, n_arms, horizon, rng):
        """Nothing."""

    def select_arm(self):
        """Say that a game is in progress, and wait."""
        self.here.set()
        self.go_on.wait()
        return 0

    def update(self, arm, observation):
        """Nothing."""


@pytest.mark.parametrize("shared", ["BanditEnv", "Stochastic", "Meeting"])
def test_no_second_thread_plays_with_what_is_in_a_game(shared):
    here, go_on, free = threading.Event(), threading.Event(), threading.Event()
    free.set()
    adversary, agent = Stochastic(2, 20), Meeting(here, go_on)
    env = BanditEnv(adversary)
    others = {
        "BanditEnv": (env, Meeting(here, free)),
        "Stochastic": (BanditEnv(adversary), Meeting(here, free)),
        "Meeting": (BanditEnv(Stochastic(2, 20)), agent),
    }
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(play, env, agent, seed=0)
        try:
            assert here.wait(60)
            with refused(StepOutsideGameError, shared):
                play(*others[shared], seed=0)
        finally:
            go_on.set()
        played = first.result()
    assert played.gains.tolist() == play(BanditEnv(Stochastic(2, 20)), agent, seed=0).gains.tolist()
    # Afterwards all of it is free.
    play(*others[shared], seed=0)
