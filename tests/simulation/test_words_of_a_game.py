"""A single game in words: what is written is read, games are apart from each other, and a state may be replaced."""

from typing import NamedTuple

import numpy as np
import pytest

from dp_bandit_envs import simulate
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.compiling.layout import Image
from tests.tools.refusals import refused


class Inner(NamedTuple):
    """Arrays of several types, one of them empty and one in Fortran's order."""

    bits: np.ndarray
    table: np.ndarray
    nothing: np.ndarray


class State(NamedTuple):
    """Numbers and arrays, some of them further inside."""

    means: np.ndarray
    scale: float
    inner: Inner
    pair: tuple


def made():
    table = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    return State(
        np.linspace(0, 1, 5), 0.5, Inner(np.array([True, False, True]), table, np.zeros((0, 4))), (3, np.ones(1))
    )


def arrays(state):
    return [state.means, state.inner.bits, state.inner.table, state.inner.nothing, state.pair[1]]


def games(number):
    image = Image(made())
    block = image.games([()] * number)
    return block, [image.read(game) for game in block]


def test_a_game_has_the_same_numbers_types_and_shapes():
    _, (game,) = games(1)
    assert type(game) is State and type(game.inner) is Inner and game.scale == 0.5 and game.pair[0] == 3
    for one, other in zip(arrays(game), arrays(made()), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype and one.shape == other.shape
        assert one.flags.c_contiguous and one.flags.aligned and one.flags.writeable


def test_writing_to_a_game_changes_nothing_else():
    image = Image(made())
    block = image.games([()] * 3)
    for array in arrays(image.read(block[1])):
        array[...] = 7
    others = [image.read(game) for game in (block[0], block[2], image.games([()] * 1)[0])]
    for game in others:
        for one, other in zip(arrays(game), arrays(made()), strict=True):
            np.testing.assert_array_equal(one, other)
    image.begin(block, [()])
    np.testing.assert_array_equal(image.read(block[1]).means, made().means)


def test_what_machine_code_cannot_hold_is_refused():
    for part in (np.array([None], object), None, "word", {"a": 1}):
        with refused(TypeError, "state"):
            Image((part,))


def test_a_replaced_array_may_be_larger_and_of_the_same_type_only():
    image = Image(made())
    game = image.games([()] * 1)[0]
    contents_of = {}
    state = image.read(game, contents_of=contents_of)
    image.replace(game, state._replace(means=np.arange(9.0)), image.form, contents_of)
    assert image.read(game, contents_of=contents_of).means.tolist() == list(range(9))
    assert image.read(game, contents_of=contents_of).inner.table is state.inner.table
    with refused(TypeError, "types"):
        image.replace(game, state._replace(means=np.arange(5)), image.form, contents_of)


class Two(NamedTuple):
    """Two arrays and a number."""

    first: np.ndarray
    second: np.ndarray
    number: float


def in_turn(state, rng):
    return int(state.first[0]) % len(state.first)


def swapped(state, arm, seen):
    """Exchange the arrays, one of them for a new one."""
    new = np.zeros(len(state.first))
    for each in range(len(new)):
        new[each] = state.first[each] + 1.0
    new[arm] += seen.gains[arm]
    return Two(state.second, new, state.number + 0.5)


def grown(state, arm, seen):
    return Two(state.first, np.zeros(len(state.second) + 1), state.number)


def agent(choose, learn):
    class Mine(FunctionalAgent):
        functions = Functions(choose, learn)

        def initial_state(self, n_arms, horizon):
            return Two(np.zeros(n_arms), np.arange(n_arms) * 2.0, 0.0)

    return Mine


@pytest.mark.thorough
def test_an_own_state_may_be_new_and_swapped(monkeypatch):
    """Between two calls of machine code it is in memory of its own, wherever `update` has put it."""
    monkeypatch.setattr("dp_bandit_envs.simulation.engines.ROUNDS_AT_ONCE", 7)
    mine = agent(in_turn, swapped)
    given = {"horizon": 100, "trials": 2, "seed": 4}
    compiled = simulate("DPBandit-Stochastic-v0", {"mine": mine}, **given)["mine"]
    assert compiled.engine == "compiled", compiled.reason

    class Played(mine):
        def update(self, arm, observation):
            super().update(arm, observation)

    played = simulate("DPBandit-Stochastic-v0", {"mine": Played}, **given)["mine"]
    assert played.engine == "play"
    np.testing.assert_array_equal(compiled.collected, played.collected)
    assert len(np.unique(compiled.pulls)) > 1


@pytest.mark.thorough
def test_an_own_state_whose_arrays_grow_says_so():
    with refused(ValueError, "another shape", "initial_state"):
        simulate("DPBandit-Stochastic-v0", {"mine": agent(in_turn, grown)}, horizon=50, seed=0)
