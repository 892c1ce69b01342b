"""What all agents made of plain functions have in common: order of calls, observations, the protocol."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import FlattenObservation

from dp_bandit_envs import Agent, Exp3, Htinf, TsallisInf, Uniform, play
from dp_bandit_envs.errors import StepOutsideGame, WrongObservation

AGENTS = [Exp3, TsallisInf, Htinf, Uniform]


@pytest.fixture(params=AGENTS, ids=lambda kind: kind.__name__)
def agent(request):
    return request.param()


def test_it_is_an_agent_of_the_protocol(agent):
    assert isinstance(agent, Agent)


@pytest.mark.parametrize(
    "call",
    [
        lambda agent: agent.select_arm(),
        lambda agent: agent.update(0, {"gain": np.zeros(2), "observed": np.zeros(2, np.int8)}),
        lambda agent: agent.probabilities(),
    ],
    ids=["select_arm", "update", "probabilities"],
)
def test_nothing_works_before_begin(agent, call):
    message = rf"{type(agent).__name__} has no game yet; call begin\(n_arms=, horizon=, rng=\) first"
    with pytest.raises(StepOutsideGame, match=message):
        call(agent)


@pytest.mark.parametrize(
    ("observation", "shown"),
    [
        ({"sum": np.zeros(2), "count": np.zeros(2)}, r"\['sum', 'count'\]"),
        ({"gain": np.zeros(2)}, r"\['gain'\]"),
        (np.zeros(4), "ndarray"),
        (3, "int"),
    ],
    ids=["sums", "half", "flat", "discrete"],
)
def test_a_wrong_observation_names_the_wrappers(agent, observation, shown):
    agent.begin(n_arms=2, horizon=10, rng=np.random.default_rng(0))
    with pytest.raises(WrongObservation, match=shown) as error:
        agent.update(0, observation)
    message = str(error.value)
    assert message.startswith(f"{type(agent).__name__} learns from observations with 'gain' and 'observed'; received")
    assert "LaplaceClipRescale" in message and "MiniBatchAverage" in message and "FlattenObservation" in message


def test_the_message_does_not_carry_a_gain():
    agent = Exp3()
    agent.begin(n_arms=2, horizon=10, rng=np.random.default_rng(0))
    with pytest.raises(WrongObservation) as error:
        agent.update(0, {"gains": np.array([0.123456, 0.0])})
    assert "0.123456" not in str(error.value)
    assert error.value.__cause__ is None and error.value.__suppress_context__


def test_a_flattened_environment_is_refused_with_that_message(agent):
    env = FlattenObservation(gym.make("DPBandit-Stochastic-v0", horizon=10))
    with pytest.raises(WrongObservation, match="without FlattenObservation"):
        play(env, agent)


def test_the_same_stream_gives_the_same_arms(agent):
    """An agent draws from the stream it was given and from nothing else."""

    def arms(seed):
        agent.begin(n_arms=5, horizon=30, rng=np.random.default_rng(seed))
        return [agent.select_arm() for _ in range(30)]

    assert arms(1) == arms(1) != arms(2)


def test_arms_are_plain_integers_in_range(agent):
    agent.begin(n_arms=3, horizon=200, rng=np.random.default_rng(0))
    arms = [agent.select_arm() for _ in range(200)]
    assert {type(arm) for arm in arms} == {int}
    assert set(arms) == {0, 1, 2}


def test_two_agents_share_nothing(agent):
    """An update of one must not show in another of the same class."""
    other = type(agent)()
    for each in (agent, other):
        each.begin(n_arms=3, horizon=100, rng=np.random.default_rng(0))
    before = other.probabilities().tolist()
    for _ in range(20):
        agent.update(0, {"gain": np.array([0.95, 0.0, 0.0]), "observed": np.array([1, 0, 0], np.int8)})
    assert other.probabilities().tolist() == before
    if not isinstance(agent, Uniform):
        assert agent.probabilities().tolist() != before


def test_an_observation_is_not_kept_or_changed(agent):
    agent.begin(n_arms=2, horizon=10, rng=np.random.default_rng(0))
    observation = {"gain": np.array([0.9, 0.0]), "observed": np.array([1, 0], np.int8)}
    agent.update(0, observation)
    assert observation["gain"].tolist() == [0.9, 0.0] and observation["observed"].tolist() == [1, 0]
    after = agent.probabilities().tolist()
    observation["gain"][:] = 0.1
    assert agent.probabilities().tolist() == after
