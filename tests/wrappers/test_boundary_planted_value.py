"""A private number is planted below the boundary and looked for in everything that can be seen above it."""

import logging
import math
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.errors import BoundaryError, StepOutsideGameError
from tests.tools.boundary_games import (
    MARK,
    ORDERS,
    PLANTED,
    around,
    error_of,
    everything_in,
    find_planted,
    frames_of,
    game,
    games,
)
from tests.tools.refusals import missing

ROUNDS = 11
"""With batches of 2 (or 2 of 2), at least one round at the end is played but never released."""

DOORS = {"env", "unwrapped"}
"""What the evaluator uses, and documents."""


def tables() -> list[Any]:
    """Return tables with the number in every round, in one round (early, inside a batch, last), and in one entry."""
    everywhere = np.full((ROUNDS, 3), PLANTED)
    found = [everywhere]
    for round_ in (0, 3, ROUNDS - 1):
        table = np.zeros((ROUNDS, 3))
        table[round_] = PLANTED
        found.append(table)
    return found


def noisy(order: str) -> bool:
    return "L" in ORDERS[order] or "R" in ORDERS[order]


def relevant(order: str) -> list[Any]:
    """Averaging alone hands on an average that is exact, so there the number stands in one round of a batch only."""
    return tables() if noisy(order) else tables()[1:]


def test_the_search_finds_the_number_where_there_is_no_boundary():
    env = game(tables()[0], render_mode="ansi")
    env.reset(seed=1)
    observation, reward, *_ = env.step(0)
    assert list(find_planted(observation)) == ["it['gain']"]
    assert list(find_planted(reward))
    assert list(find_planted(f"a log line with {observation}"))
    assert list(find_planted(env))

    def fail() -> None:
        gain = reward
        raise ValueError(f"gain {gain}")

    error = error_of(fail)
    assert MARK in everything_in(error)
    assert MARK in frames_of(error)


@pytest.mark.parametrize("order", ORDERS)
def test_nothing_above_a_scalar_boundary_shows_the_number(order, caplog, capfd, recwarn):
    caplog.set_level(logging.DEBUG)
    for seed, table in enumerate(relevant(order)):
        env = around(game(table, render_mode="ansi"), order)
        seen: list[Any] = [env.reset(seed=seed), repr(env), str(env), env.render()]
        ended = False
        arm = 0
        while not ended:
            observation, reward, terminated, truncated, info = env.step(arm)
            assert set(info) == {"round"} and type(info["round"]) is int
            assert type(reward) is float and type(terminated) is bool and type(truncated) is bool
            seen += [observation, reward, terminated, truncated, info, repr(env), env.render()]
            ended = terminated or truncated
            arm = (arm + 1) % 3
        assert not list(find_planted(seen))
        # What a boundary keeps is as public as what it says: someone will pickle or print it. Below `env` is the door.
        assert not list(find_planted(env))
        error = error_of(lambda env=env: env.step(0))
        assert isinstance(error, StepOutsideGameError)
        assert MARK not in everything_in(error) + frames_of(error)
    out, err = capfd.readouterr()
    assert MARK not in out + err + caplog.text
    assert not [str(w.message) for w in recwarn if MARK in str(w.message)]


@pytest.mark.parametrize("order", ORDERS)
def test_nothing_above_a_vector_boundary_shows_the_number(order, caplog, capfd, recwarn):
    caplog.set_level(logging.DEBUG)
    for seed, table in enumerate(relevant(order)):
        env = around(games(2, table, render_mode="ansi"), order)
        seen: list[Any] = [env.reset(seed=seed), repr(env), str(env), env.render()]
        for step in range(2 * ROUNDS):  # across the end of the game and into the next one
            arms = np.array([step % 3, (step + 1) % 3])
            observation, rewards, terminated, truncated, info = env.step(arms)
            assert set(info) == {"round", "_round"}
            seen += [observation, rewards, terminated, truncated, info, repr(env), env.render()]
        assert not list(find_planted(seen))
        assert not list(find_planted(env))
        assert MARK not in everything_in(error_of(lambda env=env: env.step(np.array([0, 3]))))
    out, err = capfd.readouterr()
    assert MARK not in out + err + caplog.text
    assert not [str(w.message) for w in recwarn if MARK in str(w.message)]


@pytest.mark.parametrize("make", [game, lambda table, **options: games(2, table, **options)], ids=["scalar", "vector"])
@pytest.mark.parametrize("order", ORDERS)
def test_attributes_of_what_is_below_cannot_be_asked_for(order, make):
    env = around(make(tables()[0]), order)
    env.reset(seed=1)
    env.step(0 if isinstance(env, gym.Env) else np.array([0, 0]))
    below = env.unwrapped
    private = [
        "adversary",
        "adversaries",
        "collected",
        "cumulative_gains",
        "external_regret",
        "_block",
        "_rows",
        "_table",
    ]
    for name in {*private, *dir(below)} - DOORS:
        if isinstance(env, gym.Env) and not env.has_wrapper_attr(name):
            with pytest.raises(AttributeError) as error:
                env.get_wrapper_attr(name)
            assert MARK not in everything_in(error.value)
        value = getattr(env, name, None)
        if not name.startswith("__"):
            assert not list(find_planted(value)), name
    for name in private:
        assert not hasattr(env, name)
    assert env.spec is None
    assert env.np_random is not below.np_random
    assert env.np_random_seed == -1


def test_setting_an_attribute_does_not_reach_below():
    env = around(game(tables()[0]), "Laplace(MiniBatch)")
    assert env.set_wrapper_attr("observe_charge", False)
    assert env.unwrapped.observe_charge is True
    assert not env.set_wrapper_attr("adversary", None, force=False)
    assert env.unwrapped.adversary is not None
    env.np_random = np.random.default_rng(3)
    assert env.unwrapped.np_random is not env.np_random


@pytest.mark.parametrize("order", [order for order in ORDERS if noisy(order)])
def test_pictures_above_the_boundary_are_those_of_a_game_that_paid_what_was_released(order):
    """Drawn a second way: a scoreboard that is fed with rewards above the boundary only."""
    from dp_bandit_envs.pictures import Scoreboard

    env = around(game(tables()[0], render_mode="rgb_array"), order)
    env.reset(seed=5)
    board = Scoreboard(3, ROUNDS)
    before = 0
    for arm in (0, 1):
        _, reward, *_, info = env.step(arm)
        board.add(info["round"], arm, reward, rounds=info["round"] - before)
        before = info["round"]
    expected = board.render("rgb_array", title="Seen through the privacy boundary", total="released gain")
    np.testing.assert_array_equal(env.render(), expected)


def test_pickled_state_of_the_boundary_itself_holds_no_gain():
    env = around(game(tables()[0], render_mode="ansi"), "Laplace(MiniBatch)")
    env.reset(seed=1)
    env.step(0)
    own = {name: value for name, value in vars(env).items() if name != "env"}
    needle = np.float64(PLANTED).tobytes()
    assert needle in pickle.dumps(env.unwrapped)
    assert needle not in pickle.dumps(own)


# ---- errors from below


class Talkative(Exception):
    """An error of a foreign library."""


def raise_it(kind: type[BaseException], gain: float) -> None:
    """Raise an error that carries a gain in its message, arguments, notes, cause and context."""
    try:
        raise KeyError(f"inner {gain!r}")
    except KeyError as inner:
        error = kind(f"the gain was {gain!r}", gain) if kind is not UnicodeError else kind(f"the gain was {gain!r}")
        error.add_note(f"note: {gain!r}")
        raise error from inner


ERRORS = [ValueError, KeyError, ZeroDivisionError, gym.error.Error, RuntimeWarning, StopIteration, Talkative]
PASSED_ON = [StepOutsideGameError, BoundaryError]


class RaisesInStep(BanditEnv):
    """A foreign environment that fails in the third round, telling all it knows."""

    kind: type[BaseException]

    def step(self, action):
        """Fail in the third round."""
        result = super().step(action)
        if result[4]["round"] == 3:
            raise_it(self.kind, result[1])
        return result


class RaisesInReset(BanditEnv):
    """A foreign environment that fails when it starts, telling a gain."""

    kind: type[BaseException]

    def reset(self, **arguments):
        """Fail."""
        super().reset(**arguments)
        raise_it(self.kind, PLANTED)


class VectorRaisesInStep(BanditVectorEnv):
    """The same for many games."""

    kind: type[BaseException]

    def step(self, actions):
        """Fail in the third round."""
        result = super().step(actions)
        if result[4]["round"][0] == 3:
            raise_it(self.kind, float(result[1][0]))
        return result


class VectorRaisesInReset(BanditVectorEnv):
    """The same for many games."""

    kind: type[BaseException]

    def reset(self, **arguments):
        """Fail."""
        super().reset(**arguments)
        raise_it(self.kind, PLANTED)


def failing(form: str, where: str, kind: type[BaseException]) -> Any:
    adversary = GainTable(tables()[0])
    classes = {
        ("scalar", "step"): RaisesInStep,
        ("scalar", "reset"): RaisesInReset,
        ("vector", "step"): VectorRaisesInStep,
        ("vector", "reset"): VectorRaisesInReset,
    }
    made = classes[form, where]
    made.kind = kind
    return made(adversary) if form == "scalar" else made(2, adversary)


def play_until_it_fails(env: Any) -> BaseException:
    def run() -> None:
        env.reset(seed=1)
        for _ in range(ROUNDS):
            env.step(0 if isinstance(env, gym.Env) else np.array([0, 0]))

    return error_of(run)


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("where", ["step", "reset"])
@pytest.mark.parametrize("form", ["scalar", "vector"])
@pytest.mark.parametrize("order", ORDERS)
def test_an_error_from_below_is_replaced_by_one_without_its_message(order, form, where, kind):
    error = play_until_it_fails(around(failing(form, where, kind), order))
    assert isinstance(error, BoundaryError)
    assert error.__cause__ is None and error.__context__ is None and not hasattr(error, "__notes__")
    assert MARK not in everything_in(error)


@pytest.mark.parametrize("kind", PASSED_ON)
@pytest.mark.parametrize("where", ["step", "reset"])
@pytest.mark.parametrize("form", ["scalar", "vector"])
def test_an_error_of_a_public_kind_is_not_trusted_when_a_foreign_environment_raises_it(form, where, kind):
    """Anyone can raise StepOutsideGameError, and its message, notes and cause are theirs."""
    error = play_until_it_fails(around(failing(form, where, kind), "Laplace(MiniBatch)"))
    assert MARK not in everything_in(error)


class Above(BanditEnv):
    """Pays more than 1, which no mechanism here covers."""

    def step(self, action):
        """Add 1 to the gain."""
        observation, *rest = super().step(action)
        observation["gain"][action] += 1
        return observation, *rest


class VectorAbove(BanditVectorEnv):
    """Pays more than 1 in many games."""

    def step(self, actions):
        """Add 1 to the gains."""
        observation, *rest = super().step(actions)
        observation["gain"] = observation["gain"] + observation["observed"]
        return observation, *rest


@pytest.mark.parametrize("form", ["scalar", "vector"])
@pytest.mark.parametrize("order", ORDERS)
def test_a_gain_outside_the_unit_interval_is_refused_without_being_shown(order, form):
    """Not in the message, and not in the locals of the frames that the error carries either."""
    adversary = GainTable(tables()[0])
    env = around(Above(adversary) if form == "scalar" else VectorAbove(2, adversary), order)
    error = play_until_it_fails(env)
    assert isinstance(error, BoundaryError)
    assert not missing(str(error), "[0, 1]")
    assert MARK not in everything_in(error)


@pytest.mark.parametrize("form", ["scalar", "vector"])
@pytest.mark.parametrize("order", ["Laplace", "MiniBatch", "Laplace(MiniBatch)"])
def test_frames_of_a_refused_gain_do_not_hold_it(order, form):
    """An error carries the local variables of the frames it left, and error reporters print them."""
    adversary = GainTable(tables()[0])
    env = around(Above(adversary) if form == "scalar" else VectorAbove(2, adversary), order)
    assert MARK not in frames_of(play_until_it_fails(env))


@pytest.mark.parametrize("form", ["scalar", "vector"])
@pytest.mark.parametrize("order", ["Laplace", "MiniBatch", "Laplace(MiniBatch)"])
def test_frames_of_a_replaced_error_hold_no_gain(order, form):
    """A batch of 4 fails in its third round: two gains have already been added up by then."""
    error = play_until_it_fails(around(failing(form, "step", ValueError), order, tau=4))
    assert isinstance(error, BoundaryError)
    assert MARK not in frames_of(error)


class NotANumber(BanditEnv):
    """Pays NaN in the second round."""

    def step(self, action):
        """Pay NaN once."""
        observation, *rest = super().step(action)
        if rest[-1]["round"] == 2:
            observation["gain"][action] = math.nan
        return observation, *rest


@pytest.mark.parametrize("order", ORDERS)
def test_nan_is_refused_too(order):
    error = play_until_it_fails(around(NotANumber(GainTable(tables()[0])), order))
    assert isinstance(error, BoundaryError)
    assert not missing(str(error), "[0, 1]")


def test_what_stands_between_make_and_the_boundary_warns_without_numbers():
    """gym.make adds a checker that warns about observations outside their space; it must not print them."""
    made = gym.wrappers.PassiveEnvChecker(Above(GainTable(tables()[0])))
    env = around(gym.wrappers.OrderEnforcing(made), "Laplace")
    with pytest.warns(UserWarning, match="not within the observation space") as caught:
        env.reset(seed=1)
        error_of(lambda: env.step(0))
    assert not [w for w in caught if MARK in str(w.message)]
