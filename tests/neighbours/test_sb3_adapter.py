"""Trained models of Stable-Baselines3 as agents, under the common name of adapters."""

import gymnasium as gym
import pytest

from dp_bandit_envs import Algorithm, play
from dp_bandit_envs.adapters import from_sb3
from dp_bandit_envs.errors import WrongTypeError
from tests.neighbours.own_loops import game, private
from tests.tools.refusals import refused

sb3 = pytest.importorskip("stable_baselines3", reason="not installed; pip install 'dp-bandit-envs[sb3]'")

from dp_bandit_envs.agents.stable_baselines3 import Sb3Agent  # noqa: E402 (needs the extra)


@pytest.fixture(scope="module")
def model():
    return sb3.A2C("MultiInputPolicy", private(game()), n_steps=20, seed=0, device="cpu").learn(60)


@pytest.mark.thorough
def test_it_plays_as_its_agent_does(model):
    algorithm = Algorithm("A2C", from_sb3(model), private)
    alone = Algorithm("A2C", lambda: Sb3Agent(model), private)
    games = [play(game(), one, seed=seed).arms.tolist() for one, seed in ((algorithm, 1), (alone, 1), (algorithm, 2))]
    assert games[0] == games[1] != games[2]
    best = play(game(), Algorithm("A2C", from_sb3(model, deterministic=True), private), seed=1)
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
