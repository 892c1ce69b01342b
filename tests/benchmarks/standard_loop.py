"""Benchmarks the standard loop: `gym.make`, reset, then select, step and update in ordinary Python."""

import gymnasium as gym

from dp_bandit_envs import Exp3, play
from tests.benchmarks.measuring import Line, median_rates, written

HORIZON = 2**15


def lines() -> list[Line]:
    """Return the line: at least 100 k rounds a second."""
    env = gym.make("DPBandit-Stochastic-v0", horizon=HORIZON)
    rate = median_rates({"ours": (lambda: play(env, Exp3(), seed=0), HORIZON)})["ours"]
    return [Line("EXP3 through gym.make and play", written(rate), "", rate / 1e3, 100, unit=" k/s")]
