"""Stable-Baselines3: models as agents, and `make_vec_env(wrapper_class=)`, which puts its `Monitor` below."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, LaplaceClipRescale, play
from dp_bandit_envs.adapters import from_sb3
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.wrappers import MiniBatchAverage, vector
from tests.neighbours.own_loops import game as coins, private as little_noise
from tests.tools.boundary_games import PLANTED, find_planted, game
from tests.tools.refusals import refused

sb3 = pytest.importorskip("stable_baselines3", reason="not installed; pip install 'dp-bandit-envs[sb3]'")

from stable_baselines3.common.env_util import make_vec_env  # noqa: E402 (needs the extra)
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402
from stable_baselines3.common.monitor import Monitor  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv  # noqa: E402

from dp_bandit_envs.agents.stable_baselines3 import Sb3Agent  # noqa: E402

ID = "DPBandit-Replay-v0"
TABLE = np.full((6, 3), PLANTED)


def private(env):
    return LaplaceClipRescale(env, epsilon=1.0)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [DummyVecEnv, SubprocVecEnv])
def test_a_model_learns_through_the_boundary_and_nothing_private_comes_out(kind):
    arguments = {"env_kwargs": {"gains": TABLE}, "wrapper_class": LaplaceClipRescale}
    envs = make_vec_env(ID, 2, seed=1, wrapper_kwargs={"epsilon": 1.0}, vec_env_cls=kind, **arguments)
    out = [envs.reset()]
    released = np.zeros(2)
    for _ in range(6):
        observation, rewards, ended, infos = envs.step(np.array([0, 1]))
        released += rewards
        # SB3 rounds rewards to float32, and so would round a planted value.
        assert not np.isclose(rewards, PLANTED, rtol=1e-6).any()
        out += [observation, infos]
    assert ended.all() and not list(find_planted(out))
    for index, info in enumerate(infos):
        assert info["episode"]["l"] == 6
        assert info["episode"]["r"] == pytest.approx(released[index], abs=1e-5) != 6 * PLANTED
    model = sb3.A2C("MultiInputPolicy", envs, n_steps=3, seed=0, device="cpu").learn(24)
    assert len(model.ep_info_buffer) == 4  # two games in each of two environments, as a Monitor would report them
    envs.close()


def test_what_a_monitor_below_keeps_cannot_be_asked_for():
    envs = make_vec_env(ID, 1, env_kwargs={"gains": TABLE}, wrapper_class=private)
    for name in ("get_episode_rewards", "rewards", "episode_returns", "get_total_steps"):
        with pytest.raises(AttributeError):
            envs.env_method("get_wrapper_attr", name)
        with pytest.raises(AttributeError):
            envs.get_attr(name)


def test_evaluate_policy_comes_to_an_end_and_counts_released_rewards():
    """It waits for `info["episode"]` wherever it finds a Monitor."""
    envs = make_vec_env(ID, 1, seed=1, env_kwargs={"gains": TABLE}, wrapper_class=private)
    model = sb3.A2C("MultiInputPolicy", envs, seed=0, device="cpu")
    returns, lengths = evaluate_policy(model, envs, n_eval_episodes=2, return_episode_rewards=True)
    assert lengths == [6, 6] and 6 * PLANTED not in returns


def test_many_games_above_monitors_show_rounds_only():
    games = gym.vector.SyncVectorEnv([lambda: Monitor(game(TABLE))] * 2)
    envs = vector.LaplaceClipRescale(games, epsilon=1.0)
    envs.reset(seed=1)
    for _ in range(6):
        *out, infos = envs.step(np.array([0, 1]))
        assert set(infos) == {"round", "_round"} and not list(find_planted([*out, infos]))


class Twice(Monitor):
    """Repeats a round, which would double what the noise has to hide."""

    def step(self, action):
        super().step(action)
        return super().step(action)


class Again(Monitor):
    """Starts a game twice."""

    def reset(self, **kwargs):
        super().reset(**kwargs)
        return super().reset(**kwargs)


@pytest.mark.parametrize("kind", [Twice, Again])
def test_a_monitor_that_does_something_else_is_refused(kind):
    for wrap in (private, lambda env: MiniBatchAverage(env, batch_size=2)):
        with refused(TypeError, kind.__name__, "above"):
            wrap(kind(game(TABLE)))


# ---- models as agents


@pytest.fixture(scope="module")
def trained():
    return sb3.A2C("MultiInputPolicy", little_noise(coins()), n_steps=20, seed=0, device="cpu").learn(60)


@pytest.mark.thorough
def test_it_plays_as_its_agent_does(trained):
    algorithm = Algorithm("A2C", from_sb3(trained), little_noise)
    alone = Algorithm("A2C", lambda: Sb3Agent(trained), little_noise)
    games = [play(coins(), one, seed=seed).arms.tolist() for one, seed in ((algorithm, 1), (alone, 1), (algorithm, 2))]
    assert games[0] == games[1] != games[2]
    best = play(coins(), Algorithm("A2C", from_sb3(trained, deterministic=True), little_noise), seed=1)
    assert best.arms.tolist() != games[0]


class Continuous(gym.Env):
    """Has actions that are no arms."""

    observation_space = gym.spaces.Box(0, 1, (2,))
    action_space = gym.spaces.Box(0, 1, (2,))


def test_what_is_no_model_for_arms_is_refused():
    points = sb3.A2C("MlpPolicy", Continuous(), device="cpu")
    for wrong, word in ((sb3.A2C, "class"), (None, "NoneType"), (points, "Discrete")):
        with refused(WrongTypeError, "model", word):
            from_sb3(wrong)


def long_game():
    env = gym.make("DPBandit-Stochastic-v0", means=[0.1, 0.9, 0.5], horizon=60)
    return LaplaceClipRescale(env, epsilon=1.0)


class Watched:
    """A recurrent of which each call and each state is kept."""

    def __init__(self, recurrent):
        self.recurrent, self.given, self.returned = recurrent, [], []

    def __getattr__(self, name):
        return getattr(self.recurrent, name)

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        self.given.append((state, bool(episode_start[0])))
        arm, after = self.recurrent.predict(observation, state, episode_start, deterministic)
        self.returned.append(after)
        return arm, after


@pytest.fixture(scope="module")
def recurrent():
    torch = pytest.importorskip("torch")
    contrib = pytest.importorskip("sb3_contrib", reason="not installed; pip install sb3-contrib")
    recurrent = contrib.RecurrentPPO(
        "MultiInputLstmPolicy", long_game(), n_steps=32, batch_size=32, seed=0, device="cpu"
    )
    recurrent.learn(64)
    # After so little training its arms hardly depend on the past; with large random weights they do.
    with torch.no_grad():
        for weights in recurrent.policy.parameters():
            weights.normal_()
    return recurrent


@pytest.mark.thorough
def test_each_call_gets_the_state_of_the_last_and_a_new_game_none(recurrent):
    watched = Watched(recurrent)
    agent = Sb3Agent(watched)
    for seed in (1, 2):
        play(long_game(), agent, seed=seed)
    assert len(watched.given) == 120
    for call, (state, starts) in enumerate(watched.given):
        assert starts == (call % 60 == 0)
        assert state is (None if starts else watched.returned[call - 1])
    assert not np.array_equal(watched.returned[0][0], watched.returned[1][0])
