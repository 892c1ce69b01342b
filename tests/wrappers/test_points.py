"""The privacy boundary on games of points: nothing private above it, and the vector form equals the scalar one."""

import math
import pickle
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from dp_bandit_envs import wrappers
from dp_bandit_envs.decisions import DECISION_SETS
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.errors import BoundaryError, WrongGameError, WrongPointError
from dp_bandit_envs.wrappers import CounterSums, ExactSums, LaplaceClipRescale, ProjectToSet, vector
from tests.tools.boundary_games import MARK, PLANTED, error_of, everything_in, find_planted, frames_of
from tests.tools.doors import one_each
from tests.tools.plays import POINT_IDS, play, wrong_points
from tests.tools.refusals import refused

ROUNDS, GAMES = 24, 3
LAYERS = {
    "Laplace": [("LaplaceClipRescale", {"epsilon": 1.0})],
    "Laplace, clipped": [("LaplaceClipRescale", {"epsilon": 1.0, "outside": "clip", "bound": 1.0})],
    "average": [("MiniBatchAverage", {"batch_size": 5})],
    "Laplace of averages": [("MiniBatchAverage", {"batch_size": 5}), ("LaplaceClipRescale", {"epsilon": 1.0})],
    "average of Laplace": [("LaplaceClipRescale", {"epsilon": 1.0}), ("MiniBatchAverage", {"batch_size": 5})],
    "exact sums": [("ExactSums", {})],
    "binary": [("CounterSums", {"epsilon": 1.0, "counter": "binary"})],
    "hybrid": [("HybridSums", {"epsilon": 1.0})],
    "sums of averages": [
        ("MiniBatchAverage", {"batch_size": 5}),
        ("HybridSums", {"epsilon": 1.0}),
    ],
}
PRIVATE = [name for name in LAYERS if name not in ("average", "exact sums")]
ONE = "Laplace of averages"
CASES = [(name, POINT_IDS[0], "full") for name in LAYERS]
CASES += [
    (ONE, id_, feedback)
    for id_ in POINT_IDS
    for feedback in ("full", "bandit")
    if (ONE, id_, feedback) not in CASES and (feedback == "full" or id_ == POINT_IDS[0])
]
"""All wrappers in one game, and one in all games."""
cases = pytest.mark.parametrize(("name", "id_", "feedback"), CASES)
private_cases = pytest.mark.parametrize(("name", "id_", "feedback"), [case for case in CASES if case[0] in PRIVATE])
every_id = pytest.mark.parametrize("id_", POINT_IDS)


def planted(rounds=ROUNDS, dimension=4):
    """Return gain vectors of every set, with the planted number in each."""
    table = np.random.default_rng(5).random((rounds, dimension)) / 8
    table[:, 1] = PLANTED
    return table


def around(env, name):
    forms = vector if isinstance(env, gym.vector.VectorEnv) else wrappers
    for layer, arguments in LAYERS[name]:
        env = getattr(forms, layer)(env, **arguments)
    return env


def game(id_, name, feedback="full", **options):
    made = gym.make(id_, gains=planted(), feedback=feedback, disable_env_checker=True, **options).unwrapped
    made.spec = None
    return around(made, name)


@pytest.mark.thorough
@cases
def test_game_i_of_the_vector_form_is_the_scalar_game_with_its_seed(name, id_, feedback):
    options = {"dimension": 9, "horizon": 25, "feedback": feedback}
    many = around(gym.make_vec(id_, num_envs=GAMES, **options), name)
    looped = around(gym.make_vec(id_, num_envs=GAMES, vectorization_mode="sync", **options), name)
    alone = [around(gym.make(id_, **options), name) for _ in range(GAMES)]
    assert many.single_action_space == alone[0].action_space == looped.single_action_space
    assert many.single_observation_space == alone[0].observation_space
    first = many.reset(seed=7)
    np.testing.assert_equal(first, looped.reset(seed=7))
    for number, env in enumerate(alone):
        env.reset(seed=7 + number)
    ended, t = False, 0
    while not ended:
        actions = play(many, [t // 2, t // 3, t])
        seen, rewards, terminated, truncated, info = step = many.step(actions)
        assert many.observation_space.contains(seen)
        np.testing.assert_equal(step, looped.step(actions))
        for number, env in enumerate(alone):
            scalar, reward, ends, cut, facts = env.step(actions[number])
            np.testing.assert_equal({key: part[number] for key, part in seen.items()}, scalar)
            assert (reward, ends, cut) == (rewards[number], terminated[number], truncated[number])
            assert facts == {"round": info["round"][number]}
        ended, t = terminated.all(), t + 1
    assert t >= 5


@private_cases
def test_a_planted_gain_vector_is_found_nowhere_above(name, id_, feedback):
    env = game(id_, name, feedback, render_mode="ansi")
    shown = [repr(env), str(env), repr(pickle.dumps(env.guarantee)), str(env.reset(seed=None))]
    for t in range(env.horizon):
        *step, info = env.step(play(env, t))
        shown += [str(step), str(info), env.render()]
        assert list(find_planted(step)) == [] and list(info) == ["round"]
    assert MARK not in "".join(shown)
    assert list(find_planted(vars(env))) == []
    for attribute in dir(env):
        if attribute not in ("env", "unwrapped") and not attribute.startswith("__"):
            assert list(find_planted(getattr(env, attribute, None))) == [], attribute
    for door in ("external_regret", "cumulative_gains", "collected", "adversary", "best_point", "on_block"):
        with refused(AttributeError):
            env.get_wrapper_attr(door)


@pytest.mark.thorough
@private_cases
def test_wrong_points_are_refused_without_a_gain_and_cost_no_round(name, id_, feedback):
    def releases(interrupt, num_envs):
        options = {"gains": planted(), "feedback": feedback}
        env = around(gym.make(id_, **options) if num_envs is None else gym.make_vec(id_, num_envs, **options), name)
        env.reset(seed=2)
        seen = []
        for t in range(4):
            right = play(env, t)
            if interrupt:
                for wrong in [*wrong_points(env.decision_set).values()][:: 1 if t == 0 else 5]:
                    given = wrong if num_envs is None else [wrong] * num_envs
                    error = error_of(lambda: env.step(given))  # noqa: B023
                    assert type(error) is WrongPointError
                    assert MARK not in everything_in(error) + frames_of(error)
            seen.append(env.step(right))
        return seen

    for num_envs in (None, 2):
        np.testing.assert_equal(releases(True, num_envs), releases(False, num_envs))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("game", "attack"),
    one_each([("DPBandit-Ball-v0", None), *((id_, 2) for id_ in POINT_IDS)], ["attribute", "space", "set"]),
)
def test_a_changed_set_above_changes_neither_the_check_nor_the_noise(game, attack):
    id_, num_envs = game
    options = {"dimension": 3, "horizon": 9}
    env = around(gym.make(id_, **options) if num_envs is None else gym.make_vec(id_, num_envs, **options), "Laplace")
    before = env.sensitivity, env.noise, env.guarantee, env.inputs
    env.reset(seed=1)
    right = play(env, 1)
    taken = env.decision_set
    if attack == "attribute":
        vars(taken).update(contains=lambda point: True, payoffs=(-100.0, 100.0), dimension=3, low=-100.0)
    elif attack == "space":
        for space in (env.action_space, getattr(env, "single_action_space", env.action_space)):
            space.decision_set.__dict__["contains"] = lambda point: True
    else:
        for call in (lambda: env.set_wrapper_attr("decision_set", None), lambda: setattr(env, "decision_set", None)):
            with pytest.raises(AttributeError):
                call()
    with refused(WrongPointError):
        env.step(right * 0 + 50.0)
    assert env.decision_set == DECISION_SETS[taken.name](3)
    env.step(right)
    assert before == (env.sensitivity, env.noise, env.guarantee, env.inputs)


class Wide(PointEnv):
    """A game that reveals a vector outside of its range, as an adversary in a wrapper of someone else's might."""

    def _reveal(self, arm, gain):
        observation = super()._reveal(arm, gain)
        observation["gain"][0] = 1.5 + PLANTED
        return observation


def test_values_outside_of_the_range_are_refused_and_withheld():
    below = gym.make("DPBandit-Ball-v0", gains=planted()).unwrapped
    env = around(Wide(below.adversary, below.decision_set), "Laplace")
    env.reset(seed=1)
    error = error_of(lambda: env.step(play(env, 0)))
    assert type(error) is BoundaryError and "[-1, 1]" in str(error)
    assert MARK not in everything_in(error) + frames_of(error)


@every_id
@pytest.mark.parametrize("dimension", [2, 10])
def test_noise_is_scaled_to_the_distance_of_gain_vectors_or_payoffs(id_, dimension):
    for feedback, distance in (
        ("full", {"Ball": 2 * math.sqrt(dimension), "Cube": 2.0, "Simplex": float(dimension)}[id_[9:-3]]),
        ("bandit", 1.0 if "Simplex" in id_ else 2.0),
    ):
        for num_envs in (None, 2):
            options = {"dimension": dimension, "horizon": 9, "feedback": feedback}
            env = gym.make(id_, **options) if num_envs is None else gym.make_vec(id_, num_envs, **options)
            boundary = around(env, "Laplace")
            assert distance <= boundary.noise.scale <= distance * (1 + 3e-9)
            assert around(env, "hybrid").noise.sensitivity == pytest.approx(boundary.noise.scale, rel=2e-9)


@pytest.mark.parametrize("name", ["RandomizedResponse", "BlockSums", "IntervalSums"])
def test_mechanisms_for_gains_in_the_unit_interval_refuse_gain_vectors(name):
    for wrapper, env in (
        (getattr(wrappers, name), gym.make("DPBandit-Ball-v0")),
        (getattr(vector, name), gym.make_vec("DPBandit-Cube-v0", num_envs=2)),
    ):
        with refused(WrongGameError, name, "[0, 1]", "[-1, 1]"):
            wrapper(env, epsilon=1.0)


# ---- `ProjectToSet` plays the nearest point, and lets learners play that act in a box


AROUND = {
    "bare": lambda env: env,
    "Laplace": lambda env: LaplaceClipRescale(env, epsilon=1.0),
    "sums": lambda env: CounterSums(env, counter="binary", epsilon=1.0),
}


def point_game(id_, around="bare", **options):
    env = gym.make(id_, horizon=40, dimension=3, **options).unwrapped
    env.spec = None  # or Gymnasium's checker makes the point_game without its wrappers again
    return AROUND[around](env)


@pytest.mark.parametrize(("around", "id_"), one_each(AROUND, POINT_IDS))
def test_it_plays_the_nearest_point(id_, around):
    env, direct = ProjectToSet(point_game(id_, around)), point_game(id_, around)
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
    env = LaplaceClipRescale(ProjectToSet(point_game(id_)), epsilon=1.0)
    direct = LaplaceClipRescale(point_game(id_), epsilon=1.0)
    env.reset(seed=1)
    direct.reset(seed=1)
    nearest = direct.decision_set.best_point(np.ones(3))
    np.testing.assert_equal(env.step(nearest), direct.step(nearest))


@pytest.mark.parametrize("wrong", [[np.nan, 0, 0], [np.inf, 0, 0], [0, 0], "text", None, [1j, 0, 0]], ids=repr)
def test_what_has_no_nearest_point_is_refused(wrong):
    env = ProjectToSet(point_game("DPBandit-Ball-v0"))
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
        # Sums have no bounds, and a wrapper is not the point_game: both are as they should be.
        for known in (".*infinity.*", ".*different from the unwrapped.*"):
            warnings.filterwarnings("ignore", message=known)
        check_env(point_game(id_, around, feedback=feedback), skip_render_check=True)
        check_env(ProjectToSet(point_game(id_, around, feedback=feedback)), skip_render_check=True)
        checker = pytest.importorskip("stable_baselines3.common.env_checker")
        checker.check_env(ProjectToSet(point_game(id_, around, feedback=feedback)))


@pytest.mark.thorough
@pytest.mark.slow_cases("DPBandit-Ball-v0-SAC")
@pytest.mark.parametrize(("id_", "name"), [(POINT_IDS[0], "SAC"), (POINT_IDS[-1], "PPO")])
def test_learners_of_stable_baselines_play_a_few_steps(id_, name):
    models = pytest.importorskip("stable_baselines3")
    options = {"PPO": {"n_steps": 16, "batch_size": 16, "n_epochs": 1}}
    options["SAC"] = {"learning_starts": 8, "buffer_size": 50}
    env = ProjectToSet(point_game(id_, "Laplace"))
    model = getattr(models, name)("MultiInputPolicy", env, seed=0, device="cpu", **options[name])
    model.learn(20)
    action, _ = model.predict(env.reset(seed=1)[0])
    env.step(action)
    assert env.unwrapped.decision_set.contains(env.unwrapped._point)
