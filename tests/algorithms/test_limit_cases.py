"""In their limits the private algorithms are known algorithms, arm by arm."""

import itertools
import math

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, simulate
from tests.tools.one_noise import with_one_noise

GAMES = ("DPBandit-Stochastic-v0", "DPBandit-Switching-v0")


def same_game(one, other, horizon=1000):
    """Whether two algorithms play the same arms: equal regret, pulls and changes of arm at every round."""
    for env_id in GAMES:
        simulation = simulate(env_id, with_one_noise(one, other), horizon=horizon, trials=3, checkpoints=horizon)
        left, right = simulation.outcomes.values()
        fields = ("external_regret", "collected", "switches", "pulls")
        if not all(np.array_equal(getattr(left, field), getattr(right, field)) for field in fields):
            return False
    return True


EXP3 = make_algorithm("EXP3")


@pytest.mark.parametrize("outside", ["reject", "clip"])
def test_dp_exp3_lap_without_noise_is_exp3(outside):
    assert same_game(make_algorithm("DP-EXP3-Lap", epsilon=math.inf, outside=outside), EXP3)
    assert not same_game(make_algorithm("DP-EXP3-Lap", epsilon=100.0), EXP3)


def test_exp3_tau_with_batches_of_one_is_exp3():
    assert same_game(make_algorithm("EXP3-tau", batch_size=1), EXP3)
    assert same_game(make_algorithm("EXP3-tau", epsilon=math.inf, delta=1e-6), EXP3)
    assert not same_game(make_algorithm("EXP3-tau", batch_size=2), EXP3)


def test_batched_lap_exp3_with_batches_of_one_is_dp_exp3_lap():
    lap = make_algorithm("DP-EXP3-Lap", epsilon=0.4)
    assert same_game(make_algorithm("Batched-Lap-EXP3", epsilon=0.4, batch_size=1), lap)
    assert not same_game(make_algorithm("Batched-Lap-EXP3", epsilon=0.4), lap)


def test_batched_lap_exp3_without_noise_is_exp3_tau():
    lap = make_algorithm("Batched-Lap-EXP3", epsilon=math.inf, batch_size=5)
    assert same_game(lap, make_algorithm("EXP3-tau", batch_size=5))


def test_dp_lambda_lap_around_exp3_is_dp_exp3_lap():
    lap = make_algorithm("DP-EXP3-Lap", epsilon=2.0)
    assert same_game(make_algorithm("DP-Lambda-Lap", base="EXP3", epsilon=2.0), lap)
    assert not same_game(make_algorithm("DP-Lambda-Lap", base="Tsallis-INF", epsilon=2.0), lap)


def test_dp_lambda_lap_around_htinf_without_noise_is_htinf():
    assert same_game(make_algorithm("DP-Lambda-Lap", base="HTINF", epsilon=math.inf), make_algorithm("HTINF"))


def test_exp3_at_exploration_rate_1_learns_nothing():
    """Its pulls are those of a fair die: 3,000 rounds, standard deviation sqrt(T 3/16), allow 5.5.

    False alarm: 1.6e-6 (5.5 standard errors, two sides, ten trials of four arms).
    """
    explorer = make_algorithm("EXP3", exploration_rate=1)
    given = {"horizon": 3000, "trials": 10, "env_kwargs": {"means": [1, 0, 0, 0]}}
    pulls = simulate("DPBandit-Stochastic-v0", [explorer], **given)["EXP3"].pulls
    assert np.all(np.abs(pulls - 750) < 5.5 * math.sqrt(3000 * 3 / 16))


def test_noise_alone_teaches_nothing():
    """At epsilon = 0.0001 DP-EXP3-Lap plays like a die on the same game: mean pulls within five standard errors.

    False alarm: 1.3e-5 (five measured standard errors of 40 trials, Student's law, two sides).
    """
    lap = make_algorithm("DP-EXP3-Lap", epsilon=1e-4)
    given = {"horizon": 3000, "trials": 40, "env_kwargs": {"means": [1, 0, 0, 0]}}
    best = simulate("DPBandit-Stochastic-v0", [lap], **given)["DP-EXP3-Lap"].pulls[:, 0]
    assert abs(best.mean() - 750) < 5 * best.std(ddof=1) / math.sqrt(40)


def test_less_noise_means_less_regret():
    """Paired over trials, each step of epsilon by more than four standard errors.

    False alarm: below 1e-9 (each step is more than 20 of its standard errors).
    """
    algorithms = [make_algorithm("DP-EXP3-Lap", epsilon=epsilon, label=str(epsilon)) for epsilon in (0.1, 1, 5, 100)]
    given = {"horizon": 5000, "trials": 40, "checkpoints": 1, "env_kwargs": {"means": [0.9, 0.1, 0.1, 0.1]}}
    simulation = simulate("DPBandit-Stochastic-v0", algorithms, **given)
    regrets = [outcome.external_regret[:, -1] for outcome in simulation.values()]
    for noisy, clear in itertools.pairwise(regrets):
        difference = noisy - clear
        assert difference.mean() > 4 * difference.std(ddof=1) / math.sqrt(40)


def test_batches_help_where_epsilon_is_small():
    """Asi, Raman and Talwar (2025) against noise on every gain at epsilon = 0.1, paired, four standard errors.

    False alarm: below 1e-9 (the smaller difference is 16 of its standard errors).
    """
    names = ("DP-EXP3-Lap", "Batched-Lap-EXP3", "Batched-Lap-HTINF")
    algorithms = [make_algorithm(name, epsilon=0.1) for name in names]
    given = {"horizon": 20_000, "trials": 200, "checkpoints": 1, "env_kwargs": {"means": [0.9, 0.1, 0.1, 0.1]}}
    simulation = simulate("DPBandit-Stochastic-v0", algorithms, **given)
    lap = simulation["DP-EXP3-Lap"].external_regret[:, -1]
    for name in names[1:]:
        difference = lap - simulation[name].external_regret[:, -1]
        assert difference.mean() > 4 * difference.std(ddof=1) / math.sqrt(200)
