"""Environments that are given one adversary object do not take each other's gains, and one plays a game at a time."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import gymnasium as gym
import pytest

from dp_bandit_envs import BanditEnv, play
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.decisions import Simplex
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.errors import StepOutsideGameError
from dp_bandit_envs.graphs import GraphSource
from tests.tools.refusals import refused


def gains(env, rounds=20):
    """Return what arm 0 pays."""
    return [env.step(0)[1] for _ in range(rounds)]


def alone(seed):
    """Return what it pays without another environment."""
    env = BanditEnv(Stochastic(2, 100))
    env.reset(seed=seed)
    return gains(env)


def test_environments_that_are_given_one_adversary_play_games_of_their_own():
    adversary = Stochastic(2, 100)
    one, two = BanditEnv(adversary, block_length=8), BanditEnv(adversary, block_length=8)
    one.reset(seed=0)
    first = gains(one, 5)
    two.reset(seed=1)
    assert gains(two) == alone(1) and first + gains(one, 15) == alone(0)


def test_so_do_those_of_a_vector():
    adversary = Stochastic(2, 100)
    envs = gym.vector.SyncVectorEnv([lambda: BanditEnv(adversary)] * 2)
    envs.reset(seed=[0, 1])
    rewards = [envs.step([0, 0])[1].tolist() for _ in range(20)]
    assert rewards == [list(both) for both in zip(alone(0), alone(1), strict=True)]


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


class SecondIsRefused:
    """An adversary, or what draws its graph, that begins one game only."""

    begun = 0

    def begin(self, rng, *order):
        self.begun += 1
        if self.begun > 1:
            raise RuntimeError("no second game")
        super().begin(rng, *order)


class Once(SecondIsRefused, Stochastic):
    """An adversary."""


class OnceDrawn(SecondIsRefused, GraphSource):
    """A source of graphs."""


def with_graph():
    env = GraphEnv(gains=Stochastic(5, 100), graph="cycle")
    env.source = OnceDrawn("cycle", n_arms=5)
    return env


MADE = {
    "adversary": lambda: BanditEnv(Once(2, 100)),
    "graph": with_graph,
    "vector": lambda: BanditVectorEnv(2, Once(2, 100)),
    "points": lambda: PointEnv(Once(2, 100), Simplex(2)),
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_after_a_reset_that_was_refused_the_game_before_does_not_go_on(made):
    """It went on with its old gains, which no ledger counted again."""
    env = made()
    play_one = {BanditVectorEnv: [0, 0], PointEnv: [0.5, 0.5]}.get(type(env), 0)
    env.reset(seed=0)
    env.step(play_one)
    with pytest.raises(RuntimeError, match="no second game"):
        env.reset(seed=1)
    with refused(StepOutsideGameError, "reset()"):
        env.step(play_one)


class Meeting:
    """An agent that waits in its first round for a second game to begin, or to be refused."""

    def __init__(self, *events):
        self.here, self.go_on = events

    def begin(self, *, n_arms, horizon, rng):
        """Nothing."""

    def select_arm(self):
        self.here.set()
        self.go_on.wait()
        return 0

    def update(self, arm, observation):
        """Nothing."""


def test_no_second_thread_plays_in_an_environment():
    here, go_on, free = threading.Event(), threading.Event(), threading.Event()
    free.set()
    env = BanditEnv(Stochastic(2, 20))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(play, env, Meeting(here, go_on), seed=0)
        try:
            assert here.wait(60)
            with refused(StepOutsideGameError, "BanditEnv"):
                play(env, Meeting(here, free), seed=0)
        finally:
            go_on.set()
        played = first.result()
    # Afterwards it is free.
    assert played.gains.tolist() == play(env, Meeting(here, free), seed=0).gains.tolist()
