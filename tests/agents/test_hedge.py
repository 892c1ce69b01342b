"""Hedge by hand and against the plain softmax; lazy Hedge's exact law; and the epochs of the epoch leader."""

import itertools
import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, play, simulate
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import EpochLeader, Hedge, LazyHedge
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.wrappers import ExactSums
from tests.tools.exact_laws import lazy_law
from tests.tools.fake_draws import Numbers
from tests.tools.refusals import refused


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


def test_arms_are_drawn_as_often_as_they_are_likely():
    """Over 40,000 draws; five standard errors. False alarm: 2e-6."""
    agent = begun(learning_rate=1.0)
    chances = told(agent, [0, 1, 2])
    shares = np.bincount([agent.select_arm() for _ in range(40_000)], minlength=3) / 40_000
    assert np.all(np.abs(shares - chances) < 5 * np.sqrt(chances * (1 - chances) / 40_000))


def lazy_begun(*numbers, **options):
    agent = LazyHedge(**options)
    agent.begin(n_arms=2, horizon=10, rng=Numbers(*numbers))
    return agent


def lazy_told(agent, arm, gains):
    agent.update(arm, {"gain": np.array(gains, float), "observed": np.ones(2, np.int8)})


def test_steps_by_hand():
    """At a = ln 2 and p = .25 an arm of gain 0 stays with probability .75 / 2 = .375, one of gain 1 with .75."""
    options = {"learning_rate": math.log(2), "fresh_probability": 0.25}
    # Uniform: arm 0 below .5. A coin of .37 keeps it, one of .38 does not; then weights are 1 and 2.
    for coin, draws, arm in ((0.37, (), 0), (0.38, (0.33,), 0), (0.38, (0.34,), 1)):
        agent = lazy_begun(0.49, coin, *draws, **options)
        assert agent.select_arm() == 0
        lazy_told(agent, 0, [0, 1])
        assert agent.select_arm() == arm
    agent = lazy_begun(0.49, 0.74, 0.76, 0.79, **options)
    assert agent.select_arm() == 0
    lazy_told(agent, 0, [1, 0])
    assert agent.select_arm() == 0
    lazy_told(agent, 0, [1, 0])
    # Weights 4 and 1: arm 0 below .8.
    assert agent.select_arm() == 0


def test_without_draws_left_it_stays():
    agent = lazy_begun(0.6, 0.99, 0.01, learning_rate=1.0, fresh_probability=1.0, most_draws=1)
    arms = []
    for _ in range(6):
        arms.append(agent.select_arm())
        lazy_told(agent, arms[-1], [1, 0])
    # Arm 1, then the one draw, .99 of 1 + 1 / e: arm 1 again. The number .01, which would be arm 0, is never asked for.
    assert arms == [1] * 6


@pytest.mark.thorough
@pytest.mark.slow_cases("9")
@pytest.mark.parametrize("most", [1, 9])
def test_played_sequences_have_the_exact_law(most):
    """Pearson's chi-square over the 27 sequences of 3 arms in 3 rounds. False alarm: 1e-6 (52 degrees and fewer)."""
    table = np.array([[1.0, 0.2, 0.0], [0.0, 0.5, 1.0], [0.3, 0.4, 0.6]])
    games = 20_000
    algorithm = Algorithm("lazy", lambda: LazyHedge(learning_rate=1.0, fresh_probability=0.2, most_draws=most))
    outcome = simulate(lambda: ExpertsEnv(gains=GainTable(table)), [algorithm], trials=games, checkpoints=[1, 2, 3])
    # Pulls are those of the whole game; each round's arm is found from the gain collected in it.
    gained = np.diff(outcome["lazy"].collected, axis=1, prepend=0)
    arms = np.abs(gained[:, :, np.newaxis] - table).argmin(axis=2)
    played = arms @ [9, 3, 1]
    found = np.bincount(played, minlength=27)
    law = lazy_law(table, 1.0, 0.2, most)
    expected = games * np.array([law.get(arms, 0.0) for arms in itertools.product(range(3), repeat=3)])
    possible = expected > 0
    assert found[~possible].sum() == 0 and expected[possible].min() > 5
    statistic = ((found - expected)[possible] ** 2 / expected[possible]).sum()
    # The quantile at 1 - 1e-6 for 26 degrees of freedom is 73.6, and smaller for fewer.
    assert statistic < 74


@pytest.mark.thorough
def test_with_a_fresh_draw_in_every_round_it_is_hedge():
    one, other = (
        Algorithm("one", lambda: LazyHedge(fresh_probability=1), player="same"),
        Algorithm("other", Hedge, ExactSums, player="same"),
    )
    outcomes = simulate("DPBandit-Experts-v0", [one, other], horizon=2000, trials=3)
    np.testing.assert_array_equal(outcomes["one"].pulls, outcomes["other"].pulls)


def weights_after(gains, **options):
    agent = EpochLeader(**options)
    agent.begin(n_arms=2, horizon=100, rng=np.random.default_rng(0))
    for row in gains:
        arm = agent.select_arm()
        agent.update(arm, {"gain": np.array(row, float), "observed": np.ones(2, np.int8)})
    return list(agent._state.weights)


def test_weights_come_from_the_last_epoch_alone():
    """Epochs are rounds 1, 2, 3 to 4, 5 to 8. At epsilon = 2 an arm that is b behind weighs e^-b."""
    rows = [[1, 0], [0, 0.5], [0.25, 1], [0.25, 1], *[[1, 0]] * 4]
    expected = {
        1: [1, math.exp(-1)],
        2: [math.exp(-0.5), 1],
        3: [math.exp(-0.5), 1],
        4: [math.exp(-1.5), 1],
        7: [math.exp(-1.5), 1],
        8: [1, math.exp(-4)],
    }
    for rounds, weights in expected.items():
        assert weights_after(rows[:rounds], epsilon=2.0) == pytest.approx(weights)
    assert weights_after([[1, 0]], epsilon=0.5) == pytest.approx([1, math.exp(-0.25)])


def test_an_epoch_has_one_arm_and_epochs_double():
    changes = set()
    for seed in range(40):
        arms = play(ExpertsEnv(10, 64), EpochLeader(epsilon=0.1), seed=seed).arms
        changes |= set((np.flatnonzero(np.diff(arms)) + 1).tolist())
    # Counted from 0, the epochs begin at 0, 1, 2, 4, 8, ...
    assert changes == {1, 2, 4, 8, 16, 32}


def test_without_privacy_the_leader_of_the_last_epoch_is_played_and_ties_are_drawn():
    assert weights_after([[0.4, 0.5]], epsilon=math.inf) == [0.0, 1.0]
    assert weights_after([[0.5, 0.5]], epsilon=math.inf) == [1.0, 1.0]
    table = np.tile([0.0, 1.0], (64, 1))
    assert play(ExpertsEnv(gains=GainTable(table)), EpochLeader(epsilon=math.inf)).arms[1:].tolist() == [1] * 63


@pytest.mark.thorough
def test_an_adversary_that_knows_the_epochs_wins():
    """It pays the arms in turns, an epoch each: the leader of an epoch gets nothing in the next, hence no bound."""
    table = np.zeros((256, 2))
    for start in (0, 1, 2, 4, 8, 16, 32, 64, 128):
        epoch = max(start, 1).bit_length() + (start > 0)
        table[start : max(2 * start, 1), epoch % 2] = 1
    leader = {"leader": lambda: EpochLeader(epsilon=4.0)}
    outcome = simulate(lambda: ExpertsEnv(gains=GainTable(table)), leader, trials=20)["leader"]
    # After 8 rounds or more it draws the other arm with probability e^-16 only; all epochs before have 16 rounds.
    # False alarm: 2e-6.
    assert outcome.collected[:, -1].max() <= 16
    assert outcome.external_regret[:, -1].min() > 150


@pytest.mark.parametrize(
    ("env_id", "agent", "wrap"),
    [
        ("Stochastic", Hedge, ExactSums),
        ("Switching", LazyHedge, lambda env: env),
        ("Graph", EpochLeader, lambda env: env),
    ],
)
def test_games_that_hide_gains_are_refused(env_id, agent, wrap):
    """As an agent, as an algorithm of its class, and as one whose factory shows no attribute."""
    with refused(WrongGameError, agent.__name__, "DPBandit-Experts-v0"):
        play(wrap(gym.make(f"DPBandit-{env_id}-v0", horizon=20)), agent())
    for make in (agent, lambda: agent()):
        with refused(WrongGameError, "mine", "DPBandit-Experts-v0"):
            simulate(env_id, [Algorithm("mine", make, wrap)], horizon=20)
