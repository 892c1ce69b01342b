"""A private number is planted below every wrapper and looked for in everything that can be seen above it."""

import logging
import math
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import wrappers
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.rendering import Scoreboard
from dp_bandit_envs.errors import BoundaryError, StepOutsideGameError
from dp_bandit_envs.wrappers import ExactSums, vector
from dp_bandit_envs.wrappers.boundary import Hidden
from tests.tools.boundary_games import (
    EVERY,
    FORMS,
    MARK,
    NOISY,
    ORDERS,
    PLANTED,
    SUMS,
    act,
    around,
    error_of,
    everything_in,
    find_planted,
    frames_of,
    game,
    games,
    summed,
    wrapped,
)
from tests.tools.refusals import missing, refused

ROUNDS = 11
"""With batches of 2 (or 2 of 2), at least one round at the end is played but never released."""
EVERYWHERE = np.full((ROUNDS, 3), PLANTED)
DOORS = {"env", "unwrapped"}
"""What the evaluator uses, and documents."""
TITLE = "Seen through the privacy boundary"
SOME = ["Laplace(MiniBatch)", "MiniBatch", "Response", "Running", "Hybrid, hybrid", "Interval, lemma", "Block"]
SOME_IN_BOTH = [*((name, "scalar") for name in SOME), ("Laplace(MiniBatch)", "vector"), ("Block", "vector")]
"""A step, and what it refuses and hides, is one function; `check_wrapper` asks it of every wrapper."""


def tables(name: str) -> list[Any]:
    """Return tables with the number in every round, and in one round: early, inside a batch, last.

    Averaging alone hands on an average that is exact, so there the number stands in one round of a batch only.
    """
    found = [EVERYWHERE] if name in NOISY else []
    for round_ in (0, 3, ROUNDS - 1):
        table = np.zeros((ROUNDS, 3))
        table[round_] = PLANTED
        found.append(table)
    return found


def begun(name: str, form: str = "scalar") -> Any:
    """Return a game of the number everywhere, after one step."""
    env = wrapped(FORMS[form](EVERYWHERE), name)
    env.reset(seed=1)
    env.step(act(env, 0))
    return env


def test_the_search_finds_the_number_where_there_is_no_boundary():
    env = game(EVERYWHERE, render_mode="ansi")
    env.reset(seed=1)
    observation, reward, *_ = env.step(0)
    assert list(find_planted(observation)) == ["it['gain']"]
    assert list(find_planted(reward)) and list(find_planted(env))
    assert list(find_planted(f"a log line with {observation}"))
    sums = ExactSums(game(EVERYWHERE, render_mode="ansi"))
    sums.reset(seed=1)
    assert list(find_planted(sums.step(0))) == ["it[0]['sum']", "it[1]"] and list(find_planted(vars(sums)))
    # What a boundary adds up would be found if it were kept openly.
    assert list(find_planted({"state": begun("Hybrid, hybrid")._run._state.value})) == ["it['state'][0]"]

    def fail() -> None:
        gain = reward
        raise ValueError(f"gain {gain}")

    error = error_of(fail)
    assert MARK in everything_in(error) and MARK in frames_of(error)


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [name for name in EVERY if name != "Running"])
def test_nothing_above_a_boundary_shows_the_number(name, form, caplog, capfd, recwarn):
    """Vectors are played across the end of a game and into the next one, in two of the tables."""
    caplog.set_level(logging.DEBUG)
    cases = [(table, [0, 1, 2]) for table in tables(name)]
    cases = [*cases, (cases[0][0], [0])] if form == "scalar" else cases[::2]
    for seed, (table, arms) in enumerate(cases):
        env = wrapped(FORMS[form](table, render_mode="ansi"), name)
        seen: list[Any] = [env.reset(seed=seed), repr(env), str(env), env.render()]
        ended, t = False, 0
        while not ended if form == "scalar" else t < ROUNDS + 3:
            result = env.step(act(env, arms[t % len(arms)]))
            if form == "scalar":
                _, reward, terminated, truncated, info = result
                assert set(info) == {"round"} and type(info["round"]) is int
                assert type(reward) is float and type(terminated) is bool and type(truncated) is bool
            assert set(result[4]) <= {"round", "_round"}
            # What a boundary keeps is as public as what it says: someone will pickle or print it. Below `env` is the
            # door.
            seen += [result, repr(env), str(env), env.render(), repr(vars(env)), str(vars(env))]
            ended, t = bool(np.all(result[2])), t + 1
        assert not list(find_planted(seen)) and not list(find_planted(env))
        wrong = 0 if form == "scalar" else np.array([0, 3])
        error = error_of(lambda env=env, wrong=wrong: env.step(wrong))
        assert form == "vector" or isinstance(error, StepOutsideGameError)
        assert MARK not in everything_in(error) + frames_of(error)
    out, err = capfd.readouterr()
    assert MARK not in out + err + caplog.text
    assert not [str(w.message) for w in recwarn if MARK in str(w.message)]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "form"), SOME_IN_BOTH)
def test_attributes_of_what_is_below_cannot_be_asked_for(name, form):
    env = begun(name, form)
    core = env.unwrapped
    private = ["adversary", "adversaries", "collected", "cumulative_gains", "external_regret", "_block", "_rows"]
    underscored = ["_table", "_state", "_rng", "_tell", "_sums", "_streams"]
    for each in {*private, *underscored, *dir(core)} - DOORS:
        if form == "scalar" and (each.startswith("_") or not env.has_wrapper_attr(each)):
            with refused(AttributeError, type(env).__name__, repr(each)) as error:
                env.get_wrapper_attr(each)
            assert MARK not in everything_in(error.value)
            if each in (*private, *underscored):
                with pytest.raises(AttributeError):
                    gym.wrappers.TimeLimit(env, 3).get_wrapper_attr(each)
        if not each.startswith("__") and name != "Running":
            assert not list(find_planted(getattr(env, each, None))), each
    assert not [each for each in (*private, "_table") if hasattr(env, each)]
    assert (env.spec, env.np_random_seed) == (None, -1)
    assert env.np_random is not core.np_random


def test_setting_an_attribute_does_not_reach_below():
    env = around(game(EVERYWHERE), "Laplace(MiniBatch)")
    assert env.set_wrapper_attr("observe_charge", False)
    assert env.unwrapped.observe_charge is True
    assert not env.set_wrapper_attr("adversary", None, force=False)
    assert env.unwrapped.adversary is not None
    env.np_random = np.random.default_rng(3)
    assert env.unwrapped.np_random is not env.np_random


@pytest.mark.parametrize("name", ["Running", "Hybrid, hybrid", "Interval, lemma", "Block"])
def test_what_is_added_up_is_withheld_from_prints_attributes_and_mechanisms(name):
    env, many = begun(name), begun(name, "vector")
    state = env._run._state
    assert isinstance(state, Hidden)
    assert repr(state) == str(state) == f"{state}" == "withheld"
    assert [repr(one._state) for one in many._runs] == ["withheld"] * 2
    assert type(env.get_wrapper_attr("mechanism")) is type(env.mechanism)
    env.step(1)
    assert not list(find_planted(env.mechanism))


def test_pickled_state_of_the_boundary_itself_holds_no_gain():
    env = begun("Laplace(MiniBatch)")
    own = {name: value for name, value in vars(env).items() if name != "env"}
    needle = np.float64(PLANTED).tobytes()
    assert needle in pickle.dumps(env.unwrapped)
    assert needle not in pickle.dumps(own)


# ---- pictures


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Laplace", "Laplace(MiniBatch)", "MiniBatch(Response)"])
def test_pictures_above_the_boundary_are_those_of_a_game_that_paid_what_was_released(name):
    """Drawn a second way: a scoreboard that is fed with rewards above the boundary only."""
    mode = "rgb_array" if name == "Laplace(MiniBatch)" else "ansi"
    env = around(game(EVERYWHERE, render_mode=mode), name)
    env.reset(seed=5)
    board, before = Scoreboard(3, ROUNDS), 0
    for arm in (0, 1):
        _, reward, *_, info = env.step(arm)
        board.add(info["round"], arm, reward, rounds=info["round"] - before)
        before = info["round"]
    np.testing.assert_array_equal(env.render(), board.render(mode, title=TITLE, total="released gain"))


def expected_board(sums, plays, mode, title):
    """Draw a scoreboard that is told released sums only."""
    board = Scoreboard(3, ROUNDS)
    for t, (arm, rounds) in enumerate(plays):
        board.add(sum(n for _, n in plays[: t + 1]), arm, 0.0, rounds=rounds)
    board.show_totals(sums)
    return board.render(mode, title=title, total="released sum")


@pytest.mark.parametrize("name", ["Running(Laplace)", "Hybrid, hybrid", "Hybrid(MiniBatch)", "Block"])
def test_pictures_show_released_sums(name):
    """The same picture drawn a second way, in both forms: it changes by releases, not by rewards."""
    per_step = 2 if "M" in SUMS[name][0] else 1
    scalar = summed(game(EVERYWHERE, render_mode="ansi"), name)
    many = summed(games(2, EVERYWHERE, render_mode="ansi"), name)
    scalar.reset(seed=5), many.reset(seed=5)
    plays = []
    for arm in (0, 1, 0, 0):
        plays.append((arm, per_step))
        sums = scalar.step(arm)[0]["sum"]
        released = many.step(np.array([arm, 2]))[0]["sum"]
        assert scalar.render() == expected_board(sums, plays, "ansi", TITLE)
        first, second = many.render()
        assert first == expected_board(released[0], plays, "ansi", f"{TITLE}, game 0")
        assert second == expected_board(released[1], [(2, per_step)] * len(plays), "ansi", f"{TITLE}, game 1")
    # and a new game begins with an empty picture
    scalar.reset(seed=6)
    assert scalar.render() == expected_board(np.zeros(3), [], "ansi", TITLE)


@pytest.mark.thorough
def test_pictures_in_pixels_show_released_sums():
    env = summed(game(EVERYWHERE, render_mode="rgb_array"), "Hybrid, hybrid")
    env.reset(seed=5)
    sums = env.step(0)[0]["sum"]
    np.testing.assert_array_equal(env.render(), expected_board(sums, [(0, 1)], "rgb_array", TITLE))
    assert not np.array_equal(env.render(), expected_board(sums + 1, [(0, 1)], "rgb_array", TITLE))


# ---- errors from below


class Talkative(Exception):
    """An error of a foreign library."""


def raise_it(kind: type[BaseException], gain: float) -> None:
    """Raise an error that carries a gain in its message, arguments, notes, cause and context."""
    try:
        raise KeyError(f"inner {gain!r}")
    except KeyError as inner:
        error = kind(f"the gain was {gain!r}", gain)
        error.add_note(f"note: {gain!r}")
        raise error from inner


ERRORS = [ValueError, KeyError, ZeroDivisionError, gym.error.Error, RuntimeWarning, StopIteration, Talkative]


class Fails:
    """A foreign environment, of one game or many, that fails when it starts or in its third round, and tells a gain."""

    where = "step"
    kind: type[BaseException] = ValueError

    def step(self, action):
        """Fail in the third round."""
        result = super().step(action)
        if self.where == "step" and np.max(result[4]["round"]) == 3:
            raise_it(self.kind, float(np.max(result[1])))
        return result

    def reset(self, **arguments):
        """Fail."""
        begun = super().reset(**arguments)
        if self.where == "reset":
            raise_it(self.kind, PLANTED)
        return begun


class Outside:
    """Pays the gain plus an offset, which no mechanism here covers."""

    offset = 1.0

    def step(self, action):
        """Add it."""
        observation, *rest = super().step(action)
        observation["gain"] = observation["gain"] + np.where(observation["observed"], self.offset, 0.0)
        return observation, *rest


def foreign(part: type, form: str, **facts: Any) -> Any:
    """Return a game of the number everywhere that behaves as the class says."""
    kind, sizes = (BanditEnv, ()) if form == "scalar" else (BanditVectorEnv, (2,))
    return type(part.__name__, (part, kind), facts)(*sizes, GainTable(EVERYWHERE))


def play_until_it_fails(env: Any) -> BaseException:
    def run() -> None:
        env.reset(seed=1)
        for _ in range(ROUNDS):
            env.step(act(env, 0))

    return error_of(run)


def check_replaced(name: str, form: str, **facts: Any) -> None:
    # A batch of 4 fails in its third round, when two gains have been added up; the sums of "Running" are released.
    tau = {"tau": 4} if "MiniBatch" in name and name in ORDERS and name != "MiniBatch(MiniBatch)" else {}
    error = play_until_it_fails(wrapped(foreign(Fails, form, **facts), name, **tau))
    assert isinstance(error, BoundaryError) and "withheld" in str(error)
    assert error.__cause__ is None and error.__context__ is None and not hasattr(error, "__notes__")
    assert MARK not in everything_in(error)
    assert name == "Running" or MARK not in frames_of(error)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "form"), SOME_IN_BOTH)
def test_an_error_from_below_is_replaced_by_one_without_its_message(name, form):
    """And in its frames, which error reporters print, are no gains, nor sums of those before."""
    check_replaced(name, form)


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_of_any_kind_is_replaced(kind):
    for form in FORMS:
        for where in ("step", "reset"):
            check_replaced("Laplace(MiniBatch)", form, kind=kind, where=where)


@pytest.mark.parametrize("kind", [StepOutsideGameError, BoundaryError])
def test_an_error_of_a_public_kind_is_not_trusted_when_a_foreign_environment_raises_it(kind):
    """Anyone can raise StepOutsideGameError, and its message, notes and cause are theirs."""
    for form in FORMS:
        for where in ("step", "reset"):
            error = play_until_it_fails(around(foreign(Fails, form, kind=kind, where=where), "Laplace(MiniBatch)"))
            assert MARK not in everything_in(error)


def check_outside(name: str, form: str, offset: float) -> None:
    error = play_until_it_fails(wrapped(foreign(Outside, form, offset=offset), name))
    assert isinstance(error, BoundaryError)
    assert not missing(str(error), "[0, 1]")
    assert MARK not in everything_in(error) + frames_of(error)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "form"), SOME_IN_BOTH)
def test_a_gain_outside_the_unit_interval_is_refused_without_being_shown(name, form):
    """Not in the message, nor in the frames. Also by sums without noise: an agent's index rests on gains in [0, 1]."""
    check_outside(name, form, 1.0)


@pytest.mark.parametrize("offset", [-1.0, -0.1234568, math.nan, math.inf])
def test_gains_outside_on_either_side_and_nan_are_refused(offset):
    for form in FORMS:
        for name in ("Laplace", "MiniBatch", "Hybrid, hybrid"):
            check_outside(name, form, offset)


def test_what_stands_between_make_and_the_boundary_warns_without_numbers():
    """gym.make adds a checker that warns about observations outside their space; it must not print them."""
    env = gym.wrappers.OrderEnforcing(gym.wrappers.PassiveEnvChecker(foreign(Outside, "scalar")))
    env = around(env, "Laplace")
    with pytest.warns(UserWarning, match="not within the observation space") as caught:
        env.reset(seed=1)
        error_of(lambda: env.step(0))
    assert not [w for w in caught if MARK in str(w.message)]


# ---- orders that are refused

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
