"""A game's picture: an array or text that shows plays, gains and regret, and changes nothing in the game."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.adversaries import Replay
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import IDS
from tests.tools.doors import one_each
from tests.tools.plays import play
from tests.tools.refusals import refused


def red(picture):
    """Return where a picture is red, shape (height, width)."""
    return (picture[..., 0] > 180) & (picture[..., 1] < 130) & (picture[..., 2] < 60)


@pytest.mark.thorough
@pytest.mark.parametrize("id_", ["DPBandit-Stochastic-v0", "DPBandit-Ball-v0"])
def test_rgb_array_is_a_colour_picture(id_):
    env = gym.make(id_, horizon=10, render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    for t in range(10):
        env.step(play(env, t % 4))
    after = env.render()
    for picture in (before, after):
        assert picture.dtype == np.uint8
        assert picture.ndim == 3
        assert picture.shape[2] == 3
        assert picture.std() > 0  # not a blank page
    assert after.shape != before.shape or (after != before).any()


def test_text_shows_plays_gains_and_regret_by_hand():
    """Deterministic, arms 0 1 1 3: gains 0.38 + 1 + 0 + 0 = 1.38; best arm 1 has 2 by round 4, so the regret is 0.62.

    Bars: 30 blocks for the most plays. Regret after rounds 0 to 4: 0, 0, -0.38, -0.24, 0.62, of which the second and
    the fourth are 0.38 and 0.14 of the way up; eight heights.
    """
    env = gym.make("DPBandit-Deterministic-v0", horizon=100, arm_order="given", render_mode="ansi")
    env.reset()
    for arm in (0, 1, 1, 3):
        env.step(arm)
    title, *arms, best, regret = env.render().splitlines()
    assert best == "best fixed arm so far: arm 1"
    assert title == "Deterministic adversary, round 4 of 100"
    assert [line.split("█")[0].split() for line in arms] == [
        ["arm", "0", "plays", "1", "gain", "0.38"],
        ["arm", "1", "plays", "2", "gain", "1.00"],
        ["arm", "2", "plays", "0", "gain", "0.00"],
        ["arm", "3", "plays", "1", "gain", "0.00"],
    ]
    assert [line.count("█") for line in arms] == [15, 30, 0, 15]
    assert regret == "external regret 0.62  ▄▄▁▂█"


@pytest.mark.thorough
def test_the_best_arm_is_marked_in_a_picture_once_there_is_one():
    """A star, hollow and red, on the best arm's bars; from a table by whose first round arm 1 is best, then arm 0."""
    marked = []
    for table in ([[0.0, 1.0]], [[1.0, 0.0]]):
        env = BanditEnv(Replay(table), render_mode="rgb_array")
        env.reset(seed=0)
        assert not red(env.render()).any()
        env.step(0)
        marked.append(red(env.render()[:, :640]))
    # The curve of regret, red too, is in the third panel.
    right, left = (np.flatnonzero(one.any(axis=0)).mean() for one in marked)
    assert right - left > 50


def test_text_ends_on_the_regret_and_rendering_changes_nothing_in_the_game():
    def rewards(id_, **options):
        env = gym.make(id_, horizon=15, **options)
        env.reset(seed=4)
        seen = []
        for t in range(15):
            seen.append(env.step(play(env, t % 4))[1])
            if options:
                regret = f"external regret {env.unwrapped.external_regret():,.2f}"
                assert regret in env.render().splitlines()[-1]
        return seen

    for id_ in IDS:
        assert rewards(id_, render_mode="ansi") == rewards(id_)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("id_", "mode"), one_each(["DPBandit-Stochastic-v0", "DPBandit-Simplex-v0"], ["ansi", "rgb_array"])
)
def test_a_vector_shows_one_picture_for_each_game(id_, mode):
    env = gym.make_vec(id_, num_envs=2, horizon=10, render_mode=mode)
    env.reset(seed=0)
    for t in range(10):
        env.step(play(env, [t % 4, 0]))
    pictures = env.render()
    assert isinstance(pictures, tuple)
    assert len(pictures) == 2
    if mode == "ansi":
        regrets = [f"external regret {regret:,.2f}" for regret in env.external_regret()]
        assert [regret in picture for regret, picture in zip(regrets, pictures, strict=True)] == [True, True]
    else:
        assert [(picture.dtype, picture.ndim) for picture in pictures] == [(np.uint8, 3)] * 2


def test_rendering_needs_a_mode_and_a_game():
    env = gym.make("DPBandit-Stochastic-v0").unwrapped
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        assert env.render() is None
    for mode in ("human", ""):
        with refused(ValueError, "render_mode", "'rgb_array'", "'ansi'", repr(mode)):
            type(env)(render_mode=mode)
    with refused(gym.error.ResetNeeded, "reset()"):
        gym.make("DPBandit-Stochastic-v0", render_mode="ansi").unwrapped.render()
