"""What the wrappers that release sums hand on: sums, counts, the released mean as reward, and the round."""

import math
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from dp_bandit_envs.errors import StepOutsideGameError
from dp_bandit_envs.wrappers import (
    BlockSums,
    ExactSums,
    IntervalSums,
    vector,
)
from tests.tools.boundary_games import SUMS, act, game, games, summed
from tests.tools.refusals import refused

TABLE = [[0.25, 0.5], [0.5, 1.0], [0.0, 0.75], [1.0, 0.125]]
FORMS = {"scalar": game, "vector": lambda table, **options: games(1, table, **options)}


@pytest.fixture(params=FORMS)
def make(request):
    """A maker of games, scalar and vector."""
    return FORMS[request.param]


def step(env, arm):
    """Play one arm; return sum, count, reward, ended and info of game 0 as plain numbers."""
    observation, reward, terminated, truncated, info = env.step(act(env, arm))
    assert set(observation) == {"sum", "count", "release"}
    assert set(info) == ({"round"} if isinstance(env, gym.Env) else {"round", "_round"})
    return (
        observation["sum"].ravel().tolist(),
        observation["count"].ravel().tolist(),
        float(np.ravel(reward)[0]),
        bool(np.all(terminated | truncated)),
        int(np.ravel(info["round"])[0]),
    )


def test_sums_counts_and_rewards_by_hand(make):
    env = (ExactSums if make is game else vector.ExactSums)(make(TABLE))
    observation, info = env.reset(seed=0)
    assert observation["sum"].ravel().tolist() == [0.0, 0.0]
    assert observation["count"].ravel().tolist() == observation["release"].ravel().tolist() == [0, 0]
    assert int(np.ravel(info["round"])[0]) == 0
    assert step(env, 0) == ([0.25, 0.0], [1, 0], 0.25, False, 1)
    assert step(env, 1) == ([0.25, 1.0], [1, 1], 1.0, False, 2)
    assert step(env, 0) == ([0.25, 1.0], [2, 1], 0.125, False, 3)  # 0.25 / 2, not the gain 0
    assert step(env, 1) == ([0.25, 1.125], [2, 2], 0.5625, True, 4)
    env.reset(seed=0)  # nothing is left of the game before
    assert step(env, 1) == ([0.0, 0.5], [0, 1], 0.5, False, 1)


def test_blocks_that_forget_by_hand(make):
    """Arm 0 in blocks of 1, 1, 2 (ratio 2) without noise: gains 1/4, 1/2, then 0 and 1 together."""
    wrapper = BlockSums if make is game else vector.BlockSums
    env = wrapper(make(TABLE), epsilon=math.inf)
    env.reset(seed=0)
    assert step(env, 0) == ([0.25, 0.0], [1, 0], 0.25, False, 1)
    assert step(env, 0) == ([0.5, 0.0], [1, 0], 0.5, False, 2)
    assert step(env, 0) == ([0.5, 0.0], [1, 0], 0.5, False, 3)
    assert step(env, 0) == ([1.0, 0.0], [2, 0], 0.5, True, 4)
    env = wrapper(make(TABLE), epsilon=math.inf, keep=True)
    env.reset(seed=0)
    assert step(env, 0) == ([0.25, 0.0], [1, 0], 0.25, False, 1)
    assert step(env, 0) == ([0.75, 0.0], [2, 0], 0.375, False, 2)
    assert step(env, 0) == ([0.75, 0.0], [2, 0], 0.375, False, 3)
    assert step(env, 0) == ([1.75, 0.0], [4, 0], 0.4375, True, 4)


def test_intervals_wait_for_their_ends_by_hand(make):
    """Epsilon = 16: the input is 0.349 (see test_sums_privacy_loss), so intervals of ceil(1 / 0.349) = 3 gains."""
    wrapper = IntervalSums if make is game else vector.IntervalSums
    env = wrapper(make(TABLE), epsilon=16.0, intervals="uniform")
    assert env.mechanism.ends(4).tolist() == [3]
    env.reset(seed=0)
    assert step(env, 1) == ([0.0, 0.0], [0, 0], 0.0, False, 1)
    assert step(env, 1) == ([0.0, 0.0], [0, 0], 0.0, False, 2)
    sums, counts, reward, *_ = step(env, 1)
    assert counts == [0, 3] and sums[0] == 0.0
    assert sums[1] != 2.25 and reward == sums[1] / 3  # noise of scale 3^0.55
    assert step(env, 0) == (sums, counts, 0.0, True, 4)  # held; nothing is known of arm 0


@pytest.mark.parametrize("kind", SUMS)
def test_rewards_spaces_and_copies_of_observations(kind, make):
    """The reward is the released mean of the arm played; all observations lie in their space, to the end of the game.

    Whoever writes into one changes nothing of what comes later, nor of the picture.
    """
    table = np.random.default_rng(2).random((14, 2))
    env, other = (summed(make(table, render_mode="ansi"), kind) for _ in range(2))
    seen, observation = env.reset(seed=3)[0], other.reset(seed=3)[0]
    assert observation in other.observation_space
    paid, ended, t = [], False, 0
    while not ended:
        seen["sum"][...], seen["count"][...] = 99.0, 9
        assert env.render() == other.render()
        arm = [0, 1, 1, 0, 0, 0, 1][t % 7]
        seen = env.step(act(env, arm))[0]
        observation, reward, terminated, truncated, _ = other.step(act(other, arm))
        assert observation in other.observation_space
        assert observation["sum"].dtype == np.float64 and observation["count"].dtype == np.int64
        assert all(seen[part].tobytes() == observation[part].tobytes() for part in seen)
        sums, counts = (observation[part].ravel().tolist() for part in ("sum", "count"))
        paid.append(float(np.ravel(reward)[0]))
        assert paid[-1] == sums[arm] / max(counts[arm], 1)
        ended, t = bool(np.all(terminated | truncated)), t + 1
    assert any(paid) and 0 < max(counts) <= env.horizon


ABOUT_THE_WRAPPER = (
    "different from the unwrapped version",
    "minimum value is -infinity",  # noise can carry a sum anywhere
    "maximum value is infinity",
    "Not able to test alternative render modes",  # as a boundary shows no spec
)


@pytest.mark.parametrize("kind", SUMS)
def test_gymnasiums_own_check_passes(kind):
    """Its warnings are errors, but for those that say what a boundary is for."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(summed(game(np.full((14, 2), 0.5)), kind))
    others = [str(w.message) for w in caught if not any(known in str(w.message) for known in ABOUT_THE_WRAPPER)]
    assert not others


def test_a_game_that_ended_or_has_not_begun_is_not_played(make):
    env = (ExactSums if make is game else vector.ExactSums)(make(TABLE))
    with refused(StepOutsideGameError, "reset()"):
        step(env, 0)
    with refused(StepOutsideGameError, "reset()"):
        env.render()
    if make is game:
        env.reset(seed=0)
        for _ in TABLE:
            env.step(0)
        with refused(StepOutsideGameError, "reset()"):
            env.step(0)
