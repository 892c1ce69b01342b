"""Private games as ids: what `gym.make` returns is the boundary, and no spec holds a gain."""

import copy
import functools
import json
import pickle

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import LaplaceClipRescale, register_private
from dp_bandit_envs.errors import NameTakenError, UnknownArgumentError, UnknownNameError, WrongTypeError
from dp_bandit_envs.wrappers import MiniBatchAverage
from tests.tools.boundary_games import MARK, PLANTED, find_planted
from tests.tools.refusals import refused

TABLE = np.full((6, 3), PLANTED)
BATCHES = functools.partial(MiniBatchAverage, batch_size=2)


@pytest.fixture
def register():
    """Return `register_private` with gains of one number; ids are removed afterwards."""
    made = []

    def registered(id_="Mine-v0", wrappers=("LaplaceClipRescale",), **arguments):
        given = {"game": "DPBandit-Replay-v0", "epsilon": 1.0, "env_kwargs": {"gains": TABLE}, **arguments}
        made.append(register_private(id_, wrappers=wrappers, **given))
        return made[-1]

    yield registered
    for id_ in made:
        gym.registry.pop(id_)


def test_the_id_is_the_game_behind_its_wrappers(register):
    by_id = gym.make(register(wrappers=[BATCHES, "LaplaceClipRescale"]))
    by_hand = LaplaceClipRescale(MiniBatchAverage(gym.make("DPBandit-Replay-v0", gains=TABLE), batch_size=2), epsilon=1)
    results = [[env.reset(seed=2), *(env.step(arm) for arm in (0, 1, 2))] for env in (by_id, by_hand)]
    assert repr(results[0]) == repr(results[1])
    assert by_id.get_wrapper_attr("guarantee") == by_hand.guarantee


def test_each_argument_goes_to_every_wrapper_that_takes_it(register):
    env = gym.make(register(wrappers=["MiniBatchAverage", LaplaceClipRescale], batch_size=3, bound=7.0))
    assert env.get_wrapper_attr("mechanism").epsilon == 1.0
    assert env.get_wrapper_attr("horizon") == 2 and env.get_wrapper_attr("noise").bound == 7.0


def test_no_spec_and_nothing_above_holds_a_gain(register):
    id_ = register()
    env = gym.wrappers.RecordEpisodeStatistics(gym.make(id_))
    out = [env.reset(seed=1), *(env.step(arm) for arm in (0, 1, 2, 0, 1, 2))]
    specs = [gym.spec(id_), env.spec, pickle.loads(pickle.dumps(env.spec)), json.loads(gym.make(id_).spec.to_json())]
    assert not list(find_planted([out, [vars(spec) if hasattr(spec, "id") else spec for spec in specs]]))
    assert MARK not in repr(specs) and env.spec.id == id_ and env.spec.kwargs == {}
    assert b"gains" not in pickle.dumps([gym.spec(id_), gym.make(id_).spec])
    for name in ("adversary", "cumulative_gains", "external_regret", "collected", "_block"):
        with pytest.raises(AttributeError):
            env.get_wrapper_attr(name)


def test_an_environment_is_made_again_from_its_spec(register):
    env = gym.make(register())
    again = gym.make(env.spec)
    results = [one.reset(seed=3) and one.step(1) for one in (env, again)]
    assert repr(results[0]) == repr(results[1])


def test_arguments_of_make_are_the_games_and_no_spec_shows_them(register):
    env = gym.make(register(env_kwargs={}), gains=TABLE, render_mode="ansi")
    assert env.render_mode == "ansi" and env.spec.kwargs == {}
    assert MARK not in repr(env.spec)
    with refused(WrongTypeError, "got an unexpected keyword argument 'frameskip'") as caught:
        gym.make("Mine-v0", gains=TABLE, frameskip=1)
    assert MARK not in str(caught.value)


def test_many_games_are_played_one_after_the_other(register):
    envs = gym.make_vec(register(), num_envs=2)
    observation, _ = envs.reset(seed=5)
    result = envs.step(np.array([1, 1]))
    assert not list(find_planted([observation, result, vars(envs.spec)]))
    single = gym.make("Mine-v0")
    single.reset(seed=6)
    assert single.step(1)[1] == result[1][1] != result[1][0]


def test_gymnasiums_wrappers_may_stand_above(register):
    env = gym.make(register(wrappers=["LaplaceClipRescale", gym.wrappers.FlattenObservation]))
    assert env.reset(seed=1)[0].shape == (6,)
    assert gym.make(env.spec).reset(seed=1)[0].shape == (6,)


def test_the_spec_of_a_boundary_made_by_hand_names_wrappers_without_arguments():
    below = gym.wrappers.TransformReward(gym.make("DPBandit-Replay-v0", gains=TABLE), lambda reward: PLANTED * reward)
    spec = LaplaceClipRescale(below, epsilon=1.0).spec
    assert (spec.id, spec.kwargs) == ("DPBandit-Replay-v0", {})
    assert [one.name for one in spec.additional_wrappers] == ["TransformReward", "LaplaceClipRescale"]
    assert [one.kwargs for one in spec.additional_wrappers] == [None, None]
    with refused(ValueError, "dp_bandit_envs.register_private"):
        gym.make(spec)  # it would be a game without its boundary


def test_an_entry_point_that_may_hold_gains_is_left_out():
    gains = copy.copy(TABLE)
    gym.register("Closure-v0", entry_point=lambda: gym.make("DPBandit-Replay-v0", gains=gains).unwrapped)
    spec = LaplaceClipRescale(gym.make("Closure-v0"), epsilon=1.0).spec
    assert spec.entry_point == "dp_bandit_envs.wrappers.boundary:refuse_to_make" and spec.vector_entry_point is None
    gym.registry.pop("Closure-v0")


def test_wrong_arguments_are_refused_when_the_id_is_registered(register):
    with refused(UnknownArgumentError, "register_private() got an unexpected keyword argument 'gamma'"):
        register(gamma=1)
    with refused(UnknownNameError, "'Laplace'", "LaplaceClipRescale"):
        register(wrappers=["Laplace"])
    for wrong in ("LaplaceClipRescale", [], None, LaplaceClipRescale, [3]):
        with refused(WrongTypeError):
            register(wrappers=wrong)
    with refused(WrongTypeError, "id"):
        register(3)
    with refused(ValueError, "id", "'a:Mine-v0'"):
        register("a:Mine-v0")
    register()
    with refused(NameTakenError, "'Mine-v0'"):
        register()


def test_a_game_without_a_privacy_wrapper_is_refused(register):
    with refused(WrongTypeError, "Mine-v0", "'LaplaceClipRescale'"):
        gym.make(register(wrappers=[gym.wrappers.FlattenObservation, lambda env, epsilon: env]))
