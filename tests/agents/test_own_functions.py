"""What the writer of an own agent reads in `play` if its functions break a rule of the state or of what is seen."""

from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import play
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions
from tests.tools.refusals import refused


class State(NamedTuple):
    """Two arrays and a number."""

    sums: np.ndarray
    clock: np.ndarray
    steps: int


def first(state, rng):
    return 0


def keep(state, arm, seen):
    return state


def halves(state, rng):
    return int((state.sums / 2)[0])


def asks_the_array(state, rng):
    return int(state.sums.argmax())


def counts_on(state, arm, seen):
    clock = state.clock
    clock += 1
    return state


def counts_a_number(state, arm, seen):
    state.steps += 1
    return state


def reads_sums(state, arm, seen):
    state.sums[arm] += seen.sums[arm]
    return state


def misspells(state, arm, seen):
    state.sums[arm] += seen.gain[arm]
    return state


def forgets(state, arm, seen):
    state.sums[arm] += 1.0


def fails_in_its_own_way(state, rng):
    return len(None)


class Base(FunctionalAgent):
    """Has the state above."""

    def initial_state(self, n_arms, horizon):
        """Return the state before the first step."""
        return State(np.zeros(n_arms), np.zeros(1), 0)


CASES = [
    (halves, keep, ("halves of Mine", "line", "single elements")),
    (asks_the_array, keep, ("asks_the_array of Mine", "single elements")),
    (first, counts_on, ("counts_on of Mine", "single elements")),
    (first, counts_a_number, ("counts_a_number of Mine", "State(...)")),
    (first, reads_sums, ("reads_sums of Mine", "gains and observed", "learns_from = Sums")),
    (first, misspells, ("misspells of Mine", "gains and observed", "not gain")),
    (first, forgets, ("forgets of Mine", "return state")),
]


@pytest.mark.parametrize("select, update, words", CASES)
def test_play_names_the_function_and_the_rule(select, update, words):
    with refused(TypeError, *words):
        play(gym.make("DPBandit-Stochastic-v0", horizon=5), mine(select, update))


def test_other_errors_stay_as_they_are():
    with pytest.raises(TypeError, match="has no len"):
        play(gym.make("DPBandit-Stochastic-v0", horizon=5), mine(fails_in_its_own_way, keep))


def mine(select, update):
    """Return an agent of these functions."""

    class Mine(Base):
        functions = Functions(select, update)

    return Mine()
