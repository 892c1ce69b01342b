"""What is rare in an algorithm runs after every 32nd step, in every engine; EXP3's weights stay small by it."""

import math
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Exp3, MiniBatchAverage, play, simulate
from dp_bandit_envs.adversaries import Replay
from dp_bandit_envs.agents import exp3
from dp_bandit_envs.agents.exp3 import MOST_AHEAD
from dp_bandit_envs.agents.functional import TIDY_EVERY, FunctionalAgent, Functions
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.arithmetic import exp
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.observations import Gains
from tests.tools.lane_games import one_at_a_time, side_by_side


def test_tidy_follows_every_32nd_update_and_no_other():
    functions = Functions(None, lambda state, arm, seen: [*state, (arm, seen)], lambda state: [*state, "tidied"])
    state = []
    for step in range(1, 100):
        state = functions.after(state, step, -step, step)
    expected = []
    for step in range(1, 100):
        expected += [(step, -step)] + ["tidied"] * (step in (32, 64, 96))
    assert state == expected


def test_without_tidy_there_are_updates_only():
    functions = Functions(None, lambda state, arm, seen: state + arm)
    assert functions.after(1, 2, None, TIDY_EVERY) == 3


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
        """Return the state before the first step."""
        return Steps(0, 1)


@pytest.mark.parametrize("batch_size", [1, 3, 32])
def test_compiled_games_tidy_after_the_same_steps_as_played_ones(batch_size):
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


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("n_arms", [2, 8, 300])
def test_a_score_grows_by_at_most_one_in_a_step(n_arms, rate):
    """As p is at least rate / K, up to rounding; so between two calls of `tidy` weights stay below e^(50 + 32)."""
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


def test_tidy_leaves_probabilities_as_they_are():
    """Up to rounding: only the number that is subtracted in all exponents changes."""
    scores = np.array([3.0, 49.0, 50.5])
    state = exp3.State(scores, np.array([exp(score) for score in scores]), 0.0, 0.2)
    after = exp3.tidy(exp3.State(scores.copy(), state.weights.copy(), 0.0, 0.2))
    assert after.reference == 50.5 and after.weights[2] == 1.0
    for arm in range(3):
        assert exp3.probability(after, arm) == pytest.approx(exp3.probability(state, arm), rel=1e-14)
    below = exp3.State(scores - 0.6, state.weights.copy(), 0.0, 0.2)
    assert exp3.tidy(below) is below
