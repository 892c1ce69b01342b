"""A private number is planted below the wrappers that release sums and looked for in all that can be seen above."""

import logging
import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.errors import BoundaryError, StepOutsideGameError
from dp_bandit_envs.pictures import Scoreboard
from dp_bandit_envs.wrappers import ExactSums, vector
from dp_bandit_envs.wrappers.boundary import Withheld
from tests.tools.boundary_games import (
    MARK,
    OWN_NOISE,
    PLANTED,
    SUMS,
    error_of,
    everything_in,
    find_planted,
    frames_of,
    game,
    games,
    summed,
)
from tests.tools.refusals import missing, refused

ROUNDS = 12
NOISY = [*OWN_NOISE, "Running(Laplace)", "Running(Response)"]
FORMS = {"scalar": game, "vector": lambda table, **options: games(2, table, **options)}


def tables():
    """Return tables with the number in every round, and in one round only (first, middle, last)."""
    found = [np.full((ROUNDS, 3), PLANTED)]
    for round_ in (0, 5, ROUNDS - 1):
        table = np.zeros((ROUNDS, 3))
        table[round_] = PLANTED
        found.append(table)
    return found


def act(env, arm):
    """Return an action that plays this arm in every game."""
    return arm if isinstance(env, gym.Env) else np.array([arm, arm])


def test_the_search_finds_the_number_in_sums_without_noise():
    env = ExactSums(game(tables()[0], render_mode="ansi"))
    env.reset(seed=1)
    assert list(find_planted(env.step(0))) == ["it[0]['sum']", "it[1]"]
    assert list(find_planted(vars(env)))


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("kind", NOISY)
def test_nothing_above_shows_the_number(kind, make, caplog, capfd, recwarn):
    caplog.set_level(logging.DEBUG)
    for seed, table in enumerate(tables()):
        for arms in ([0, 1, 2], [0]):
            env = summed(make(table, render_mode="ansi"), kind)
            seen = [env.reset(seed=seed), repr(env), str(env), env.render()]
            ended, t = False, 0
            while not ended:
                result = env.step(act(env, arms[t % len(arms)]))
                assert set(result[4]) <= {"round", "_round"}
                # What a boundary keeps is as public as what it says; below `env` is the door.
                seen += [result, repr(env), str(env), env.render(), repr(vars(env)), str(vars(env))]
                assert not list(find_planted(env))
                ended, t = bool(np.all(result[2])), t + 1
            if make is game:
                error = error_of(lambda env=env: env.step(0))
                assert isinstance(error, StepOutsideGameError)
                seen += [everything_in(error), frames_of(error)]
            assert not list(find_planted(seen))
    out, err = capfd.readouterr()
    assert MARK not in out + err + caplog.text
    assert not [str(w.message) for w in recwarn if MARK in str(w.message)]


@pytest.mark.parametrize("kind", SUMS)
def test_what_is_added_up_is_withheld_from_prints_and_attributes(kind):
    env = summed(game(tables()[0]), kind)
    env.reset(seed=1)
    env.step(0)
    state = env._released._state
    assert isinstance(state, Withheld)
    assert repr(state) == str(state) == f"{state}" == "withheld"
    assert not hasattr(state, "__dict__")
    with pytest.raises(AttributeError):
        state.other = 1
    many = summed(games(2, tables()[0]), kind)
    many.reset(seed=1)
    assert [repr(one._state) for one in many._released] == ["withheld"] * 2


def test_the_withheld_state_would_be_found_if_it_were_kept_openly():
    """The search is not blind to NamedTuples of arrays."""
    env = summed(game(tables()[0]), "Hybrid, hybrid")
    env.reset(seed=1)
    env.step(0)
    assert not list(find_planted(vars(env)))
    assert list(find_planted({"state": env._released._state.value})) == ["it['state'][0]"]


@pytest.mark.parametrize("kind", SUMS)
def test_names_with_an_underscore_cannot_be_asked_for(kind):
    env = summed(game(tables()[0]), kind)
    env.reset(seed=1)
    env.step(0)
    for name in ("_state", "_rng", "_tell", "_sums", "_streams", "_table", "_rows", "adversary", "collected"):
        assert not env.has_wrapper_attr(name)
        with refused(AttributeError, type(env).__name__, repr(name)) as e:
            env.get_wrapper_attr(name)
        assert MARK not in everything_in(e.value)
        with pytest.raises(AttributeError):
            gym.wrappers.TimeLimit(env, 3).get_wrapper_attr(name)
    assert type(env.get_wrapper_attr("mechanism")) is type(env.mechanism)
    assert (env.spec, env.np_random_seed) == (None, -1)
    assert env.np_random is not env.unwrapped.np_random


def test_the_mechanism_is_public_and_knows_no_gain():
    for kind in NOISY:
        env = summed(game(tables()[0]), kind)
        env.reset(seed=1)
        env.step(0)
        before = repr(vars(env.mechanism)) if hasattr(env.mechanism, "__dict__") else ""
        assert not list(find_planted(env.mechanism))
        env.step(1)
        if "counter" not in before:  # a counter prints its address
            assert repr(vars(env.mechanism)) == before


# ---- what comes out depends on gains through releases only


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    ("kind", "more", "open_rounds"),
    [
        ("Block, lengths", {"lengths": [5]}, [10, 11]),  # 12 gains of arm 0: 5, 5 and an open block of 2
        ("Interval, uniform", {"epsilon": 8.0}, [8, 9, 10, 11]),  # f = 8 (input 0.130): one end
        ("Hybrid, logarithmic", {}, [8, 9, 10, 11]),  # the last release is after 8 items
    ],
)
def test_gains_that_were_not_released_change_nothing_that_comes_out(kind, more, open_rounds, make):
    def seen(table):
        env = summed(make(table, render_mode="ansi"), kind, **more)
        out = [repr(env.reset(seed=4)), env.render()]
        for _ in range(ROUNDS):
            out += [repr(env.step(act(env, 0))), env.render(), repr(env), repr(env.guarantee)]
        return out

    base = np.random.default_rng(1).integers(0, 65, (ROUNDS, 3)) / 64
    for changed in range(ROUNDS):
        table = base.copy()
        table[changed] = 1 - table[changed] if table[changed, 0] != 0.5 else 1.0
        assert (seen(table) == seen(base)) == (changed in open_rounds)


def test_gains_inside_a_block_that_keep_its_sum_change_nothing():
    found = []
    for first, second in ((0.25, 0.75), (0.5, 0.5)):
        env = summed(game([[first, 0], [second, 0]]), "Block, lengths", lengths=[2])
        found.append(repr([env.reset(seed=4), env.step(0), env.step(0)]))
    assert found[0] == found[1]


# ---- errors from below


class Fails(BanditEnv):
    """Fails in its third round, telling the gain."""

    def step(self, action):
        """Fail."""
        result = super().step(action)
        if result[4]["round"] == 3:
            gain = result[1]
            raise ValueError(f"the gain was {gain!r}", gain)
        return result


class VectorFails(BanditVectorEnv):
    """The same for many games."""

    def step(self, actions):
        """Fail."""
        result = super().step(actions)
        if result[4]["round"][0] == 3:
            raise ValueError(f"the gain was {result[1]!r}")
        return result


class Outside(BanditEnv):
    """Pays the gain plus an offset."""

    offset = 1.0

    def step(self, action):
        """Add the offset."""
        observation, *rest = super().step(action)
        observation["gain"][action] += self.offset
        return observation, *rest


class VectorOutside(BanditVectorEnv):
    """The same for many games."""

    offset = 1.0

    def step(self, actions):
        """Add the offset."""
        observation, *rest = super().step(actions)
        observation["gain"] = observation["gain"] + self.offset * observation["observed"]
        return observation, *rest


def play_until_it_fails(env):
    def run():
        env.reset(seed=1)
        for _ in range(ROUNDS):
            env.step(act(env, 0))

    return error_of(run)


@pytest.mark.parametrize("form", ["scalar", "vector"])
@pytest.mark.parametrize("kind", SUMS)
def test_an_error_from_below_is_replaced_by_one_without_its_message(kind, form):
    """And in its frames are no gains, nor sums of those before."""
    adversary = GainTable(tables()[0])
    error = play_until_it_fails(summed(Fails(adversary) if form == "scalar" else VectorFails(2, adversary), kind))
    assert isinstance(error, BoundaryError) and "withheld" in str(error)
    assert error.__cause__ is None and error.__context__ is None
    assert MARK not in everything_in(error)
    if kind != "Running":  # its earlier sums were released as they are
        assert MARK not in frames_of(error)


@pytest.mark.parametrize("offset", [1.0, -1.0, math.nan])
@pytest.mark.parametrize("form", ["scalar", "vector"])
@pytest.mark.parametrize("kind", SUMS)
def test_a_gain_outside_the_unit_interval_is_refused_without_being_shown(kind, form, offset):
    """Also in sums without noise: an agent's index rests on gains in [0, 1]."""
    adversary = GainTable(tables()[0])
    env = Outside(adversary) if form == "scalar" else VectorOutside(2, adversary)
    env.offset = offset
    error = play_until_it_fails(summed(env, kind))
    assert isinstance(error, BoundaryError)
    assert not missing(str(error), "[0, 1]")
    assert MARK not in everything_in(error) + frames_of(error)


# ---- orders that are refused


@pytest.mark.parametrize("kind", ["Running", "Hybrid, hybrid", "Interval, lemma", "Block"])
@pytest.mark.parametrize("outer", ["LaplaceClipRescale", "MiniBatchAverage", "RandomizedResponse"])
@pytest.mark.parametrize("form", ["scalar", "vector", "vector of scalar", "between"])
def test_wrappers_for_gains_are_refused_around_sums(kind, outer, form):
    from dp_bandit_envs import wrappers

    options = {"batch_size": 2} if outer == "MiniBatchAverage" else {"epsilon": 1.0}
    forms = vector
    if form in ("scalar", "between"):
        forms, env = wrappers, summed(game(tables()[0]), kind)
        env = gym.wrappers.TimeLimit(env, 5) if form == "between" else env
    elif form == "vector":
        env = summed(games(2, tables()[0]), kind)
    else:
        env = gym.vector.SyncVectorEnv([lambda: summed(game(tables()[0]), kind)] * 2)
    inner = SUMS[kind][1]
    with refused(TypeError, outer, inner, f"put {outer} below {inner}"):
        getattr(forms, outer)(env, **options)


@pytest.mark.parametrize("inner", ["Running", "Hybrid, hybrid", "Interval, lemma", "Block"])
@pytest.mark.parametrize("outer", ["Running", "Hybrid, hybrid", "Interval, lemma", "Block"])
@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
def test_sums_of_sums_are_refused(inner, outer, make):
    with refused(TypeError, SUMS[inner][1], SUMS[outer][1]):
        summed(summed(make(tables()[0]), inner), outer)


def test_a_wrapper_that_rewrites_observations_is_refused_below():
    """Running totals of gains, summed up again, would let a round enter many times."""
    below = gym.wrappers.TransformObservation(game(tables()[0]), lambda observation: observation, None)
    for kind in ("Running", "Hybrid, hybrid", "Interval, lemma", "Block"):
        with refused(TypeError, "TransformObservation", SUMS[kind][1], "above"):
            summed(below, kind)


# ---- Gymnasium's wrappers


@pytest.mark.parametrize("kind", SUMS)
def test_flatten_observation_below_changes_nothing_and_above_joins_its_parts(kind):
    table = np.random.default_rng(1).random((ROUNDS, 3))
    plain, flat_below = summed(game(table), kind), summed(gym.wrappers.FlattenObservation(game(table)), kind)
    flat_above = gym.wrappers.FlattenObservation(summed(game(table), kind))
    for env in (plain, flat_below, flat_above):
        env.reset(seed=5)
    assert plain.observation_space == flat_below.observation_space
    for arm in (0, 1, 0):
        one, other, joined = plain.step(arm), flat_below.step(arm), flat_above.step(arm)
        assert repr(one) == repr(other)
        np.testing.assert_array_equal(joined[0], np.concatenate([one[0]["count"], one[0]["release"], one[0]["sum"]]))


# ---- pictures


def expected_board(sums, plays, mode, title):
    """Draw a scoreboard that is told released sums only."""
    board = Scoreboard(3, ROUNDS)
    for t, (arm, rounds) in enumerate(plays):
        board.add(sum(n for _, n in plays[: t + 1]), arm, 0.0, rounds=rounds)
    board.show_totals(sums)
    return board.render(mode, title=title, total="released sum")


@pytest.mark.parametrize("kind", SUMS)
def test_pictures_show_released_sums(kind):
    """The same picture drawn a second way, in both forms: it changes by releases, not by rewards."""
    per_step = 2 if "M" in SUMS[kind][0] else 1
    scalar = summed(game(tables()[0], render_mode="ansi"), kind)
    many = summed(games(2, tables()[0], render_mode="ansi"), kind)
    scalar.reset(seed=5), many.reset(seed=5)
    title = "Seen through the privacy boundary"
    assert scalar.render() == expected_board(np.zeros(3), [], "ansi", title)
    plays = []
    for arm in (0, 1, 0, 0):
        plays.append((arm, per_step))
        sums = scalar.step(arm)[0]["sum"]
        released = many.step(np.array([arm, 2]))[0]["sum"]
        assert scalar.render() == expected_board(sums, plays, "ansi", title)
        first, second = many.render()
        assert first == expected_board(released[0], plays, "ansi", f"{title}, game 0")
        assert second == expected_board(released[1], [(2, per_step)] * len(plays), "ansi", f"{title}, game 1")
    # and a new game begins with an empty picture
    scalar.reset(seed=6)
    assert scalar.render() == expected_board(np.zeros(3), [], "ansi", title)


def test_pictures_in_pixels_show_released_sums():
    env = summed(game(tables()[0], render_mode="rgb_array"), "Hybrid, hybrid")
    env.reset(seed=5)
    sums = env.step(0)[0]["sum"]
    expected = expected_board(sums, [(0, 1)], "rgb_array", "Seen through the privacy boundary")
    np.testing.assert_array_equal(env.render(), expected)
    assert not np.array_equal(
        expected, expected_board(sums + 1, [(0, 1)], "rgb_array", "Seen through the privacy boundary")
    )
