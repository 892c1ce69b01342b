"""Gymnasium's own wrappers above and below a privacy boundary, and other wrappers that may not stand below one."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.privacy.mechanism import noise_key
from dp_bandit_envs.seeding import ADVERSARY, AGENT, FIRST_WRAPPER, stream
from dp_bandit_envs.wrappers import LaplaceClipRescale, MiniBatchAverage, vector
from tests.tools.boundary_games import NOISY, ORDERS, PLANTED, around, find_planted, game, games, wrapped
from tests.tools.doors import one_each
from tests.tools.refusals import refused

TABLE = np.full((8, 3), PLANTED)
BOTH = "Laplace(MiniBatch)"


def play(env, arms):
    """Return all that comes out, step by step."""
    results = [env.reset(seed=4)]
    for arm in arms:
        results.append(env.step(arm))
        if np.any(results[-1][2]) or np.any(results[-1][3]):
            break
    return results


# ---- above


@pytest.mark.parametrize("order", ["MiniBatch", BOTH, "Response"])
def test_record_episode_statistics_above_adds_up_released_rewards(order):
    env = gym.wrappers.RecordEpisodeStatistics(around(game(TABLE), order))
    results = play(env, [0] * 8)
    episode = results[-1][4]["episode"]
    assert episode["l"] == len(results) - 1
    assert episode["r"] == pytest.approx(sum(result[1] for result in results[1:]), rel=1e-12)
    assert order not in NOISY or not list(find_planted(results))


def test_vector_wrappers_above_see_released_values_only():
    env = gym.wrappers.vector.RecordEpisodeStatistics(around(games(2, TABLE), BOTH))
    results = play(env, [np.array([0, 1])] * 8)
    assert not list(find_planted(results))
    total = sum(result[1] for result in results[1:])
    np.testing.assert_allclose(results[-1][4]["episode"]["r"], total, rtol=1e-6)
    assert gym.wrappers.vector.FlattenObservation(around(games(2, TABLE), BOTH)).reset(seed=1)[0].shape == (2, 6)


def test_other_wrappers_above_see_released_values_only():
    results = play(gym.wrappers.TimeLimit(around(game(TABLE), BOTH), 3), [0] * 8)
    assert [result[3] for result in results[1:]] == [False, False, True]
    seen = []
    env = gym.wrappers.TransformObservation(around(game(TABLE), "Laplace"), lambda x: seen.append(x) or x, None)
    play(env, [0, 1, 2])
    assert len(seen) == 4 and not list(find_planted(seen))


# ---- below


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Laplace", BOTH, "Response", "Hybrid, hybrid", "Block"])
def test_flatten_observation_below_changes_nothing_and_above_joins_its_parts(name):
    table = np.random.default_rng(1).random((11, 3))
    plain, below = wrapped(game(table), name), wrapped(gym.wrappers.FlattenObservation(game(table)), name)
    above = gym.wrappers.FlattenObservation(wrapped(game(table), name))
    assert plain.observation_space == below.observation_space
    parts = ("gain", "observed") if name in ORDERS else ("count", "release", "sum")
    played = [play(env, (0, 1, 0)) for env in (plain, below, above)]
    assert repr(played[0]) == repr(played[1])
    for one, joined in zip(played[0][1:], played[2][1:], strict=True):
        np.testing.assert_array_equal(joined[0], np.concatenate([one[0][part] for part in parts]))


BELOW = {
    "statistics": gym.wrappers.RecordEpisodeStatistics,
    "checks": lambda env: gym.wrappers.OrderEnforcing(gym.wrappers.PassiveEnvChecker(env)),
    "rewards": lambda env: gym.wrappers.TransformReward(env, lambda reward: 100 * reward),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("order", "below"), one_each(["Laplace", BOTH, "Response", "MiniBatch"], BELOW))
def test_wrappers_below_change_nothing_above(order, below):
    """True rewards stay below."""
    env = around(BELOW[below](game(TABLE)), order)
    results = play(env, [0] * 8)
    assert repr(results) == repr(play(around(game(TABLE), order), [0] * 8))
    assert set(results[-1][4]) == {"round"} and not env.has_wrapper_attr("return_queue")


@pytest.mark.parametrize("below", [gym.wrappers.vector.FlattenObservation, gym.wrappers.vector.RecordEpisodeStatistics])
def test_vector_wrappers_below_change_nothing_above(below):
    env, plain = around(below(games(2, TABLE)), BOTH), around(games(2, TABLE), BOTH)
    assert env.observation_space == plain.observation_space
    assert env.single_observation_space == plain.single_observation_space
    results = play(env, [np.array([0, 1])] * 8)
    assert repr(results) == repr(play(plain, [np.array([0, 1])] * 8))
    assert set(results[-1][4]) == {"round", "_round"}


def test_time_limit_below_ends_the_game_and_an_unfinished_batch_is_not_released():
    env = MiniBatchAverage(gym.wrappers.TimeLimit(game(np.ones((8, 2))), 5), batch_size=2)
    results = play(env, [0] * 4)
    assert [result[0]["observed"].sum() for result in results[1:]] == [1, 1, 0]
    assert [result[1] for result in results[1:]] == [1.0, 1.0, 0.0]
    assert results[-1][3] is True and results[-1][2] is False
    finished = MiniBatchAverage(gym.wrappers.TimeLimit(game(np.ones((8, 2))), 4), batch_size=2)
    assert [result[0]["observed"].sum() for result in play(finished, [0] * 4)[1:]] == [1, 1]


def test_action_wrappers_below_release_the_gain_of_the_arm_that_was_really_played():
    """And reward above stays that of the arm asked for: nothing was released for it."""
    below = gym.wrappers.TransformAction(game(np.ones((4, 2))), lambda arm: 1 - arm, gym.spaces.Discrete(2))
    observation, reward, *_ = play(LaplaceClipRescale(below, epsilon=math.inf), [0])[1]
    assert observation["observed"].tolist() == [0, 1] and reward == 0.0


@pytest.mark.thorough
def test_record_video_below_films_the_evaluators_view_and_changes_nothing_above(tmp_path):
    below = gym.wrappers.RecordVideo(game(TABLE, render_mode="rgb_array"), str(tmp_path / "film"), disable_logger=True)
    env = around(below, BOTH)
    assert repr(play(env, [0, 1])) == repr(play(around(game(TABLE), BOTH), [0, 1]))
    assert not np.array_equal(below.recorded_frames[-1], env.render())
    assert len({frame.shape for frame in below.recorded_frames}) == 1  # the one before the first round included
    env.close()
    assert list(tmp_path.glob("film/*.mp4"))


def test_make_and_make_vec_with_a_registered_id_work_under_the_boundary():
    env = around(gym.make("DPBandit-Replay-v0", gains=TABLE), BOTH)
    assert not list(find_planted([play(env, [0, 1]), env.spec]))
    many = around(gym.make_vec("DPBandit-Replay-v0", num_envs=2, gains=TABLE), BOTH)
    assert not list(find_planted([many.reset(seed=1), many.step(np.array([0, 1])), many.spec]))


# ---- refused below


class RunningTotal(gym.Wrapper):
    """A user's own wrapper with a step of its own, which could hand on totals: then a round moves all later ones."""

    def step(self, action):
        """Do what a boundary does not know."""
        return super().step(action)


class Promises(gym.Wrapper):
    """Promised to pass observations on, once."""

    passes_observations = True


def sticky(base, *arguments):
    """Return a wrapper of a subclass that could show every second observation twice."""

    class Sticky(base):
        def action(self, action):
            return action

        def reward(self, reward):
            return reward

        def step(self, action):
            return super().step(action)

    return lambda env: Sticky(env, *arguments)


def with_own(method):
    """Return a wrapper that has a method of the object itself."""

    def put(env):
        below = gym.wrappers.OrderEnforcing(env)
        setattr(below, method, getattr(below, method))
        return below

    return put


def same(observation):
    return observation


REWRITES = {
    "RunningTotal": RunningTotal,
    "Promises": Promises,
    "FrameStackObservation": lambda env: gym.wrappers.FrameStackObservation(env, 2),
    "DelayObservation": lambda env: gym.wrappers.DelayObservation(env, 1),
    "Autoreset": gym.wrappers.Autoreset,
    "TransformObservation": lambda env: gym.wrappers.TransformObservation(env, same, None),
    "TransformObservation, below another": lambda env: gym.wrappers.TimeLimit(
        gym.wrappers.TransformObservation(env, same, None), 3
    ),
    "TransformObservation, between boundaries": lambda env: gym.wrappers.TransformObservation(
        LaplaceClipRescale(env, epsilon=1.0), same, None
    ),
    "OrderEnforcing, step": with_own("step"),
    "OrderEnforcing, reset": with_own("reset"),
    **{
        f"Sticky, {base.__name__}": sticky(base, *arguments)
        for base, *arguments in (
            (gym.ActionWrapper,),
            (gym.RewardWrapper,),
            (gym.wrappers.TimeLimit, 10),
            (gym.wrappers.OrderEnforcing,),
        )
    },
}


@pytest.mark.parametrize("name", REWRITES)
def test_a_wrapper_with_a_step_of_its_own_that_could_rewrite_observations_is_refused_below(name):
    """Otherwise round 1 could be released again in round 2, with fresh noise, under a guarantee that counts it once."""
    kind = name.partition(",")[0]
    for wrap, own in ((LaplaceClipRescale, {"epsilon": 1.0}), (MiniBatchAverage, {"batch_size": 2})):
        with refused(TypeError, kind, wrap.__name__, "above"):
            wrap(REWRITES[name](game(TABLE)), **own)


def test_many_games_with_observations_rewritten_are_refused():
    rewritten = gym.vector.SyncVectorEnv([lambda: REWRITES["TransformObservation"](game(TABLE))] * 2)
    for below in (rewritten, gym.wrappers.vector.TransformObservation(games(2, TABLE), same)):
        with refused(TypeError, "TransformObservation", "LaplaceClipRescale", "above"):
            vector.LaplaceClipRescale(below, epsilon=1.0)


# ---- streams


def noise(env):
    """Return the noise of 6 releases of gain 0, from a wrapper without rejection."""
    env.reset(seed=7)
    _, scale, bound = env.noise
    return np.array([env.step(0)[0]["gain"][0] * (1 + 2 * bound) - bound for _ in range(6)]) / scale


def test_two_equal_wrappers_stacked_draw_different_noise():
    """The outer one's noise is found by taking away what the inner one handed on."""
    options = {"epsilon": 1.0, "bound": 30.0, "outside": "clip"}  # nothing reaches +-30 in 6 draws
    inner = noise(LaplaceClipRescale(game(np.zeros((6, 2))), **options))
    stacked = LaplaceClipRescale(LaplaceClipRescale(game(np.zeros((6, 2))), **options), **options)
    outer = noise(stacked) - (inner + 30) / 61
    assert np.abs(inner - outer).min() > 1e-6


def test_noise_does_not_repeat_the_stream_of_gains_or_of_the_agent():
    """Six draws, to within a hundredth of their scale: wide enough for a wrapper that rounds noisy values to a grid.

    False alarm: 1e-11 (each draw is that close with a chance below 0.01: five times 0.01^6).
    """
    env = LaplaceClipRescale(game(np.zeros((6, 2))), epsilon=1.0, bound=30.0)
    own, label = noise(env), noise_key(env.mechanism, env.inputs)

    def repeats(generator):
        return np.abs(own - generator.laplace(0.0, 1.0, 6)).max() < 0.01

    assert repeats(stream(7, role=FIRST_WRAPPER, noise_key=label))  # the test would see a repetition
    for role in (ADVERSARY, AGENT, FIRST_WRAPPER + 1):
        assert not repeats(stream(7, role=role)) and not repeats(stream(7, role=role, noise_key=label))
    assert not repeats(stream(7, trial=1, role=FIRST_WRAPPER, noise_key=label))
    assert not repeats(stream(7, role=FIRST_WRAPPER, noise_key=label, player="somebody"))
    assert not repeats(np.random.default_rng(7))


def test_noise_is_not_correlated_with_the_gains_of_the_same_seed():
    """Correlation of n independent pairs has standard error 1 / sqrt(n): allow five.

    False alarm: 1.2e-6 (five standard errors, two sides, two numbers).
    """
    rounds = 4000
    env = LaplaceClipRescale(BanditEnv(Stochastic(2, rounds, means=[0.5, 0.5])), epsilon=1.0, bound=40.0)
    env.reset(seed=3)
    below = BanditEnv(Stochastic(2, rounds, means=[0.5, 0.5]))
    below.reset(seed=3)
    gains, draws = np.empty(rounds), np.empty(rounds)
    for t in range(rounds):
        gains[t] = below.step(0)[1]
        draws[t] = env.step(0)[1] * 81 - 40 - gains[t]
    assert abs(np.corrcoef(gains, draws)[0, 1]) < 5 / math.sqrt(rounds)
    assert abs(np.abs(draws).mean() - 1) < 5 / math.sqrt(rounds)  # they are the noise indeed
