"""Stable-Baselines3 both ways: its models as agents, our vector environments as its training ground."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import FlattenObservation

from dp_bandit_envs import Agent, Algorithm, LaplaceClipRescale, play, simulate
from dp_bandit_envs.wrappers import MiniBatchAverage, vector
from tests.tools.refusals import refused

sb3 = pytest.importorskip("stable_baselines3")

from dp_bandit_envs.agents.stable_baselines3 import Sb3Agent, Sb3VecEnv  # noqa: E402 (needs the extra)

GAME = "DPBandit-Stochastic-v0"
MEANS = [0.1, 0.1, 0.9]


def game(horizon=50):
    return gym.make(GAME, means=MEANS, horizon=horizon)


def games(number=3, horizon=5):
    return gym.make_vec(GAME, num_envs=number, means=MEANS, horizon=horizon)


class Recorder:
    """Stands for a model; it remembers what it was shown."""

    def __init__(self, observation_space):
        self.observation_space, self.action_space = observation_space, gym.spaces.Discrete(3)
        self.shown, self.seeds = [], []

    def set_random_seed(self, seed):
        self.seeds.append(seed)

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        self.shown.append(observation)
        return np.array(len(self.shown) % 3), None


def test_a_model_is_shown_what_was_released():
    env = game(6)
    model = Recorder(env.observation_space)
    agent = Sb3Agent(model)
    assert isinstance(agent, Agent)
    arms = play(env, agent, seed=3).arms.tolist()
    assert arms == [1, 2, 0, 1, 2, 0]
    first, _ = env.reset(seed=3, options={"trial": 0})
    expected = [first, *(env.step(arm)[0] for arm in arms[:-1])]
    for shown, released in zip(model.shown, expected, strict=True):
        assert list(shown) == ["gain", "observed"]
        assert np.array_equal(shown["gain"], released["gain"])
        assert np.array_equal(shown["observed"], released["observed"])


@pytest.mark.parametrize("wrap", [lambda env: env, lambda env: LaplaceClipRescale(env, epsilon=1.0)])
def test_a_flat_model_is_shown_what_flatten_observation_makes_of_it(wrap):
    flat = FlattenObservation(wrap(game(6)))
    model = Recorder(flat.observation_space)
    arms = play(wrap(game(6)), Sb3Agent(model), seed=3).arms.tolist()
    first, _ = flat.reset(seed=3, options={"player": "Sb3Agent"})
    expected = [first, *(flat.step(arm)[0] for arm in arms[:-1])]
    assert np.array_equal(np.array(model.shown), np.array(expected))
    assert model.shown[0].shape == flat.observation_space.shape


def test_the_agents_stream_seeds_the_model():
    seeds = []
    for trial in (0, 0, 1):
        model = Recorder(game().observation_space)
        play(game(2), Sb3Agent(model), seed=1, trial=trial)
        seeds += model.seeds
    assert len(seeds) == 3 and seeds[0] == seeds[1] != seeds[2]


def test_a_model_for_another_number_of_arms_is_refused():
    model = Recorder(game().observation_space)
    with refused(ValueError, "model", 4, 3):
        play(gym.make(GAME, horizon=5), Sb3Agent(model))


@pytest.fixture(scope="module")
def private_model():
    """A model that was trained for a moment on four private games at once."""
    inner = vector.MiniBatchAverage(games(4, 20), batch_size=2)
    envs = Sb3VecEnv(vector.LaplaceClipRescale(inner, epsilon=1.0))
    model = sb3.A2C("MultiInputPolicy", envs, n_steps=5, seed=0, device="cpu").learn(40)
    assert model.num_timesteps == 40
    return model


@pytest.mark.thorough
@pytest.mark.parametrize("flat", [False, True])
def test_a_trained_model_plays_games_that_can_be_repeated(flat, private_model):
    model = sb3.A2C("MlpPolicy", FlattenObservation(game()), n_steps=8, seed=0).learn(16) if flat else private_model
    env = game() if flat else LaplaceClipRescale(MiniBatchAverage(game(), batch_size=2), epsilon=2.0)
    first, again, other = (play(env, Sb3Agent(model), seed=2, trial=trial) for trial in (0, 0, 1))
    assert np.array_equal(first.arms, again.arms)
    assert not np.array_equal(first.arms, other.arms)
    assert first.arms.min() >= 0 and first.arms.max() < 3


def test_simulate_plays_a_model_beside_the_rest(private_model):
    mine = Algorithm("model", lambda: Sb3Agent(private_model))
    simulation = simulate(GAME, [mine, "EXP3"], horizon=30, trials=2, env_kwargs={"means": MEANS})
    assert simulation["model"].engine == "play"
    assert "Sb3Agent is not made of compilable functions" in simulation["model"].reason
    assert simulation["model"].external_regret[1, -1] == play(game(30), mine, trial=1).external_regret[-1]


def test_vector_games_start_anew_after_the_last_round():
    """Where Gymnasium gives the last observation and resets in the next step, SB3 wants the first of the next game."""
    envs = Sb3VecEnv(games(horizon=3))
    envs.seed(11)
    first = envs.reset()
    assert not first["observed"].any()
    reference = games(horizon=3)
    reference.reset(seed=[11, 12, 13])
    arms = np.array([0, 1, 2])
    for round_ in (1, 2, 3):
        observation, rewards, ended, infos = envs.step(arms)
        expected, expected_rewards, *_ = reference.step(arms)
        assert rewards.dtype == np.float32
        assert rewards.tolist() == expected_rewards.tolist()
        assert ended.tolist() == [round_ == 3] * 3
        if round_ < 3:
            assert np.array_equal(observation["gain"], expected["gain"])
            assert infos == [{}, {}, {}]
    assert not observation["observed"].any()
    for index, info in enumerate(infos):
        assert np.array_equal(info["terminal_observation"]["gain"], expected["gain"][index])
        assert info["terminal_observation"]["observed"].tolist() == [int(arm == index) for arm in range(3)]
        assert info["TimeLimit.truncated"] is False
    kept = {key: value.copy() for key, value in infos[0]["terminal_observation"].items()}
    observation, _, ended, _ = envs.step(arms)
    assert observation["observed"].sum(axis=1).tolist() == [1, 1, 1]
    assert not ended.any()
    assert all(np.array_equal(infos[0]["terminal_observation"][key], kept[key]) for key in kept)


def test_a_seed_counts_once():
    def gains(envs):
        envs.reset()
        return [envs.step(np.array([0, 1, 2]))[0]["gain"].tolist() for _ in range(20)]

    envs = Sb3VecEnv(games(horizon=100))
    envs.seed(4)
    seeded, after = gains(envs), gains(envs)
    other = Sb3VecEnv(games(horizon=100))
    other.seed(4)
    assert gains(other) == seeded != after


def test_attributes_are_those_of_the_outermost_wrapper():
    envs = Sb3VecEnv(vector.LaplaceClipRescale(games(), epsilon=0.5))
    assert envs.num_envs == 3
    assert [guarantee.epsilon for guarantee in envs.get_attr("guarantee")] == [0.5] * 3
    assert envs.get_attr("n_arms", indices=[0, 2]) == [3, 3]
    assert envs.get_attr("horizon", indices=1) == [5]
    envs.set_attr("note", "mine")
    assert envs.get_attr("note") == ["mine"] * 3
    assert envs.env_is_wrapped(gym.Wrapper) == [False] * 3
    assert envs.env_is_wrapped(gym.Wrapper, indices=[1]) == [False]
    assert len(envs.env_method("reset", indices=[0, 1])) == 2
