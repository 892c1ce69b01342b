"""Hedge: by hand, against the plain softmax, with sums that overflow a naive form, and with no needless exponential."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import play, simulate
from dp_bandit_envs.agents import EpochLeader, Hedge, LazyHedge, hedge
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.arithmetic import exp
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import WrongGameError, WrongObservationError
from dp_bandit_envs.wrappers import CounterSums, ExactSums
from tests.tools.refusals import refused

BANDITS = ["DPBandit-Stochastic-v0", "DPBandit-Switching-v0", "DPBandit-Graph-v0"]


def begun(n_arms=3, horizon=100, **options):
    agent = Hedge(**options)
    agent.begin(n_arms=n_arms, horizon=horizon, rng=np.random.default_rng(1))
    return agent


def told(agent, sums):
    agent.update(0, {"sum": np.array(sums, float), "count": np.full(len(sums), 1), "release": np.full(len(sums), 1)})
    return agent.probabilities()


def test_first_update_by_hand():
    """At a = ln 2 sums of 2, 1, 0 have weights 4, 2, 1."""
    agent = begun(learning_rate=math.log(2))
    assert agent.probabilities() == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert told(agent, [2, 1, 0]) == pytest.approx([4 / 7, 2 / 7, 1 / 7])


def test_the_default_rate_is_that_of_the_bound():
    assert Hedge().rate(10, 2**16) == pytest.approx(math.sqrt(8 * math.log(10) / 2**16))
    assert Hedge(learning_rate=lambda n_arms, horizon: n_arms / horizon).rate(3, 12) == 0.25
    # ln K / a + a T / 8 at that rate.
    assert math.log(10) / Hedge().rate(10, 800) + Hedge().rate(10, 800) * 100 == pytest.approx(
        math.sqrt(800 * math.log(10) / 2)
    )


def test_any_path_of_sums_gives_the_softmax_of_the_last():
    """Sums wander far up and down, as noisy ones do, so that the reference is moved many times."""
    rng = np.random.default_rng(3)
    agent = begun(4, learning_rate=0.7)
    sums = np.zeros(4)
    for step in range(300):
        moved = rng.random(4) < 0.5
        sums = sums + moved * rng.normal(0, 10.0 ** (step % 4), 4)
        scores = 0.7 * (sums - sums.max())
        np.testing.assert_allclose(told(agent, sums), np.exp(scores) / np.exp(scores).sum(), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("sums", [[1e308, -1e308, 0], [-1e308, -1e308, -1e307], [1e16, 1e16, 0], [-1e16, 5, 5]])
def test_no_sums_overflow(sums):
    agent = begun(learning_rate=5.0)
    chances = told(agent, sums)
    assert np.all(np.isfinite(chances)) and chances.sum() == pytest.approx(1)
    largest = np.flatnonzero(np.array(sums) == max(sums))
    assert chances[largest] == pytest.approx(1 / len(largest))
    assert {agent.select_arm() for _ in range(50)} == set(largest.tolist())


def test_exponentials_are_taken_only_for_sums_that_changed(monkeypatch):
    taken = []

    def counted(number):
        taken.append(number)
        return exp(number)

    monkeypatch.setattr(hedge, "exp", counted)
    agent = begun(learning_rate=0.1)
    told(agent, [1, 2, 3])
    assert len(taken) == 3
    told(agent, [1, 2, 3])
    assert len(taken) == 3
    told(agent, [1, 2.5, 3])
    assert len(taken) == 4
    # The largest leaves the range: all weights are taken afresh, once.
    told(agent, [1, 2.5, 3000])
    assert len(taken) == 7


def test_arms_are_drawn_as_often_as_they_are_likely():
    """Over 40,000 draws; five standard errors. False alarm: 2e-6."""
    agent = begun(learning_rate=1.0)
    chances = told(agent, [0, 1, 2])
    shares = np.bincount([agent.select_arm() for _ in range(40_000)], minlength=3) / 40_000
    assert np.all(np.abs(shares - chances) < 5 * np.sqrt(chances * (1 - chances) / 40_000))


@pytest.mark.parametrize("wrong", [-0.1, math.nan, math.inf])
def test_the_learning_rate_must_be_a_number_of_at_least_0(wrong):
    for agent in (Hedge, LazyHedge):
        with refused(ValueError, "learning_rate", 0, wrong):
            agent(learning_rate=wrong)


def test_it_learns_from_sums_and_says_so():
    with refused(WrongObservationError, "Hedge", "ExactSums"):
        play(ExpertsEnv(3, 10), Hedge())


@pytest.mark.parametrize("env_id", BANDITS)
@pytest.mark.parametrize(("agent", "wrap"), [(Hedge, ExactSums), (LazyHedge, lambda env: env), (EpochLeader, None)])
def test_games_that_hide_gains_are_refused(env_id, agent, wrap):
    """As an agent, as an algorithm of its class, and as one whose factory shows no attribute."""
    wrap = wrap or (lambda env: env)
    with refused(WrongGameError, agent.__name__, "DPBandit-Experts-v0"):
        play(wrap(gym.make(env_id, horizon=20)), agent())
    for make in (agent, lambda: agent()):
        mine = Algorithm("mine", make, wrap)
        with refused(WrongGameError, "mine", "DPBandit-Experts-v0"):
            play(gym.make(env_id, horizon=20), mine)
        with refused(WrongGameError, "mine", "DPBandit-Experts-v0"):
            simulate(env_id, [mine], horizon=20)


def test_the_complete_graph_is_no_such_game():
    options = {"graph": "complete", "n_arms": 3, "horizon": 40}
    assert len(play(ExactSums(gym.make("DPBandit-Graph-v0", **options)), Hedge()).arms) == 40
    assert play(gym.make("DPBandit-Graph-v0", **options), LazyHedge()).arms.max() <= 2


def test_it_plays_on_private_sums_of_a_counter():
    """With next to no noise it finds the best arm, and with much noise it does not break."""
    means = [0.9, 0.1, 0.1]
    for epsilon, most in ((1e6, 120), (1e-3, 2000)):
        env = CounterSums(ExpertsEnv(means=means, horizon=2000), counter="binary", epsilon=epsilon)
        assert play(env, Hedge(), seed=3).external_regret[-1] < most
