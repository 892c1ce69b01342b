"""Gymnasium's own wrappers above and below a privacy boundary, and other wrappers that may not stand below one."""

import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import wrappers
from dp_bandit_envs.wrappers import LaplaceClipRescale, MiniBatchAverage, vector
from tests.tools.boundary_games import (
    EVERYWHERE,
    FORMS,
    NOISY,
    ORDERS,
    PLANTED,
    SUMS,
    around,
    find_planted,
    game,
    games,
    summed,
    wrapped,
)
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


def test_other_wrappers_above_see_released_values_only():
    results = play(gym.wrappers.TimeLimit(around(game(TABLE), BOTH), 3), [0] * 8)
    assert [result[3] for result in results[1:]] == [False, False, True]
    seen = []
    env = gym.wrappers.TransformObservation(around(game(TABLE), "Laplace"), lambda x: seen.append(x) or x, None)
    play(env, [0, 1, 2])
    assert len(seen) == 4 and not list(find_planted(seen))
    # Vector wrappers above see released values only.
    env = gym.wrappers.vector.RecordEpisodeStatistics(around(games(2, TABLE), BOTH))
    results = play(env, [np.array([0, 1])] * 8)
    assert not list(find_planted(results))
    total = sum(result[1] for result in results[1:])
    np.testing.assert_allclose(results[-1][4]["episode"]["r"], total, rtol=1e-6)
    assert gym.wrappers.vector.FlattenObservation(around(games(2, TABLE), BOTH)).reset(seed=1)[0].shape == (2, 6)


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
    # And reward above stays that of the arm asked for: nothing was released for it.
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


# ---- refused below


class RunningTotal(gym.Wrapper):
    """A user's own wrapper with a step of its own, which could hand on totals: then a round moves all later ones."""

    def step(self, action):
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


# ---- around sums


KINDS_OF_SUMS = ["Running", "Hybrid, hybrid", "Interval, lemma", "Block"]


def above_sums(form: str, inner: str) -> tuple[Any, Any]:
    """Return the wrappers of a form, and sums for them to stand around."""
    if form == "vector of scalar":
        return vector, gym.vector.SyncVectorEnv([lambda: summed(game(EVERYWHERE), inner)] * 2)
    if form == "vector":
        return vector, summed(games(2, EVERYWHERE), inner)
    env = summed(game(EVERYWHERE), inner)
    return wrappers, gym.wrappers.TimeLimit(env, 5) if form == "between" else env


@pytest.mark.parametrize("inner", KINDS_OF_SUMS)
def test_no_boundary_stands_around_sums(inner):
    """Nor does one for sums of what rewrites observations: running totals, summed up again, would count often."""
    inner_class = SUMS[inner][1]
    forms = ("scalar", "vector", "vector of scalar", "between") if inner == "Block" else ("scalar",)
    for form in forms:
        module, env = above_sums(form, inner)
        for outer in ("LaplaceClipRescale", "MiniBatchAverage", "RandomizedResponse"):
            options = {"batch_size": 2} if outer == "MiniBatchAverage" else {"epsilon": 1.0}
            with refused(TypeError, outer, inner_class, f"put {outer} below {inner_class}"):
                getattr(module, outer)(env, **options)
    for outer in KINDS_OF_SUMS:
        for make in FORMS.values() if outer == inner else [game]:
            with refused(TypeError, inner_class, SUMS[outer][1]):
                summed(summed(make(EVERYWHERE), inner), outer)
    rewritten = gym.wrappers.TransformObservation(game(EVERYWHERE), lambda observation: observation, None)
    with refused(TypeError, "TransformObservation", inner_class, "above"):
        summed(rewritten, inner)
