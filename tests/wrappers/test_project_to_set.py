"""`ProjectToSet` plays the nearest point, and lets learners play that act in a box."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from dp_bandit_envs.errors import WrongGameError, WrongPointError
from dp_bandit_envs.wrappers import CounterSums, ExactSums, LaplaceClipRescale, ProjectToSet, vector
from tests.tools.doors import one_each
from tests.tools.plays import POINT_IDS
from tests.tools.refusals import refused

AROUND = {
    "bare": lambda env: env,
    "Laplace": lambda env: LaplaceClipRescale(env, epsilon=1.0),
    "sums": lambda env: CounterSums(env, counter="binary", epsilon=1.0),
}
every_id = pytest.mark.parametrize("id_", POINT_IDS)


def game(id_, around="bare", **options):
    env = gym.make(id_, horizon=40, dimension=3, **options).unwrapped
    env.spec = None  # or Gymnasium's checker makes the game without its wrappers again
    return AROUND[around](env)


@pytest.mark.parametrize(("around", "id_"), one_each(AROUND, POINT_IDS))
def test_it_plays_the_nearest_point(id_, around):
    env, direct = ProjectToSet(game(id_, around)), game(id_, around)
    rng = np.random.default_rng(1)
    np.testing.assert_equal(env.reset(seed=3), direct.reset(seed=3))
    for size in (0.1, 1.0, 100.0):
        drawn = (rng.standard_normal(3) * size).astype(np.float32)
        np.testing.assert_equal(env.step(drawn), direct.step(direct.decision_set.project(drawn)))


@pytest.mark.parametrize(("around", "id_"), one_each(["bare", "Laplace"], POINT_IDS))
def test_the_vector_form_plays_the_nearest_points(id_, around):
    def games():
        many = gym.make_vec(id_, num_envs=2, horizon=9, dimension=3)
        return many if around == "bare" else vector.LaplaceClipRescale(many, epsilon=1.0)

    env, direct = vector.ProjectToSet(games()), games()
    assert env.action_space == gym.spaces.Box(-1.0, 1.0, (2, 3), np.float32)
    np.testing.assert_equal(env.reset(seed=3), direct.reset(seed=3))
    drawn = env.action_space.sample() * 3
    nearest = [direct.decision_set.project(row) for row in drawn]
    np.testing.assert_equal(env.step(drawn), direct.step(np.array(nearest)))
    for wrong in (drawn[:1], drawn[0], drawn * np.nan):
        with refused(WrongPointError):
            env.step(wrong)


@every_id
def test_it_may_be_below_a_boundary_too(id_):
    env = LaplaceClipRescale(ProjectToSet(game(id_)), epsilon=1.0)
    direct = LaplaceClipRescale(game(id_), epsilon=1.0)
    env.reset(seed=1)
    direct.reset(seed=1)
    nearest = direct.decision_set.best_point(np.ones(3))
    np.testing.assert_equal(env.step(nearest), direct.step(nearest))


@pytest.mark.parametrize("wrong", [[np.nan, 0, 0], [np.inf, 0, 0], [0, 0], "text", None, [1j, 0, 0]], ids=repr)
def test_what_has_no_nearest_point_is_refused(wrong):
    env = ProjectToSet(game("DPBandit-Ball-v0"))
    env.reset(seed=1)
    with refused(WrongPointError):
        env.step(wrong)


def test_a_game_of_arms_is_refused():
    with refused(WrongGameError, "ProjectToSet"):
        ProjectToSet(gym.make("DPBandit-Stochastic-v0"))
    with refused(WrongGameError, "ProjectToSet"):
        ProjectToSet(ExactSums(gym.make("DPBandit-Stochastic-v0")))
    with refused(WrongGameError, "ProjectToSet"):
        vector.ProjectToSet(gym.make_vec("DPBandit-Stochastic-v0", num_envs=2))


@pytest.mark.parametrize(
    ("id_", "around", "feedback"),
    [*((id_, "Laplace", "bandit") for id_ in POINT_IDS), *((POINT_IDS[0], around, "full") for around in AROUND)],
)
def test_the_checkers_have_no_complaint(id_, around, feedback):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Sums have no bounds, and a wrapper is not the game: both are as they should be.
        for known in (".*infinity.*", ".*different from the unwrapped.*"):
            warnings.filterwarnings("ignore", message=known)
        check_env(game(id_, around, feedback=feedback), skip_render_check=True)
        check_env(ProjectToSet(game(id_, around, feedback=feedback)), skip_render_check=True)
        checker = pytest.importorskip("stable_baselines3.common.env_checker")
        checker.check_env(ProjectToSet(game(id_, around, feedback=feedback)))


@pytest.mark.thorough
@pytest.mark.slow_cases("DPBandit-Ball-v0-SAC")
@pytest.mark.parametrize(("id_", "name"), [(POINT_IDS[0], "SAC"), (POINT_IDS[-1], "PPO")])
def test_learners_of_stable_baselines_play_a_few_steps(id_, name):
    models = pytest.importorskip("stable_baselines3")
    options = {"PPO": {"n_steps": 16, "batch_size": 16, "n_epochs": 1}}
    options["SAC"] = {"learning_starts": 8, "buffer_size": 50}
    env = ProjectToSet(game(id_, "Laplace"))
    model = getattr(models, name)("MultiInputPolicy", env, seed=0, device="cpu", **options[name])
    model.learn(20)
    action, _ = model.predict(env.reset(seed=1)[0])
    env.step(action)
    assert env.unwrapped.decision_set.contains(env.unwrapped._point)
