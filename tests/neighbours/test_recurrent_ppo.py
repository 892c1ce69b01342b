"""A recurrent model of sb3-contrib plays with the state that it keeps."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import LaplaceClipRescale, play

pytest.importorskip("stable_baselines3", reason="not installed; pip install 'dp-bandit-envs[sb3]'")
torch = pytest.importorskip("torch")
contrib = pytest.importorskip("sb3_contrib", reason="not installed; pip install sb3-contrib")

from dp_bandit_envs.agents.stable_baselines3 import Sb3Agent  # noqa: E402 (needs the extra)


def game():
    env = gym.make("DPBandit-Stochastic-v0", means=[0.1, 0.9, 0.5], horizon=60)
    return LaplaceClipRescale(env, epsilon=1.0)


class Watched:
    """A model of which each call and each state is kept."""

    def __init__(self, model):
        self.model, self.given, self.returned = model, [], []

    def __getattr__(self, name):
        return getattr(self.model, name)

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        self.given.append((state, bool(episode_start[0])))
        arm, after = self.model.predict(observation, state, episode_start, deterministic)
        self.returned.append(after)
        return arm, after


@pytest.fixture(scope="module")
def model():
    model = contrib.RecurrentPPO("MultiInputLstmPolicy", game(), n_steps=32, batch_size=32, seed=0, device="cpu")
    model.learn(64)
    # After so little training its arms hardly depend on the past; with large random weights they do.
    with torch.no_grad():
        for weights in model.policy.parameters():
            weights.normal_()
    return model


@pytest.mark.thorough
def test_each_call_gets_the_state_of_the_last_and_a_new_game_none(model):
    watched = Watched(model)
    agent = Sb3Agent(watched)
    for seed in (1, 2):
        play(game(), agent, seed=seed)
    assert len(watched.given) == 120
    for call, (state, starts) in enumerate(watched.given):
        assert starts == (call % 60 == 0)
        assert state is (None if starts else watched.returned[call - 1])
    assert not np.array_equal(watched.returned[0][0], watched.returned[1][0])
