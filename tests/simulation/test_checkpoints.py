"""The rounds at which results are written down."""

import numpy as np
import pytest

from dp_bandit_envs import simulate
from dp_bandit_envs.simulation.simulation import checked, spaced
from tests.tools.refusals import refused

GAME = "DPBandit-Stochastic-v0"


def test_linear_rounds_are_evenly_spaced_up_to_the_horizon():
    assert spaced(1000, 4).tolist() == [250, 500, 750, 1000]
    # Floors of 10/3 and 20/3, then the horizon itself.
    assert spaced(10, 3).tolist() == [3, 6, 10]


def test_log_rounds_grow_by_a_factor():
    assert spaced(1000, 4, "log").tolist() == [1, 10, 100, 1000]
    ratios = np.diff(np.log(spaced(10**6, 100, "log")[60:]))
    # 99 steps over 6 decades; rounding to integers moves a ratio by less than 1 in 1,000 from round 4,000 on.
    assert ratios == pytest.approx(6 * np.log(10) / 99, abs=1e-3)


@pytest.mark.parametrize("spacing", ["linear", "log"])
@pytest.mark.parametrize("horizon", [1, 2, 3, 99, 100, 101, 2139, 2**18])
def test_spaced_rounds_ascend_without_repeats_and_end_at_the_horizon(horizon, spacing):
    rounds = spaced(horizon, 100, spacing)
    assert rounds[0] >= 1 and rounds[-1] == horizon
    assert np.all(np.diff(rounds) > 0)
    assert len(rounds) <= 100


def test_short_games_have_every_round():
    assert spaced(5, 100).tolist() == [1, 2, 3, 4, 5]


def test_chosen_rounds_are_sorted_made_unique_and_completed():
    assert checked([30, 10, 10], 50).tolist() == [10, 30, 50]
    assert checked([], 50).tolist() == [50]
    assert checked(np.array([50]), 50).tolist() == [50]


@pytest.mark.parametrize("wrong", [[0], [-3], [1.5], ["10"], [True], [float("nan")]])
def test_a_checkpoint_must_be_a_round(wrong):
    with refused(ValueError, "checkpoint", 1, wrong[0]):
        simulate(GAME, "EXP3", horizon=100, checkpoints=wrong)


def test_a_checkpoint_beyond_the_horizon_is_refused():
    with refused(ValueError, "checkpoints", "horizon", 100, 101):
        simulate(GAME, "EXP3", horizon=100, checkpoints=[5, 101])


@pytest.mark.parametrize("number", [0, -1])
def test_there_must_be_a_number_of_checkpoints(number):
    with refused(ValueError, "checkpoints", 1, number):
        simulate(GAME, "EXP3", horizon=100, checkpoints=number)


def test_an_unknown_spacing_is_refused():
    with refused(ValueError, "spacing", "'linear'", "'log'", "'cubic'"):
        simulate(GAME, "EXP3", horizon=100, checkpoints="cubic")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, [*range(2, 201, 2)]),
        (4, [50, 100, 150, 200]),
        (np.int64(4), [50, 100, 150, 200]),
        ([7], [7, 200]),
        ((7, 9), [7, 9, 200]),
        (range(100, 201, 100), [100, 200]),
        (np.array([3, 5]), [3, 5, 200]),
        ("linear", [*range(2, 201, 2)]),
        ("log", spaced(200, 100, "log").tolist()),
    ],
    ids=["default", "number", "number of numpy", "list", "tuple", "range", "array", "linear", "log"],
)
def test_simulate_takes_checkpoints_in_every_form(given, expected):
    simulation = simulate(GAME, "EXP3", horizon=200, checkpoints=given)
    assert simulation.checkpoints.tolist() == expected
    assert simulation["EXP3"].external_regret.shape == (1, len(expected))
