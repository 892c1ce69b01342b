"""In their limits the private algorithms are known algorithms, arm by arm."""

import math

import numpy as np
import pytest

from dp_bandit_envs import Algorithm, make_algorithm, simulate
from dp_bandit_envs.agents import Hedge, Imed, KlUcb, RandomLabels, ThompsonSampling, Ucb
from dp_bandit_envs.wrappers import ExactSums
from tests.tools.one_noise import with_one_noise

COINS, WALK = "DPBandit-Stochastic-v0", "DPBandit-Switching-v0"
"""Gains of 0 and 1, and gains of all sizes."""
FREE = {"epsilon": math.inf}
SINGLE = {"epsilon": math.inf, "ratio": 1 + 1e-9}
"""A ratio so close to 1 that an arm's count grows by one."""
OWN = {
    # DP-TS plays each arm once first; in plain TS the prior stands for an arm instead.
    "TS, each first": lambda: Algorithm("TS", lambda: ThompsonSampling(each_first=True), ExactSums),
    # These algorithms try arms in an order drawn at random.
    "UCB, any order": lambda: Algorithm("UCB", lambda: RandomLabels(Ucb()), ExactSums),
    "KL-UCB, any order": lambda: Algorithm("KL-UCB", lambda: RandomLabels(KlUcb()), ExactSums),
    "IMED, any order": lambda: Algorithm("IMED", lambda: RandomLabels(Imed()), ExactSums),
    "Hedge on exact sums": lambda: Algorithm("own", Hedge, ExactSums),
}


def made(name, parameters):
    return OWN[name]() if name in OWN else make_algorithm(name, **parameters)


def same_game(one, other, env_id, horizon=500):
    """Whether two algorithms play the same arms: equal regret, pulls and changes of arm at every round."""
    simulation = simulate(env_id, with_one_noise(one, other), horizon=horizon, trials=2, checkpoints=horizon)
    left, right = simulation.outcomes.values()
    fields = ("external_regret", "collected", "switches", "pulls")
    return all(np.array_equal(getattr(left, field), getattr(right, field)) for field in fields)


# An algorithm with parameters, the one that it is then, and the game in which they are compared.
SAME = [
    ("DP-EXP3-Lap", {**FREE, "outside": "reject"}, "EXP3", {}, WALK),
    ("DP-EXP3-Lap", {**FREE, "outside": "clip"}, "EXP3", {}, WALK),
    ("EXP3-tau", {"batch_size": 1}, "EXP3", {}, WALK),
    ("EXP3-tau", {**FREE, "delta": 1e-6}, "EXP3", {}, WALK),
    ("Batched-Lap-EXP3", {"epsilon": 0.4, "batch_size": 1}, "DP-EXP3-Lap", {"epsilon": 0.4}, WALK),
    ("Batched-Lap-EXP3", {**FREE, "batch_size": 5}, "EXP3-tau", {"batch_size": 5}, WALK),
    ("DP-Lambda-Lap", {"base": "EXP3", "epsilon": 2.0}, "DP-EXP3-Lap", {"epsilon": 2.0}, WALK),
    ("DP-Lambda-Lap", {"base": "HTINF", **FREE}, "HTINF", {}, WALK),
    ("DP-UCB-BOUND", FREE, "UCB", {}, WALK),
    ("DP-UCB-BOUND", {**FREE, "budget": "paper", "formula": "printed"}, "UCB", {}, WALK),
    ("DP-UCB-BOUND", {**FREE, "counter": "k-ary"}, "UCB", {}, WALK),
    ("DP-UCB", FREE, "UCB", {}, WALK),
    ("Private-UCB", FREE, "UCB", {}, WALK),
    ("Private-UCB", {**FREE, "constants": "improved"}, "UCB", {}, WALK),
    ("LDP-UCB-L", FREE, "UCB, any order", {}, WALK),
    ("LDP-UCB-L", {**FREE, "constants": "improved"}, "UCB, any order", {}, WALK),
    # A gain of 0 or 1 is its own answer; one in between still becomes a coin.
    ("LDP-UCB-B", FREE, "UCB", {}, COINS),
    # At the end of every interval of one gain, each mode.
    ("DP-UCB-INT", {**FREE, "intervals": "uniform", "mode": "once"}, "UCB, any order", {}, WALK),
    ("DP-UCB-INT", {**FREE, "intervals": "uniform", "mode": "bonus"}, "UCB, any order", {}, WALK),
    ("DP-UCB-INT", {**FREE, "intervals": "uniform", "mode": "redraw"}, "UCB, any order", {}, WALK),
    ("DP-TS", FREE, "TS, each first", {}, COINS),
    ("DP-KLUCB", SINGLE, "KL-UCB, any order", {}, COINS),
    ("DP-IMED", SINGLE, "IMED, any order", {}, COINS),
    ("DP-Hedge", FREE, "Hedge", {}, "DPBandit-Experts-v0"),
    ("Lazy-Hedge", FREE, "Hedge", {}, "DPBandit-Experts-v0"),
    ("Noisy-Hedge", FREE, "Hedge", {}, "DPBandit-Experts-v0"),
    ("Hedge on exact sums", {}, "Hedge", {}, "DPBandit-Experts-v0"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "parameters", "other", "its", "game"), SAME, ids=str)
def test_it_is_the_other_algorithm(name, parameters, other, its, game):
    assert same_game(made(name, parameters), made(other, its), game)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "parameters", "other", "its", "env_id"),
    [
        ("DP-EXP3-Lap", {"epsilon": 100.0}, "EXP3", {}, COINS),
        ("EXP3-tau", {"batch_size": 2}, "EXP3", {}, COINS),
        ("DP-UCB-BOUND", {"epsilon": 1.0}, "UCB", {}, COINS),
        ("LDP-UCB-B", FREE, "UCB", {}, WALK),
        ("DP-TS", FREE, "TS", {}, COINS),
        ("DP-KLUCB", FREE, "KL-UCB, any order", {}, COINS),
    ],
    ids=str,
)
def test_short_of_the_limit_it_is_not(name, parameters, other, its, env_id):
    assert not same_game(made(name, parameters), made(other, its), env_id)


@pytest.mark.thorough
def test_batches_help_where_epsilon_is_small():
    """Asi, Raman and Talwar (2025) against noise on every gain at epsilon = 0.1, paired, four standard errors.

    False alarm: below 1e-9 (the smaller difference is 11 of its standard errors).
    """
    names = ("DP-EXP3-Lap", "Batched-Lap-EXP3", "Batched-Lap-HTINF")
    algorithms = [make_algorithm(name, epsilon=0.1) for name in names]
    given = {"horizon": 20_000, "trials": 100, "checkpoints": 1, "env_kwargs": {"means": [0.9, 0.1, 0.1, 0.1]}}
    simulation = simulate("DPBandit-Stochastic-v0", algorithms, **given)
    lap = simulation["DP-EXP3-Lap"].external_regret[:, -1]
    for name in names[1:]:
        difference = lap - simulation[name].external_regret[:, -1]
        assert difference.mean() > 4 * difference.std(ddof=1) / math.sqrt(100)
