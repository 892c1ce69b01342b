"""EXP3 in gain form, equation 2.1 of Tossou and Dimitrakakis (2017), against hands, limits and a slow second way.

What is rare in an algorithm runs after every 32nd step, in every engine; EXP3's weights stay small by it.
"""

import math
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, BanditEnv, Exp3, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import Replay
from dp_bandit_envs.agents import exp3
from dp_bandit_envs.agents.exp3 import MOST_AHEAD, default_exploration_rate
from dp_bandit_envs.agents.functional import TIDY_EVERY, FunctionalAgent, Functions
from dp_bandit_envs.draws import exp
from dp_bandit_envs.protocols import Gains
from dp_bandit_envs.wrappers import MiniBatchAverage
from tests.tools.lane_games import one_at_a_time, side_by_side


def begun(agent, n_arms=4, horizon=100, seed=0):
    agent.begin(n_arms=n_arms, horizon=horizon, rng=np.random.default_rng(seed))
    return agent


def tell(agent, arm, gain, n_arms, observed=1):
    """Report the gain of one arm as an environment does."""
    seen = {"gain": np.zeros(n_arms), "observed": np.zeros(n_arms, np.int8)}
    seen["gain"][arm], seen["observed"][arm] = gain, observed
    agent.update(arm, seen)


def test_first_updates_match_equation_2_1_by_hand():
    agent = begun(Exp3(exploration_rate=0.5), n_arms=2)
    assert agent.probabilities().tolist() == [0.5, 0.5]
    # G_0 = 1 / 0.5 = 2; exponent (0.5 / 2) * 2 = 0.5; p_0 = 0.5 e^0.5 / (e^0.5 + 1) + 0.25.
    tell(agent, 0, 1.0, 2)
    assert agent.probabilities() == pytest.approx([0.5612296656009273, 0.4387703343990727], rel=1e-15)
    # G_1 = 0.5 / 0.43877... = 1.1395483258565912; exponent 0.25 * that = 0.2848870814641478;
    # p_0 = 0.5 e^0.5 / (e^0.5 + e^0.28488...) + 0.25 = 0.5 / (1 + e^-0.21511...) + 0.25.
    tell(agent, 1, 0.5, 2)
    assert agent.probabilities() == pytest.approx([0.5267859044422918, 0.4732140955577082], rel=1e-15)
    # A gain of 0 adds nothing.
    before = agent.probabilities()
    tell(agent, 0, 0.0, 2)
    assert agent.probabilities().tolist() == before.tolist()


def test_only_the_gain_that_was_observed_of_the_arm_played_counts():
    one, other = (begun(Exp3(exploration_rate=0.3), n_arms=3) for _ in range(2))
    one.update(1, {"gain": np.ones(3), "observed": np.ones(3, np.int8)})
    tell(other, 1, 1.0, 3)
    assert one.probabilities().tolist() == other.probabilities().tolist()
    tell(one, 2, 0.9, 3, observed=0)
    assert one.probabilities().tolist() == other.probabilities().tolist()


def log_space(rate, n_arms, history):
    """Return the probabilities of equation 2.1 after a history of (arm, gain), with nothing but logarithms kept."""
    scores = [0.0] * n_arms
    for arm, gain in history:
        scores[arm] += rate / n_arms * gain / softmax(scores, rate)[arm]
    return softmax(scores, rate)


def softmax(scores, rate):
    top = max(scores)
    shares = [math.exp(score - top) for score in scores]
    return [(1 - rate) * share / math.fsum(shares) + rate / len(scores) for share in shares]


@pytest.mark.parametrize(("rate", "n_arms"), [(0.01, 5), (0.3, 2), (0.3, 5), (1.0, 5)])
def test_probabilities_equal_a_slow_second_way(rate, n_arms):
    rng = np.random.default_rng(1)
    history = [(int(rng.integers(n_arms)), float(rng.random())) for _ in range(400)]
    agent = begun(Exp3(exploration_rate=rate), n_arms=n_arms)
    for arm, gain in history:
        tell(agent, arm, gain, n_arms)
    assert agent.probabilities() == pytest.approx(log_space(rate, n_arms, history), rel=1e-10)


def test_arms_are_drawn_with_the_probabilities():
    """Counts over n draws have standard deviation sqrt(n p (1 - p)): allow five.

    False alarm: 2.3e-6 (five standard errors, two sides, four counts).
    """
    agent = begun(Exp3(exploration_rate=0.4), n_arms=4)
    for arm, gain in ((0, 1.0), (2, 0.6), (0, 0.8), (3, 0.1)):
        tell(agent, arm, gain, 4)
    p, n = agent.probabilities(), 40_000
    counts = np.bincount([agent.select_arm() for _ in range(n)], minlength=4)
    assert np.all(np.abs(counts - n * p) < 5 * np.sqrt(n * p * (1 - p)))
    assert len({round(value, 3) for value in p}) == 4


def test_the_default_exploration_rate_is_that_of_algorithm_1():
    # sqrt(4 ln 4 / ((e - 1) 2^18)) = sqrt(5.545177 / 450436.9) = 0.003508654...
    assert default_exploration_rate(4, 2**18) == pytest.approx(0.0035086541720524606, rel=1e-14)
    assert default_exploration_rate(4, 1) == 1.0
    assert begun(Exp3(), n_arms=4, horizon=2**18).probabilities().tolist() == [0.25] * 4
    assert Exp3().rate(4, 1000) == math.sqrt(4 * math.log(4) / ((math.e - 1) * 1000))
    assert Exp3(exploration_rate=0.2).rate(4, 1000) == 0.2


@pytest.mark.thorough
@pytest.mark.slow_cases("1.0-0.0")
@pytest.mark.parametrize(("rate", "gain"), [(1.0, 0.0), (1.0, 1.0), (0.3, 1.0)])
def test_ten_million_rounds_of_equal_gains_stay_finite(gain, rate):
    """River's weights overflow after 17,012 rounds at rate 0.3. A NaN would make every draw the last arm's.

    At rate 1 the pulls of an arm have standard deviation sqrt(T / 4 * 3 / 4): allow five. Elsewhere the probability
    of an arm is at least rate / 4, so its pulls are at least those of a coin with that bias.

    False alarm: 2.3e-6 (five standard errors, two sides, four arms).
    """
    horizon = 10**7
    outcome = simulate(
        "DPBandit-Stochastic-v0",
        [make_algorithm("EXP3", exploration_rate=rate)],
        horizon=horizon,
        checkpoints=5,
        env_kwargs={"means": [gain] * 4},
    )["EXP3"]
    assert outcome.engine == "compiled"
    assert outcome.collected[0].tolist() == [gain * horizon * part / 5 for part in range(1, 6)]
    assert outcome.external_regret[0].tolist() == [0.0] * 5
    assert outcome.pulls.sum() == horizon
    p = rate / 4
    spread = math.sqrt(horizon * p * (1 - p))
    assert outcome.pulls.min() > horizon * p - 5 * spread
    if rate == 1.0:
        assert outcome.pulls.max() < horizon * p + 5 * spread


@pytest.mark.thorough
def test_an_arm_that_fell_behind_recovers():
    """Arm 0 pays for 6,000 rounds, then arm 1: its share is e^-1500 by then, which no double holds.

    Round for round the probabilities must be those of the logarithms, all the way down and up again. Between the two
    lies a deficit that arm 1 has to earn back: one unit of score each time it is drawn for exploration.

    False alarm: 6e-7 (five standard deviations, two sides).
    """
    rate, phase = 0.5, 6000
    rng = np.random.default_rng(2)
    state = exp3.start(2, rate)
    scores = [0.0, 0.0]
    deepest = 0.0
    switched_back = None
    for round_ in range(3 * phase):
        arm = exp3.select(state, rng)
        paying = 0 if round_ < phase else 1
        gain = float(arm == paying)
        scores[arm] += rate / 2 * gain / softmax(scores, rate)[arm]
        state = Exp3.functions.after(state, arm, Gains([gain, gain], [1, 1]), round_ + 1)
        p = softmax(scores, rate)
        assert exp3.probability(state, 0) == pytest.approx(p[0], rel=1e-9)
        assert exp3.probability(state, 1) == pytest.approx(p[1], rel=1e-9)
        deepest = max(deepest, scores[0] - scores[1])
        if switched_back is None and round_ >= phase and p[1] > 0.7:
            switched_back = round_
    assert deepest > 1000
    # Arm 1 is drawn with probability 1/4 and then gains 1: it earns the deficit back in 4 times its size, give or
    # take five standard deviations, and stays on top.
    draws = 4 * deepest
    assert abs(switched_back - phase - draws) < 5 * math.sqrt(draws * 3) + 40
    assert p[1] > 0.7


@pytest.mark.thorough
@pytest.mark.parametrize(("rate", "published", "error"), [(0.01, 484.9, 3.6), (0.05, 233.7, 4.5)])
def test_pseudo_regret_is_the_one_measured_independently(rate, published, error):
    """T = 20,000, means (.55, .5, .5, .5), 400 games: within five combined standard errors of another program's.

    False alarm: 6e-7 (five standard errors, two sides).
    """
    outcome = simulate(
        "DPBandit-Stochastic-v0",
        [make_algorithm("EXP3", exploration_rate=rate)],
        horizon=20_000,
        trials=400,
        seed=42,
        checkpoints=1,
    )["EXP3"]
    regret = outcome.pseudo_regret[:, -1]
    own = regret.std(ddof=1) / math.sqrt(400)
    assert abs(regret.mean() - published) < 5 * math.hypot(own, error)
    assert own < 2 * error


class Steps(NamedTuple):
    """Updates so far, and a number that mixes the updates after which `tidy` was called."""

    updates: int
    mixed: int


def arm_of(state, rng):
    return state.mixed % 3


def one_more(state, arm, seen):
    return Steps(state.updates + 1, state.mixed)


def mix(state):
    return Steps(state.updates, (31 * state.mixed + state.updates) % 1000003)


class Tidied(FunctionalAgent):
    """Plays another arm from then on whenever `tidy` is called after another update."""

    functions = Functions(arm_of, one_more, mix)

    def initial_state(self, n_arms, horizon):
        return Steps(0, 1)


@pytest.mark.thorough
def test_compiled_games_tidy_after_the_same_steps_as_played_ones():
    batch_size = 3
    player = Algorithm("tidied", Tidied, lambda env: MiniBatchAverage(env, batch_size=batch_size))
    horizon = 32 * 5 * batch_size + 7
    outcome = simulate("DPBandit-Stochastic-v0", [player], horizon=horizon, checkpoints=range(1, horizon + 1))["tidied"]
    assert outcome.engine == "compiled"
    game = play(gym.make("DPBandit-Stochastic-v0", horizon=horizon), player)
    assert np.array_equal(outcome.switches[0], game.switches)
    assert np.array_equal(outcome.pulls[0], np.bincount(game.arms, minlength=4))
    # By hand: the arm of each step, and one batch that is not finished.
    mixed, arms = 1, []
    for step in range(1, 162):
        arms += [mixed % 3] * batch_size
        mixed = (31 * mixed + step) % 1000003 if step % 32 == 0 else mixed
    assert list(game.arms[: len(arms)]) == arms[:horizon]
    assert len(set(arms)) == 3


def by_hand(rate, n_arms, arms, gains):
    """Return scores, weights and reference after a game, by the rule in words.

    The arm's score grows by rate / K gain / p. After every 32nd step, if the largest score is 50 or more ahead of the
    reference, it becomes the reference, and all weights are taken afresh.
    """
    scores, weights, reference, raised = [0.0] * n_arms, [1.0] * n_arms, 0.0, 0
    for step, (arm, gain) in enumerate(zip(arms, gains, strict=True), 1):
        total = 0.0
        for weight in weights:
            total += weight
        chance = (1.0 - rate) * weights[arm] / total + rate / n_arms
        scores[arm] += rate / n_arms * gain / chance
        weights[arm] = exp(scores[arm] - reference)
        if step % 32 == 0 and max(scores) - reference >= 50.0:
            reference, raised = max(scores), raised + 1
            weights = [exp(score - reference) for score in scores]
    return scores, weights, reference, raised


@pytest.mark.thorough
@pytest.mark.slow_cases("0.3-1", "1.0-1")
@pytest.mark.parametrize(("rate", "batch_size"), [(0.3, 1), (1.0, 1), (1.0, 2)])
def test_every_engine_rescales_by_the_rule_in_words(rate, batch_size):
    horizon = 1500
    table = np.random.default_rng(4).random((horizon, 3)) ** 0.2
    agents = []

    def kept():
        agents.append(Exp3(exploration_rate=rate))
        return agents[-1]

    def batched(env):
        return MiniBatchAverage(env, batch_size=batch_size)

    game = play(BanditEnv(Replay(table)), Algorithm("mine", kept, batched, player="mine"), seed=2)
    arms = np.array(game.arms)
    gains = table[np.arange(horizon), arms]
    if batch_size > 1:  # averages are of multiples of 2^-30
        gains = (np.round(gains * 2.0**30) / 2.0**30).reshape(-1, batch_size).sum(axis=1) / batch_size
    scores, weights, reference, raised = by_hand(rate, 3, arms[::batch_size].tolist(), gains.tolist())
    assert raised >= 2
    assert agents[-1]._state == exp3.State(scores, weights, reference, rate)
    player = Algorithm("mine", lambda: Exp3(exploration_rate=rate), batched, player="mine")
    for way in (one_at_a_time, side_by_side):
        (ends,) = way(BanditEnv(Replay(table)), [player], 2, range(1), [horizon]).games
        numbers = [np.frombuffer(ends["mine"][f"state[{part}]"]).tolist() for part in range(4)]
        assert numbers == [scores, weights, [reference], [rate]]


@pytest.mark.thorough
def test_a_score_grows_by_at_most_one_in_a_step():
    """As p is at least rate / K, up to rounding; so between two calls of `tidy` weights stay below e^(50 + 32)."""
    for n_arms, rate in [(2, 1.0), (8, 1e-6), (8, 0.5), (300, 0.01)]:
        rng = np.random.default_rng(5)
        state = exp3.start(n_arms, rate)
        for step in range(1, 3000):
            # Often the arm that is least likely, whose score grows most.
            arm = int(np.argmin(state.weights)) if step % 3 else int(rng.integers(n_arms))
            before = float(state.scores[arm])
            gains = np.ones(n_arms)
            state = Exp3.functions.after(state, arm, Gains(gains, np.ones(n_arms, int)), step)
            assert 0 < state.scores[arm] - before <= 1.0 + 1e-9
            assert max(state.weights) <= math.exp(MOST_AHEAD + TIDY_EVERY) * (1 + 1e-9)
            assert sum(state.weights) > 0
