"""MiniBatchAverage: T // tau averages, each over tau rounds of one arm, and what it declares."""

from fractions import Fraction

import numpy as np
import pytest

from dp_bandit_envs.wrappers import MiniBatchAverage, vector
from tests.tools.boundary_games import act, game, games

FORMS = {
    "scalar": (MiniBatchAverage, lambda table: game(table)),
    "vector": (vector.MiniBatchAverage, lambda table: games(1, table)),
}


@pytest.fixture(params=FORMS)
def form(request):
    """The wrapper and a maker of games, scalar and vector."""
    return FORMS[request.param]


def step(env, arm):
    """Play one arm; return gain, observed, reward, ended, round as plain numbers of game 0."""
    observation, reward, terminated, truncated, info = env.step(act(env, arm))
    return (
        observation["gain"].ravel().tolist(),
        observation["observed"].ravel().tolist(),
        float(np.ravel(reward)[0]),
        bool(np.all(terminated | truncated)),
        int(np.ravel(info["round"])[0]),
    )


def test_averages_by_hand(form):
    """Seven rounds in batches of 3: two averages, and one round that is played but never released."""
    wrapper, make = form
    table = np.array([[0, 8], [8, 8], [4, 2], [8, 0], [2, 6], [2, 6], [8, 8]]) / 8
    env = wrapper(make(table), batch_size=3)
    env.reset(seed=0)
    assert env.horizon == 2
    assert step(env, 1) == ([0.0, 0.75], [0, 1], 0.75, False, 3)
    assert step(env, 0) == ([0.5, 0.0], [1, 0], 0.5, False, 6)
    assert step(env, 1) == ([0.0, 0.0], [0, 0], 0.0, True, 7)


def test_a_horizon_that_is_a_multiple_ends_with_its_last_average(form):
    wrapper, make = form
    env = wrapper(make(np.ones((6, 2))), batch_size=3)
    env.reset(seed=0)
    assert step(env, 0) == ([1.0, 0.0], [1, 0], 1.0, False, 3)
    assert step(env, 0) == ([1.0, 0.0], [1, 0], 1.0, True, 6)


def test_rounding_does_not_carry_an_average_past_one(form):
    """0.1 + ... or ones: no average of gains in [0, 1] leaves [0, 1], whatever the batch."""
    wrapper, make = form
    top = np.nextafter(1.0, 0.0)
    for size in (3, 7, 10, 49):
        for gain in (1.0, top, 0.1, 0.7):
            env = wrapper(make(np.full((size, 2), gain)), batch_size=size)
            env.reset(seed=0)
            value = step(env, 0)[2]
            assert 0 <= value <= 1
            # Each gain is rounded to a multiple of 2**-30; then nothing but the division is.
            assert value == pytest.approx(gain, abs=2.0**-31 + 2.0**-53)


def test_a_changed_gain_moves_an_average_by_one_over_tau_exactly(form):
    """Made-up gains: one total is just below 2^9 and its neighbour above, where half a step is added 511 times.

    Without rounding gains first, each of these additions rounds up in one game only, and the average moves by more.
    """
    wrapper, make = form
    size = 2**10
    table = np.repeat(np.concatenate([np.ones(2**9), np.full(2**9, 2.0**-44 + 2.0**-60)])[:, np.newaxis], 2, axis=1)
    averages = []
    for first in (0.0, 1.0):
        table[0] = first
        env = wrapper(make(table), batch_size=size)
        env.reset(seed=0)
        averages.append(Fraction(step(env, 0)[2]))
    assert averages[1] - averages[0] == Fraction(1, size) == Fraction(env.sensitivity)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 19])
def test_sensitivity_is_one_over_tau(form, size):
    wrapper, make = form
    env = wrapper(make(np.zeros((40, 2))), batch_size=size)
    assert env.sensitivity == pytest.approx(1 / size, rel=2**-52)
    twice = wrapper(env, batch_size=2)
    # An average is rounded to a multiple of 2^-30 before it is averaged again, unless it moves by all of [0, 1].
    apart = 1.0 if size == 1 else 1 / size + 2.0**-30
    assert twice.sensitivity == pytest.approx(apart / 2, rel=2**-51)
    assert twice.horizon == 40 // size // 2
