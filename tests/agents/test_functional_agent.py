"""What all agents made of plain functions have in common: order of calls, observations, the protocol."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import FlattenObservation

from dp_bandit_envs import Agent, Exp3, Htinf, TsallisInf, Uniform, play
from dp_bandit_envs.agents import Imed, KlUcb, SuccessiveElimination, ThompsonSampling, Ucb
from dp_bandit_envs.errors import StepOutsideGameError, WrongObservationError, WrongTypeError
from dp_bandit_envs.observations import KEYS
from dp_bandit_envs.privacy import Noise
from dp_bandit_envs.wrappers import BlockSums, ExactSums, HybridSums, IntervalSums, LaplaceClipRescale
from tests.tools.refusals import refused

AGENTS = [Exp3, TsallisInf, Htinf, Uniform]
OF_SUMS = [Ucb, KlUcb, Imed, ThompsonSampling, SuccessiveElimination]


@pytest.fixture(params=AGENTS, ids=lambda kind: kind.__name__)
def agent(request):
    return request.param()


@pytest.fixture(params=OF_SUMS, ids=lambda kind: kind.__name__)
def agent_of_sums(request):
    return request.param()


@pytest.fixture(params=AGENTS + OF_SUMS, ids=lambda kind: kind.__name__)
def any_agent(request):
    return request.param()


def test_it_is_an_agent_of_the_protocol(any_agent):
    assert isinstance(any_agent, Agent)


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
    with refused(StepOutsideGameError, type(agent).__name__, "begin(n_arms=, horizon=, rng=)"):
        call(agent)


@pytest.mark.parametrize(
    "call",
    [
        lambda agent: agent.select_arm(),
        lambda agent: agent.update(0, {"sum": np.zeros(2), "count": np.zeros(2, int), "release": np.zeros(2, int)}),
    ],
    ids=["select_arm", "update"],
)
def test_nothing_works_before_begin_on_sums(agent_of_sums, call):
    with refused(StepOutsideGameError, type(agent_of_sums).__name__, "begin(n_arms=, horizon=, rng=)"):
        call(agent_of_sums)


@pytest.mark.parametrize(
    ("observation", "shown"),
    [
        ({"sum": np.zeros(2), "count": np.zeros(2)}, "['sum', 'count']"),
        ({"gain": np.zeros(2)}, "['gain']"),
        (np.zeros(4), "ndarray"),
        (3, "int"),
    ],
    ids=["sums", "half", "flat", "discrete"],
)
def test_a_wrong_observation_names_the_wrappers(agent, observation, shown):
    agent.begin(n_arms=2, horizon=10, rng=np.random.default_rng(0))
    cures = "LaplaceClipRescale", "MiniBatchAverage", "FlattenObservation"
    with refused(WrongObservationError, type(agent).__name__, "'gain'", "'observed'", shown, *cures):
        agent.update(0, observation)


def test_the_message_does_not_carry_a_gain():
    agent = Exp3()
    agent.begin(n_arms=2, horizon=10, rng=np.random.default_rng(0))
    with pytest.raises(WrongObservationError) as error:
        agent.update(0, {"gains": np.array([0.123456, 0.0])})
    assert "0.123456" not in str(error.value)
    assert error.value.__cause__ is None and error.value.__suppress_context__


def test_a_flattened_environment_is_refused_with_that_message(agent):
    env = FlattenObservation(gym.make("DPBandit-Stochastic-v0", horizon=10))
    with refused(WrongObservationError, "FlattenObservation"):
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


@pytest.mark.parametrize(
    "wrap",
    [lambda env: env, lambda env: LaplaceClipRescale(env, epsilon=1.0)],
    ids=["bare", "noisy gains"],
)
def test_an_agent_of_sums_says_what_it_needs_where_there_are_gains(agent_of_sums, wrap):
    env = wrap(gym.make("DPBandit-Stochastic-v0", horizon=10))
    name = type(agent_of_sums).__name__
    with refused(WrongObservationError, name, "sums", "gains", "ExactSums(env)", "HybridSums(env, epsilon=...)"):
        play(env, agent_of_sums)


@pytest.mark.parametrize(
    ("observation", "shown"),
    [
        ({"sum": np.zeros(2)}, "['sum']"),
        ({"sum": np.zeros(2), "count": np.zeros(2, int)}, "['sum', 'count']"),
        ({"total": np.array([0.123456, 0.0])}, "['total']"),
        (np.zeros(4), "ndarray"),
        (3, "int"),
    ],
    ids=["a third", "two thirds", "another name", "flat", "discrete"],
)
def test_other_wrong_observations_name_the_wrappers_too(agent_of_sums, observation, shown):
    agent_of_sums.begin(n_arms=2, horizon=10, rng=np.random.default_rng(0))
    words = type(agent_of_sums).__name__, "'sum'", "'count'", "'release'", shown
    with refused(WrongObservationError, *words, "ExactSums(env)", "HybridSums(env, epsilon=...)") as error:
        agent_of_sums.update(0, observation)
    assert "0.123456" not in str(error.value) and error.value.__suppress_context__


@pytest.mark.parametrize(
    "wrap",
    [
        ExactSums,
        lambda env: HybridSums(env, epsilon=1.0),
        lambda env: IntervalSums(env, epsilon=1.0),
        lambda env: BlockSums(env, epsilon=1.0),
    ],
    ids=["ExactSums", "HybridSums", "IntervalSums", "BlockSums"],
)
def test_agents_of_gains_refuse_sums_and_agents_of_sums_take_them(any_agent, wrap):
    env = wrap(gym.make("DPBandit-Stochastic-v0", horizon=60))
    if type(any_agent) in OF_SUMS:
        assert len(play(env, any_agent).arms) == 60
    else:
        with refused(WrongObservationError, "'gain'", "'observed'", "['sum', 'count', 'release']"):
            play(env, any_agent)


def test_a_new_game_forgets_the_last_one(any_agent):
    """The second game of one agent is the first of a fresh one."""
    first, *others = KEYS[any_agent.learns_from]

    def arms(agent):
        agent.begin(n_arms=3, horizon=40, rng=np.random.default_rng(3))
        played = []
        for t in range(1, 41):
            played.append(agent.select_arm())
            told = np.array([t, 0, 2 * t]) if first == "sum" else np.eye(3)[played[-1]] * 0.9
            count = np.full(3, 3 * t) if first == "sum" else np.eye(3, dtype=np.int8)[played[-1]]
            release = np.full(3, t)
            agent.update(played[-1], {first: told.astype(float), **dict(zip(others, (count, release), strict=False))})
        return played

    assert arms(any_agent) == arms(any_agent) == arms(type(any_agent)())


def test_arms_from_sums_are_plain_integers_in_range(agent_of_sums):
    env = ExactSums(gym.make("DPBandit-Stochastic-v0", n_arms=3, horizon=100))
    agent_of_sums.begin(n_arms=3, horizon=100, rng=np.random.default_rng(0))
    env.reset(seed=0)
    for _ in range(100):
        arm = agent_of_sums.select_arm()
        assert type(arm) is int and 0 <= arm < 3
        agent_of_sums.update(arm, env.step(arm)[0])


def test_two_agents_of_sums_share_nothing(agent_of_sums):
    """What one is told must not show in another of the same class: its arms stay those of an agent left alone."""
    other, alone = type(agent_of_sums)(), type(agent_of_sums)()
    for agent in (agent_of_sums, other, alone):
        agent.begin(n_arms=3, horizon=100, rng=np.random.default_rng(0))
        agent.update(0, {"sum": np.array([1.0, 2.0, 3.0]), "count": np.array([4, 4, 4]), "release": np.ones(3, int)})
    for n in range(5, 40):
        told = {"sum": np.array([9.0 * n, 0.0, 0.0]), "count": np.array([n, n, n]), "release": np.full(3, n)}
        agent_of_sums.update(0, told)
    state, untouched = other._state, alone._state
    assert [str(part) for part in state] == [str(part) for part in untouched]
    assert [other.select_arm() for _ in range(5)] == [alone.select_arm() for _ in range(5)]


def test_an_observation_of_sums_is_not_kept_or_changed(agent_of_sums):
    agent_of_sums.begin(n_arms=2, horizon=10, rng=np.random.default_rng(0))
    observation = {"sum": np.array([2.0, 1.0]), "count": np.array([3, 4]), "release": np.array([1, 2])}
    agent_of_sums.update(0, observation)
    assert observation["sum"].tolist() == [2.0, 1.0] and observation["count"].tolist() == [3, 4]
    assert observation["release"].tolist() == [1, 2]
    before = [str(part) for part in agent_of_sums._state]
    observation["sum"][:] = 0.5
    observation["count"][:] = 7
    observation["release"][:] = 8
    assert [str(part) for part in agent_of_sums._state] == before


@pytest.mark.parametrize("part", ["sum", "count", "release"])
def test_parts_of_sums_that_no_environment_gives_are_refused(agent_of_sums, part):
    """Numbers of releases are whole and not negative, like counts; each part has one number for each arm."""
    agent_of_sums.begin(n_arms=2, horizon=10, rng=np.random.default_rng(0))
    wrong = [np.zeros(3, int), np.array([0.0, np.nan]), [0, 0], np.array(["1", "2"])]
    wrong += [np.array([1, -1]), np.array([1.0, 2.0])] if part != "sum" else []
    for one in wrong:
        observation = {"sum": np.zeros(2), "count": np.ones(2, int), "release": np.ones(2, int)}
        with refused(WrongObservationError, type(agent_of_sums).__name__, "'sum'", "'count'", "'release'", 2, 0):
            agent_of_sums.update(0, {**observation, part: one})


def test_every_agent_takes_notice_of_noise_before_its_first_game(any_agent):
    """With that of a bare environment it is as if nobody had told it; what is no noise is refused."""
    untouched = type(any_agent)()
    assert any_agent.noise == Noise() == Noise(1.0, 0.0, 0.0)
    any_agent.see_noise(Noise())
    states = [str(agent.initial_state(3, 50)) for agent in (any_agent, untouched)]
    assert states[0] == states[1]
    for wrong in (5.0, (1.0, 0.0, 0.0), None, {"sensitivity": 5.0}):
        with refused(WrongTypeError, "noise", "dp_bandit_envs.privacy.Noise", type(wrong).__name__):
            any_agent.see_noise(wrong)
    assert any_agent.noise == Noise()
