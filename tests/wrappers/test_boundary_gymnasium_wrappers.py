"""Gymnasium's own wrappers above and below a privacy boundary."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.privacy.mechanism import noise_label
from dp_bandit_envs.seeding import ADVERSARY, AGENT, FIRST_WRAPPER, stream
from dp_bandit_envs.wrappers import LaplaceClipRescale, MiniBatchAverage, vector
from tests.tools.boundary_games import ORDERS, PLANTED, around, find_planted, game, games
from tests.tools.refusals import refused

TABLE = np.full((8, 3), PLANTED)


def play(env, arms):
    """Return all that comes out, step by step."""
    results = [env.reset(seed=4)]
    for arm in arms:
        results.append(env.step(arm))
        if results[-1][2] or results[-1][3]:
            break
    return results


# ---- above


@pytest.mark.parametrize("order", ORDERS)
def test_record_episode_statistics_above_adds_up_released_rewards(order):
    env = gym.wrappers.RecordEpisodeStatistics(around(game(TABLE), order))
    results = play(env, [0] * 8)
    episode = results[-1][4]["episode"]
    assert episode["l"] == len(results) - 1
    assert episode["r"] == pytest.approx(sum(result[1] for result in results[1:]), rel=1e-12)
    if {"L", "R"} & set(ORDERS[order]):
        assert not list(find_planted(results))


@pytest.mark.parametrize("order", ORDERS)
def test_flatten_observation_above_flattens_what_was_released(order):
    flat = play(gym.wrappers.FlattenObservation(around(game(TABLE), order)), [0, 1])
    plain = play(around(game(TABLE), order), [0, 1])
    for one, other in zip(flat[1:], plain[1:], strict=True):
        np.testing.assert_array_equal(one[0], np.concatenate([other[0]["gain"], other[0]["observed"]]))


def test_time_limit_above_counts_steps_and_hides_nothing_new():
    results = play(gym.wrappers.TimeLimit(around(game(TABLE), "Laplace(MiniBatch)"), 3), [0] * 8)
    assert [result[3] for result in results[1:]] == [False, False, True]


def test_transform_observation_above_sees_released_values_only():
    seen = []
    env = gym.wrappers.TransformObservation(around(game(TABLE), "Laplace"), lambda x: seen.append(x) or x, None)
    play(env, [0, 1, 2])
    assert len(seen) == 4 and not list(find_planted(seen))


def test_autoreset_above_begins_a_new_game_with_fresh_noise():
    env = gym.wrappers.Autoreset(around(game(np.zeros((2, 2))), "Laplace", outside="clip", bound=50.0))
    env.reset(seed=1)
    first = [env.step(0)[0]["gain"][0] for _ in range(2)]
    observation, reward, terminated, _, info = env.step(0)
    assert (observation["observed"].sum(), reward, terminated, info) == (0, 0.0, False, {"round": 0})
    second = [env.step(0)[0]["gain"][0] for _ in range(2)]
    assert len({*first, *second}) == 4


def test_record_video_above_films_the_boundary(tmp_path):
    env = gym.wrappers.RecordVideo(
        around(game(TABLE, render_mode="rgb_array"), "Laplace(MiniBatch)"), str(tmp_path / "film"), disable_logger=True
    )
    env.reset(seed=4)
    env.step(0)
    bare = around(game(TABLE, render_mode="rgb_array"), "Laplace(MiniBatch)")
    bare.reset(seed=4)
    frames = [bare.render()]
    bare.step(0)
    frames.append(bare.render())
    assert len(env.recorded_frames) == 2
    for filmed, frame in zip(env.recorded_frames, frames, strict=True):
        np.testing.assert_array_equal(filmed, frame)
    env.close()
    assert list(tmp_path.glob("film/*.mp4"))


@pytest.mark.parametrize("order", ORDERS)
def test_vector_wrappers_above_see_released_values_only(order):
    env = gym.wrappers.vector.RecordEpisodeStatistics(around(games(2, TABLE), order))
    env.reset(seed=1)
    total = np.zeros(2)
    for _ in range(8):
        observation, rewards, terminated, _, info = env.step(np.array([0, 1]))
        total += rewards
        if {"L", "R"} & set(ORDERS[order]):
            assert not list(find_planted([observation, rewards, info]))
        if terminated.all():
            break
    np.testing.assert_allclose(info["episode"]["r"], total, rtol=1e-6)
    flat = gym.wrappers.vector.FlattenObservation(around(games(2, TABLE), order))
    assert flat.reset(seed=1)[0].shape == (2, 6)


# ---- below


@pytest.mark.parametrize("order", ORDERS)
def test_record_episode_statistics_below_keeps_true_rewards_below(order):
    env = around(gym.wrappers.RecordEpisodeStatistics(game(TABLE)), order)
    results = play(env, [0] * 8)
    plain = play(around(game(TABLE), order), [0] * 8)
    assert repr(results) == repr(plain)
    assert set(results[-1][4]) == {"round"}
    assert not env.has_wrapper_attr("return_queue")
    if {"L", "R"} & set(ORDERS[order]):
        assert not list(find_planted(results))


@pytest.mark.parametrize("order", ORDERS)
def test_wrappers_of_gym_make_below_change_nothing(order):
    below = gym.wrappers.PassiveEnvChecker(game(TABLE))
    results = play(around(gym.wrappers.OrderEnforcing(below), order), [0] * 8)
    assert repr(results) == repr(play(around(game(TABLE), order), [0] * 8))


def test_time_limit_below_ends_the_game_and_an_unfinished_batch_is_not_released():
    env = MiniBatchAverage(gym.wrappers.TimeLimit(game(np.ones((8, 2))), 5), batch_size=2)
    results = play(env, [0] * 4)
    assert [result[0]["observed"].sum() for result in results[1:]] == [1, 1, 0]
    assert [result[1] for result in results[1:]] == [1.0, 1.0, 0.0]
    assert results[-1][3] is True and results[-1][2] is False
    finished = MiniBatchAverage(gym.wrappers.TimeLimit(game(np.ones((8, 2))), 4), batch_size=2)
    assert [result[0]["observed"].sum() for result in play(finished, [0] * 4)[1:]] == [1, 1]


def test_autoreset_below_is_refused_as_a_boundary_must_know_when_a_game_begins():
    with refused(TypeError, "Autoreset", "MiniBatchAverage", "above"):
        MiniBatchAverage(gym.wrappers.Autoreset(game(np.ones((3, 2)))), batch_size=2)


def test_autoreset_above_begins_a_new_game_with_new_noise():
    env = gym.wrappers.Autoreset(around(game(np.full((1, 2), 0.5)), "Laplace", outside="clip", bound=50.0))
    env.reset(seed=1)
    released = [env.step(0)[0]["gain"][0] for _ in range(6)]
    assert released[1::2] == [0.0, 0.0, 0.0]  # the steps that only reset
    assert len(set(released[::2])) == 3


def test_reward_wrappers_below_do_not_move_what_is_released():
    env = around(gym.wrappers.TransformReward(game(TABLE), lambda reward: 100 * reward), "Laplace")
    assert repr(play(env, [0, 1])) == repr(play(around(game(TABLE), "Laplace"), [0, 1]))


def test_action_wrappers_below_release_the_gain_of_the_arm_that_was_really_played():
    """And reward above stays that of the arm asked for: nothing was released for it."""
    below = gym.wrappers.TransformAction(game(np.ones((4, 2))), lambda arm: 1 - arm, gym.spaces.Discrete(2))
    observation, reward, *_ = play(LaplaceClipRescale(below, epsilon=math.inf), [0])[1]
    assert observation["observed"].tolist() == [0, 1] and reward == 0.0


def test_record_video_below_films_the_evaluators_view_and_changes_nothing_above(tmp_path):
    below = gym.wrappers.RecordVideo(game(TABLE, render_mode="rgb_array"), str(tmp_path / "film"), disable_logger=True)
    env = around(below, "Laplace(MiniBatch)")
    results = play(env, [0, 1])
    assert repr(results) == repr(play(around(game(TABLE), "Laplace(MiniBatch)"), [0, 1]))
    assert not np.array_equal(below.recorded_frames[-1], env.render())
    sizes = {frame.shape for frame in below.recorded_frames}
    if len(sizes) > 1:
        below.recorded_frames.clear()  # so that nothing tries to save this film later
        below.recording = False
    assert len(sizes) == 1  # a film has pictures of one size, the one before the first round included
    env.close()
    assert list(tmp_path.glob("film/*.mp4"))


def test_flatten_observation_below_changes_nothing_above():
    flat = around(gym.wrappers.FlattenObservation(game(TABLE)), "Laplace(MiniBatch)")
    plain = around(game(TABLE), "Laplace(MiniBatch)")
    assert flat.observation_space == plain.observation_space
    assert repr(play(flat, [0, 1])) == repr(play(plain, [0, 1]))


def test_flatten_observation_below_many_games_changes_nothing_above():
    flat = around(gym.wrappers.vector.FlattenObservation(games(2, TABLE)), "Laplace(MiniBatch)")
    plain = around(games(2, TABLE), "Laplace(MiniBatch)")
    assert flat.observation_space == plain.observation_space
    assert flat.single_observation_space == plain.single_observation_space
    flat.reset(seed=1), plain.reset(seed=1)
    arms = np.array([0, 1])
    assert repr(flat.step(arms)) == repr(plain.step(arms))


@pytest.mark.parametrize(
    "wrap", [lambda env: LaplaceClipRescale(env, epsilon=1.0), lambda env: MiniBatchAverage(env, batch_size=2)]
)
@pytest.mark.parametrize("between", [lambda env: env, lambda env: LaplaceClipRescale(env, epsilon=1.0)])
def test_transform_observation_below_is_refused(between, wrap):
    """Doubling a gain below the noise would need twice the noise. Between two boundaries it is refused too."""
    below = gym.wrappers.TransformObservation(between(game(TABLE)), lambda observation: observation, None)
    with refused(TypeError, "TransformObservation", "above"):
        wrap(gym.wrappers.TimeLimit(below, 3))


def test_vector_transform_observation_below_is_refused():
    below = gym.wrappers.vector.TransformObservation(games(2, TABLE), lambda observation: observation)
    with refused(TypeError, "TransformObservation", "LaplaceClipRescale", "above"):
        vector.LaplaceClipRescale(below, epsilon=1.0)


def test_vector_record_episode_statistics_below_keeps_true_rewards_below():
    env = vector.LaplaceClipRescale(gym.wrappers.vector.RecordEpisodeStatistics(games(2, TABLE)), epsilon=1.0)
    env.reset(seed=1)
    for _ in range(8):
        info = env.step(np.array([0, 1]))[4]
        assert set(info) == {"round", "_round"}


def test_make_and_make_vec_with_a_registered_id_work_under_the_boundary():
    import dp_bandit_envs  # noqa: F401 - registers the ids

    env = around(gym.make("DPBandit-Replay-v0", gains=TABLE), "Laplace(MiniBatch)")
    assert not list(find_planted([play(env, [0, 1]), env.spec]))
    many = around(gym.make_vec("DPBandit-Replay-v0", num_envs=2, gains=TABLE), "Laplace(MiniBatch)")
    assert not list(find_planted([many.reset(seed=1), many.step(np.array([0, 1])), many.spec]))


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
    own, label = noise(env), noise_label(env.mechanism, env.below)

    def repeats(generator):
        return np.abs(own - generator.laplace(0.0, 1.0, 6)).max() < 0.01

    assert repeats(stream(7, role=FIRST_WRAPPER, part=label))  # the test would see a repetition
    for role in (ADVERSARY, AGENT, FIRST_WRAPPER + 1):
        assert not repeats(stream(7, role=role)) and not repeats(stream(7, role=role, part=label))
    assert not repeats(stream(7, trial=1, role=FIRST_WRAPPER, part=label))
    assert not repeats(stream(7, role=FIRST_WRAPPER, part=label, player="somebody"))
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


def test_without_a_seed_noise_differs_between_wrappers_and_between_games():
    first, second = (LaplaceClipRescale(game(np.zeros((2, 2))), epsilon=1.0, outside="clip") for _ in range(2))
    seen = set()
    for env in (first, second, first, second):
        env.reset()
        seen |= {env.step(0)[1], env.step(0)[1]}
    # A value is clipped with probability 1 / 2 for two releases, so count what lies inside.
    inside = [value for value in seen if 0 < value < 1]
    assert len(inside) == len(set(inside))
    env = LaplaceClipRescale(game(np.zeros((2, 2))), epsilon=1.0, bound=40.0)
    env.reset(seed=1)
    a = env.step(0)[1]
    env.reset()
    b = env.step(0)[1]
    env.reset(seed=1)
    assert env.step(0)[1] == a != b
