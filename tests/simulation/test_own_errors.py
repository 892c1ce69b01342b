"""What is said if the functions of an own agent fail in compiled code: whose they are."""

import math

import pytest

from dp_bandit_envs import simulate
from tests.simulation.test_refused_by_numba import GAME, agent
from tests.tools.refusals import missing, refused


def forgets(state, arm, seen):
    state.totals[arm] += 1.0


def below(state, rng):
    return -3


def of_nan(state, rng):
    return int(state.totals[0] * math.nan)


def of_infinity(state, rng):
    return int((1.0 + state.totals[0]) * math.inf)


def by_zero(state, rng):
    return int(1 / state.totals[0])


def of_whole_numbers(state, rng):
    return int(len(state.totals) > 9) + int(2**62 + len(state.totals)) - 2**62 - 4


def play(**functions):
    return simulate(GAME, {"mine": agent(**functions)}, horizon=20)["mine"]


def test_an_update_that_returns_nothing_is_told_what_to_write():
    with refused(TypeError, "forgets of Mine", "return state"):
        play(learn=forgets)


def test_a_number_that_is_no_arm_is_named_with_the_agent_and_the_range():
    with refused(IndexError, "Mine", "[0, 3]", -3):
        play(choose=below)


@pytest.mark.parametrize("choose, error", [(of_nan, ValueError), (of_infinity, OverflowError)])
def test_no_arm_comes_from_a_number_that_is_not_finite(choose, error):
    with pytest.raises(error):
        play(choose=choose)


def test_integers_may_be_converted():
    outcome = play(choose=of_whole_numbers)
    assert outcome.engine == "compiled" and outcome.pulls[0, 0] == 20


def test_an_error_in_compiled_functions_names_them_and_the_agent():
    with pytest.raises(ZeroDivisionError) as caught:
        play(choose=by_zero)
    assert not missing("\n".join(caught.value.__notes__), "by_zero of Mine", "test_own_errors.py")
