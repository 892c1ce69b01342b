"""Own functions that draw from NumPy's or Python's global generators are played, not compiled, and are told."""

import random

import numba
import numpy as np
import pytest
from numpy.random import standard_normal

from dp_bandit_envs import simulate
from tests.simulation.test_refused_by_numba import GAME, agent, line_marked_in, select, update

STREAM = np.random.default_rng(1)


@numba.njit
def tossed():
    return np.random.random()  # noqa: NPY002


def of_numpy(state, rng):
    return int(np.random.random() * len(state.totals))  # noqa: NPY002  # here


def of_python(state, rng):
    return int(random.random() * len(state.totals))  # here


def by_name(state, rng):
    return int(standard_normal() > 0)  # noqa: NPY002  # here


def of_its_own(state, rng):
    return int(STREAM.random() > 0.5)  # here


def compiled_by_hand(state, rng):
    return int(tossed() > 0.5)  # here


def helps(n):
    return int(np.random.random() * n)  # noqa: NPY002  # here


def through_another(state, rng):
    return helps(len(state.totals))


def learns_by_chance(state, arm, seen):
    state.totals[arm] += random.gauss(0.0, 1.0)  # here
    return state


def under_another_name(state, rng):
    n = np  # here
    return int(n.random.random() * len(state.totals))


CHOOSE = [(of_numpy, "np.random"), (of_python, "random.random"), (by_name, "standard_normal"), (of_its_own, "STREAM")]
CHOOSE += [(compiled_by_hand, "tossed"), (under_another_name, "np.random")]


@pytest.mark.parametrize("choose, named", CHOOSE, ids=[choose.__name__ for choose, _ in CHOOSE])
def test_another_generator_in_select_is_named_with_its_line(choose, named):
    outcome = simulate(GAME, {"mine": agent(choose=choose)}, horizon=20)["mine"]
    assert outcome.engine == "play"
    place = f"{choose.__name__} of Mine (test_draws_elsewhere.py, line {line_marked_in(__file__, choose)})"
    assert place in outcome.reason and named in outcome.reason and "rng.random()" in outcome.reason


@pytest.mark.parametrize(
    "made, function", [(agent(choose=through_another), helps), (agent(learn=learns_by_chance), learns_by_chance)]
)
def test_it_is_found_in_update_and_in_what_is_called(made, function):
    reason = simulate(GAME, {"mine": made}, horizon=20)["mine"].reason
    assert f"{function.__name__}" in reason and f"line {line_marked_in(__file__, function)}" in reason


def test_draws_from_rng_are_compiled():
    assert simulate(GAME, {"mine": agent(choose=select, learn=update)}, horizon=20)["mine"].engine == "compiled"
