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
        """Ask the model."""
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


def test_the_agent_plays_the_arms_of_the_models_own_loop(model):
    agent = Sb3Agent(model, deterministic=True)
    arms = play(game(), agent, seed=4).arms.tolist()
    env = game()
    observation, _ = env.reset(seed=4, options={"player": "Sb3Agent"})
    state, expected = None, []
    for call in range(60):
        arm, state = model.predict(observation, state, np.array([call == 0]), deterministic=True)
        expected.append(int(arm))
        observation = env.step(int(arm))[0]
    assert arms == expected
    forgetful = [int(model.predict(env.reset(seed=4)[0], None, deterministic=True)[0]) for _ in range(2)]
    assert len(set(arms)) > 1 and forgetful[0] == forgetful[1]
