"""Stable-Baselines3's `make_vec_env(wrapper_class=)`, which puts its `Monitor` below the privacy wrapper."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import LaplaceClipRescale
from dp_bandit_envs.wrappers import MiniBatchAverage, vector
from tests.tools.boundary_games import PLANTED, find_planted, game
from tests.tools.refusals import refused

sb3 = pytest.importorskip("stable_baselines3", reason="not installed; pip install 'dp-bandit-envs[sb3]'")

from stable_baselines3.common.env_util import make_vec_env  # noqa: E402 (needs the extra)
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402
from stable_baselines3.common.monitor import Monitor  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv  # noqa: E402

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
