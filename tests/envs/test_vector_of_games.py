"""`gym.make_vec` plays many games natively, each as its scalar game; and one adversary in several environments."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import batch_space

from dp_bandit_envs import BanditEnv, play as play_game
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.decisions import Simplex
from dp_bandit_envs.envs import bandit_vector_env
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.errors import StepOutsideGameError
from dp_bandit_envs.graphs import GraphSource
from tests.tools.doors import one_each
from tests.tools.plays import POINT_IDS, play
from tests.tools.refusals import refused

every_id = pytest.mark.parametrize("id_", IDS)


def assert_same_games(native, looped, seed, steps):
    """Play both with the same arms over `steps` steps and compare all that comes out, round by round."""
    rng = np.random.default_rng(99)
    np.testing.assert_equal(native.reset(seed=seed), looped.reset(seed=seed))
    endings = 0
    arms = rng.integers(4, size=native.num_envs)
    for _ in range(steps):
        change = rng.random(native.num_envs) < 0.3  # stay mostly, so that memory has something to remember
        arms = np.where(change, rng.integers(4, size=native.num_envs), arms)
        actions = play(native, arms)
        ours, theirs = native.step(actions), looped.step(actions)
        np.testing.assert_equal(ours, theirs)
        assert native.observation_space.contains(ours[0])
        assert [part.dtype for part in ours[1:4]] == [part.dtype for part in theirs[1:4]]
        endings += ours[2].all()
    return endings


@pytest.mark.thorough
@pytest.mark.parametrize(("id_", "seed"), one_each(IDS, [[8, 3, 9], 5, [2**40, 0, 1]]), ids=repr)
@pytest.mark.parametrize("several_blocks", [False, True])
def test_vector_equals_the_loop_over_scalar_games_across_an_autoreset(id_, seed, several_blocks, monkeypatch):
    """No memory for blocks leaves 64 rounds for each, so 150 rounds take three; the scalar games fetch 7 at a time."""
    if several_blocks:
        monkeypatch.setattr(bandit_vector_env, "BLOCK_BYTES", 1)
    horizon, block = (150, {"block_length": 7}) if several_blocks else (60, {})
    native = gym.make_vec(id_, num_envs=3, horizon=horizon)
    looped = SyncVectorEnv([lambda: gym.make(id_, horizon=horizon, **block)] * 3)
    assert assert_same_games(native, looped, seed, steps=190) == (1 if several_blocks else 3)
    for name in ("cumulative_gains", "collected"):
        scalar = [getattr(env.unwrapped, name) for env in looped.envs]
        np.testing.assert_array_equal(getattr(native, name), scalar)
    np.testing.assert_array_equal(native.external_regret(), [env.unwrapped.external_regret() for env in looped.envs])


@pytest.mark.thorough
@pytest.mark.parametrize(("id_", "dimension"), one_each(POINT_IDS, [9, 40]))
def test_payoffs_of_points_equal_the_loop_to_the_last_bit(id_, dimension):
    """Sums of 8 and more numbers are where NumPy's sums and Python's differ."""
    options = {"horizon": 60, "dimension": dimension, "feedback": "bandit"}
    native = gym.make_vec(id_, num_envs=3, **options)
    looped = SyncVectorEnv([lambda: gym.make(id_, **options)] * 3)
    assert assert_same_games(native, looped, 3, steps=59) == 0
    np.testing.assert_array_equal(native.collected, [env.unwrapped.collected for env in looped.envs])
    np.testing.assert_array_equal(native.external_regret(), [env.unwrapped.external_regret() for env in looped.envs])


@every_id
def test_make_vec_is_native_and_declares_its_autoreset(id_):
    env = gym.make_vec(id_, num_envs=2)
    assert isinstance(env.unwrapped, BanditVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    one = gym.make(id_).action_space
    assert env.single_action_space == one
    assert env.action_space == batch_space(one, 2)
    assert env.single_observation_space == gym.make(id_).observation_space


def test_every_game_of_a_vector_plays_the_trial_asked_for():
    trial = 3
    native = BanditVectorEnv(2, Stochastic(horizon=50))
    native.reset(seed=7, options={"trial": trial})
    ours = [native.step(np.zeros(2, int))[1] for _ in range(50)]
    scalar = gym.make("DPBandit-Stochastic-v0", horizon=50)
    for game in range(2):
        scalar.reset(seed=7 + game, options={"trial": trial})
        assert [scalar.step(0)[1] for _ in range(50)] == [reward[game] for reward in ours]
    # A caller that fills the same array in every round must not rewrite the memory of the game.
    #
    # A charge that only the score knows reaches the vector too.
    env = gym.make_vec("DPBandit-Switching-v0", num_envs=1, horizon=10)
    env.reset(seed=0)
    arms = np.array([0])
    env.step(arms)
    arms[:] = 1
    assert env.step(arms)[1] == [0.0]
    env = gym.make_vec("DPBandit-Switching-v0", num_envs=2, horizon=10, observe_charge=False)
    env.reset(seed=0)
    env.step(np.array([0, 0]))
    observation, rewards, *_ = env.step(np.array([0, 1]))
    assert rewards[0] > 0 and rewards[1] == 0
    assert observation["gain"][1, 1] > 0


def test_every_step_returns_fresh_arrays():
    env = BanditVectorEnv(2, Stochastic(horizon=5))
    again = BanditVectorEnv(2, Stochastic(horizon=5))
    env.reset(seed=0)
    again.reset(seed=0)
    for _ in range(8):
        expected = again.step(np.zeros(2, int))
        observation, *arrays, info = env.step(np.zeros(2, int))
        np.testing.assert_equal((observation, *arrays, info), expected)
        for array in (*observation.values(), *arrays, *info.values()):
            array[...] = 1
    for evaluators in (env.collected, env.cumulative_gains):
        evaluators[...] = 100
    np.testing.assert_array_equal(env.collected, again.collected)
    np.testing.assert_array_equal(env.cumulative_gains, again.cumulative_gains)


def test_wrong_arms_are_refused_and_the_games_go_on():
    env = BanditVectorEnv(2, Stochastic(horizon=5))
    env.reset(seed=0)
    for arms, received in (([0, -1], "-1"), ([4, 0], "4"), ([2**62, 0], 2**62), ([0, np.nan], "float64")):
        with refused(ValueError, "arm", "[0, 3]", received):
            env.step(arms)
    for arms in (["a", "b"], [None, 0]):
        with refused(ValueError, "arm", "[0, 3]"):
            env.step(arms)
    for arms in ([0], [0, 0, 0], 0, [[0, 0]], []):
        with refused(ValueError, "actions", "(2,)", np.shape(arms)):
            env.step(arms)
    assert env.step([0, 3])[4]["round"].tolist() == [1, 1]
    for num_envs in (0, -3, 1.5):
        with refused(ValueError, "num_envs", 1, num_envs):
            BanditVectorEnv(num_envs, Stochastic())


# ---- one adversary object


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
    # So do those of a vector.
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
        first = pool.submit(play_game, env, Meeting(here, go_on), seed=0)
        try:
            assert here.wait(60)
            with refused(StepOutsideGameError, "BanditEnv"):
                play_game(env, Meeting(here, free), seed=0)
        finally:
            go_on.set()
        played = first.result()
    # Afterwards it is free.
    assert played.gains.tolist() == play_game(env, Meeting(here, free), seed=0).gains.tolist()
